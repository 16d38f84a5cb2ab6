"""The command line: one small module a command, thin over the library.

Nothing heavy is imported before a command runs, so that `--help` answers at once.
"""

import os
import signal
import sys
from contextlib import suppress
from types import ModuleType

import typer

from gramlink.cli.common import one_line
from gramlink.cli.lab import demo, evaluate, experiments
from gramlink.cli.owner import (
    check,
    dedupe,
    embed,
    exchange,
    init,
    inspect,
    keys,
    ledger,
    merge,
    mine,
    results,
    seal,
)
from gramlink.cli.unit import exchanges, explain, inbox, link, serve
from gramlink.errors import GramlinkError

app = typer.Typer(
    name="gramlink",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Link the records of two organisations that may not show each other their records.",
    epilog="Start with `gramlink demo`. Each command shows an example: `gramlink mine --help`.",
)
_COMMANDS = (
    init, check, dedupe, mine, seal, merge, embed, link, explain, results, evaluate, ledger,
    inspect, exchange, serve, demo, experiments,
)  # fmt: skip


def _help(command: ModuleType) -> str:
    about, _, example = str(command.__doc__).partition("Example: ")
    # \b keeps the example in a line of its own, to be copied
    return f"{about}\b\nExample:\n  {example}"


for command in _COMMANDS:
    name = command.__name__.rpartition(".")[2]
    app.command(name, help=_help(command))(getattr(command, name))


app.command("unit", help=_help(inbox))(inbox.unit)
app.add_typer(keys.app, name="keys")
app.add_typer(exchanges.app, name="exchanges")


def main() -> None:
    """Run a command; what goes wrong is one line and a hint, and an exit code."""
    # ended politely, a command removes what it has half written
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        try:
            app()
        finally:
            if sys.stdout:  # None where it is closed
                sys.stdout.flush()  # a full disk or a closed pipe shows here at the latest
    except GramlinkError as error:
        _fail(str(error), error.hint, error.exit_code)
    except MemoryError:
        _fail("there is not enough memory", "link fewer records, or allow fewer edits", 1)
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:
        _drop_output()
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}", "", 1)


def _drop_output() -> None:
    """Send what could not be printed nowhere, lest Python try again as it ends."""
    with suppress(OSError, ValueError):  # where output is not a file, there is nothing to do
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, hint: str, exit_code: int) -> None:
    typer.echo(one_line(f"gramlink: error: {message}"), err=True)
    if hint:
        typer.echo(one_line(f"gramlink: hint: {hint}"), err=True)
    sys.exit(exit_code)
