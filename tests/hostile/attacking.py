"""A linkage unit in a process of its own, parties with real records, and ways to attack them."""

import hashlib
import io
import itertools
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
import tomllib
import zipfile
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from urllib.parse import quote

import httpx
import numpy as np
import polars as pl

from gramlink.bundles.archive import MANIFEST
from gramlink.bundles.bundle import RECORDS
from gramlink.bundles.results import Results
from gramlink.bundles.sealing import new_identity, seal, seal_from, unseal_from
from gramlink.embedding.projection import agree
from gramlink.embedding.vectors import Encoded, Vectors
from gramlink.encodings.vectors import VectorRecords
from gramlink.io.files import digest
from gramlink.lab.datasets import sample, surnames
from gramlink.parties.owner import Owner
from gramlink.records.reading import read_records
from gramlink.records.schema import schema_from

PATIENCE = 4  # seconds, which each test of a silent client takes
LARGEST = 3 * 10**6
MEMORY = 3 * 10**9 // 2
LONG = 120.0  # seconds that a loaded machine may take
NAMES = ("hospital", "registry")
COUNT = 30
# so much epsilon that the noise, which cannot be seeded, leaves the links alone
SCHEMA = "epsilon = 20\n\n[fields.surname]\nsize = 20\n"
SURNAMES = tuple(sample(surnames(), COUNT, seed=3))
VALUES = r"\b(?:" + "|".join(one for one in SURNAMES if len(one) > 4) + r")\b"
RUN = "import typer; from gramlink.cli.unit.serve import serve; typer.run(serve)"

_numbers = itertools.count(1)


def until(condition, what="it", seconds=LONG):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} never came")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# parties and what they send


@cache
def identity_of(name):  # noqa: ARG001  # each has its own
    return new_identity()


@cache
def owner(name, schema=SCHEMA):
    agreed = schema_from(tomllib.loads(schema, parse_float=Decimal), "linkage.toml")
    frame = pl.DataFrame({"id": [f"{name}{i:03d}" for i in range(COUNT)], "surname": SURNAMES})
    return Owner(name, read_records(frame, agreed), agreed, name.encode() * 4)


@cache
def private():
    """Ids and pseudonyms that no log may tell."""
    owners = [owner(name) for name in NAMES]
    return {one for known in owners for one in (*known.pseudonyms, *known.records.ids)}


@cache
def projection(schema, _which):
    """What the owners agree on; it is another one each time that they mine."""
    return agree(*(owner(name, schema).mine(None) for name in NAMES))


@cache
def embedded(name, schema=SCHEMA, which=0):
    return owner(name, schema).embed(projection(schema, which), created="2026-01-01T00:00:00Z")


def unlike(bundle, rows, count=1):
    """The bundle with so many rows, all of them with the same counts of grams."""
    field = bundle.records.fields["surname"]
    counts = np.full((rows, len(field.vectors.lengths)), count, np.uint8)
    limits = None if field.thresholds is None else np.tile(field.thresholds[:1], (rows, 1))
    ids = tuple(sorted(os.urandom(16).hex() for _ in range(rows)))
    vectors = Vectors(counts, field.vectors.lengths, np.zeros(rows, np.bool_))
    return replace(bundle, ids=ids, records=VectorRecords({"surname": Encoded(vectors, limits)}))


def spread(bundle, rows):
    """The bundle with so many rows that are far from each other, and the same at all parties."""
    field = bundle.records.fields["surname"]
    shape = (rows, len(field.vectors.lengths))
    counts = np.random.default_rng(7).integers(0, 256, shape).astype(np.uint8)
    limits = None if field.thresholds is None else np.tile(field.thresholds[:1], (rows, 1))
    ids = tuple(sorted(os.urandom(16).hex() for _ in range(rows)))
    vectors = Vectors(counts, field.vectors.lengths, np.zeros(rows, np.bool_))
    return replace(bundle, ids=ids, records=VectorRecords({"surname": Encoded(vectors, limits)}))


def forged(bundle, *, records=None, text=None, files=None, compression=0, **manifest):
    """A bundle as somebody might make it by hand, with digests that are right.

    `text` changes the manifest's text, `files` all that is packed, and what else is given
    takes the place of what the manifest says.
    """
    data = _parquet(bundle.rows()) if records is None else records
    parts = {"parts": {RECORDS: sha256(data)}}
    content = {"gramlink": "bundle", "version": 1, **bundle.manifest, **parts, **manifest}
    if "settings" in manifest:
        content["schema"] = digest(manifest["settings"])
    told = json.dumps(content)
    packed = {MANIFEST: text(told) if text else told, RECORDS: data}
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w", compression) as archive:
        for name, content in (files(packed) if files else packed).items():
            archive.writestr(name, content)
    return archived.getvalue()


