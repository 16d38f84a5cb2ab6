"""The compiler's options, and word of the first compilation."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from gramlink.kernels import compilation_starts

Int = Any  # a whole number: Python's, or one of numpy's inside a kernel
Function = TypeVar("Function", bound=Callable[..., Any])

# Compiled kernels are kept on disk beside the source, so only the first use waits.
_OPTIONS = {"cache": True, "nogil": True}


def serial(function: Function) -> Function:
    """Compile for one core."""
    return cast(Function, numba.njit(**_OPTIONS)(function))


def inlined(function: Function) -> Function:
    """Compile into the kernels that call it: no call, and no count of references to arrays."""
    return cast(Function, numba.njit(inline="always", **_OPTIONS)(function))


def parallel(function: Function) -> Function:
    """Compile for all cores; `numba.prange` loops are shared between them."""
    return cast(Function, numba.njit(parallel=True, **_OPTIONS)(function))


class _Compilation(event.Listener):  # type: ignore[misc]  # numba has no types
    def on_start(self, event: object) -> None:  # noqa: ARG002
        compilation_starts()

    def on_end(self, event: object) -> None:
        """Nothing: only the start is of interest."""


event.register("numba:compile", _Compilation())
