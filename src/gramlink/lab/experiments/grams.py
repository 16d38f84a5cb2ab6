"""Figures 5 and 6: which grams make a good base, how many, and one threshold for all."""

import numpy as np

from gramlink.embedding.vectors import embed
from gramlink.lab.experiments.data import CITIES, SMALL, copies
from gramlink.lab.experiments.experiment import (
    Claim,
    Experiment,
    Grid,
    Measured,
    Plot,
    Row,
    agreement,
    typos,
)
from gramlink.lab.experiments.linkage import FILES, files_of, linked, schema_of, scored, shared_base
from gramlink.lab.scores import Scores
from gramlink.matching.pairs import match_batches

LARGEST = 6  # the paper's q_max·ed, for 2 edits
STEPS = 4  # thresholds per unit of distance


def by_global_threshold(
    data: str, count: int, edits: int, miner: str, size: int, draw: int
) -> list[Row]:
    """F1 for one threshold for all records, and all pairs within it."""
    both = copies(data, count, edits, draw)
    base = shared_base(both, schema_of(miner, size, "1", edits), draw)
    thresholds = np.arange(LARGEST * STEPS + 1) / STEPS
    squared = ((thresholds * base.scale) ** 2).astype(np.int64)
    links, correct = np.zeros(len(squared), np.int64), np.zeros(len(squared), np.int64)
    limits = np.full(count, squared[-1])
    pairs = match_batches(embed(both.left, base), limits, embed(both.right, base), most=count**2)
    for batch in pairs:
        # a pair lies within the first threshold that reaches it and within all larger ones
        first = np.searchsorted(squared, batch.squared)
        true = both.order[batch.right] == batch.left
        links += np.bincount(first, minlength=len(squared))
        correct += np.bincount(first[true], minlength=len(squared))
    counts = zip(np.cumsum(links).tolist(), np.cumsum(correct).tolist(), strict=True)
    return [
        {"threshold": float(threshold), **scored(Scores(made, count, right))}
        for threshold, (made, right) in zip(thresholds, counts, strict=True)
    ]


def _best(m: Measured, **settings: str | int) -> tuple[float, float]:
    """The best F1, and at which threshold."""
    curve = m.curve("threshold", "f1", **settings)
    at = max(curve, key=lambda threshold: curve[threshold])
    return curve[at], at


def _frequent_against_random(m: Measured) -> tuple[bool | None, str]:
    parts, gains = [], []
    for edits in m.values("edits"):
        frequent, at = _best(m, miner="exact", edits=edits)
        other, _ = _best(m, miner="random", edits=edits)
        gains.append(frequent / other - 1)
        parts.append(
            f"{typos(edits)}: {frequent:.2f} at Th = {at:g} against {other:.2f}, {gains[-1]:+.0%}"
        )
    within = [0.195 <= gain < 0.605 for gain in gains]
    return agreement(within), "Best F1, frequent against random grams. " + "; ".join(parts) + "."


def _bound_is_too_large(m: Measured) -> tuple[bool | None, str]:
    best, at = _best(m, miner="exact", edits=2)
    there = m.mean("f1", miner="exact", edits=2, threshold=float(LARGEST))
    said = f"2 edits: F1 is {best:.2f} at Th = {at:g} and {there:.3f} at Th = 6."
    return there < best / 2, said


GLOBAL_THRESHOLD = Experiment(
    name="global-threshold",
    where="Figure 5 (UtilFreq)",
    title="frequent and random grams, one threshold for all",
    about="F1 against a global threshold in the embedded space. Left: the true top k grams "
    "(exact, no privacy); right: random grams. All pairs within the threshold are links.",
    measure=by_global_threshold,
    shown=(
        Plot(
            x="threshold", y="f1", series="edits", panels=("data", "count", "miner"),
            x_label="global threshold Th (distance in the embedded space)", y_label="F1",
        ),
    ),
    full=(
        {"data": ("NAMES",), "count": (SMALL,), "edits": (0, 1, 2), "miner": ("exact", "random"),
         "size": (100,), "draw": range(5)},
    ),
    quick=(
        {"data": ("NAMES",), "count": (1000,), "edits": (0, 1, 2), "miner": ("exact", "random"),
         "size": (100,), "draw": range(2)},
    ),
    tiny=(
        {"data": ("NAMES",), "count": (100,), "edits": (0, 2), "miner": ("exact", "random"),
         "size": (30,), "draw": (0,)},
    ),
    claims=(
        Claim(
            "frequent grams beat random ones by 20 % to 60 %",
            "Frequent grams lead to a considerable improvement in the utility with respect to "
            "random grams (from 20 % to 60 %).",
            _frequent_against_random,
            "Random grams of two and three letters hardly occur in names, so most coordinates "
            "are 0 in every record. Exact matching suffers least: what is left still tells most "
            "names apart.",
        ),
        Claim(
            "the bound q_max·ed = 6 is too large",
            "By the upper bound Th ≤ q_max·ed = 6, which is too large to provide good utility.",
            _bound_is_too_large,
            "For grams of 1 to 3 symbols an edit moves a string by at most 2.198, not 3, and "
            "most move it far less. For grams of one length it is not a bound: see the errors in "
            "print, below.",
        ),
    ),
)  # fmt: skip


