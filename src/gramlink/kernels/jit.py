"""The compiler's options, and notice of the first compilation."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from gramlink.engines.local import thread_count
from gramlink.kernels import compilation_starts

Int = Any  # a whole number: Python's, or one of numpy's inside a kernel
Function = TypeVar("Function", bound=Callable[..., Any])


def serial(function: Function) -> Function:
    """Compile for one core."""
    return _compiled(function)


def inlined(function: Function) -> Function:
    """Compile into the kernels that call it: no call, and no reference counting of arrays."""
    return _compiled(function, inline="always")


def parallel(function: Function) -> Function:
    """Compile for as many threads as the engine uses; they share `numba.prange` loops."""
    compiled = _compiled(function, parallel=True)

    @wraps(function)
    def on_threads(*arguments: Any) -> Any:
        numba.set_num_threads(min(thread_count(), numba.config.NUMBA_NUM_THREADS))
        return compiled(*arguments)

    return cast(Function, on_threads)


def _compiled(function: Function, **options: Any) -> Function:
    """Compile, and keep the result on disk if possible, so that only the first use has to wait."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:  # no folder is writable
        return cast(Function, numba.njit(nogil=True, **options)(function))


class _Compilation(event.Listener):  # type: ignore[misc]  # numba has no types
    def on_start(self, event: object) -> None:  # noqa: ARG002
        compilation_starts()

    def on_end(self, event: object) -> None:
        """Do nothing: only the start matters."""


event.register("numba:compile", _Compilation())
