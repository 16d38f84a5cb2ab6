"""The colour and marker of each line: the same in all pictures, and in grey."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any


@dataclass(frozen=True, slots=True)
class Look:
    """How a line is drawn."""

    colour: str
    marker: str
    line: str = "-"
    filled: bool = True


# Okabe and Ito's colours, which the colour-blind can tell apart, and some of Tol's
LOOKS = {
    "levelgram": Look("#0072B2", "o"),
    "tree-linear": Look("#E69F00", "s"),
    "tree-exponential": Look("#CC79A7", "^", filled=False),
    "tree-adaptive": Look("#56B4E9", "D", filled=False),
    "tree-hybrid": Look("#D55E00", "v"),
    "fpm": Look("#009E73", "X"),
    "exact": Look("#000000", "*", "--"),
    "random": Look("#6b7280", "x", ":"),
    "calibrated": Look("#332288", "o", filled=False),
    "worst-case": Look("#882255", "s", "-."),
    "paper": Look("#8c564b", "D"),
    "Lipschitz": Look("#7f7f00", "P", "-."),
}
_OTHERS = (  # none of which is above
    Look("#0072B2", "s"),
    Look("#D55E00", "o"),
    Look("#009E73", "^"),
    Look("#CC79A7", "D"),
    Look("#000000", "v", "--"),
    Look("#E69F00", "P"),
    Look("#56B4E9", "X", "-."),
    Look("#6b7280", "*", ":"),
    Look("#332288", "<"),
    Look("#882255", ">", "--"),
)


def looks_of(series: Sequence[Any]) -> dict[Any, Look]:
    """A look for each line: its own if its name is known, else the next that is free."""
    known = {one: LOOKS[one] for one in series if one in LOOKS}
    taken = {look.colour for look in known.values()}
    free = cycle(sorted(_OTHERS, key=lambda look: look.colour in taken))
    return {one: known.get(one) or next(free) for one in series}
