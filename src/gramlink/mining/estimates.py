"""Estimates: what a miner returns."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from gramlink.mining.prefixes import Tree

GRID = 1024  # counts are multiples of 1/1024: exact in JSON and in sums


@dataclass(frozen=True, slots=True)
class Estimates:
    """Grams with their estimated counts, the most frequent first.

    Privacy: a private miner's estimates may be shown to anyone; what they cost is in the
    ledger. The prefix tree they came from, if any, is covered by the same cost.
    """

    grams: tuple[str, ...]
    counts: tuple[Fraction, ...]
    tree: Tree | None = None


def top(
    estimates: Iterable[tuple[str, Fraction]], size: int, tree: Tree | None = None
) -> Estimates:
    """The `size` largest estimates above 0; ties: shorter first, then alphabetical.

    >>> top([("B", Fraction(2)), ("AA", Fraction(2)), ("C", Fraction(0)), ("A", Fraction(2))], 3)
    Estimates(grams=('A', 'B', 'AA'), counts=(Fraction(2, 1), Fraction(2, 1), Fraction(2, 1)), tree=None)
    """  # noqa: E501
    ranked = sorted(
        ((gram, count) for gram, count in estimates if count > 0),
        key=lambda estimate: (-estimate[1], len(estimate[0]), estimate[0]),
    )[:size]
    return Estimates(tuple(g for g, _ in ranked), tuple(c for _, c in ranked), tree)
