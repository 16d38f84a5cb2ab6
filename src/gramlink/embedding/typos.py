"""Error models: which symbols a typo turns another into. Public, never learnt from data."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gramlink.records.fields import CATCH_ALL

# The letters beside, above and below each letter on a QWERTY keyboard.
_KEYBOARD = (
    "QWA WQES EWRD RETF TRYG YTUH UYIJ IUOK OIPL PO "
    "AQSZ SAWDX DSEFC FDRGV GFTHB HGYJN JHUKM KJIL LKO "
    "ZAX XZSC CXDV VCFB BVGN NBHM MNJ"
)
# Letters that are easily confused in scanned or handwritten text.
_LOOK_ALIKE = "OQD QO DO IL LI EF FE BR RB CG GC UV VUY YV HN NHM MN KX XK PF SZ ZS TI"


@dataclass(frozen=True, slots=True, eq=False)
class Typos:
    """What a substitution can put in a symbol's place, and an insertion before it.

    Row s of each table is for symbol s: how many choices there are, then the choices.
    """

    substitutes: npt.NDArray[np.int64]
    insertions: npt.NDArray[np.int64]


def uniform(symbols: str) -> Typos:
    """Every other symbol of the alphabet is equally likely.

    >>> uniform("ABC*").substitutes[0].tolist()
    [2, 1, 2, 0]
    """
    alphabet = range(len(symbols) - 1)  # the catch-all is not on a keyboard
    everything = [list(alphabet) for _ in symbols]
    others = [[b for b in alphabet if b != a] for a in range(len(symbols))]
    # the only symbol of an alphabet can only turn into the catch-all
    return Typos(_table([codes or [len(alphabet)] for codes in others]), _table(everything))


def keyboard(symbols: str) -> Typos:
    """A neighbour on the keyboard or a letter that looks alike; insertions also repeat.

    Symbols without neighbours, such as a space, turn into any other.
    """
    neighbours: dict[str, set[str]] = {}
    for group in (_KEYBOARD + " " + _LOOK_ALIKE).split():
        neighbours.setdefault(group[0], set()).update(group[1:])
    place = {symbol: code for code, symbol in enumerate(symbols) if symbol != CATCH_ALL}
    substitutes, insertions = [], []
    for symbol in symbols:
        lower = symbol.islower()
        near = {n.lower() if lower else n for n in neighbours.get(symbol.upper(), ())}
        codes = sorted(place[n] for n in near if n in place)
        others = [code for s, code in place.items() if s != symbol]
        substitutes.append(codes or others or [len(place)])
        insertions.append(sorted([*codes, place[symbol]]) if codes else list(place.values()))
    return Typos(_table(substitutes), _table(insertions))


def _table(choices: list[list[int]]) -> npt.NDArray[np.int64]:
    table = np.zeros((len(choices), 1 + max(map(len, choices))), np.int64)
    for row, listed in enumerate(choices):
        table[row, 0] = len(listed)
        table[row, 1 : 1 + len(listed)] = listed
    return table


MODELS = {"uniform": uniform, "keyboard": keyboard}
