"""What `linkage.toml` can choose by name: where each choice's code is, and what it costs.

A line in a table here registers a choice. The schema knows the names and what follows from them
before any record is read; the code, in packages above this one, is imported when it is first
called.

>>> POLICIES["paper"].home
'gramlink.embedding.thresholds:paper'
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BeforeValidator


@dataclass(frozen=True)
class Choice:
    """A function or value that a setting names: `module:name`."""

    home: str

    @cached_property
    def value(self) -> Any:
        """The function or value itself."""
        module, _, name = self.home.partition(":")
        return getattr(import_module(module), name)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return self.value(*arguments)


@dataclass(frozen=True)
class Miner(Choice):
    """A miner, which finds the frequent grams of a column; `marks` says whether it can mark ends,
    and `tree` whether it keeps the prefix tree that it reads the grams off.

    Privacy: what reads no record costs nothing; what reads records and is not private has no
    epsilon at all. The linkage unit could know the grams of an experiment's miner, or what they
    give away has no bound.
    """

    reads_records: bool = True
    private: bool = True
    experimental: bool = False
    marks: bool = False
    tree: bool = False

    @property
    def noisy(self) -> bool:
        """Whether it draws noise, and needs a budget for it."""
        return self.reads_records and self.private


MINERS: dict[str, Miner] = {
    "levelgram": Miner("gramlink.mining.levelgram:levelgram", marks=True),
    "tree-linear": Miner("gramlink.mining.prefix_tree:prefix_tree", tree=True),
    "tree-exponential": Miner("gramlink.mining.prefix_tree:prefix_tree", tree=True),
    "tree-adaptive": Miner("gramlink.mining.prefix_tree:prefix_tree", tree=True),
    "tree-hybrid": Miner("gramlink.mining.prefix_tree:prefix_tree", tree=True),
    "fpm": Miner("gramlink.mining.fpm:fpm"),
    "public": Miner("gramlink.mining.unaccounted:public", reads_records=False),
    "random": Miner(
        "gramlink.mining.unaccounted:random_grams", reads_records=False, experimental=True
    ),
    "exact": Miner(
        "gramlink.mining.unaccounted:exact", private=False, experimental=True, marks=True
    ),
}

POLICIES: dict[str, Choice] = {
    "calibrated": Choice("gramlink.embedding.thresholds:calibrated"),
    "worst-case": Choice("gramlink.embedding.thresholds:worst_case"),
    "paper": Choice("gramlink.embedding.thresholds:paper"),
    "global": Choice("gramlink.embedding.thresholds:global_bound"),
    "global-paper": Choice("gramlink.embedding.thresholds:global_paper"),
}

ENCODINGS: dict[str, Choice] = {
    "vectors": Choice("gramlink.encodings.vectors:VectorRecords"),
    "veiled": Choice("gramlink.encodings.veil.veiled:VeiledRecords"),
}
VECTORS = "vectors"  # what an owner compares its own records by; the default for the linkage unit

RULES: dict[str, Choice] = {
    "one-to-one": Choice("gramlink.deciding.rules:ONE_TO_ONE"),
    "best-per-left": Choice("gramlink.deciding.rules:BEST_PER_LEFT"),
    "best-per-right": Choice("gramlink.deciding.rules:BEST_PER_RIGHT"),
    "all": Choice("gramlink.deciding.rules:ALL"),
}


def listed(names: Iterable[object]) -> str:
    """The names of choices, as a message or an option's help lists them.

    >>> listed(RULES)
    'one-to-one, best-per-left, best-per-right or all'
    """
    *most, last = map(str, names)
    return f"{', '.join(most)} or {last}" if most else last


def one_of(choices: Mapping[str, Choice]) -> "BeforeValidator":
    """Refuse a name that is not one of the choices, and list those that are."""
    from pydantic import BeforeValidator  # not for `--help`

    def checked(name: object) -> object:
        if not isinstance(name, str) or name not in choices:
            raise ValueError(f"Input should be {listed(map(repr, choices))}")
        return name

    return BeforeValidator(checked)
