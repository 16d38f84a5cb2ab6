"""World: the files of an exchange, made once, and the folder before and after each command."""

import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from faults.commands import COMMANDS, SCHEMA, Command
from faults.processes import asked, measured, start

PERSONS, DOUBLE = 120, 12


@dataclass(frozen=True, slots=True)
class Reference:
    """A command that nothing befell: the folder before it and after it, and what it takes."""

    command: Command
    before: Path
    after: Path
    seconds: float
    calls: int
    writes: tuple[int, ...]  # those of the calls that write to the ledger


def build(folder: Path, names: list[str]) -> dict[str, Reference]:
    """Run the commands of these names, and those that they need, where nothing goes wrong."""
    now = folder / "now"
    now.mkdir(parents=True)
    asked(lambda: _write_records(now), folder / "answer")
    (now / "linkage.toml").write_text(SCHEMA)
    if "unit new" in names:
        _make_unit(now, folder / "server.txt")
    found = {}
    for number, command in enumerate(_needed(names)):
        before, after = (folder / f"{number}-{when}" for when in ("before", "after"))
        _bring(command, now)
        copy(now, before, command.needs)
        copy(now, after, command.needs)
        costs = measured(command.line, after, folder / "said.txt")
        copy(after, now, command.writes)
        if command.faults and command.name in names:
            found[command.name] = Reference(command, before, after, *costs)
    return found


def copy(source: Path, target: Path, names: tuple[str, ...]) -> None:
    """Copy files and folders to a folder; those that are not there are left out."""
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
        elif (source / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target / name)


def _needed(names: list[str]) -> list[Command]:
    """The commands, and those that make what they need, in their order."""
    chosen: list[Command] = []
    files: set[str] = set()
    for command in reversed(COMMANDS):
        made = {Path(one).name for one in command.writes if one not in command.alters}
        if (command.name in names and command.faults) or files & made:
            chosen.insert(0, command)
            files |= {Path(name).name for name in command.needs}
    return chosen


def _bring(command: Command, now: Path) -> None:
    """Put what was sent where it is expected."""
    for name in command.needs:
        sent = now / Path(name).name
        if "inbox/" in name and not (now / name).exists():
            (now / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(sent, now / name)


def _write_records(folder: Path) -> str:
    import polars as pl

    from gramlink.lab.datasets.persons import persons

    people = persons(PERSONS, seed=5)
    twice = people.left.head(DOUBLE).with_columns(id="D" + pl.col("id"))
    bad = people.left.head(1).with_columns(id=pl.lit("X"), date_of_birth=pl.lit("yesterday"))
    pl.concat([people.left, twice, bad]).write_csv(folder / "hospital.csv")
    people.right.write_csv(folder / "registry.csv")
    return ""


def _make_unit(folder: Path, output: Path) -> None:
    """The folder of a linkage unit's server."""
    server = start(("unit", "serve", "--data", "unit", "--port", "0"), folder, output)
    while not server.wait(0.05):
        if "listens at" in server.said:
            os.kill(server.pid, signal.SIGTERM)
