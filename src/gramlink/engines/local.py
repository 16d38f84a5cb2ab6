"""The local engine: ordered chunks on the threads of one machine."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from itertools import islice
from typing import TypeVar

from gramlink.errors import InvalidParameter

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

VARIABLE = "GRAMLINK_THREADS"
_asked: ContextVar[int | None] = ContextVar("threads", default=None)


def thread_count() -> int:
    """How many threads to use: the number asked for, else GRAMLINK_THREADS, else one per core."""
    asked = _asked.get()
    if asked is not None:
        return asked
    text = os.environ.get(VARIABLE, "").strip()
    return _checked(text, VARIABLE) if text else cores()


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def using_threads(count: int | None) -> Iterator[None]:
    """Use this many threads for what runs inside the block; None changes nothing.

    >>> with using_threads(1):
    ...     thread_count()
    1
    """
    token = _asked.set(_asked.get() if count is None else _checked(count, "threads"))
    try:
        yield
    finally:
        _asked.reset(token)


def in_order(
    step: Callable[[Chunk], Result], chunks: Iterable[Chunk], *, ahead: int = 1
) -> Iterator[Result]:
    """The results of a step for each chunk, in the order of the chunks.

    Chunks are taken when a thread is free for them, and `ahead` more, so only a few chunks are in
    memory however many there are, and earlier results can decide what the next chunks are.

    >>> list(in_order(len, ["a", "", "bcd"]))
    [1, 0, 3]
    """
    threads = thread_count()
    if threads == 1:
        yield from map(step, chunks)
        return
    waiting: deque[Future[Result]] = deque()
    source = iter(chunks)
    with ThreadPoolExecutor(threads, "gramlink") as pool:
        try:
            while True:
                for chunk in islice(source, threads + ahead - len(waiting)):
                    waiting.append(pool.submit(copy_context().run, step, chunk))
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _checked(count: object, what: str) -> int:
    try:
        number = int(str(count))
    except ValueError:
        number = 0
    if not 1 <= number <= 1024:
        raise InvalidParameter(f"{what} must be a number from 1 to 1024, not {count}")
    return number
