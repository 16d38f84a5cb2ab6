"""The rivals side by side, each with the threshold that is best for it in hindsight."""

from collections.abc import Callable
from functools import cache, lru_cache
from time import perf_counter

import numpy as np

from gramlink.deciding.links import kept
from gramlink.errors import InvalidParameter
from gramlink.lab.experiments.data import CITIES, MOST, SMALL, Copies, copies
from gramlink.lab.experiments.experiment import Claim, Experiment, Measured, Row, Table, typos
from gramlink.lab.experiments.linkage import decided, judged, schema_of, scored, shared_base
from gramlink.lab.rivals import bloom, edit_distance, gram_sets, keyed_hash, lipschitz, tfidf
from gramlink.lab.rivals.rival import Rival
from gramlink.lab.scores import Scores
from gramlink.matching.pairs import Pairs
from gramlink.records.proposal.proposal import ALONE
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings

SECRET = b"both owners know this"
MOST_DECIDED = 3 * 10**7  # pairs that a rival may leave to be decided
SHARES = (1, 0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.5)  # of true pairs that a threshold should keep

Encode = Callable[[Copies], tuple[Rival, Rival]]


def by_references(both: Copies, size: int, draw: int) -> Encode:
    """The Lipschitz embedding, with sets chosen for the left strings."""
    references = lipschitz.references(both.left, size, seed=draw)
    return _each(lambda strings: lipschitz.embed(strings, references))


def _each(encode: Callable[[Strings], Rival]) -> Encode:
    return lambda both: (encode(both.left), encode(both.right))


def _agreed(encode: Encode) -> Callable[[Copies, int], Encode]:
    return lambda *_: encode


# how both sides are encoded, by what they agree on for a draw
RIVALS: dict[str, Callable[[Copies, int], Encode]] = {
    "edit distance on plain text": _agreed(_each(edit_distance.Texts)),
    "TF-IDF of bigrams on plain text, cosine": _agreed(
        lambda both: tfidf.encode(both.left, both.right)
    ),
    "hashed bigrams, Jaccard": _agreed(_each(lambda side: gram_sets.encode(side, SECRET))),
    "Bloom filters (CLK), Dice": _agreed(_each(lambda side: bloom.encode(side, SECRET))),
    "Lipschitz (SparseMap), k = 12": lambda both, draw: by_references(both, 12, draw),
    "keyed hashes, exact": _agreed(_each(lambda side: keyed_hash.encode(side, SECRET))),
}
GRAMLINK = "gramlink"
OURS = {  # as `gramlink init` proposes, with fewer grams, and as in the paper
    GRAMLINK: schema_of("levelgram", ALONE, "1", 0, "calibrated", padded=True),
    "gramlink, k = 75": schema_of("levelgram", 75, "1", 0, "calibrated", padded=True),
    "the paper's: k = 75, Algorithm 2, all pairs": schema_of("levelgram", 75, "1", 0, "paper"),
}
METHODS = (*OURS, *RIVALS)
IN_BOTH = ("all", "half")  # of the records


