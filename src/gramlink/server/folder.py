"""Folder: where a unit keeps its files, named by numbers, never by what a client sent."""

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from gramlink.server.store import Tables
from gramlink.server.store.jobs import Job
from gramlink.server.store.parties import PartyRow

SPARE = 64 * 2**20  # bytes that are left free, for the tables


@dataclass(frozen=True, slots=True)
class Folder:
    """The data folder. Exchanges and parties are named by their numbers in the tables."""

    path: Path

    @property
    def database(self) -> Path:
        """The tables."""
        return self.path / "unit.sqlite3"

    @property
    def identity(self) -> Path:
        """What opens the bundles; only for the unit."""
        return self.path / "unit.identity"

    @property
    def recipient(self) -> Path:
        """What bundles are sealed to."""
        return self.path / "unit.recipient"

    @property
    def operator_token(self) -> Path:
        """The operator's token."""
        return self.path / "operator.token"

    @property
    def exchanges(self) -> Path:
        """The folder of the exchanges' folders."""
        return self.path / "exchanges"

    def of(self, exchange: int) -> Path:
        """The folder of an exchange."""
        return self.exchanges / str(exchange)

    def mined(self, exchange: int, sender: int, receiver: int) -> Path:
        """What one party mined, sealed to another."""
        return self.of(exchange) / f"mined-{sender}-{receiver}.age"

    def part(self, exchange: int, party: int) -> Path:
        """The part of a bundle uploaded so far."""
        return self.of(exchange) / f"upload-{party}.part"

    def bundle(self, exchange: int, party: int) -> Path:
        """A bundle uploaded in full."""
        return self.of(exchange) / f"bundle-{party}.age"

    def results(self, exchange: int, party: int) -> Path:
        """What goes back to a party, sealed to it."""
        return self.of(exchange) / f"results-{party}.age"

    def arrived(self, party: PartyRow) -> int:
        """How much of a party's upload has arrived: the part, or all of it if it was renamed."""
        try:
            return self.part(party.exchange, party.number).stat().st_size
        except FileNotFoundError:
            pass
        try:
            size = self.bundle(party.exchange, party.number).stat().st_size
        except FileNotFoundError:
            return 0
        return size if size == party.size else 0

    def drop_refused(self, job: Job) -> None:
        """Remove a bundle that was refused, as nobody needs it any more."""
        if job.party is not None:
            self.bundle(job.exchange, job.party).unlink(missing_ok=True)

    def free(self) -> int:
        """How many bytes are free."""
        return shutil.disk_usage(self.path).free

    def erase(self, exchange: int) -> None:
        """Remove all files of an exchange, even if one is being written."""
        for _ in range(3):
            shutil.rmtree(self.of(exchange), ignore_errors=True)
            if not self.of(exchange).exists():
                return

    def tidy(self, db: Tables) -> None:
        """Remove what a killed process left; in a change, so that no exchange is made meanwhile."""
        kept = {str(number) for number in db.exchanges.with_files()}
        awaited = {f"upload-{number}.part" for number in db.parties.in_state("uploading")}
        refused = {f"bundle-{number}.age" for number in db.parties.in_state("none", "refused")}
        for number in kept:  # a power cut may have undone a folder that the tables list
            (self.exchanges / number).mkdir(mode=0o700, exist_ok=True)
        for path in self.path.glob(".*.part"):
            path.unlink(missing_ok=True)
        for folder in self.exchanges.iterdir():
            if folder.name not in kept:
                shutil.rmtree(folder, ignore_errors=True)
                continue
            for path in folder.iterdir():
                unfinished = path.suffix == ".part" and path.name not in awaited
                if path.name.startswith(".") or unfinished or path.name in refused:
                    path.unlink(missing_ok=True)


def temporary(path: Path) -> Path:
    """A name beside a file to write to before it takes its place; `tidy` knows it."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
