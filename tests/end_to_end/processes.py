"""A linkage unit and data owners as real processes, which can be killed and started again."""

import os
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import polars as pl

from gramlink.bundles.pseudonyms import owner_key
from gramlink.embedding.projection import agree
from gramlink.mining.mined import Mined
from gramlink.parties.contribution import Contribution, needs_secret, secret_of
from gramlink.parties.handover import Handover
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.privacy.ledger import Ledger
from gramlink.records.reading import read_records
from gramlink.records.schema import load_schema

GRAMLINK = [sys.executable, "-c", "from gramlink.cli import main; main()"]
PATIENCE = 90.0


def until(condition, what, process=None):
    """Wait until something is so, or say what never came."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(OSError, sqlite3.Error):
            found = condition()
            if found:
                return found
        if process is not None and process.poll() is not None:
            raise AssertionError(f"{what}: the process ended with {process.returncode}")
        time.sleep(0.005)
    raise AssertionError(f"{what} never came")


def free_port():
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def started(args, folder, output):
    with (folder / output).open("ab") as file:
        return subprocess.Popen(
            [*GRAMLINK, *map(str, args)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, "NUMBA_NUM_THREADS": "1"},
        )


@dataclass
class Server:
    """A linkage unit's server on loopback."""

    folder: Path
    options: tuple = ()
    port: int = field(default_factory=free_port)
    process: subprocess.Popen | None = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def data(self):
        return self.folder / "unit"

    def start(self):
        before = self.said().count("listens at")
        args = ("unit", "serve", "--data", "unit", "--port", self.port, *self.options)
        self.process = started(args, self.folder, "server.txt")
        until(lambda: self.said().count("listens at") > before, "the server", self.process)

    def said(self):
        path = self.folder / "server.txt"
        return path.read_text() if path.exists() else ""

    def kill(self):
        """As a power cut would end it."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()

    def run(self, *args):
        done = subprocess.run(
            [*GRAMLINK, *map(str, args)], cwd=self.folder, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done
        return done.stdout

    def create(self, name, schema, *parties, returns=()):
        """Make an exchange, and say where each party's token is."""
        given = [word for one in returns for word in ("--returns", one)]
        self.run("unit", "new", name, schema, *parties, "--data", "unit", *given)
        return {party: self.folder / f"{name}-{party}.token" for party in parties}

    def ask(self, query, *values):
        """What the tables say, while others write to them."""
        with closing(sqlite3.connect(f"file:{self.data}/unit.sqlite3?mode=ro", uri=True)) as db:
            return db.execute(query, values).fetchall()

    def running(self, kind):
        return self.ask("SELECT 1 FROM jobs WHERE kind = ? AND state = 'running'", kind)

    def states(self):
        return [state for (state,) in self.ask("SELECT state FROM parties")]


@dataclass
class Party:
    """A data owner, with its file in a folder of its own."""

    name: str
    folder: Path
    token: Path
    exchange: str
    peers: list = field(default_factory=list)
    kept: dict = field(default_factory=dict)
    process: subprocess.Popen | None = None

    @property
    def work(self):
        """What its command keeps of the exchange."""
        return self.folder / f"{self.exchange}-{self.name}"

    @property
    def schema(self):
        return load_schema(self.work / "linkage.toml")

    def start(self, url):
        agreed = self.folder.parent / "linkage.toml"
        args = ("exchange", url, "--token-file", self.token, f"{self.name}.csv")
        args = (*args, "--yes", "--schema", agreed, "--epsilon", load_schema(agreed).epsilon)
        peers = [word for one in self.peers for word in ("--peer", one)]
        self.process = started((*args, *peers, "--patience", 60), self.folder, "said.txt")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def finish(self):
        code = self.process.wait(PATIENCE)
        assert code == 0, (self.folder / "said.txt").read_text()

    def links(self, name="links"):
        return pl.read_csv(self.work / f"{name}.csv", infer_schema=False)

    def spent(self):
        state = Ledger.open(self.folder / f"{self.name}.ledger").state
        return state.spent, len(state.releases), [one.digest is not None for one in state.releases]

    @property
    def owner(self):
        """The same owner in this process."""
        records = read_records(self.folder / f"{self.name}.csv", self.schema)
        return Owner(self.name, records, self.schema, owner_key(self.work / "pseudonyms.key"))

    @property
    def contributions(self):
        """What all owners contributed to their secret, as this one had it."""
        own = Contribution.from_json(self.kept["contribution.json"], "own")
        handed = Handover.from_json(self.kept["mined-2.json"], "other", with_secret=True)
        return [own, handed.contribution]

    def secret(self, projection):
        """The owners' secret, which is erased at the end, if they have one."""
        if not needs_secret(self.schema):
            return None
        return secret_of(self.contributions, projection, self.exchange, self.schema)


@contextmanager
def kept(party):
    """Keep what a party's secret follows from, as soon as it has it all."""
    over = Event()
    names = ("contribution.json", "mined-2.json")

    def watch():
        while not over.wait(0.005):
            if all((party.work / name).exists() for name in names):
                party.kept = {name: (party.work / name).read_bytes() for name in names}
                return

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def in_one_process(*parties):
    """The linkage that follows from what the parties mined, by the roles themselves."""
    mined = [
        Mined.from_json((party.work / "mined.json").read_bytes(), party.name) for party in parties
    ]
    projection = agree(*mined)
    secret = parties[0].secret(projection)
    owners = [party.owner for party in parties]
    bundles = [owner.embed(projection, secret=secret) for owner in owners]
    return owners, LinkageUnit.of(*bundles).link()


def assert_forgotten(server, *parties):
    """What could open the bundles is in no file that is left, of anybody."""
    hidden = [one.content for one in parties[0].contributions]
    mined = [
        Mined.from_json((party.work / "mined.json").read_bytes(), party.name) for party in parties
    ]
    hidden.append(parties[0].secret(agree(*mined)).root)
    files = [
        path
        for folder in (server.folder, *(party.folder for party in parties))
        for path in folder.rglob("*")
        if path.is_file()
    ]
    assert not [path for path in files if path.name in ("contribution.json", "identity")]
    for path in files:
        data = path.read_bytes()
        assert not [one for one in hidden if one in data or one.hex().encode() in data], path


def assert_as_in_one_process(*parties):
    """The links that each party got are those of one process, bit for bit."""
    owners, linkage = in_one_process(*parties)
    assert len(linkage.links) > 100
    for party, owner in zip(parties, owners, strict=True):
        assert party.links().equals(owner.translate(linkage.links.bare).to_polars())
        possible = owner.translate(linkage.possible.bare).to_polars()
        assert party.links("possible").equals(possible)
        assert party.spent() == (owner.schema.epsilon, 1, [True])
