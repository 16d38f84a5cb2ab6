"""Small files of two owners, and commands that run in this process."""

import resource
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from gramlink import cli
from gramlink.datasets import corrupt, sample, surnames
from gramlink.schema import ALPHABET
from gramlink.strings import Strings

COUNT = 300
# so much epsilon that the noise, which cannot be seeded, leaves the links alone
TOML = 'epsilon = 30\n\n[fields.surname]\ncolumn = "surname"\nsize = 60\n'


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


def contents(folder):
    """Every file and folder below a folder, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@contextmanager
def disk_of(size):
    """A disk on which no file can be larger than so many bytes."""
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
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    out, err = capsys.readouterr()
    return Result(code, out, err)


def edit(path, old, new):
    """Change a text file."""
    text = Path(path).read_text("utf-8")
    assert old in text
    Path(path).write_text(text.replace(old, new), "utf-8")
