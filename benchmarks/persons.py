"""Records of several fields beside Splink on the plain text of the same files and fields.

python -m benchmarks.persons vectors 100000  one run, as JSON, in a process of its own
python -m benchmarks.persons veiled 100000
python -m benchmarks.persons splink 100000
"""

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from time import perf_counter

import gramlink as gl
from benchmarks.common import markdown
from gramlink.lab.datasets import Persons, febrl4, persons
from gramlink.lab.experiments.people import FIVE as FIVE_OF_FEBRL
from gramlink.lab.experiments.people import proposed
from gramlink.parties.one_process import new_secret
from gramlink.records.schema import checked_schema

SEEDS = (1, 2, 3)
FIVE = {
    "given_name": "text",
    "surname": "text",
    "date_of_birth": "date",
    "city": "text",
    "postcode": "digits",
}
LARGE = 1_000_000
ENCODINGS = ("veiled", "vectors")


@dataclass(frozen=True, slots=True)
class Run:
    """What a run found, how good it is, and how long its parts took."""

    scores: gl.Scores
    seconds: float  # of linking
    before: float  # of what comes before: the owners' part, or choosing settings
    linkage: gl.Linkage | None = None


def embedded(people: Persons, schema: gl.Schema) -> tuple[gl.Owner, gl.Owner, gl.LinkageUnit]:
    """Two owners, and the unit that has their bundles."""
    one = gl.Owner("a", gl.read_records(people.left, schema), schema, key=b"a")
    other = gl.Owner("b", gl.read_records(people.right, schema), schema, key=b"b")
    projection = gl.agree(one.mine(None), other.mine(None))
    secret = new_secret(projection, schema)
    bundles = (owner.embed(projection, secret=secret) for owner in (one, other))
    return one, other, gl.LinkageUnit.of(*bundles)


def ours(people: Persons, schema: gl.Schema) -> Run:
    """Both owners and the linkage unit, one after the other."""
    started = perf_counter()
    one, other, unit = embedded(people, schema)
    embedded_at = perf_counter()
    linkage = unit.link()
    linked = perf_counter()
    links = one.translate(other.translate(linkage.links))
    scores = gl.score(zip(links.left, links.right, strict=True), people.truth.iter_rows())
    return Run(scores, linked - embedded_at, embedded_at - started, linkage)


def splink(people: Persons, id_column: str, kinds: dict[str, str]) -> Run:
    """Splink 5 with DuckDB on the plain text."""
    from benchmarks.splink_peer import link

    peer = link(people.left, people.right, id_column, kinds)
    scores = gl.score(peer.links, people.truth.iter_rows())
    return Run(scores, peer.seconds, peer.choosing)


def _some(people: Persons, columns: Sequence[str]) -> Persons:
    """The same with the ids and some of the columns."""
    kept = [people.left.columns[0], *columns]
    return Persons(people.left.select(kept), people.right.select(kept), people.truth)


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
        ("FEBRL 4, five fields", "rec_id", [_some(febrl4(), FIVE_OF_FEBRL) for _ in SEEDS]),
        ("FEBRL 4, half of B removed", "rec_id", [halved(febrl4(), seed) for seed in SEEDS]),
        ("persons, 2 × 10,000, half in both", "id", [persons(10_000, seed=s) for s in SEEDS]),
        ("persons, 2 × 100,000, half in both", "id", [persons(100_000, seed=s) for s in SEEDS]),
    ):
        fields = proposed(files[0]).fields
        kinds = {field.columns[0]: field.kind for field in fields}
        theirs = mean(splink(people, id_column, kinds).scores.f1 for people in files)
        for encoding in ENCODINGS:
            runs = [ours(people, proposed(people, encoding)) for people in files]
            estimates = [
                f"{mean(getattr(run.linkage, what) for run in runs):.4f}"
                for what in ("precision", "recall")
            ]
            scores = [
                f"{mean(getattr(run.scores, what) for run in runs):.4f}"
                for what in ("precision", "recall", "f1")
            ]
            shown = [name, encoding, str(len(fields))]
            rows.append([*shown, *scores, *estimates, f"{theirs:.4f}"])
    header = [
        "files",
        "the unit gets",
        "fields",
        "precision",
        "recall",
        "F1",
        "estimated precision",
    ]
    header += ["estimated recall", "F1 of Splink 5 on plain text"]
    return (
        "## Persons\n\nRecords of several fields with the schema that `gramlink init` proposes, "
        "untouched but for the encoding: k = 75 for each text field, ε = 1 per owner split over "
        "the text fields, up to "
        f"2 edits. Means of {len(SEEDS)} draws of noise, and of persons or halves. Splink reads "
        "the plain text of the same files and fields, with settings chosen by the kind of "
        "field and without labels (`benchmarks/splink_peer.py`; they were chosen on FEBRL 4 and on "
        "persons of "
        "two seeds); both decide one-to-one at a probability of 0.5. The estimates need no "
        "truth. All ten fields of FEBRL 4 are easy for both; five are less so.\n\n"
        + markdown(header, rows)
    )


def _time() -> str:
    veiled, mine, peer = (_measured(who, LARGE) for who in (*ENCODINGS, "splink"))
    times, veiled_times = (peer["seconds"] / one["seconds"] for one in (mine, veiled))
    whole, veiled_whole = (
        (peer["seconds"] + peer["before"]) / (one["seconds"] + one["before"])
        for one in (mine, veiled)
    )
    rows = [_row("gramlink, veiled", veiled), _row("gramlink, vectors", mine)]
    rows.append(_row("Splink 5", peer))
    header = ["", "before, seconds", "linking, seconds", "peak GB", "precision", "recall", "F1"]
    return (
        f"Two files of {LARGE:,} generated persons, half in both, five fields ({', '.join(FIVE)}), "
        "in the same run. Before linking, both owners of gramlink read, mine and embed, one after "
        "the other (k = 75, ε = 1 per owner, up to 2 edits), and Splink's user chooses settings "
        "from counts in the data; the linkage unit chooses its passes itself. The linkage unit is "
        f"**{veiled_times:.1f} times** as fast as Splink links with veiled records, and "
        f"**{times:.1f} times** with vectors; together with what comes before, gramlink is "
        f"{veiled_whole:.1f} and {whole:.1f} times as fast.\n\n" + markdown(header, rows)
    )


def _row(name: str, run: dict[str, float]) -> list[str]:
    scores = [f"{run[what]:.4f}" for what in ("precision", "recall", "f1")]
    seconds = [f"{run[what]:.1f}" for what in ("before", "seconds")]
    return [name, *seconds, f"{run['gigabytes']:.1f}", *scores]


def _measured(who: str, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.persons", who, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(who: str, size: int) -> dict[str, float]:
    """One run on generated persons of five fields; kernels are compiled before, on fewer."""
    people = _some(persons(size, seed=1), list(FIVE))
    if who == "splink":
        run = splink(people, "id", FIVE)
    else:
        fields = tuple({"name": name, "kind": kind} for name, kind in FIVE.items())
        schema = checked_schema(fields=fields, edits=2, encoding=who)
        ours(_some(persons(2000, seed=1), list(FIVE)), schema)
        run = ours(people, schema)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "before": run.before,
        "seconds": run.seconds,
        "gigabytes": peak,
        "precision": run.scores.precision,
        "recall": run.scores.recall,
        "f1": run.scores.f1,
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
