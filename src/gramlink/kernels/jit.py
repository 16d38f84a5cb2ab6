"""The compiler's options, and word of the first compilation."""

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
    """Compile into the kernels that call it: no call, and no count of references to arrays."""
    return _compiled(function, inline="always")


def parallel(function: Function) -> Function:
    """Compile for several threads, as many as the engine uses; they share `numba.prange` loops."""
    compiled = _compiled(function, parallel=True)

    @wraps(function)
    def on_threads(*arguments: Any) -> Any:
        numba.set_num_threads(min(thread_count(), numba.config.NUMBA_NUM_THREADS))
        return compiled(*arguments)

    return cast(Function, on_threads)


def _compiled(function: Function, **options: Any) -> Function:
    """Compiled kernels are kept on disk, so only the first use waits; or each, if none can be."""
    try:
        return cast(Function, numba.njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:  # there is no folder that may be written to
        return cast(Function, numba.njit(nogil=True, **options)(function))


class _Compilation(event.Listener):  # type: ignore[misc]  # numba has no types
    def on_start(self, event: object) -> None:  # noqa: ARG002
        compilation_starts()

    def on_end(self, event: object) -> None:
        """Nothing: only the start is of interest."""


event.register("numba:compile", _Compilation())