@lru_cache(maxsize=8)
def files(data: str, count: int, in_both: str, edits: int, draw: int) -> Copies:
    """Two lists of so many strings, of which all or half are in both."""
    if in_both == "half":
        return copies(data, -(-3 * count // 2), edits, draw).half(draw)
    return copies(data, count, edits, draw)


def loosest(encode: Encode, both: Copies) -> tuple[int, ...]:
    """Thresholds that keep these shares of the true pairs, the loosest first, and 0."""
    known = np.flatnonzero(both.order >= 0)
    straight = both.left.take(both.order[known]), both.right.take(known)
    left, right = encode(Copies(*straight, np.arange(len(known))))
    distances = np.sort(left.between(right))
    places = [int(np.ceil(share * len(distances))) - 1 for share in SHARES]
    return tuple(dict.fromkeys([*(int(distances[place]) for place in places), 0]))


def best_cut(both: Copies, pairs: Pairs, rule: str) -> tuple[Scores, int]:
    """The scores at the threshold that is best in hindsight, and that threshold.

    Deciding takes the closest pairs first, so at a tighter threshold it keeps the same pairs up
    to that distance.
    """
    count = both.truth
    ids = [str(row) for row in range(len(both.order))]
    chosen = slice(None) if rule == "all" else kept(pairs, ids, ids, rule)
    left, right, squared = pairs.left[chosen], pairs.right[chosen], pairs.squared[chosen]
    if not len(left):
        return Scores(0, count, 0), 0
    order = np.argsort(squared, kind="stable")
    correct = np.cumsum(both.order[right[order]] == left[order])
    cuts = np.flatnonzero(np.diff(squared[order], append=-1))  # the last pair of each distance
    scores = [Scores(int(cut) + 1, count, int(correct[cut])) for cut in cuts]
    best = max(range(len(cuts)), key=lambda place: scores[place].f1)
    return scores[best], int(squared[order[cuts[best]]])


@cache
def _compile(method: str) -> None:
    """Use a method once, so that no compilation is timed."""
    _compared(method, copies("NAMES", 300, 1, 0), 1, 0)


def compared(method: str, data: str, count: int, in_both: str, edits: int, draw: int) -> list[Row]:
    """How good a method's links are, how long it takes, and how much it sends for a record."""
    _compile(method)
    return [_compared(method, files(data, count, in_both, edits, draw), edits, draw)]


def _compared(method: str, both: Copies, edits: int, draw: int) -> Row:
    if method in OURS:
        return _ours(both, edits, OURS[method])
    return _rival(both, RIVALS[method], draw)


def _ours(both: Copies, edits: int, agreed: Schema) -> Row:
    """With the thresholds that the left owner sets, and as the linkage unit decides."""
    started = perf_counter()
    schema = agreed.model_copy(update={"edits": edits})
    base = shared_base(both, schema)
    bytes_each = len(base.grams) + edits  # a count is a byte, and so is a coarse threshold
    try:
        if schema.threshold == "paper":
            scores = decided(both, base, schema, "all")
        else:
            scores = judged(both, base, schema)
    except InvalidParameter:  # too many pairs to decide
        return {"f1": None, "seconds": None, "bytes": bytes_each}
    return {**scored(scores), "seconds": perf_counter() - started, "bytes": bytes_each}


def _rival(both: Copies, agree: Callable[[Copies, int], Encode], draw: int) -> Row:
    """With the threshold that is best in hindsight, and the time it takes with that one.

    It is looked for up to the loosest that leaves no more pairs than can be decided.
    """
    encode = agree(both, draw)
    left, right = encode(both)
    for limit in loosest(encode, both):
        try:
            pairs = left.near(right, limit, MOST_DECIDED)
        except InvalidParameter:
            continue
        _, best = best_cut(both, pairs, "one-to-one")
        del pairs
        return _timed(both, agree, draw, best)
    return {"f1": None, "seconds": None, "bytes": left.bytes_each}


def _timed(both: Copies, agree: Callable[[Copies, int], Encode], draw: int, limit: int) -> Row:
    started = perf_counter()
    left, right = agree(both, draw)(both)
    scores = both.scores(left.near(right, limit, MOST_DECIDED), "one-to-one")
    seconds = perf_counter() - started
    return {**scored(scores), "seconds": seconds, "bytes": left.bytes_each}


def _beside_rivals(m: Measured) -> tuple[bool | None, str]:
    parts = []
    files = [
        {"data": data, "count": count, "in_both": in_both}
        for data in m.values("data")
        for count in m.values("count", data=data)
        for in_both in m.values("in_both", data=data, count=count)
    ]
    for one in files:
        for edits in [edits for edits in m.values("edits", **one) if edits]:
            f1 = {
                method: m.mean("f1", method=method, edits=edits, **one)
                for method in (GRAMLINK, *RIVALS)
                if m.where(method=method, edits=edits, **one).measured("f1")
            }
            best = max(RIVALS, key=lambda method: f1.get(method, 0.0))
            parts.append(
                f"{one['data']}, N = {one['count']:,}, {one['in_both']} in both, {typos(edits)}: "
                f"gramlink {f1.get(GRAMLINK, 0.0):.3f}, {best} {f1.get(best, 0.0):.3f}"
            )
    return None, "gramlink and the best of the rivals. " + "; ".join(parts) + "."


RIVAL_TABLE = Experiment(
    name="rivals",
    where="ours",
    title="all rivals side by side",
    about="F1, time and size, where all records are in both files or half of them are. Every rival "
    "is decided one-to-one at the threshold that is best for it in hindsight, which nobody can "
    "know beforehand. gramlink is as `gramlink init` proposes it (levelgram, ε = 1 per owner, up "
    "to 1,000 grams with marks at the ends, recall 0.99, decided jointly), and knows nothing but "
    "how many typos to allow; but the constants of its joint deciding were chosen on these draws. "
    "Seconds: agreeing on a base where there is one, encoding both "
    "sides, setting thresholds, finding all near pairs and deciding; compiled, on all cores, with "
    "nothing else running and compilation not counted. Bytes: what is sent for a record, without "
    "its id and uncompressed. At 149,910 records the best threshold is looked for only among "
    "those that leave at most 3 × 10⁷ pairs; – means that calibrated thresholds leave more than "
    "the 10⁸ that gramlink decides.",
    measure=compared,
    shown=(
        Table(
            ("data", "count", "in_both", "method"), ("f1", "seconds"), ("edits",), once=("bytes",)
        ),
    ),
    full=(
        {"method": METHODS, "data": ("NAMES",), "count": (SMALL,), "in_both": IN_BOTH,
         "edits": (0, 1, 2), "draw": range(3)},
        {"method": METHODS, "data": ("CITIES",), "count": (CITIES,), "in_both": ("all",),
         "edits": (0, 1, 2), "draw": range(3)},
        {"method": METHODS, "data": ("CITIES",), "count": (2 * CITIES // 3,), "in_both": ("half",),
         "edits": (0, 1, 2), "draw": range(3)},
        {"method": METHODS, "data": ("NAMES",), "count": (MOST,), "in_both": ("all",),
         "edits": (0, 1, 2), "draw": (0,)},
    ),
    quick=(
        {"method": METHODS, "data": ("NAMES", "CITIES"), "count": (2000,), "in_both": IN_BOTH,
         "edits": (0, 1, 2), "draw": (0,)},
    ),
    tiny=(
        {"method": METHODS, "data": ("NAMES",), "count": (60,), "in_both": IN_BOTH,
         "edits": (2,), "draw": (0,)},
    ),
    claims=(
        Claim(
            "one field, beside all rivals",
            "",
            _beside_rivals,
            "Rare grams tell names apart, so a base of as many grams as the records make known "
            "links best; what is left is decided by how near pairs are, how many neighbours a "
            "name has by chance, and that nobody is linked twice. No figure here says what a "
            "method gives away: hashed bigrams and Bloom filters show the linkage unit how "
            "frequent every gram is, and so do we, of the grams of the base.",
        ),
    ),
    alone=True,
)  # fmt: skip
