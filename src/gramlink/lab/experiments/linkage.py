"""Mine, merge, embed, set thresholds, match and decide: one linkage, as users run it."""

from fractions import Fraction

import numpy as np

from gramlink.deciding.linkage import decide_near
from gramlink.embedding.base import Base, merge
from gramlink.embedding.thresholds import coarse, thresholds
from gramlink.embedding.vectors import embed
from gramlink.errors import InvalidBase
from gramlink.lab.experiments.data import CITIES, MOST, SMALL, Copies, copies
from gramlink.lab.experiments.experiment import Measured, Row
from gramlink.lab.scores import Scores
from gramlink.matching.pairs import match, match_batches
from gramlink.mining.estimates import Estimates
from gramlink.mining.miners import EXPERIMENTAL, mine_field
from gramlink.mining.unaccounted import random_grams
from gramlink.privacy.budget import Budget
from gramlink.records.fields import Field
from gramlink.records.schema import Schema, checked_schema
from gramlink.records.strings import Strings

# a list, how many records are linked, and how many the owners mined: the paper does not say
FILES = (("NAMES", SMALL, SMALL), ("NAMES", SMALL, MOST), ("CITIES", CITIES, CITIES))


def files_of(m: Measured) -> list[tuple[str, Measured]]:
    """Each list and how many records were mined, in words, with its rows."""
    return [
        (f"{data}, mined on {mined_on:,}", m.where(data=data, mined_on=mined_on))
        for data in m.values("data")
        for mined_on in m.values("mined_on", data=data)
    ]


def schema_of(
    miner: str, size: int, epsilon: str, edits: int = 0, threshold: str = "paper",
    padded: bool = False,
) -> Schema:  # fmt: skip
    """The schema of one field; if padded, its grams say where strings start and end."""
    field = {"name": "name", "miner": miner, "size": size, "marks": padded}
    return checked_schema(fields=(field,), epsilon=epsilon, edits=edits, threshold=threshold)


def mined(strings: Strings, field: Field, epsilon: Fraction, draw: int = 0) -> Estimates:
    """One owner's grams; random ones are the same for both owners but differ between draws."""
    budget = Budget(Fraction(0) if field.miner in EXPERIMENTAL else epsilon)
    if field.miner == "random":
        return random_grams(strings, field, budget, seed=draw)
    return mine_field(strings, field, budget)


def shared_base(both: Copies, schema: Schema, draw: int = 0) -> Base:
    """The base that both owners agree on."""
    (field,) = schema.fields
    sides = (both.left, both.right)
    return merge((mined(side, field, schema.epsilon, draw) for side in sides), field.size)


def decided(both: Copies, base: Base, schema: Schema, rule: str) -> Scores:
    """How good the links are; all thresholds but the paper's are sent rounded up."""
    limits = thresholds(both.left, base, schema.fields[0], schema)[:, -1]
    if schema.threshold != "paper":
        limits = coarse(limits, base.scale)
    sides = embed(both.left, base), limits, embed(both.right, base)
    if rule == "all":
        return both.scores_of_all(match_batches(*sides, most=len(both.order) ** 2))
    return both.scores(match(*sides), rule)


def judged(both: Copies, base: Base, schema: Schema) -> Scores:
    """How good the links are, decided as the linkage unit decides records of one field."""
    limits = coarse(thresholds(both.left, base, schema.fields[0], schema)[:, -1], base.scale)
    left, right = embed(both.left, base), embed(both.right, base)
    ids = [[f"{row:06}" for row in range(len(side))] for side in (left, right)]
    pairs, within = match(left, limits, right), match(left, limits, left)
    decision = schema.decide, schema.accept, schema.review, schema.recall
    lengths = left.counts.sum(axis=1, dtype=np.int64)
    found = decide_near(pairs, within, lengths, ids[0], ids[1], *decision).links
    rows = zip(map(int, found.left), map(int, found.right), strict=True)
    correct = sum(int(both.order[j]) == i for i, j in rows)
    return Scores(links=len(found), truth=both.truth, correct=correct)


def linked(
    data: str, count: int, edits: int, miner: str, epsilon: str, size: int, threshold: str,
    decide: str, draw: int, padded: str = "no", mined_on: int = 0,
) -> list[Row]:  # fmt: skip
    """How good the links are, and how many grams the base has.

    If the owners mined more records than are linked, the linked ones are some of them.
    """
    marks = padded == "yes"
    schema = schema_of(miner, size, epsilon, edits, threshold, marks)
    both = copies(data, mined_on or count, edits, draw)
    try:
        base = shared_base(both, schema, draw)
    except InvalidBase:  # no gram was frequent enough to stand out from the noise
        return [{**scored(Scores(0, count, 0)), "grams": 0}]
    if mined_on > count:
        both = both.some(count, draw)
    scores = decided(both, base, schema, decide)
    return [{**scored(scores), "grams": len(base.grams)}]


def scored(scores: Scores) -> Row:
    """Scores as measured values."""
    return {
        "f1": scores.f1,
        "precision": scores.precision,
        "recall": scores.recall,
        "links": scores.links,
    }
