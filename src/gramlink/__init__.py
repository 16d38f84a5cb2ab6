"""gramlink: finds the people that several organisations have in common, without sharing names.

>>> import gramlink as gl
>>> sorted(gl.MINERS)[:3]
['exact', 'fpm', 'levelgram']

The public names are listed in `__init__.pyi`, which type checkers read as it stands. A module is
imported when one of its names is first used, so that the command line answers at once.
"""

import ast
import os
from importlib import import_module
from pathlib import Path
from typing import Any

# These libraries read how many threads to use when they are first imported.
_threads = os.environ.get("GRAMLINK_THREADS", "")
if _threads.isdecimal() and int(_threads):
    for _variable in ("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ.setdefault(_variable, _threads)

_LIST = ast.parse(Path(__file__).with_name("__init__.pyi").read_bytes())
_HOME = {
    alias.name: str(statement.module)
    for statement in _LIST.body
    if isinstance(statement, ast.ImportFrom)
    for alias in statement.names
}
__all__ = sorted(_HOME)  # from the list, not a second one


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("gramlink")
    if name not in _HOME:
        raise AttributeError(f"module 'gramlink' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    hidden = {name for name in globals() if name.startswith("__")}
    return sorted({*_HOME, "__version__", *hidden})
