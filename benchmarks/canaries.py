"""Canaries: records that may be in a tiny data set or not, chosen to be worst cases of a miner."""

from dataclasses import dataclass
from fractions import Fraction

import gramlink as gl
from benchmarks.common import LETTERS
from gramlink.records.schema import checked_schema

EXCESS = Fraction(5, 4)


@dataclass(frozen=True)
class Case:
    """Neighbouring data sets: some records, and canaries that are in by coins of their own."""

    name: str
    pair: str
    schema: gl.Schema
    records: tuple[str, ...]
    canaries: tuple[str, ...]
    watched: tuple[tuple[str, ...], ...]  # for each canary, what is released of its grams
    runs: int
    mutants: int  # runs of the mutant, 0 for none
    loses: Fraction = Fraction(1)  # the share of epsilon that can be lost: a proof may be generous
    parts: tuple[slice, ...] = ()  # the watched numbers by scale, where losses are added up
    hidden: bool = False  # whether a small universe is taken for one too large to write out

    @property
    def excess(self) -> Fraction:
        """How many times too small the mutant's noise is, which loses 5/4 of epsilon."""
        return EXCESS / self.loses


def _schema(
    miner: str, epsilon: int = 2, fields: tuple[str, ...] = ("name",), **settings: object
) -> gl.Schema:
    own = {"alphabet": LETTERS[:5], "length": 8, "punctuation": "keep", "miner": miner} | settings
    return checked_schema(
        fields=tuple({"name": name, **own} for name in fields), epsilon=Fraction(epsilon)
    )


def _watched(*texts: str, fields: tuple[str, ...] = ("name",)) -> tuple[str, ...]:
    return tuple(f"{field}:{text}" for field in fields for text in texts)


def one_length(copies: int, held: int = 6) -> Case:
    """Canaries that each hold so many symbols, of which six may count in full."""
    symbols = "".join(map(chr, range(0x4E00, 0x4E00 + 120)))
    texts = tuple(symbols[i : i + held] for i in range(0, len(symbols), held))
    return Case(
        "levelgram, one length",
        f"{held} symbols {f'of {copies} more records' if copies else 'that nobody else has'}",
        _schema("levelgram", alphabet=symbols, length=held, q_max=1, size=200),
        texts * copies,
        texts,
        tuple(_watched(*text) for text in texts),
        runs=2000,
        mutants=10_000,
        parts=(slice(0, held),) if copies else (),
    )


def three_lengths() -> Case:
    """One canary, whose grams are frequent, and those of one length far more so than the next.

    So no gram's estimate is cut down to that of a part, and all are released.
    """
    text = "ABCDEF"
    marked = f"⊢{text}⊣"
    return Case(
        "levelgram, three lengths",
        "6, 7 and 6 grams of 40 more records or above",
        _schema("levelgram", 8, alphabet=text, size=1000),
        tuple(f"?{symbol}?" for symbol in text) * 100 + (text,) * 40,
        (text,),
        (_watched(*text, *(marked[i : i + q] for q in (2, 3) for i in range(9 - q))),),
        runs=3000,
        mutants=4000,
        parts=(slice(0, 6), slice(6, 13), slice(13, 19)),
    )


def tree(miner: str, height: int, copies: int) -> Case:
    """Five canaries, each along a path of its own."""
    texts = tuple(letter * height for letter in LETTERS[:5])
    levels = range(1, height + 1)
    return Case(
        miner,
        f"a path of {copies} more records" if copies else "a symbol that nobody else has",
        _schema(miner, height=height, q_max=min(2, height)),
        texts * copies,
        texts,
        tuple(_watched(*(text[:level] for level in levels)) for text in texts),
        runs=2000,
        mutants=2000,
    )


def two_fields() -> Case:
    """Canaries that count in two fields, which share epsilon."""
    texts, fields = tuple(LETTERS[:5]), ("given", "surname")
    return Case(
        "tree-linear, two fields",
        "a symbol of 60 more records in both",
        _schema("tree-linear", height=1, q_max=1, fields=fields),
        texts * 60,
        texts,
        tuple(_watched(text, fields=fields) for text in texts),
        runs=2000,
        mutants=2000,
    )


def chosen(fewer: int = 2) -> Case:
    """Which of two grams is chosen, and its count."""
    return Case(
        "fpm",
        f"a gram with {fewer} records fewer than the other",
        _schema("fpm", alphabet="A", q_max=1, size=1),
        ("A",) * 20 + ("?",) * (20 + fewer),
        ("A",),
        (_watched("A"),),
        runs=40_000,
        mutants=120_000,
        # choosing is paid for at twice what it loses where no gram is hidden
        loses=Fraction(3, 4),
    )


def unseen(other: int = 3) -> Case:
    """Whether a gram is chosen that is hidden without the canary, and written out with it.

    Its number rises by 1, and it wins ties that it lost.
    """
    return Case(
        "fpm, a hidden gram",
        f"a gram that nobody else has, beside one of {other} records",
        _schema("fpm", 3, alphabet="A", q_max=1, size=1),
        ("?",) * other,
        ("A",),
        (_watched("A"),),
        runs=20_000,
        mutants=160_000,
        hidden=True,
    )


def crowded() -> Case:
    """A gram that has to outdo all of a universe of which nearly everything is hidden."""
    text = "AAAAA"
    return Case(
        "fpm, a universe of 17 million",
        "a gram of 28 more records, beside hidden ones",
        _schema("fpm", alphabet=LETTERS + " ", q_min=5, q_max=5, size=1),
        (text,) * 28,
        (text,),
        (_watched(text),),
        runs=10_000,
        mutants=0,
        loses=Fraction(3, 4),
    )


CASES = (
    one_length(20),
    one_length(40, held=12),
    one_length(0),
    three_lengths(),
    tree("tree-linear", 3, 60),
    tree("tree-linear", 1, 0),
    tree("tree-exponential", 3, 60),
    tree("tree-adaptive", 3, 60),
    tree("tree-adaptive", 3, 15),
    tree("tree-hybrid", 4, 60),
    tree("tree-hybrid", 4, 14),
    two_fields(),
    chosen(),
    unseen(),
    crowded(),
)
