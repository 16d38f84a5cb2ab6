"""Parties of an exchange, with real records, and clients that speak for them."""

import hashlib
import sqlite3
import time
import tomllib
import warnings
from contextlib import closing
from decimal import Decimal
from functools import cache

from gramlink.bundles.sealing import new_identity, seal, seal_from
from gramlink.embedding.projection import agree
from gramlink.lab.datasets import sample, surnames
from gramlink.parties.owner import Owner
from gramlink.records.reading import read_records
from gramlink.records.schema import schema_from

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of another library that it would rather use
    from starlette.testclient import TestClient

EXCHANGE = "stroke-2026"
COUNT = 30
# so much epsilon that the noise, which cannot be seeded, leaves the links alone
SCHEMA = "epsilon = 20\n\n[fields.surname]\nsize = 20\n"
NAMES = ("hospital", "registry")


@cache
def owner(name):
    import polars as pl

    schema = schema_from(tomllib.loads(SCHEMA, parse_float=Decimal), "linkage.toml")
    names = list(sample(surnames(), COUNT, seed=3))
    frame = pl.DataFrame({"id": [f"{name}{i:03d}" for i in range(COUNT)], "surname": names})
    return Owner(name, read_records(frame, schema), schema, name.encode() * 4)


@cache
def mined_by(name):
    return owner(name).mine(None)


@cache
def identity_of(name):  # noqa: ARG001
    return new_identity()


@cache
def projection(names=NAMES):
    return agree(*(mined_by(name) for name in names))


@cache
def bundle_of(name, names=NAMES, exchange=EXCHANGE, reply=None):
    """A real bundle, neither signed nor sealed."""
    recipient = identity_of(reply or name).recipient
    return owner(name).embed(projection(names), exchange=exchange, reply=recipient).to_bytes()


@cache
def sealed_bundle(name, recipient, **options):
    return seal_from(bundle_of(name, **options), identity_of(name), recipient)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def sql(unit, query, *values):
    """What the tables of a unit say, or are made to say behind its back."""
    with closing(sqlite3.connect(unit.folder.database)) as db, db:
        db.row_factory = sqlite3.Row
        return db.execute(query, values).fetchall()


class Asker:
    """A client with a token, over one application."""

    def __init__(self, app, token=None, name=None, exchange=EXCHANGE):
        self.client = TestClient(app, raise_server_exceptions=False, follow_redirects=False)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.name, self.token, self.path = name, token, f"/api/exchanges/{exchange}"

    def ask(self, method, path="", *, says=None, **options):
        """Ask; the answer must have the status, if it is said."""
        url = path if path.startswith("/") else f"{self.path}/{path}".rstrip("/")
        headers = {**self.headers, **options.pop("headers", {})}
        answer = self.client.request(method, url, headers=headers, **options)
        assert says is None or answer.status_code == says, (answer.status_code, answer.text)
        return answer

    def get(self, path="", says=200, **options):
        return self.ask("GET", path, says=says, **options)

    def view(self):
        return self.get().json()

    def me(self):
        return next(one for one in self.view()["parties"] if one["name"] == self.name)

    def join(self, says=204):
        return self.ask("PUT", "recipient", content=identity_of(self.name).recipient.key, says=says)

    def send_mined(self, to, says=204, content=None):
        content = content or seal(b"grams", [identity_of(to).recipient])
        self.ask("PUT", f"mined/{to}", content=content, says=says)
        return content

    def announce(self, data, says=200):
        whole = {"size": len(data), "sha256": sha256(data)}
        return self.ask("POST", "upload", json=whole, says=says)

    def patch(self, data, offset=0, says=200, **options):
        return self.ask("PATCH", f"upload?offset={offset}", content=data, says=says, **options)

    def upload(self, data):
        offset = self.announce(data).json()["offset"]
        return self.patch(data[offset:], offset).json()["offset"]


def bring_to_bundles(parties):
    """Have all parties join and send what they mined."""
    for one in parties:
        one.join()
    for one in parties:
        for other in parties:
            if other is not one:
                one.send_mined(other.name)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")