def _best_size(m: Measured) -> tuple[bool | None, str]:
    parts, verdicts = [], []
    for name, rows in files_of(m.where(threshold="paper")):
        shown = []
        for miner in ("exact", "levelgram", "tree-hybrid"):
            curve = rows.curve("size", "f1", miner=miner)
            best = max(curve, key=lambda size: curve[size])
            reached = max(f1 for size, f1 in curve.items() if 50 <= size <= 75)
            verdicts.append(reached >= curve[best] - 0.005)
            others = f"{curve[75]:.3f} at 75, {curve[max(curve)]:.3f} at {max(curve)}"
            shown.append(f"{miner} {curve[best]:.3f} at k = {best} ({others})")
        parts.append(f"{name}: " + ", ".join(shown))
    return agreement(verdicts), "The best F1. " + "; ".join(parts) + "."


def _size_with_ours(m: Measured) -> tuple[bool | None, str]:
    parts = []
    for name, rows in files_of(m.where(threshold="calibrated", miner="exact")):
        curve = rows.curve("size", "f1")
        first, best = min(curve), max(curve, key=lambda size: curve[size])
        parts.append(f"{name}: {curve[first]:.3f} at k = {first}, {curve[best]:.3f} at k = {best}")
    said = "The smallest and the best k; calibrated, one-to-one, exact grams. "
    return None, said + "; ".join(parts) + "."


_SIZED: Grid = {"edits": (1,), "epsilon": ("0.1",)}
_RULES: tuple[Grid, ...] = ({"threshold": ("paper",), "decide": ("all",)},
          {"threshold": ("calibrated",), "decide": ("one-to-one",)})  # fmt: skip
_MINERS = ("exact", "levelgram", "tree-linear", "tree-hybrid", "fpm")
_SWEPT = (10, 20, 30, 40, 50, 60, 75, 100, 150, 200, 300)

BASE_SIZE = Experiment(
    name="base-size",
    where="Figure 6 (UtilDim)",
    title="impact of the base size, 1 edit",
    about="F1 against the number k of grams in the base, up to 1 edit. Above, as in the "
    "paper: thresholds by Algorithm 2, all pairs. Below, ours: calibrated thresholds, one-to-one.",
    measure=linked,
    shown=(
        Plot(
            x="size", y="f1", series="miner",
            panels=("threshold", "decide", "data", "mined_on", "count"),
            x_label="k (grams in the base)", y_label="F1",
        ),
    ),
    full=tuple(
        {"data": (data,), "count": (count,), "mined_on": (mined_on,), "miner": _MINERS,
         "size": _SWEPT, **_SIZED, **rule, "draw": range(3)}
        for rule in _RULES for data, count, mined_on in FILES
    ),
    quick=tuple(
        {"data": (data,), "count": (2000,), "mined_on": (mined_on,),
         "miner": ("exact", "levelgram", "tree-hybrid"), "size": (20, 75, 150), **_SIZED,
         **rule, "draw": range(2)}
        for rule in _RULES for data, mined_on in (("NAMES", 50_000), ("CITIES", CITIES))
    ),
    tiny=tuple(
        {"data": (data,), "count": (120,), "mined_on": (200,),
         "miner": ("exact", "levelgram", "tree-hybrid"),
         "size": (50, 75), "edits": (1,), "epsilon": ("1",), **rule, "draw": (0,)}
        for rule in _RULES for data in ("NAMES", "CITIES")
    ),
    claims=(
        Claim(
            "the best k is 50 to 75",
            "A base of 50 to 75 grams provides better performance for both datasets. After that, "
            "a further increase of the dimensionality degenerates the utility.",
            _best_size,
            "Algorithm 2's threshold grows with every gram of the base that a string has, and "
            "keeps more wrong pairs, so F1 falls in the end, as the paper says. But the curves "
            "are flat from k = 50 on, and being within half a point of F1 is all that our rule "
            "asks for. At ε = 0.1 the paper's miners find few of the right grams in 5,000 "
            "records, whatever k is.",
        ),
        Claim(
            "with one-to-one deciding",
            "",
            _size_with_ours,
            "Where each record is linked once, wrong pairs within the threshold matter less than "
            "a true pair that is not the nearest, and more grams tell more records apart.",
        ),
    ),
)  # fmt: skip
