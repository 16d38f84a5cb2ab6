"""Grams of padded texts, as numbers: what most rivals build on."""

import numpy as np
import numpy.typing as npt

from gramlink.errors import InvalidParameter
from gramlink.records.strings import Strings

Ints = npt.NDArray[np.int64]

LONGEST_GRAM = 7  # so that a gram is a number below 2^63


def padded_grams(strings: Strings, q: int) -> tuple[Ints, Ints]:
    """All grams of q symbols of all texts, as numbers, and the text that each belongs to.

    Texts have q - 1 pads on either side; those without a value have no grams.
    """
    if not 1 <= q <= LONGEST_GRAM:
        raise InvalidParameter(f"a gram has 1 to {LONGEST_GRAM} symbols, not {q}")
    lengths = strings.lengths
    owners = np.repeat(np.arange(len(strings)), lengths)
    base = len(strings.symbols) + 1
    # the q - 1 pads between two texts serve both
    padded = np.full(len(strings.codes) + (len(strings) + 1) * (q - 1), base - 1, np.int64)
    padded[np.arange(len(owners)) + (owners + 1) * (q - 1)] = strings.codes
    grams = np.zeros(len(padded) - q + 1, np.int64)
    for place in range(q):
        grams = grams * base + padded[place : len(padded) - q + 1 + place]
    held = np.where(lengths > 0, lengths + q - 1, 0)
    texts = np.repeat(np.arange(len(strings)), held)
    firsts = strings.offsets[:-1] + np.arange(len(strings)) * (q - 1)
    begins = np.cumsum(held) - held
    return texts, grams[np.arange(len(texts)) - begins[texts] + firsts[texts]]


def spelt(grams: Ints, symbols: str, q: int) -> list[str]:
    """The symbols of each gram; the last of `symbols` stands for the pad."""
    points = np.frombuffer(symbols.encode("utf-32-le"), np.uint32)
    powers = len(points) ** np.arange(q - 1, -1, -1)
    text = points[grams[:, None] // powers % len(points)].tobytes().decode("utf-32-le")
    return [text[place : place + q] for place in range(0, len(text), q)]
