"""Precision, recall and F1 of links against the truth."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts of links, true pairs and links that are true pairs, and the ratios of them.

    >>> scores = Scores(links=4, truth=5, correct=3)
    >>> scores.precision, scores.recall, round(scores.f1, 3)
    (0.75, 0.6, 0.667)
    """

    links: int
    truth: int
    correct: int

    @property
    def precision(self) -> float:
        """The share of the links that are true; 0 if there are none."""
        return self.correct / self.links if self.links else 0.0

    @property
    def recall(self) -> float:
        """The share of the true pairs that are linked; 0 if there are none."""
        return self.correct / self.truth if self.truth else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.links + self.truth
        return 2 * self.correct / both if both else 0.0


def score(links: Iterable[tuple[str, str]], truth: Iterable[tuple[str, str]]) -> Scores:
    """Compare pairs of ids with the true pairs; a pair given twice counts once.

    >>> score([("a", "x"), ("b", "y")], [("a", "x"), ("b", "z"), ("c", "y")])
    Scores(links=2, truth=3, correct=1)
    """
    made, true = set(links), set(truth)
    return Scores(len(made), len(true), len(made & true))
