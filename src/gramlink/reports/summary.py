"""What a linkage did and found, in lines of text."""

from collections.abc import Iterator

from gramlink.deciding.linkage import Linkage
from gramlink.deciding.explanation import Explanation
from gramlink.scoring.model import Model


def pass_lines(linkage: Linkage) -> Iterator[str]:
    """Each pass with the pairs it found, and how many no earlier pass found.

    Nothing for records of one field, which need no passes.
    """
    if linkage.passes:
        yield f"{'pass':<52} {'found':>12} {'added':>12}"
    for one, found, added in linkage.passes:
        yield f"{one!s:<52} {found:>12,} {added:>12,}"


def weight_lines(model: Model) -> Iterator[str]:
    """What each level of each field adds to a match weight; nothing if there is no match."""
    if model.prior * model.pairs < 1:
        return
    levels = max(model.levels, key=len).names
    yield f"{'field':<20} " + " ".join(f"{level:>9}" for level in levels)
    for name, weights in model.weights.items():
        cells = (f"{weights[level]:>+9.1f}" if level in weights else " " * 9 for level in levels)
        yield f"{name:<20} " + " ".join(cells)


def estimate_lines(linkage: Linkage) -> Iterator[str]:
    """Precision and recall, estimated without the truth, and what looks odd."""
    if linkage.precision is not None and linkage.recall is not None:
        yield f"estimated precision {linkage.precision:.4f}, recall {linkage.recall:.4f}"
    for warning in linkage.warnings:
        yield f"warning: {warning}"


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """The reasons for a pair, one per line, and their sum."""
    yield f"{'field':<20} {'level':<10} {'weight':>8} {'rarity':>8}"
    for reason in explanation.reasons:
        rarity = f"{reason.rarity:>+8.1f}" if reason.level == "equal" else ""
        yield f"{reason.field:<20} {reason.level:<10} {reason.weight:>+8.1f} {rarity:>8}"
    yield f"{'together':<20} {'':<10} {explanation.together:>+8.1f}"
    yield f"{'match weight':<20} {'':<10} {explanation.weight:>+8.1f}"
    yield f"{'probability':<20} {'':<10} {explanation.probability:>8.4f}"
