"""Precision, recall and F1 where the truth is known."""

from statistics import mean

import numpy as np

import gramlink as gl
from benchmarks.common import LETTERS, markdown, names, schema
from gramlink.baselines.edit_distance import within_edits
from gramlink.links import Links
from gramlink.thresholds import thresholds

ALPHABET = LETTERS + " "
SEEDS = (1, 2, 3)
COUNT = 5000
RULES = (("calibrated", "one-to-one"), ("worst-case", "one-to-one"), ("paper", "all"))


def _f1(links: Links, order: np.ndarray) -> float:
    truth = ((str(i), str(j)) for j, i in enumerate(order))
    return gl.score(zip(links.left, links.right, strict=True), truth).f1


def _row(left: gl.Strings, edits: int, seed: int) -> tuple[list[float], list[float]]:
    """F1 of each rule and of edit distance on plain text, and bits that thresholds tell."""
    typed = gl.corrupt(left, edits, seed=seed)
    order = np.random.default_rng(seed).permutation(len(left))
    right = typed.take(order)
    ids = [str(i) for i in range(len(left))]
    settings = schema(ALPHABET, edits=edits, epsilon=1)
    (field,) = settings.fields
    mined = [gl.mine_field(s, field, gl.Budget(settings.epsilon)) for s in (left, right)]
    base = gl.merge(mined, field.size)
    x, y = gl.embed(left, base), gl.embed(right, base)
    scores = []
    for policy, rule in RULES:
        chosen = settings.model_copy(update={"threshold": policy})
        limits = thresholds(left, base, field, chosen)[:, -1]
        sent = limits if policy == "paper" else gl.coarse(limits, base.scale)
        scores.append(_f1(gl.decide(gl.match(x, sent, y), ids, ids, rule), order))
        if policy == "calibrated":
            bits = [_entropy(limits), _entropy(sent)]
    plain = gl.decide(within_edits(left, right, edits), ids, ids, "one-to-one")
    return [*scores, _f1(plain, order)], bits


def _entropy(values: np.ndarray) -> float:
    _, counts = np.unique(values, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def table() -> str:
    """A row for each list and number of edits."""
    rows = []
    for data in ("surnames", "cities"):
        for edits in (1, 2):
            results = []
            for seed in SEEDS:
                left = names(COUNT, seed, ALPHABET)
                if data == "cities":
                    left = gl.Strings.of(gl.cities(), schema(ALPHABET).fields[0].symbols)
                results.append(_row(left, edits, seed))
            scores = [mean(column) for column in zip(*(r[0] for r in results), strict=True)]
            exact, sent = (mean(column) for column in zip(*(r[1] for r in results), strict=True))
            cells = [f"{value:.3f}" for value in scores]
            rows.append([data, str(edits), *cells, f"{exact:.2f}", f"{sent:.2f}"])
    header = ["list", "edits up to", *(f"{policy}, {rule}" for policy, rule in RULES)]
    header += ["edit distance on plain text, one-to-one", "bits, exact", "bits, as sent"]
    return (
        f"## Linkage\n\nF1, mean of {len(SEEDS)} draws of names, typos and noise. N = {COUNT:,}, "
        "k = 75, ε = 1 per owner, levelgram, recall .99. Calibrated and worst-case thresholds are "
        "rounded up to whole squared distances as they are sent; the last two columns give the "
        "entropy of the calibrated ones before and after. Truth is the pair (i, copy of i).\n\n"
        + markdown(header, rows)
    )
