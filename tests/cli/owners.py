"""Small files of two owners, and commands that run in this process."""

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gramlink import cli, kernels
from gramlink.lab.datasets import corrupt, sample, surnames
from gramlink.lab.datasets.persons import persons
from gramlink.records.fields import ALPHABET
from gramlink.records.strings import Strings

COUNT = 300
PEOPLE = 200
# so much epsilon that the noise, which cannot be seeded, leaves the links alone
TOML = 'epsilon = 20\n\n[fields.surname]\ncolumn = "surname"\nsize = 60\n'


# fields of every kind, two of them mined; the owners' columns and formats differ
SEVERAL = """\
epsilon = 18

[fields.given]
column = "{given}"
size = 40
share = 2

[fields.surname]
size = 60

[fields.born]
kind = "date"
column = {born}

[fields.sex]
kind = "category"
codes = {{ male = "M", female = "F" }}

[fields.postcode]
kind = "digits"
"""


@dataclass(frozen=True)
class Result:
    """What a command ended with."""

    code: int
    out: str
    err: str


@cache
def names():
    """Names of the left owner, mistyped ones of the right owner, and whose is whose."""
    left = sample(surnames(), COUNT, seed=3)
    typed = list(corrupt(Strings.of(left, ALPHABET + "*"), 1, seed=3))
    order = np.random.default_rng(3).permutation(COUNT)
    return left, [typed[i] for i in order], order.tolist()


def write_csvs(folder):
    """hospital.csv, registry.csv and truth.csv; the ids of the hospital begin with zeros."""
    left, right, order = names()
    rows = [f"{i:06d},{name}" for i, name in enumerate(left)]
    (folder / "hospital.csv").write_text("\n".join(["id,surname", *rows, "900000,"]) + "\n")
    rows = [f"R{i},{name}" for i, name in enumerate(right)]
    (folder / "registry.csv").write_text("\n".join(["id,surname", *rows, "R900000,"]) + "\n")
    pairs = [f"{i:06d},R{place}" for place, i in enumerate(order)]
    (folder / "truth.csv").write_text("\n".join(["id_left,id_right", *pairs]) + "\n")
    (folder / "linkage.toml").write_text(TOML)


@cache
def people():
    """The same persons in two files, and whose is whose."""
    return persons(PEOPLE, overlap=1, seed=4)


def write_people(folder):
    """clinic.csv, office.csv and police.csv of the same persons, each with a schema of its own.

    The clinic writes dates as 1980-01-31, the office 31.01.1980 and the sex in full, the
    police year, month and day in three columns.
    """
    two = people()
    day = pl.col("date_of_birth").str.to_date()
    sex = pl.col("sex").replace({"M": "male", "F": "female"})
    kept = ["id", "given_name", "surname", "sex", "postcode"]
    two.left.select(*kept, "date_of_birth").write_csv(folder / "clinic.csv")
    two.right.select(
        "id", pl.col("given_name").alias("Vorname"), "surname", sex, "postcode",
        born=day.dt.strftime("%d.%m.%Y"),
    ).write_csv(folder / "office.csv", separator=";")  # fmt: skip
    two.left.select(
        pl.col("id").str.replace("A", "P"), *kept[1:],
        y=day.dt.year(), m=day.dt.month(), d=day.dt.day(),
    ).write_csv(folder / "police.csv")  # fmt: skip
    for name, given, born in (
        ("clinic", "given_name", '"date_of_birth"'),
        ("office", "Vorname", '"born"'),
        ("police", "given_name", '["y", "m", "d"]'),
    ):
        (folder / f"{name}.toml").write_text(SEVERAL.format(given=given, born=born))


def contents(folder):
    """Every file and folder below a folder, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@contextmanager
def disk_of(size):
    """A disk on which no file can be larger than so many bytes."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def command(capsys, monkeypatch, args):
    """Run a command in this process."""
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["gramlink", *map(str, args)])
        patch.setattr(kernels, "_announce", None)  # as in a process of its own
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    out, err = capsys.readouterr()
    return Result(code, out, err)


def typed(capsys, monkeypatch, line):
    """What a line prints that somebody types in a shell.

    Commands of ours run in this process, as each start takes a second.
    """
    ours = line.startswith("gramlink ")
    # the shell says which words our command would get
    asked = f"printf '%s\\0' {line}" if ours else line
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    shell = subprocess.run(
        asked,
        shell=True,
        env={"PATH": path, "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert shell.returncode == 0, (line, shell.stderr)
    if not ours:
        return shell.stdout
    result = command(capsys, monkeypatch, shell.stdout.split("\0")[1:-1])
    assert result.code == 0, (line, result.err)
    return result.out


def edit(path, old, new):
    """Change a text file."""
    text = Path(path).read_text("utf-8")
    assert old in text
    Path(path).write_text(text.replace(old, new), "utf-8")
