"""The command line: one small module per command, a thin layer over the library.

Nothing heavy is imported before a command runs, so that `--help` answers at once.
"""

import os
import signal
import sys
from contextlib import suppress
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from gramlink.cli import unit
from gramlink.cli.help import group
from gramlink.cli.lab.demo import demo
from gramlink.cli.lab.evaluate import evaluate
from gramlink.cli.lab.experiments import experiments
from gramlink.cli.owner import keys, ledger
from gramlink.cli.owner.audit import audit
from gramlink.cli.owner.check import check
from gramlink.cli.owner.contribute import contribute
from gramlink.cli.owner.dedupe import dedupe
from gramlink.cli.owner.embed import embed
from gramlink.cli.owner.exchange import exchange
from gramlink.cli.owner.init import init
from gramlink.cli.owner.inspect import inspect
from gramlink.cli.owner.merge import merge
from gramlink.cli.owner.mine import mine
from gramlink.cli.owner.results import results
from gramlink.cli.owner.seal import seal
from gramlink.cli.owner.withdraw import withdraw
from gramlink.cli.unit.explain import explain
from gramlink.cli.unit.link import link
from gramlink.cli.verbosity import log_to_stderr
from gramlink.errors import GramlinkError
from gramlink.io.text import one_line

PANELS = {
    "For data owners": (
        init, check, audit, dedupe, keys.app, mine, contribute, seal, merge, embed, results,
        exchange, withdraw, ledger.app, inspect,
    ),
    "For the linkage unit": (unit.app, link, explain),
    "To try out and compare": (demo, evaluate, experiments),
}  # fmt: skip

app = group(
    "gramlink",
    "Find the people several organisations have in common, without sharing their records.",
    PANELS,
    "Start with `gramlink demo`. Each command's help has an example: try `gramlink mine --help`.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"gramlink {version('gramlink')}")
        raise typer.Exit


@app.callback()
def _before_any_command(
    version: Annotated[  # noqa: ARG001  # the callback prints it
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            show_default=False,
            help="Log each step with its time and counts; -vv also logs what is read and written.",
        ),
    ] = 0,
) -> None:
    log_to_stderr(verbose, os.environ.get("GRAMLINK_LOG", ""))


@cache  # putting all commands together takes ten times as long as reading one line
def _commands() -> Any:
    return get_command(app)


def main() -> None:
    """Run a command; report a failure as one line, a hint and an exit code."""
    # exit the ordinary way, so that half-written files are removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        try:
            _commands()()
        finally:
            if sys.stdout:  # None if it is closed
                sys.stdout.flush()  # a full disk or a closed pipe shows here at the latest
    except GramlinkError as error:
        _fail(str(error), error.hint, error.exit_code)
    except MemoryError:
        _fail("not enough memory", "link fewer records, or allow fewer edits", 1)
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:
        _drop_output()
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}", "", 1)


def _drop_output() -> None:
    """Discard unprinted output, so that Python does not try to print it again on exit."""
    with suppress(OSError, ValueError):  # nothing to do if output is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, hint: str, exit_code: int) -> None:
    typer.echo(one_line(f"gramlink: error: {message}"), err=True)
    if hint:
        typer.echo(one_line(f"gramlink: hint: {hint}"), err=True)
    sys.exit(exit_code)
