"""Nicknames: groups of given names that one person may go by.

The lists are ours, written from common knowledge. A name is in one group at most, so that a name
that is short for several, such as ALEX or CHRIS, makes one group of them.
"""

from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from gramlink.records.strings import Strings, distinct

LANGUAGES = ("en", "de")
NO_GROUP = 0


@cache
def groups(language: str) -> dict[str, int]:
    """The number of the group of each name, from 1.

    >>> listed = groups("en")
    >>> listed["LIZ"] == listed["BETTY"] != listed["WILLIAM"]
    True
    """
    text = files("gramlink.records.nicknames").joinpath(f"{language}.txt").read_text("utf-8")
    lines = enumerate(text.splitlines(), NO_GROUP + 1)
    return {name: number for number, line in lines for name in line.split()}


def groups_of(strings: Strings, language: str) -> npt.NDArray[np.int64]:
    """The number of each text's group, whatever its case and blanks; `NO_GROUP` if it has none."""
    listed = groups(language)
    texts, place = distinct(strings)
    found = [listed.get(text.upper().strip(), NO_GROUP) for text in texts]
    return np.array(found, np.int64)[place]
