"""Options that several commands share, and how commands speak."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlink.kernels import on_first_compilation

if TYPE_CHECKING:
    import polars as pl

    from gramlink.deciding.links import Links
    from gramlink.records.reading import Records
    from gramlink.records.schema import Schema

Data = Annotated[Path, typer.Argument(help="The records, as CSV or Parquet.", metavar="DATA")]
SchemaFile = Annotated[Path, typer.Option("--schema", help="What the owners agreed on.")]
OwnerName = Annotated[str, typer.Option("--owner", help="This owner; default: DATA's name.")]
Separator = Annotated[str, typer.Option(help="The CSV separator, if not , ; tab or |.")]
Encoding = Annotated[str, typer.Option(help="The CSV encoding, if not UTF-8.")]
KeyFile = Annotated[Path | None, typer.Option("--key", help="Default: OWNER.key.")]
IdentityFile = Annotated[
    Path | None, typer.Option("--identity", help="What opens a file that is sealed.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output if it exists.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]

LINKAGE = Path("linkage.toml")
LINK_COLUMNS = ("id_left", "id_right", "unique_id_l", "unique_id_r")  # ours, and Splink's


def printable(text: str) -> str:
    """Text that leaves the terminal as it is: names in it may be another party's."""
    return "".join(symbol if symbol.isprintable() else "?" for symbol in text)


def one_line(text: str) -> str:
    """Text in one line that can be read."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= 1000 else line[:1000] + " ..."


class Speaker:
    """Prints for a person, for a program, or not at all."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet, self.as_json = quiet, as_json
        if not quiet and not as_json:
            on_first_compilation(lambda: self.say("compiling kernels, on first use only ..."))

    def say(self, text: str = "") -> None:
        """A line for a person."""
        if not self.quiet and not self.as_json:
            typer.echo(printable(text))

    def summary(self, content: dict[str, Any]) -> None:
        """The facts for a program."""
        if self.as_json:
            typer.echo(json.dumps(content))

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None] | None]:
        """A bar with the time to go, on the terminal only."""
        if self.quiet or self.as_json or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import Progress, TimeRemainingColumn

        columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def confirmed(question: str) -> bool:
    """Ask a question; Ctrl-C is an answer, too."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)  # which polars undoes
    return typer.confirm(question, err=True)


def read_schema(path: Path, **overrides: Any) -> "Schema":
    """The schema in a file, with settings from the command line in place of some."""
    from gramlink.records.schema import checked_schema, load_schema

    schema = load_schema(path)
    given = {key: value for key, value in overrides.items() if value}
    return checked_schema(**{**dict(schema), **given}) if given else schema


def read_opened(
    path: Path, identity_file: Path | None, told: Callable[[str], None] | None = None
) -> bytes:
    """The bytes of a file, opened first if it is sealed; whom it is from is told."""
    from gramlink.bundles.sealing import is_sealed, read_identity, unseal_from
    from gramlink.errors import InvalidParameter
    from gramlink.io.files import read_bytes

    data = read_bytes(path)
    if not is_sealed(data):
        return data
    if identity_file is None:
        raise InvalidParameter(
            f"{path} is sealed", hint="name the identity file that opens it with --identity"
        )
    opened, sender = unseal_from(data, read_identity(identity_file), path.name)
    if told:
        known = f"comes from the key {sender.fingerprint}" if sender else "may come from anybody"
        told(f"{path.name} {known}")
    return opened


def read_data(data: Path, schema: "Schema", separator: str, encoding: str) -> "Records":
    """The records of a file."""
    from gramlink.records.reading import read_records

    return read_records(data, schema, separator=separator or None, encoding=encoding or None)


def refuse_overwriting(path: Path, *, force: bool, hint: str) -> None:
    """Stop before an existing output is lost."""
    from gramlink.errors import InvalidFile

    if path.exists() and not force:
        raise InvalidFile(f"{path} exists already", hint=hint)


def refuse_replacing(output: Path, *inputs: Path | None, option: str = "--output") -> None:
    """Stop before a command's output takes the place of a file that it reads or keeps."""
    from gramlink.errors import InvalidParameter

    for path in inputs:
        if path and os.path.realpath(output) == os.path.realpath(path):
            raise InvalidParameter(
                f"the output would replace {path}", hint=f"name another file with {option}"
            )


def read_links(path: Path) -> "Links":
    """Pairs of ids from a CSV file, by the column names that we or Splink give them."""
    from gramlink.deciding.links import Links

    pairs = read_pairs(path)
    return Links(tuple(pairs["id_left"]), tuple(pairs["id_right"]))


def read_pairs(path: Path) -> "pl.DataFrame":
    """A file of links or clusters, all of it as text, with the ids' columns named as ours."""
    import polars as pl

    from gramlink.records.tables import header, read_table

    found = header(path)
    ids = ["id"] if "cluster" in found else list(LINK_COLUMNS[:2])
    theirs = list(LINK_COLUMNS[2:]) if set(LINK_COLUMNS[2:]) <= set(found) else ids
    others = [name for name in found if name not in (*theirs, *LINK_COLUMNS, "id")]
    names = [*others, *ids] if "cluster" in found else [*ids, *others]
    if set(theirs) <= set(found) and _is_header_only(path):
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))  # no link is a result too
    columns = read_table(path, columns=[*theirs, *others]).columns
    known = {name: columns[old].fill_null("") for name, old in zip(ids, theirs, strict=True)}
    return pl.DataFrame({name: known.get(name, columns.get(name)) for name in names})


def _is_header_only(path: Path) -> bool:
    data = path.read_bytes()
    lines = sum(1 for line in data.splitlines() if line.strip())
    return lines == 1 and not data.startswith(b"PAR1")  # Parquet's first bytes


def write_csv(path: Path, frame: "pl.DataFrame") -> None:
    """A frame to a CSV file, whole or not at all."""
    from gramlink.io.files import written_whole

    with written_whole(path, mode=0o600) as file:  # ids and links are for their owner
        file.write(frame.write_csv().encode())
