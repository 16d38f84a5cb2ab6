"""Arrivals: which files are in the inbox of a file drop, and whether they are there as a whole.

A file that is being copied looks like a damaged one. It is judged once it has not changed for a
while: its size and the time of its last change say so.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

SUFFIXES = (".age", ".bundle")
SECONDS = 10  # between two looks, and how long a file has to stay as it is

Stamps = dict[str, tuple[int, int]]  # of each file: its size, and when it changed


def stamps(inbox: Path) -> Stamps:
    """The files that could be bundles, by name."""
    found = {}
    for path in sorted(inbox.iterdir()):
        if path.suffix in SUFFIXES and path.is_file():
            try:
                state = path.stat()
            except FileNotFoundError:
                continue
            found[path.name] = (state.st_size, state.st_mtime_ns)
    return found


def changes(path: Path, before: tuple[int, int], within: float = SECONDS) -> bool:
    """Whether a file may still be on its way: it changed since then, or within the last seconds."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return True
    # either way round, as the clock of a shared folder may be another one
    return before != (state.st_size, state.st_mtime_ns) or (
        abs(time.time() - state.st_mtime) < within
    )


def settled(look: Callable[[], Stamps], pause: Callable[[], None]) -> Iterator[Stamps]:
    """The files that stayed as they are between two looks, whenever these are others than before.

    >>> looks = iter([{"a": (1, 1)}, {"a": (2, 2)}, {"a": (2, 2)}, {"a": (2, 2)}, {}])
    >>> found = settled(lambda: next(looks), lambda: None)
    >>> next(found), next(found)
    ({'a': (2, 2)}, {})
    """
    before: Stamps = {}
    told: Stamps = {}
    while True:
        now = look()
        whole = {name: stamp for name, stamp in now.items() if before.get(name) == stamp}
        if whole != told:
            yield whole
            told = whole
        before = now
        pause()
