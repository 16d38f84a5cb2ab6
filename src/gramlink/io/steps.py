"""The log of steps: which was done, how long it took and how much there was of what.

`gramlink -v` shows it; a program reads the logger `gramlink`.

Privacy: how much there was is a number, so that no cell, id, name, gram or token can be in it.
"""

import logging
import time
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

_log = logging.getLogger("gramlink")
P = ParamSpec("P")
T = TypeVar("T")


def note(step: str, seconds: float | None = None, **counts: int) -> None:
    """Log a step: at level info with the time that it took, else at level debug.

    >>> note("write", bytes=1024)
    """
    level = logging.DEBUG if seconds is None else logging.INFO
    if _log.isEnabledFor(level):
        told = [f"{what} {count:,d}" for what, count in counts.items()]  # a text is an error
        if seconds is not None:
            told.append(f"{seconds:.3f} s")
        _log.log(level, f"{step}: {', '.join(told)}" if told else step)


def logged(
    step: str, counts: Callable[[Any], Mapping[str, int]] = lambda _: {}
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function whose calls are logged as a step, with its time and counts of what it returns.

    >>> @logged("count", lambda names: {"names": len(names)})
    ... def names() -> list[str]:
    ...     return ["Miller", "Nakamura"]
    >>> names()
    ['Miller', 'Nakamura']
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def timed(*args: P.args, **options: P.kwargs) -> T:
            note(f"{step} begins")
            start = time.perf_counter()
            try:
                result = function(*args, **options)
            except BaseException:
                note(f"{step} is stopped", time.perf_counter() - start)
                raise
            note(step, time.perf_counter() - start, **counts(result))
            return result

        return timed

    return decorate
