"""What a linkage did and found, in lines of text."""

from collections.abc import Iterator

from gramlink.deciding.explanation import Explanation, Reason
from gramlink.deciding.linkage import Linkage
from gramlink.records.levels import Levels
from gramlink.scoring.model import Model

WIDTH = 30  # columns of a waterfall
PASS = 52  # columns of a pass, at least
NOTABLE = 1.0  # bits from which something is worth a word


def pass_lines(linkage: Linkage) -> Iterator[str]:
    """Each pass with the pairs it found, and how many no earlier pass found.

    Nothing for records of one field, which need no passes.
    """
    width = max([PASS, *(len(str(one)) for one, _, _ in linkage.passes)])
    if linkage.passes:
        yield f"{'pass':<{width}} {'found':>12} {'added':>12}"
    for one, found, added in linkage.passes:
        yield f"{one!s:<{width}} {found:>12,} {added:>12,}"


def weight_lines(model: Model) -> Iterator[str]:
    """What each level of each field adds to a match weight; nothing if there is no match."""
    if model.prior * model.pairs < 1:
        return
    partner = max(of.partner for of in model.levels)
    nicknames = any(of.nicknames for of in model.levels)
    levels = Levels(max(of.edits for of in model.levels), partner, nicknames=nicknames).names
    yield f"{'field':<20} " + " ".join(f"{level:>9}" for level in levels)
    for name, weights in model.weights.items():
        cells = (f"{weights[level]:>+z9.1f}" if level in weights else " " * 9 for level in levels)
        yield f"{name:<20} " + " ".join(cells)


def estimate_lines(linkage: Linkage) -> Iterator[str]:
    """Precision and recall, estimated without the truth, and what looks odd."""
    if linkage.precision is not None and linkage.recall is not None:
        yield f"estimated precision {linkage.precision:.4f}, recall {linkage.recall:.4f}"
    for warning in linkage.warnings:
        yield f"warning: {warning}"


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """Why a pair has its probability: in a sentence, then as a sum of bits, one step a line."""
    yield from sentences(explanation)
    yield ""
    steps = [
        *((one.field, _detail(one), one.weight + one.rarity) for one in explanation.reasons),
        ("together", "fields that go together", explanation.together),
        ("relatives", "who look like this", explanation.related),
        ("prior", "of any two records", explanation.prior),
        ("rivals", "other candidates", explanation.rivals),
    ]
    sums = [0.0]
    for _, _, bits in steps:
        sums.append(sums[-1] + bits)
    low, high = min(sums), max(sums)

    def place(bits: float) -> int:
        return round((bits - low) / max(high - low, 1e-9) * (WIDTH - 1))

    yield f"{'':<20} {'':<24} {'bits':>7}"
    for (name, detail, bits), before, after in zip(steps, sums[:-1], sums[1:], strict=True):
        start, stop = sorted((place(before), place(after)))
        bar = " " * start + ("+" if bits >= 0 else "-") * (stop - start + 1)
        yield f"{name:<20} {detail:<24} {bits:>+7.1f}  {bar}".rstrip()
    yield f"{'log odds':<20} {'':<24} {sums[-1]:>+7.1f}"
    yield f"{'match weight':<20} {'without prior and rivals':<24} {explanation.weight:>+7.1f}"
    yield f"{'probability':<20} {'':<24} {explanation.probability:>7.4f}"


def sentences(explanation: Explanation) -> Iterator[str]:
    """The same in words."""
    verdict = "probably" if explanation.probability >= 0.5 else "probably not"
    by_level: dict[str, list[str]] = {}
    for one in explanation.reasons:
        by_level.setdefault(one.level, []).append(one.field)
    told = "; ".join(f"{level}: {', '.join(fields)}" for level, fields in by_level.items())
    yield f"{verdict} one person, with a probability of {explanation.probability:.4f} ({told})"
    if explanation.related < -NOTABLE:
        yield f"relatives often look like this, which takes away {-explanation.related:.1f} bits"
    if explanation.rivals < -NOTABLE:
        yield (
            "another candidate suits one of the two records as well or better, which takes away "
            f"{-explanation.rivals:.1f} bits"
        )


def _detail(reason: Reason) -> str:
    if reason.level != "equal":
        return reason.level
    rare = "rare" if reason.rarity > NOTABLE else "common" if reason.rarity < -NOTABLE else ""
    return f"equal, a {rare} value" if rare else "equal"
