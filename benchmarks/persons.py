"""Records of several fields beside Splink on the plain text of the same files and fields.

python -m benchmarks.persons ours 100000     one run, as JSON, in a process of its own
python -m benchmarks.persons splink 100000
"""

import json
import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from time import perf_counter

import gramlink as gl
from benchmarks.common import markdown
from gramlink.datasets import Persons, febrl4, persons
from gramlink.proposing import propose, read_sample
from gramlink.schema import checked_schema, load_schema

SEEDS = (1, 2, 3)
FIVE = {
    "given_name": "text",
    "surname": "text",
    "date_of_birth": "date",
    "city": "text",
    "postcode": "digits",
}
LARGE = 1_000_000
SPLINK_SIZES = (50_000, 100_000, 200_000)


def proposed(people: Persons, id_column: str) -> gl.Schema:
    """The schema that `gramlink init` proposes for the left file, as it is."""
    with tempfile.TemporaryDirectory() as folder:
        file, schema = Path(folder) / "left.csv", Path(folder) / "linkage.toml"
        people.left.write_csv(file)
        text = propose(read_sample(file), id_column=id_column).text
        schema.write_text(text, "utf-8")
        return load_schema(schema)


def ours(people: Persons, schema: gl.Schema) -> tuple[gl.Linkage, gl.Scores, float]:
    """Both owners and the linkage unit, one after the other; and how long it takes."""
    started = perf_counter()
    one = gl.Owner("a", gl.read_records(people.left, schema), schema, key=b"a")
    other = gl.Owner("b", gl.read_records(people.right, schema), schema, key=b"b")
    projection = gl.agree(one.mine(None), other.mine(None))
    linkage = gl.LinkageUnit.of(one.embed(projection), other.embed(projection)).link()
    links = one.translate(other.translate(linkage.links))
    seconds = perf_counter() - started
    found = zip(links.left, links.right, strict=True)
    return linkage, gl.score(found, people.truth.iter_rows()), seconds


def splink(people: Persons, id_column: str, kinds: dict[str, str]) -> tuple[gl.Scores, float]:
    """Splink 5 with DuckDB on the plain text."""
    from benchmarks.splink_peer import link

    peer = link(people.left, people.right, id_column, kinds)
    return gl.score(peer.links, people.truth.iter_rows()), peer.seconds


def halved(people: Persons, seed: int) -> Persons:
    """The same with a random half of the right file removed."""
    right = people.right.sample(fraction=0.5, seed=seed)
    ids = right.columns[0]
    truth = people.truth.join(right.select(ids), left_on="id_right", right_on=ids, how="semi")
    return Persons(people.left, right, truth)


def table() -> str:
    """Quality, then time at a million."""
    return _quality() + "\n" + _time()


def _quality() -> str:
    rows = []
    for name, id_column, files in (
        ("FEBRL 4", "rec_id", [febrl4() for _ in SEEDS]),
        ("FEBRL 4, half of B removed", "rec_id", [halved(febrl4(), seed) for seed in SEEDS]),
        ("persons, 2 × 10,000, half in both", "id", [persons(10_000, seed=s) for s in SEEDS]),
    ):
        schema = proposed(files[0], id_column)
        kinds = {field.columns[0]: field.kind for field in schema.fields}
        runs = [ours(people, schema) for people in files]
        peers = [splink(people, id_column, kinds)[0] for people in files]
        estimates = [
            f"{mean(getattr(run[0], what) for run in runs):.4f}" for what in ("precision", "recall")
        ]
        scores = [
            f"{mean(getattr(run[1], what) for run in runs):.4f}"
            for what in ("precision", "recall", "f1")
        ]
        theirs = mean(peer.f1 for peer in peers)
        fields = str(len(schema.fields))
        rows.append([name, fields, *scores, *estimates, f"{theirs:.4f}"])
    header = ["files", "fields", "precision", "recall", "F1", "estimated precision"]
    header += ["estimated recall", "F1 of Splink 5 on plain text"]
    return (
        "## Persons\n\nRecords of several fields with the schema that `gramlink init` proposes, "
        "untouched: k = 75 for each text field, ε = 1 per owner split over the text fields, up to "
        f"2 edits. Means of {len(SEEDS)} draws of noise, and of persons or halves. Splink reads "
        "the plain text of the same files and fields, with settings by kind of field and no "
        "tuning on the truth (`benchmarks/splink_peer.py`); both decide one-to-one at a "
        "probability of 0.5. The estimates need no truth.\n\n" + markdown(header, rows)
    )


def _time() -> str:
    mine = _measured("ours", LARGE)
    peers = [_measured("splink", size) for size in SPLINK_SIZES]
    exponent = _growth(SPLINK_SIZES, [peer["seconds"] for peer in peers])
    last, size = peers[-1], SPLINK_SIZES[-1]
    scaled = last["seconds"] * (LARGE / size) ** exponent
    rows = [_row("gramlink", LARGE, mine)]
    rows += [_row("Splink 5", n, peer) for n, peer in zip(SPLINK_SIZES, peers, strict=True)]
    rows.append(["Splink 5", f"{LARGE:,}", f"{scaled:.0f} (scaled)", "-", "-", "-", "-"])
    header = ["", "records of each", "seconds", "peak GB", "precision", "recall", "F1"]
    return (
        f"Two files of generated persons, half in both, five fields ({', '.join(FIVE)}). gramlink "
        "does the work of both owners and of the linkage unit, mining included (k = 75, ε = 1 per "
        "owner, up to 2 edits). Splink's time is scaled to a million by its own growth, as "
        f"N^{exponent:.2f} (a fit to its three sizes): gramlink is "
        f"**{scaled / mine['seconds']:.1f} times** as fast.\n\n" + markdown(header, rows)
    )


def _row(name: str, size: int, run: dict[str, float]) -> list[str]:
    scores = [f"{run[what]:.4f}" for what in ("precision", "recall", "f1")]
    return [name, f"{size:,}", f"{run['seconds']:.0f}", f"{run['gigabytes']:.1f}", *scores]


def _growth(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The exponent of a straight line through the logarithms, at least 1."""
    x, y = [math.log(n) for n in sizes], [math.log(s) for s in seconds]
    slope = sum((a - mean(x)) * (b - mean(y)) for a, b in zip(x, y, strict=True))
    return max(1.0, slope / sum((a - mean(x)) ** 2 for a in x))


def _measured(who: str, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.persons", who, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(who: str, size: int) -> dict[str, float]:
    """One run on generated persons of five fields; kernels are compiled before, on fewer."""
    people = persons(size, seed=1)
    kept = ["id", *FIVE]
    people = Persons(people.left.select(kept), people.right.select(kept), people.truth)
    if who == "splink":
        scores, seconds = splink(people, "id", FIVE)
    else:
        fields = tuple({"name": name, "kind": kind} for name, kind in FIVE.items())
        schema = checked_schema(fields=fields, edits=2)
        small = persons(2000, seed=1)
        ours(Persons(small.left.select(kept), small.right.select(kept), small.truth), schema)
        _, scores, seconds = ours(people, schema)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "seconds": seconds,
        "gigabytes": peak,
        "precision": scores.precision,
        "recall": scores.recall,
        "f1": scores.f1,
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
