"""Slips of the finger: an edit in each of many texts, a wrong digit in each of many dates."""

from datetime import date
from string import ascii_uppercase, digits

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.embedding.typos import keyboard, uniform
from gramlink.lab.datasets.frequencies import Ints

_LETTERS = ascii_uppercase + " "
_INSERT, _DELETE, _SUBSTITUTE, _TRANSPOSE = range(4)
_DIGITS_OF_A_DATE = np.array([0, 1, 2, 3, 5, 6, 8, 9])  # YYYY-MM-DD

Symbols = npt.NDArray[np.uint8]  # one text a row, as ASCII, padded with zeros


def _choices(letters: Ints, numerals: Ints) -> Ints:
    """What a symbol turns into, by its ASCII code: how many choices there are, then the choices."""
    table = np.zeros((128, 1 + len(_LETTERS)), np.int64)
    for symbols, rows in ((_LETTERS, letters), (digits, numerals)):
        for symbol, (count, *codes) in zip(symbols, rows.tolist(), strict=False):
            table[ord(symbol), 0] = count
            table[ord(symbol), 1 : 1 + count] = [ord(symbols[code]) for code in codes[:count]]
    return table


_KEYS, _NUMERALS = keyboard(_LETTERS), uniform(digits + "*")
_SUBSTITUTES = _choices(_KEYS.substitutes, _NUMERALS.substitutes)
_INSERTIONS = _choices(_KEYS.insertions, _NUMERALS.insertions)


def mistype(texts: pl.Series, random: np.random.Generator) -> pl.Series:
    """Each text with one edit: an insertion, deletion, substitution or transposition.

    Letters turn into neighbours on the keyboard or letters that look alike, digits into any
    other digit. Texts consist of letters A to Z, digits and spaces, and never become empty.

    >>> mistype(pl.Series(["JOHNSON", "90210"]), np.random.default_rng(1)).to_list()
    ['JOHSNON', '90120']
    """
    symbols, lengths = _symbols(texts)
    rows = np.arange(len(symbols))
    place = random.integers(0, lengths)
    here, after = symbols[rows, place], symbols[rows, place + 1]
    edit = random.integers(0, 4, len(symbols))
    # what would change nothing, or leave nothing
    edit[(edit == _TRANSPOSE) & ((after == 0) | (after == here))] = _SUBSTITUTE
    edit[(edit == _DELETE) & (lengths == 1)] = _SUBSTITUTE
    inserts, deletes, substitutes, transposes = (np.flatnonzero(edit == kind) for kind in range(4))

    columns = np.arange(symbols.shape[1])
    source = np.tile(columns, (len(symbols), 1))
    source[inserts] -= columns > place[inserts, None]  # makes room by repeating a symbol
    source[deletes] += columns >= place[deletes, None]
    typed = np.take_along_axis(symbols, np.minimum(source, columns[-1]), axis=1)

    before_or_after = place[inserts] + random.integers(0, 2, len(inserts))
    typed[inserts, before_or_after] = _choose(_INSERTIONS, here[inserts], random)
    typed[substitutes, place[substitutes]] = _choose(_SUBSTITUTES, here[substitutes], random)
    typed[transposes, place[transposes]] = after[transposes]
    typed[transposes, place[transposes] + 1] = here[transposes]
    return _texts(typed).str.strip_chars(" ")


def misdate(
    dates: pl.Series, earliest: date, latest: date, random: np.random.Generator
) -> pl.Series:
    """Each date, as YYYY-MM-DD, with one wrong digit that makes it another date within limits.

    >>> limits = date(1900, 1, 1), date(2024, 12, 31)
    >>> misdate(pl.Series(["1984-02-29"]), *limits, np.random.default_rng(1)).to_list()
    ['1984-05-29']
    """
    symbols, _ = _symbols(dates)
    wrong = symbols.copy()
    left = np.arange(len(symbols))
    while len(left):  # until a slip is a date; every date has such slips
        trial, rows = symbols[left], np.arange(len(left))
        place = random.choice(_DIGITS_OF_A_DATE, len(left))
        trial[rows, place] = _choose(_SUBSTITUTES, trial[rows, place], random)
        slip = _texts(trial).str.to_date("%Y-%m-%d", strict=False)
        valid = slip.is_between(earliest, latest).fill_null(value=False).to_numpy()
        wrong[left[valid]] = trial[valid]
        left = left[~valid]
    return _texts(wrong)


def _choose(table: Ints, symbols: Symbols, random: np.random.Generator) -> Ints:
    chosen: Ints = table[symbols, 1 + random.integers(0, table[symbols, 0])]
    return chosen


def _symbols(texts: pl.Series) -> tuple[Symbols, Ints]:
    """The texts as rows with at least one zero at the end, and their lengths."""
    packed = np.array(texts.to_list(), np.bytes_)
    width = packed.itemsize + 1
    symbols = packed.astype(f"S{width}").view(np.uint8).reshape(len(packed), width)
    return symbols, np.count_nonzero(symbols, axis=1)


def _texts(symbols: Symbols) -> pl.Series:
    packed = np.ascontiguousarray(symbols).view(f"S{symbols.shape[1]}").ravel()
    return pl.Series(packed.astype(np.str_).tolist(), dtype=pl.String)
