"""How good links are, where the truth is known, and a report that shows it."""

from gramlink.evaluation.scores import Scores, score

__all__ = ["Scores", "score"]
