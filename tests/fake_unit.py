"""A linkage unit in this process, with the other owners: all that an owner's client talks to."""

import hashlib
import json
import re
import tomllib
from decimal import Decimal
from functools import cache
from urllib.parse import unquote

import httpx
import polars as pl
from pydantic import BaseModel

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.sealing import Recipient, new_identity, seal_from, unseal_from
from gramlink.embedding.projection import agree
from gramlink.errors import Mismatch
from gramlink.exchange import wire
from gramlink.lab.datasets import corrupt, sample, surnames
from gramlink.lab.datasets.persons import persons
from gramlink.parties.admission import admit
from gramlink.parties.answers import answer
from gramlink.parties.contribution import Contribution, needs_secret, secret_of
from gramlink.parties.handover import Handover
from gramlink.parties.owner import Owner, for_the_unit
from gramlink.records.fields import ALPHABET
from gramlink.records.reading import read_records
from gramlink.records.schema import schema_from
from gramlink.records.strings import Strings

TOKEN = "gl_00000000_" + "x" * 43
EXCHANGE = "stroke-2026"
COUNT = 80
# so much epsilon that the noise, which cannot be seeded, leaves the links alone
SCHEMA = "epsilon = 20\n\n[fields.surname]\nsize = 40\n"
VEILED = """\
epsilon = 20
encoding = "veiled"

[fields.given_name]
size = 40

[fields.surname]
size = 40

[fields.born]
kind = "date"
"""


@cache
def records_of(name, agreed=SCHEMA):
    """An owner's records: the same persons for all, surnames mistyped but at the hospital."""
    names = list(sample(surnames(), COUNT, seed=3))
    if name != "hospital":
        names = list(corrupt(Strings.of(names, ALPHABET + "*"), 1, seed=len(name)))
    ids = [f"{name[0]}{i:03d}" for i in range(COUNT)]
    if agreed == SCHEMA:
        return pl.DataFrame({"id": ids, "surname": names})
    people = persons(COUNT, seed=3, errors=0).left
    return pl.DataFrame(
        {
            "id": ids,
            "given_name": people["given_name"],
            "surname": names,
            "born": people["date_of_birth"],
        }
    )


@cache
def schema_of(agreed=SCHEMA):
    """What the owners agreed on."""
    return schema_from(tomllib.loads(agreed, parse_float=Decimal), "linkage.toml")


@cache
def owner(name, agreed=SCHEMA):
    """An owner that is in this process."""
    schema = schema_of(agreed)
    return Owner(name, read_records(records_of(name, agreed), schema), schema, name.encode() * 4)


@cache
def mined_by(name, agreed=SCHEMA):
    """What a peer mined; it is the same in all tests, as mining takes its time."""
    return owner(name, agreed).mine(None)


class Peer:
    """Another owner, who does its part as soon as it can."""

    def __init__(self, name, agreed=SCHEMA, exchange=EXCHANGE):
        self.owner, self.identity, self.exchange = owner(name, agreed), new_identity(), exchange
        self.mined = mined_by(name, agreed)
        schema = self.owner.schema
        own = Contribution.new(name, exchange, schema) if needs_secret(schema) else None
        self.contribution = own

    @property
    def handover(self):
        return Handover(self.mined, self.contribution)

    def received(self, unit):
        """What the others handed over to it, by their names."""
        with_secret = self.contribution is not None
        sent = {
            sender: unseal_from(sealed, self.identity, sender)[0]
            for (sender, reader), sealed in unit.mined.items()
            if reader == self.owner.name
        }
        return {
            sender: Handover.from_json(data, sender, with_secret=with_secret)
            for sender, data in sent.items()
        }

    def secret(self, unit):
        """What it derives from all contributions, if their encoding needs a secret."""
        if self.contribution is None:
            return None
        received = self.received(unit).values()
        contributions = [self.contribution, *(one.contribution for one in received)]
        return secret_of(contributions, self.agreed(unit), self.exchange, self.owner.schema)

    def agreed(self, unit):
        return agree(self.mined, *(one.mined for one in self.received(unit).values()))

    def advance(self, unit):
        name, others = self.owner.name, [one for one in unit.parties if one != self.owner.name]
        unit.recipients.setdefault(name, self.identity.recipient.key)
        if len(unit.recipients) < len(unit.parties):
            return
        for other in others:
            if (name, other) not in unit.mined:
                reader = Recipient(unit.recipients[other])
                sealed = seal_from(self.handover.to_json(), self.identity, reader)
                unit.mined[name, other] = sealed
        if name in unit.bundles or any((other, name) not in unit.mined for other in others):
            return
        unit.bundles[name] = self.owner.embed(
            self.agreed(unit),
            exchange=self.exchange,
            reply=self.identity.recipient,
            secret=self.secret(unit),
        )


