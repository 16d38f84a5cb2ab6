"""The join against its peers, in one run, and how it grows."""

import csv
import gzip
import hashlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from time import perf_counter

import numpy as np

import gramlink as gl
from benchmarks.common import LETTERS, markdown, names, schema
from gramlink.embedding.thresholds import Case
from gramlink.matching.pairs import match_batches

SIZES = (10_000, 50_000, 149_910)
SLICE = 4000  # left records that peers are timed on
FEW = 20_000  # left records that ours is timed on where pairs are too many to wait for
GROWTH = (100_000, 300_000, 1_000_000)
Timed = Callable[[], object]


def _seconds(run: Timed, times: int = 2) -> float:
    taken = []
    for _ in range(times):
        start = perf_counter()
        run()
        taken.append(perf_counter() - start)
    return min(taken)


class Sides:
    """A list of names and a mistyped copy, embedded, with the thresholds of a policy."""

    def __init__(self, left: gl.Strings, edits: int, policy: str, alphabet: str = LETTERS) -> None:
        self.edits, self.left = edits, left
        order = np.random.default_rng(1).permutation(len(left))
        self.right = gl.corrupt(left, edits, seed=1).take(order)
        exact = schema(alphabet, miner="exact").fields[0]
        base = gl.Base(gl.mine_field(left, exact, gl.Budget(0)).grams)
        self.x, self.y = gl.embed(left, base), gl.embed(self.right, base)
        self.limits = np.zeros(len(left), np.int64)
        if edits:
            self.limits = gl.POLICIES[policy](Case(left, base, schema(alphabet).fields[0], edits))
        if policy == "calibrated":
            self.limits = gl.coarse(self.limits, base.scale)

    def join(self, rows: int) -> int:
        """The number of pairs of the first left records."""
        left = gl.Vectors(self.x.counts[:rows], self.x.lengths, self.x.missing[:rows])
        batches = match_batches(left, self.limits[:rows], self.y, most=10**12)
        return sum(map(len, batches))


def faiss(sides: Sides) -> Timed:
    """Range search over all right vectors, with the largest threshold as the radius."""
    import faiss

    index = faiss.IndexFlatL2(len(sides.x.lengths))
    index.add(sides.y.coordinates.astype(np.float32))
    some, limits = sides.x.coordinates[:SLICE].astype(np.float32), sides.limits[:SLICE]
    begins, squared, found = index.range_search(some, float(limits.max()) + 0.5)
    rows = np.repeat(np.arange(SLICE), np.diff(begins.astype(np.int64)))
    near = squared <= limits[rows]
    theirs = set(zip(rows[near].tolist(), found[near].tolist(), strict=True))
    left = gl.Vectors(sides.x.counts[:SLICE], sides.x.lengths, sides.x.missing[:SLICE])
    pairs = gl.match(left, limits, sides.y)
    ours = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    if ours != theirs:
        raise AssertionError("faiss and gramlink find different pairs")
    return lambda: index.range_search(some, float(limits.max()) + 0.5)


def sklearn(sides: Sides) -> Timed:
    """Radius neighbours by brute force, its fastest way at 75 dimensions."""
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(
        radius=float(np.sqrt(sides.limits.max() + 0.5)), algorithm="brute", n_jobs=-1
    ).fit(sides.y.coordinates.astype(np.float32))
    some = sides.x.coordinates[:SLICE].astype(np.float32)
    return lambda: found.radius_neighbors(some)


