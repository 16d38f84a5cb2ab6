"""How commands speak: to a person, to a program, or not at all."""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer

from gramlink.cli.options import AsJson, Quiet
from gramlink.io.text import one_line, printable
from gramlink.kernels import on_first_compilation


@dataclass(frozen=True, slots=True)
class Speaker:
    """Prints for a person, for a program, or not at all."""

    quiet: Quiet = False
    as_json: AsJson = False

    def __post_init__(self) -> None:
        on_first_compilation(lambda: self.say("compiling kernels, on first use only ..."))

    @property
    def silent(self) -> bool:
        """Whether nothing is printed for a person."""
        return self.quiet or self.as_json

    def say(self, text: str = "") -> None:
        """Print a line for a person."""
        if not self.silent:
            typer.echo(printable(text))

    def warn(self, text: str) -> None:
        """Print a warning for a person, apart from the output."""
        if not self.silent:
            typer.echo(one_line(f"gramlink: warning: {text}"), err=True)

    def summary(self, content: Any) -> None:
        """Print the facts for a program."""
        if self.as_json:
            typer.echo(json.dumps(content))

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None] | None]:
        """A progress bar with the time remaining, on a terminal only."""
        if self.silent or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress, TimeRemainingColumn

        columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(escape(printable(what)), total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def confirmed(question: str) -> bool:
    """Ask a question, which Ctrl-C interrupts."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)  # which polars undoes
    return typer.confirm(printable(question), err=True)
