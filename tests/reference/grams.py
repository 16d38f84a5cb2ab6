"""What grams are, and which come first, on plain strings."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product


def every(symbols: str, q: int) -> list[str]:
    """All grams of length q, in the order of the symbols."""
    return ["".join(gram) for gram in product(symbols, repeat=q)]


def distinct(text: str, q: int) -> set[str]:
    """The grams of length q that a text holds."""
    return {text[start : start + q] for start in range(len(text) - q + 1)}


def frequency(gram: str, texts: Iterable[str]) -> int:
    """How many texts hold the gram; a text counts once, however often it holds it."""
    return sum(gram in text for text in texts)


def ranked(estimates: Mapping[str, Fraction], size: int) -> dict[str, Fraction]:
    """The largest estimates above 0; ties: shorter first, then alphabetical."""
    positive = [gram for gram in estimates if estimates[gram] > 0]
    first = sorted(positive, key=lambda gram: (-estimates[gram], len(gram), gram))
    return {gram: estimates[gram] for gram in first[:size]}
