"""Write pages and pictures from the code's own words and what was measured: `make docs`."""

import inspect
import io
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

import polars as pl
import typer
from docs.architecture import exchange, packages

import gramlink as gl
from gramlink.cli import PANELS, app
from gramlink.cli.help import Entry, name_of
from gramlink.lab.experiments import EXPERIMENTS
from gramlink.lab.experiments.experiment import Measured
from gramlink.lab.experiments.report import reproduced
from gramlink.lab.experiments.report.sections import Section

PAPER = Path(__file__).parent / "paper"

HEAD = """\
# Reference

Written by `make docs` from the code. The [glossary](glossary.md) explains the words.
"""


def commands() -> str:
    """The help of every command, as a terminal of 80 columns shows it."""
    parts = ["## Commands\n"]
    for panel, entries in PANELS.items():
        parts.append(f"### {panel}\n")
        parts += (_help(*words) for entry in entries for words in _commands(entry))
    return "\n".join(parts)


def _commands(entry: Entry) -> list[list[str]]:
    """The words of a command, or of each command of a group."""
    if not isinstance(entry, typer.Typer):
        return [[name_of(entry)]]
    return [[name_of(entry), str(one.name)] for one in entry.registered_commands]


def _help(*words: str) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        app([*words, "--help"], prog_name="gramlink", terminal_width=80)
    return f"#### gramlink {' '.join(words)}\n\n```text\n{printed.getvalue().strip()}\n```\n"


def names() -> str:
    """The signature and docstring of every public name."""
    parts = ["## Python\n"]
    for name in sorted(gl.__all__, key=str.casefold):
        value = getattr(gl, name)
        if not callable(value):
            parts.append(f"### gl.{name}\n\nOne of: {', '.join(f'`{key}`' for key in value)}.\n")
            continue
        text = inspect.cleandoc(value.__doc__ or "")
        call = _signature(value)
        parts.append(f"### gl.{name}{call}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def _signature(value: object) -> str:
    if inspect.isclass(value):
        return ""
    return "(" + ", ".join(inspect.signature(value).parameters) + ")"


def reference() -> str:
    """The page on commands and public names."""
    return "\n".join([HEAD, commands(), names()])


def paper() -> str:
    """The page on the paper, from the data beside it; its head tells when they were measured."""
    sections = [Section(one, Measured(_data(one.name))) for one in EXPERIMENTS.values()]
    head, claims, _ = (PAPER / "reproduced.md").read_text("utf-8").partition("## Claims")
    return head + claims + reproduced.page(sections, {}).partition(claims)[2]


def _data(name: str) -> pl.DataFrame:
    # epsilon is a decimal as it was written, not a float
    return pl.read_csv(PAPER / "data" / f"{name}.csv", schema_overrides={"epsilon": pl.String})


PICTURES = Path(__file__).parent / "architecture"
PAGES = {
    Path(__file__).with_name("reference.md"): reference,
    PAPER / "reproduced.md": paper,
    PICTURES / "packages.svg": packages.drawing,
    PICTURES / "exchange.svg": exchange.drawing,
}

if __name__ == "__main__":
    for target, made in PAGES.items():
        target.write_text(made(), "utf-8")
        sys.stdout.write(f"wrote {target.name}\n")
