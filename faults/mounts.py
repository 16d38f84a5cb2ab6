"""Mounts: a small disk that only this process and what it starts see, and that ends with them."""

import ctypes
import os
from pathlib import Path

_NEW_NAMES, _PRIVATE, _READ_ONLY, _AGAIN = 0x20000, 0x4000 | 0x40000, 1, 32


def why_not() -> str:
    """Why this machine cannot have them; empty if it can."""
    return "" if os.geteuid() == 0 else "as only root can mount a disk"


def mount(folder: Path, size: int) -> None:
    """Put an empty disk of so many bytes in the place of a folder."""
    _call("unshare", _NEW_NAMES)
    _call("mount", b"none", b"/", None, _PRIVATE, None)
    _call("mount", b"tmpfs", bytes(folder), b"tmpfs", 0, f"size={size}".encode())


def protect(folder: Path, *, read_only: bool) -> None:
    """Let nobody write to it, or let them again."""
    flags = _AGAIN | (_READ_ONLY if read_only else 0)
    _call("mount", b"none", bytes(folder), None, flags, None)


def fill(folder: Path, left: int) -> Path:
    """Leave only so many bytes of room; deleting the file that is returned makes room again."""
    ballast = folder / "ballast"
    system = os.statvfs(folder)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(system.f_bavail * system.f_frsize - left, 1))
    return ballast


def _call(name: str, *given: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*given):
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
