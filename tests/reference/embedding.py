"""What embedding means: paper's section 4.3, and the same in whole numbers."""

import math
from collections.abc import Sequence
from fractions import Fraction


def marked(text: str) -> str:
    """A text between the marks that say where it starts and ends; a missing one stays so."""
    return f"\u22a2{text}\u22a3" if text else ""


def occurrences(text: str, gram: str) -> int:
    """How often a gram stands in a text between marks, overlapping occurrences included."""
    text = marked(text)
    starts = range(len(text) - len(gram) + 1)
    return sum(text[start : start + len(gram)] == gram for start in starts)


def coordinates(text: str, base: Sequence[str]) -> list[Fraction]:
    """The paper's vector: count / |g| for each gram of the base."""
    return [Fraction(occurrences(text, gram), len(gram)) for gram in base]


def scale(base: Sequence[str]) -> int:
    """What makes every coordinate whole."""
    return math.lcm(*(len(gram) for gram in base))


def scaled(text: str, base: Sequence[str]) -> list[int]:
    """The paper's vector times the scale."""
    unit = scale(base)
    return [occurrences(text, gram) * (unit // len(gram)) for gram in base]


def squared_distance(one: str, other: str, base: Sequence[str]) -> int:
    """The squared distance of two texts in units of 1 / scale²."""
    vectors = zip(scaled(one, base), scaled(other, base), strict=True)
    return sum((x - y) ** 2 for x, y in vectors)