def _parquet(frame):
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


@dataclass(frozen=True)
class Party:
    """A party of an exchange, over HTTP."""

    server: "Server"
    exchange: str
    name: str
    token: str

    @property
    def path(self):
        return f"/api/exchanges/{self.exchange}"

    @property
    def recipient(self):
        return identity_of(self.name).recipient

    @property
    def number(self):
        ((number,),) = self.server.tables(
            "SELECT parties.number FROM parties JOIN exchanges"
            " ON exchanges.number = parties.exchange WHERE exchanges.name = ? AND parties.name = ?",
            self.exchange,
            self.name,
        )
        return number

    def ask(self, method, rest="", says=None, **options):
        path = f"{self.path}/{rest}".rstrip("/")
        return self.server.ask(method, path, says, token=self.token, **options)

    def join(self):
        self.ask("PUT", "recipient", 204, content=self.recipient.key)

    def send_mined(self, to):
        sealed = seal(b"grams", [identity_of(to).recipient])
        self.ask("PUT", f"mined/{quote(to, safe='')}", 204, content=sealed)

    def view(self):
        return self.ask("GET", "", 200).json()

    def me(self):
        return next(one for one in self.view()["parties"] if one["name"] == self.name)

    @property
    def state(self):
        return self.me()["bundle"]["state"]

    def bundle(self, schema=SCHEMA, which=0):
        """This party's bundle for this exchange."""
        bundle = embedded(self.name, schema, which)
        return replace(bundle, exchange=self.exchange, reply=self.recipient)

    def sealed(self, data=None):
        """A bundle, its own if none is given, as it is uploaded."""
        data = self.bundle().to_bytes() if data is None else data
        return seal_from(data, identity_of(self.name), self.server.recipient)

    def announce(self, data, says=200):
        told = {"size": len(data), "sha256": sha256(data)}
        return self.ask("POST", "upload", says, json=told)

    def patch(self, data, offset=0, says=200):
        return self.ask("PATCH", f"upload?offset={offset}", says, content=data)

    def upload(self, data=None):
        data = self.sealed() if data is None else data
        offset = self.announce(data).json()["offset"]
        assert self.patch(data[offset:], offset).json() == {"offset": len(data)}
        return data

    def verdict(self):
        """Whether the bundle is accepted or refused, and why."""
        until(lambda: self.state in ("accepted", "refused"), "a verdict")
        told = self.me()["bundle"]
        return told["state"], told["reason"]

    def outcome(self):
        """Whether the exchange is done or failed, and why."""

        def over():
            view = self.view()
            states = [one["bundle"]["state"] for one in view["parties"]]
            assert "refused" not in states, states
            return view["stage"] in ("done", "failed")

        until(over, "an outcome")
        view = self.view()
        return view["stage"], view["reason"]

    def results(self):
        data = self.ask("GET", "results", 200).content
        return Results.from_bytes(
            unseal_from(data, identity_of(self.name), "results")[0], "results"
        )


# the server


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