class FakeUnit:
    """The API, over dictionaries. `trouble` may answer, or raise, in the place of a request."""

    def __init__(self, me="hospital", peers=("registry",), schema=SCHEMA, returns="links"):
        self.me, self.schema, self.name, self.returns = me, schema, EXCHANGE, returns
        self.identity = new_identity()
        self.agreed = VEILED if schema == VEILED else SCHEMA  # what the peers have agreed on
        self.peers = [Peer(name, self.agreed) for name in peers]
        self.parties = sorted([me, *peers])
        self.recipients, self.mined, self.bundles, self.results = {}, {}, {}, {}
        self.upload, self.part, self.refused, self.failed = None, b"", "", ""
        self.asked, self.erase = [], None
        self.trouble = lambda _: None
        self.tamper = lambda _, content: content

    @property
    def transport(self):
        return httpx.MockTransport(self.handle)

    def handle(self, request):
        path = unquote(request.url.raw_path.decode())
        self.asked.append(f"{request.method} {path}")
        early = self.trouble(request)
        if early is not None:
            return early
        for peer in self.peers:
            peer.advance(self)
        status, content = self.answer(request, path, request.content)
        for peer in self.peers:
            peer.advance(self)
        if isinstance(content, BaseModel):
            content = content.model_dump_json(exclude_unset=True)
        elif isinstance(content, dict):
            content = json.dumps(content)
        content = content if isinstance(content, bytes) else content.encode()
        return reply(status, self.tamper(f"{request.method} {path}", content))

    def answer(self, request, path, body):
        if path == "/api/unit":
            key = self.identity.recipient
            limits = wire.Limits(bundle_bytes=2**32, mined_bytes=2**26)
            return 200, wire.UnitInfo(
                gramlink="0.1.0", recipient=key, fingerprint=key.fingerprint, limits=limits
            )
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"error": "the token has expired", "hint": "none"}
        if path == "/api/token":
            return 200, wire.TokenInfo(
                role="party", exchange=self.name, party=self.me, expires="2030-01-01T00:00:00Z"
            )
        rest = path.removeprefix(f"/api/exchanges/{self.name}")
        if (request.method, rest) == ("GET", ""):
            return 200, self.status()
        if rest == "/schema":
            return 200, self.schema.encode()
        if rest == "/recipient":
            return self.put_recipient(body.decode())
        if rest.startswith("/mined/"):
            return self.relay(request.method, rest.removeprefix("/mined/"), body)
        if rest.startswith("/upload"):
            return self.take(request, body)
        if (request.method, rest) == ("DELETE", "/bundle"):
            self.bundles.pop(self.me, None)
            self.upload, self.part = None, b""
            return 204, b""
        if rest == "/results":
            self.link()
            return 200, self.results[self.me]
        return 404, {"error": "there is no such thing", "hint": ""}

    def put_recipient(self, key):
        if self.recipients.get(self.me, key) != key and self.mined:
            return 409, {"error": "something was sealed to another key", "hint": ""}
        self.recipients[self.me] = key
        return 204, b""

    def relay(self, method, other, body):
        if method == "GET":
            found = self.mined.get((other, self.me))
            return (200, found) if found else (404, {"error": "not there yet", "hint": "wait"})
        if self.mined.setdefault((self.me, other), body) != body:
            return 409, {"error": "another file was sent before", "hint": ""}
        return 204, b""

    def take(self, request, body):
        if request.method == "POST":
            announced = json.loads(body)
            if announced != self.upload or self.refused:
                self.upload, self.part, self.refused = announced, b"", ""
                self.bundles.pop(self.me, None)
            return 200, {"offset": len(self.part)}
        offset = int(re.search(r"offset=(\d+)", str(request.url))[1])
        if offset != len(self.part):
            return 409, {"error": "wrong offset", "hint": "", "offset": len(self.part)}
        self.part += body
        if len(self.part) == self.upload["size"]:
            assert hashlib.sha256(self.part).hexdigest() == self.upload["sha256"]
            self.check()
        return 200, {"offset": len(self.part)}

    def check(self):
        content, sender = unseal_from(self.part, self.identity, "bundle")
        bundle = Bundle.from_bytes(content, "bundle", sender)
        try:
            admit(
                bundle,
                exchange=self.name,
                owner=self.me,
                owners=self.parties,
                settings=for_the_unit(schema_of(self.agreed)),
                key=Recipient(self.recipients[self.me]),
            )
            self.bundles[self.me] = bundle
        except Mismatch as error:
            self.refused = str(error)

    def link(self):
        if not self.results and len(self.bundles) == len(self.parties):
            bundles = list(self.bundles.values())
            found = answer(bundles, dict.fromkeys(self.parties, self.returns)).results
            self.results = {
                name: seal_from(one.to_bytes(), self.identity, Recipient(self.recipients[name]))
                for name, one in found.items()
            }

    def status(self):
        done = len(self.bundles) == len(self.parties)
        pairs = len(self.parties) * (len(self.parties) - 1)
        stage = "joining" if len(self.recipients) < len(self.parties) else "mined"
        stage = "bundles" if len(self.mined) == pairs else stage
        stage = "failed" if self.failed else "done" if done else stage
        return wire.ExchangeInfo(
            name=self.name,
            created="2026-01-01T00:00:00Z",
            stage=stage,
            reason=self.failed or None,
            parties=tuple(self.party(name, done) for name in self.parties),
            progress=wire.Progress(step=None, done=0, total=0),
            summary=None,
            erase=self.erase,
            erased=None,
        )

    def party(self, name, done):
        own = name == self.me
        state = "accepted" if name in self.bundles else "none"
        key = self.recipients.get(name)
        unsaid = dict.fromkeys(("rows", "epsilon", "created", "bytes", "sha256", "offset", "size"))
        return wire.PartyInfo(
            name=name,
            returns=self.returns,
            recipient=key and Recipient(key),
            mined_sent_to=tuple(to for sender, to in self.mined if sender == name),
            bundle=wire.BundleInfo(
                state="refused" if own and self.refused else state,
                reason=self.refused or None if own else None,
                **unsaid,
            ),
            results=wire.ResultsInfo(ready=done, bytes=None, sha256=None, fetched=None),
        )


def reply(status, content=b"", **headers):
    """A response whose body is streamed, as a real one is."""
    return httpx.Response(status, stream=httpx.ByteStream(content), headers=headers)