def rapidfuzz(sides: Sides) -> Timed:
    """Edit distance of all pairs on plain text."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    left, right = list(sides.left)[:SLICE], list(sides.right)
    return lambda: cdist(
        left, right, scorer=Levenshtein.distance, score_cutoff=sides.edits, workers=-1,
        dtype=np.uint8,
    )  # fmt: skip


def anonlink(sides: Sides) -> Timed:
    """Dice coefficients of Bloom filters of 1,024 bits, as it runs by default."""
    from anonlink.candidate_generation import find_candidate_pairs
    from anonlink.similarities import dice_coefficient_accelerated
    from bitarray import bitarray

    def filters(texts: list[str]) -> list[object]:
        result = []
        for text in texts:
            bits = bitarray(1024)
            bits.setall(0)
            padded = f" {text} "
            for place in range(len(padded) - 1):
                digest = hashlib.sha512(padded[place : place + 2].encode()).digest()
                for byte in range(0, 40, 2):
                    bits[int.from_bytes(digest[byte : byte + 2], "big") % 1024] = 1
            result.append(bits)
        return result

    data = [filters(list(sides.left)[:SLICE]), filters(list(sides.right))]
    return lambda: find_candidate_pairs(data, dice_coefficient_accelerated, 0.8)


PEERS = {"faiss": faiss, "scikit-learn": sklearn, "rapidfuzz": rapidfuzz, "anonlink": anonlink}


def _ratios(sides: Sides, seconds: float) -> Iterator[str]:
    for name, peer in PEERS.items():
        try:
            run = peer(sides)
        except ImportError:
            yield f"no {name}"
            continue
        yield f"{_seconds(run) * len(sides.left) / SLICE / seconds:,.0f}"


def cell(count: int, edits: int, policy: str) -> list[str]:
    """One row of the table."""
    sides = Sides(names(None if count == SIZES[-1] else count), edits, policy)
    sides.join(2000)  # compiles
    # at 2 edits pairs are too many to wait for, and for peers to list
    wide = (policy, edits) == ("calibrated", 2)
    rows = FEW if wide and count > FEW else count
    pairs = 0

    def run() -> None:
        nonlocal pairs
        pairs = sides.join(rows)

    seconds = _seconds(run, 3 if rows == count else 1) * count / rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = f"{pairs * count / rows:,.0f}" + ("" if rows == count else " (scaled)")
    speed = f"{count**2 / seconds / 1e9:,.1f}"
    ratios = [""] * len(PEERS) if wide else list(_ratios(sides, seconds))
    shown = [f"{count:,}", str(edits), policy, found, f"{seconds:.2f}", speed, f"{peak:,.0f}"]
    return [*shown, *ratios]


def growth(count: int) -> list[float]:
    """Seconds, pairs and peak megabytes of a join of so many people by two surnames each."""
    packed = (resources.files("gramlink.lab.datasets") / "data" / "surnames.csv.gz").read_bytes()
    with gzip.open(io.BytesIO(packed), "rt", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    listed = np.array([row["name"] for row in rows])
    weights = np.array([float(row["count"]) for row in rows])
    source = np.random.default_rng(count)
    words = source.choice(listed, (count, 2), p=weights / weights.sum())
    alphabet = LETTERS + " "
    texts = gl.Strings.of((f"{a} {b}"[:32] for a, b in words), schema(alphabet).fields[0].spelling)
    sides = Sides(texts, 1, "paper", alphabet)
    sides.join(2000)
    start = perf_counter()
    pairs = sides.join(count)
    seconds = perf_counter() - start
    return [seconds, pairs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]


def pipeline(policy: str) -> float:
    """Seconds from two CSV files of NAMES to links, 1 edit, ε = 1, after compilation."""
    settings = schema(LETTERS, edits=1, epsilon=1, threshold=policy)
    left = names()
    right = gl.corrupt(left, 1, seed=1).take(np.random.default_rng(1).permutation(len(left)))
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, "a.csv"), Path(folder, "b.csv")]
        for file, strings in zip(files, (left, right), strict=True):
            rows = "".join(f"{i},{text}\n" for i, text in enumerate(strings))
            file.write_text("id,name\n" + rows)

        def run() -> None:
            one, other = (gl.read_records(file, settings)["name"] for file in files)
            (field,) = settings.fields
            mined = [gl.mine_field(s, field, gl.Budget(settings.epsilon)) for s in (one, other)]
            base = gl.merge(mined, field.size)
            limits = gl.POLICIES[policy](Case(one, base, field, 1))
            pairs = gl.match(gl.embed(one, base), limits, gl.embed(other, base))
            ids = [str(i) for i in range(len(one))]
            gl.decide(pairs, ids, ids, "one-to-one")

        return _seconds(run)


def _apart(*arguments: str) -> object:
    """What a call of this module prints, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.join", *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table() -> str:
    """All three tables."""
    rows = [
        _apart("cell", str(count), str(edits), policy)
        for policy in ("paper", "calibrated")
        for count in SIZES
        for edits in (0, 1, 2)
        if edits or policy == "paper"
    ]
    header = ["N", "edits", "thresholds", "pairs", "seconds", "10⁹ pairs/s", "peak MB"]
    header += [f"times {peer}" for peer in PEERS]
    grown = [_apart("growth", str(count)) for count in GROWTH]
    exponent = np.polyfit(np.log(GROWTH), np.log([seconds for seconds, _, _ in grown]), 1)[0]
    sides = Sides(names(), 1, "paper")
    plain = _seconds(rapidfuzz(sides)) * len(sides.left) / SLICE
    whole = {policy: _apart("pipeline", policy) for policy in ("paper", "calibrated")}
    return (
        f"## The join\n\nNAMES with a mistyped copy, k = 75 (the true top 75), {os.cpu_count()} "
        "cores for all. Our time is that of the whole join, index included, the best of three; "
        "pairs/s is all N × N pairs divided by it. Peers are timed in the same process on "
        f"{SLICE:,} left records against all right ones, and scaled up; `times` is their time "
        "divided by ours. faiss "
        "(IndexFlatL2.range_search) and scikit-learn (radius_neighbors, brute) search the same "
        "vectors with the largest threshold as the radius; on the slice, the pairs of faiss, cut "
        "to each record's threshold, are checked to equal ours. rapidfuzz (cdist, Levenshtein) "
        "works on "
        "plain text, anonlink (Dice of 1,024-bit filters, its default single thread) on Bloom "
        "filters. Calibrated thresholds are recall .99, rounded up as sent.\n\n"
        + markdown(header, rows)
        + "\n### Growth\n\nTwo surnames a person, drawn by their frequency, with up to 1 edit; "
        f"paper thresholds, k = 75. Fitted exponent of time: {exponent:.2f}.\n\n"
        + markdown(
            ["N × N", "pairs", "seconds", "peak MB"],
            [
                [f"{count:,}", f"{pairs:,.0f}", f"{seconds:.2f}", f"{peak:,.0f}"]
                for count, (seconds, pairs, peak) in zip(GROWTH, grown, strict=True)
            ],
        )
        + "\n### From two CSV files to links\n\nNAMES, 149,910 each, up to 1 edit, ε = 1 per "
        "owner, one-to-one: read, mine, merge, embed, thresholds, match, decide. For "
        f"comparison, rapidfuzz cdist alone takes {plain:.0f} s on the same strings, scaled.\n\n"
        + markdown(
            ["thresholds", "seconds", "times rapidfuzz"],
            [[name, f"{took:.1f}", f"{plain / took:.0f}"] for name, took in whole.items()],
        )
    )


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "cell":
        result: object = cell(int(arguments[0]), int(arguments[1]), arguments[2])
    elif what == "growth":
        result = growth(int(arguments[0]))
    else:
        result = pipeline(arguments[0])
    print(json.dumps(result))