class Server:
    """A server process on loopback with small limits, and its operator."""

    def __init__(self, folder, *options, before="", small=True):
        self.folder, self.data = folder, folder / "unit"
        limits = ("--patience", PATIENCE, "--largest-bundle", LARGEST, "--memory", MEMORY)
        words = ["--data", self.data, "--port", 0, *(limits if small else ()), *options]
        with (folder / "said.txt").open("ab") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-c", before + RUN, *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                env={**os.environ, "NUMBA_NUM_THREADS": "1"},
            )
        until(lambda: "make an exchange" in self.said() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()
        self.port = int(re.findall(r"listens at http://127\.0\.0\.1:(\d+)", self.said())[-1])
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}", timeout=LONG, trust_env=False
        )
        self.token = (self.data / "operator.token").read_text().strip()
        self.secrets = {self.token}
        self.heard = (0, 0)  # how much of the output and of the log was looked through

    @property
    def recipient(self):
        from gramlink.bundles.sealing import read_recipient

        return read_recipient(self.data / "unit.recipient")

    def said(self):
        return (self.folder / "said.txt").read_text()

    def stop(self):
        self.client.close()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(LONG)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    # asking

    def ask(self, method, path, says=None, token="", headers=None, **options):
        """Ask, as the operator unless a token is given; None is nobody's."""
        given = self.token if token == "" else token
        headers = {**({"Authorization": f"Bearer {given}"} if given else {}), **(headers or {})}
        answer = self.client.request(method, path, headers=headers, **options)
        assert says is None or answer.status_code == says, (answer.status_code, answer.text)
        return answer

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), LONG)

    def raw(self, *parts, wait=0.0):
        """What is answered to bytes that no client would send, until the server hangs up."""
        with self.connect() as connection:
            with suppress(OSError):
                for part in parts:
                    connection.sendall(part)
                    time.sleep(wait)
            return read_all(connection)

    def raw_request(self, method, path, token, content=None):
        """An answer to a path that is sent as it is, which clients would tidy up."""
        length = f"Content-Length: {len(content or b'')}"
        data = self.raw(head(method, path, token, length, "Connection: close") + (content or b""))
        return Answer(int(data[9:12]), data.partition(b"\r\n\r\n")[2])

    def tables(self, query, *values):
        """What the tables say, or are made to say."""
        with closing(sqlite3.connect(self.data / "unit.sqlite3", timeout=LONG)) as db, db:
            return db.execute(query, values).fetchall()

    def log(self):
        return self.ask("GET", "/api/log", 200).json()

    # exchanges

    def exchange(self, names=NAMES, schema=SCHEMA, **options):
        """A new exchange's parties."""
        made = self.exchange_asked(names, schema, **options)
        assert made.status_code == 201, made.text
        name, tokens = made.json()["name"], made.json()["tokens"]
        self.secrets |= set(tokens.values())
        return [Party(self, name, party, tokens[party]) for party in names]

    def exchange_asked(self, names=NAMES, schema=SCHEMA, **options):
        """What is answered to the wish for a new exchange."""
        name = f"exchange-{next(_numbers)}"
        asked = {"name": name, "schema": schema, "parties": list(names), **options}
        return self.ask("POST", "/api/exchanges", json=asked)

    def at_bundles(self, names=NAMES, **options):
        """The parties of a new exchange at which bundles are awaited."""
        parties = self.exchange(names, **options)
        for one in parties:
            one.join()
        for one, other in itertools.permutations(parties, 2):
            one.send_mined(other.name)
        return parties

    def works(self):
        """Have two parties linked, and see that each gets its links and the log is whole."""
        assert self.log()["intact"]
        parties = self.at_bundles()
        for party in parties:
            party.upload()
        assert parties[0].outcome() == ("done", None)
        for party in parties:
            links = party.results().tables["links"]
            assert len(links) == len(set(SURNAMES))

    # what must hold

    def files(self):
        """All files of exchanges."""
        found = (path for path in (self.data / "exchanges").rglob("*") if path.is_file())
        return sorted(str(path.relative_to(self.data)) for path in found)

    def strays(self):
        """Files that no table tells of."""
        known = set()
        for exchange, number, state, results in self.tables(
            "SELECT exchange, number, state, results_sha256 FROM parties"
        ):
            kind = {"none": "", "uploading": "upload-{}.part"}.get(state, "bundle-{}.age")
            known.add(f"exchanges/{exchange}/{kind.format(number)}")
            known |= {f"exchanges/{exchange}/results-{number}.age"} if results else set()
        for exchange, sender, receiver in self.tables(
            "SELECT exchange, sender, receiver FROM mined JOIN parties ON number = sender"
        ):
            known.add(f"exchanges/{exchange}/mined-{sender}-{receiver}.age")
        return sorted(set(self.files()) - known)

    def leaks(self):
        """What was said or logged since it was last asked that nobody but a party may know."""
        said = self.said()
        entries = self.tables("SELECT * FROM log WHERE number > ?", self.heard[1])
        told = said[self.heard[0] :] + repr(entries)
        self.heard = (len(said), max([self.heard[1], *(entry[0] for entry in entries)]))
        secrets = {token[len("gl_01234567_") :] for token in self.secrets} | private()
        found = [one for one in secrets if one in told]
        return found + re.findall(VALUES, told, re.IGNORECASE)

    def assert_sound(self):
        """Nothing is left half done, nothing was told, nothing was unforeseen, and it answers."""
        assert self.process.poll() is None
        assert self.ask("GET", "/api/unit", token=None).status_code == 200
        assert self.strays() == []
        assert self.leaks() == []
        assert "Traceback" not in self.said()
        assert "unexpected" not in self.said(), self.said()

    @contextmanager
    def untouched(self):
        """Nothing that is done here may change a file or a table."""
        entries = "SELECT count(*) FROM log"
        before = self.files(), self.tables(entries)
        yield
        assert (self.files(), self.tables(entries)) == before


def read_all(connection):
    answer = b""
    with suppress(OSError):
        while piece := connection.recv(65536):
            answer += piece
    return answer


def head(method, path, token, *headers):
    """The head of a request, as bytes."""
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def assert_refused(answer, status, *words):
    """Refused with this status and a reason that has these words, in our form."""
    assert answer.status_code == status, (answer.status_code, answer.text)
    told = answer.json()
    assert {"error", "hint"} <= told.keys()
    for word in words:
        assert word in told["error"], told
