"""Bodies: what a client sends, read within limits of size and time, whatever its headers say."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request

from gramlink.bundles.age_header import HEADER
from gramlink.exchange.values import Model, complaint
from gramlink.io.files import plain_json
from gramlink.server.errors import Refusal, storing, unknown

LARGEST_JSON = 2**20
LARGEST_RECIPIENT = 2**10
PIECE = 2**18  # bytes written at once; each of many uploads holds so many

MOST_THREADS = 40  # that read and write what clients send and fetch
_LIMITER: RunVar[CapacityLimiter] = RunVar("threads for the disk")

Result = TypeVar("Result")


async def in_thread(call: Callable[..., Result], *args: Any) -> Result:
    """Run a call that waits for the disk, to its end and without holding up others.

    It has threads of its own, so that bodies on a slow disk leave those of the other calls alone.
    """
    return await to_thread.run_sync(partial(call, *args), limiter=_for_the_disk())


def _for_the_disk() -> CapacityLimiter:
    try:
        return _LIMITER.get()
    except LookupError:
        _LIMITER.set(CapacityLimiter(MOST_THREADS))
        return _LIMITER.get()


async def pieces(request: Request, limit: int, patience: float) -> AsyncIterator[bytes]:
    """The body as it arrives, up to `limit` bytes, with each piece within `patience` seconds."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise _too_large(limit)
    stream, total = request.stream(), 0
    while True:
        try:
            async with asyncio.timeout(patience):
                piece = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise Refusal(
                f"nothing arrived for {patience:g} seconds",
                hint="send the rest over a new connection",
                status=408,
            ) from None
        total += len(piece)
        if total > limit:
            raise _too_large(limit)
        if piece:
            yield piece


async def whole(request: Request, limit: int) -> bytes:
    """A small body, all of which must arrive within the server's patience."""
    patience: float = request.app.state.unit.settings.patience
    body = bytearray()
    try:
        async with asyncio.timeout(patience):
            async for piece in pieces(request, limit, patience):
                body += piece
    except TimeoutError:
        raise Refusal(f"not all of it arrived within {patience:g} seconds", status=408) from None
    return bytes(body)


def _too_large(limit: int) -> Refusal:
    return Refusal(
        f"this is larger than the {limit:,} bytes accepted here",
        hint="nothing beyond that was kept",
        status=413,
    )


def json_of(model: type[Model]) -> Callable[[Request], Coroutine[Any, Any, Model]]:
    """A dependency: the body as JSON of a model, parsed more strictly than JSON demands."""

    async def parsed(request: Request) -> Model:
        body = await whole(request, LARGEST_JSON)
        try:
            return model.model_validate(plain_json(body.decode()))
        except ValidationError as error:
            raise Refusal(complaint(error), hint="see /openapi.json", status=422) from error
        except (ValueError, RecursionError) as error:
            raise Refusal(
                "the body is not JSON, or has a key twice",
                hint="see /openapi.json",
                status=400,
            ) from error

    return parsed


async def sealed_to_file(request: Request, path: Path, limit: int) -> str:
    """Write a sealed body to a file, flush it to disk, and return its digest."""
    digest, start, buffer = hashlib.sha256(), b"", bytearray()
    patience: float = request.app.state.unit.settings.patience
    file = await in_thread(_open, path)
    try:
        async for piece in pieces(request, limit, patience):
            start = (start + piece)[: len(HEADER)] if len(start) < len(HEADER) else start
            buffer += piece
            digest.update(piece)
            if len(buffer) >= PIECE:
                await in_thread(_write, file, bytes(buffer))
                buffer.clear()
        if start != HEADER:
            raise Refusal(
                "this is not a sealed file", hint="seal it to its reader's recipient", status=422
            )
        await in_thread(_write, file, bytes(buffer))
        await in_thread(os.fsync, file)
    finally:
        os.close(file)
    return digest.hexdigest()


def _open(path: Path) -> int:
    try:
        with storing():
            return os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
            )
    except FileNotFoundError:
        raise unknown("the files of this exchange were erased") from None


def _write(file: int, data: bytes) -> None:
    with storing():
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]


__all__ = ["ClientDisconnect", "in_thread", "json_of", "pieces", "sealed_to_file", "whole"]
