"""Invariants: what must hold after every fault, and once the next run has succeeded."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from faults.processes import asked, run
from faults.world import Reference

_KNOWN: dict[Path, dict[str, Any]] = {}  # what the ledgers of references say


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder in which a command met a fault, and a place beside it for what is printed."""

    folder: Path
    scratch: Path
    keys: Path  # the folder with all identities

    def said(self, *line: str) -> str:
        """What a command prints here; raises a `RuntimeError` if it fails."""
        output = self.scratch / "asked.txt"
        output.unlink(missing_ok=True)
        process = run(line, self.folder, output)
        if process.code:
            raise RuntimeError(f"gramlink {' '.join(line)}: {process.said.strip()}")
        return process.said

    def files(self) -> Iterator[str]:
        """The names of all files, hidden ones too."""
        for path in sorted(self.folder.rglob("*")):
            if not path.is_dir():
                yield path.relative_to(self.folder).as_posix()


def problems_after_a_fault(stage: Stage, reference: Reference, *, losses: int = 0) -> list[str]:
    """What is wrong though a run may have been killed anywhere: half files, unpaid releases.

    So many charges may have been lost, as they were torn.
    """
    found = [*_inputs(stage, reference), *_outputs(stage, reference)]
    return [*found, *_books(stage, reference, 1 + losses)]


def problems_at_the_end(stage: Stage, reference: Reference) -> list[str]:
    """What is wrong once the next run has succeeded: what is missing, left or paid twice."""
    command = reference.command
    found = problems_after_a_fault(stage, reference)
    files = set(stage.files())
    found += [f"{name} is missing" for name in command.writes if name not in files]
    found += [f"{name} is left" for name in (*stale(files), *files.intersection(command.drops))]
    for name in files:
        if name.endswith(".ledger"):
            found += _paid(stage, reference, name)
    return found


def stale(files: set[str]) -> list[str]:
    """Unfinished files among these."""
    return sorted(name for name in files if name.endswith(".part"))


def _inputs(stage: Stage, reference: Reference) -> Iterator[str]:
    command = reference.command
    for name in command.needs:
        before, now = reference.before / name, stage.folder / name
        if name in command.alters or (name in command.drops and not now.exists()):
            continue
        if not now.exists() or now.read_bytes() != before.read_bytes():
            yield f"{name} changed"


def _outputs(stage: Stage, reference: Reference) -> Iterator[str]:
    command = reference.command
    for name in stage.files():
        path = stage.folder / name
        if name in command.same:
            if path.read_bytes() != (reference.after / name).read_bytes():
                yield f"{name} is not what it was without a fault"
        elif name in command.writes:
            try:
                _read(stage, path)
            except (RuntimeError, ValueError) as error:
                yield f"{name} is not whole: {error}"
        elif name not in command.needs and not _is_own(name):
            yield f"{name} was left behind"


def _is_own(name: str) -> bool:
    """Whether a file may lie about after a fault, or was asked for by another process."""
    ours = (".lock", "/lock", ".part", "second.mined.json")
    return name.endswith(ours) or name.startswith("unit/")


def _read(stage: Stage, path: Path) -> None:
    """Raise if a file is not whole; what a ledger says is compared with the files beside it."""
    name = path.name
    if name.endswith(".ledger"):
        return
    if name.endswith(".age"):
        asked(lambda: _opened(path, [*stage.keys.glob("*.identity")]), stage.scratch / "answer")
    elif name.endswith(".mined.json"):
        stage.said("inspect", str(path))
    elif name.endswith((".json", ".contribution")):
        json.loads(path.read_bytes())
    elif name.endswith((".identity", ".recipient")):
        stage.said("keys", "show", str(path))
    elif name.endswith(".sqlite3"):
        folder = str(path.parent)
        if not json.loads(stage.said("unit", "log", "--data", folder, "--json"))["intact"]:
            raise ValueError("the chain of its log is broken")
    elif not path.read_text().strip():
        raise ValueError("it is empty")


def book(stage: Stage, name: str) -> dict[str, Any]:
    """What `gramlink ledger` says."""
    found: dict[str, Any] = json.loads(stage.said("ledger", name, "--json"))
    return found


def _books(stage: Stage, reference: Reference, most: int) -> Iterator[str]:
    """Releases without their charges, and charges beyond those of a run without a fault."""
    for name in stage.files():
        if not name.endswith(".ledger") or name not in reference.command.writes:
            continue
        owner = name.removesuffix(".ledger")
        try:
            now = book(stage, name)
        except RuntimeError as error:
            yield str(error)
            continue
        yield from unpaid(stage, owner, now)
        usual = _usual(stage, reference, name)
        if Fraction(now["spent"]) > most * Fraction(usual["spent"]):
            yield f"{name} spent {now['spent']}, not {usual['spent']}"
    for name in stage.files():
        released = name.endswith(".mined.json") and name in reference.command.writes
        if released and not (stage.folder / f"{name.split('.')[0]}.ledger").exists():
            yield f"{name} was released without a ledger"


def unpaid(stage: Stage, owner: str, now: dict[str, Any]) -> Iterator[str]:
    """What an owner's folder shows though its ledger does not say so."""
    known = [one["digest"] for one in now["releases"]]
    mined = sorted(stage.folder.glob("*.mined.json"))
    digests = {asked(lambda path=path: _digest(path), stage.scratch / "answer") for path in mined}
    if len(digests.difference(known)) > known.count(None):
        yield f"{' and '.join(path.name for path in mined)} were released without a charge for each"
    if (stage.folder / f"{owner}.bundle.age").exists() and not _bundles(now):
        yield f"{owner}.bundle.age was written without its exposure"


def _paid(stage: Stage, reference: Reference, name: str) -> Iterator[str]:
    """Where a ledger differs from that of a run without a fault."""
    try:
        now = book(stage, name)
    except RuntimeError as error:
        yield str(error)
        return
    usual = _usual(stage, reference, name)
    for what in ("spent", "allowance", "most_exposures"):
        if now[what] != usual[what]:
            yield f"{name}: {what} is {now[what]}, not {usual[what]}"
    for what, count in (("releases", len), ("exposures", lambda _: len(_bundles(now)))):
        most = len(usual[what]) if what == "releases" else len(_bundles(usual))
        if count(now[what]) != most:
            yield f"{name} has {count(now[what])} {what}, not {most}"
    if None in [one["digest"] for one in now["releases"]]:
        yield f"{name} does not say what was released"


def _bundles(now: dict[str, Any]) -> list[Any]:
    return [one for shown in now["exposures"] for one in shown["bundles"]]


def _usual(stage: Stage, reference: Reference, name: str) -> dict[str, Any]:
    path = reference.after / name
    if path not in _KNOWN:
        _KNOWN[path] = book(Stage(reference.after, stage.scratch, stage.keys), name)
    return _KNOWN[path]


def _opened(path: Path, identities: list[Path]) -> str:
    """Open a sealed file with one of these, which shows that not a byte is missing."""
    from gramlink.bundles.sealing import read_identity, unseal
    from gramlink.errors import InvalidFile

    for file in identities:
        try:
            return str(len(unseal(path.read_bytes(), read_identity(file), path.name)))
        except InvalidFile as error:
            if "another key" not in str(error):
                raise
    raise ValueError("it is sealed to nobody here")


def _digest(path: Path) -> str:
    from gramlink.mining.mined import Mined

    return Mined.from_json(path.read_bytes(), path.name).digest
