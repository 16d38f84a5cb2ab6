"""Each rule of protection, on each route that a bundle or a result can take.

| route | takes bundles | makes them | takes results |
|---|---|---|---|
| Python | `answer` | `Owner.embed`, `to_bytes` | `receive` |
| the command line | `link` | `mine`, `embed` | `results` |
| a file drop | an inbox | by the command line | by the command line |
| the network | the server's worker | the server's plan, an owner's part | an owner's part |
"""

import os
import re
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fake_unit
import gramlink as gl
from cli.owners import command
from gramlink.bundles.archive import pack
from gramlink.bundles.bundle import RECORDS
from gramlink.bundles.sealing import (
    read_identity,
    read_senders,
    signed,
    write_identity,
    write_recipient,
)
from gramlink.encodings.secret import Secret
from gramlink.encodings.vectors import VectorRecords
from gramlink.exchange import Choices, Voice, file_drop, take_part
from gramlink.exchange.client import Client
from gramlink.io import limits
from gramlink.parties.answers import sealed
from gramlink.server import worker
from gramlink.server.app import application
from gramlink.server.plan import Plan
from gramlink.server.settings import Settings
from gramlink.server.unit import prepared
from server import parties
from server.parties import EXCHANGE, Asker, bring_to_bundles

TWO, THREE = ("hospital", "registry"), ("clinic", "hospital", "registry")


@pytest.fixture(autouse=True)
def somewhere(tmp_path, monkeypatch):
    """In a folder of its own, and without waiting for the disk."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """A server's application for all tests, as it takes a while to make."""
    unit = prepared(Settings(tmp_path_factory.mktemp("unit"), patience=30))
    yield application(unit)
    unit.store.close()


@pytest.fixture
def run(capsys, monkeypatch):
    """What a command that must fail says."""

    def runner(*args):
        result = command(capsys, monkeypatch, args)
        assert result.code == 1, result
        return result.err

    return runner


# what is linked


def bundles_of(names):
    return {
        name: parties.owner(name).embed(
            parties.projection(names), exchange=EXCHANGE, reply=parties.identity_of(name).recipient
        )
        for name in names
    }


def packed(bundle):
    """A bundle's bytes, as somebody makes them who keeps to no rule."""
    return pack("bundle", bundle.manifest, {RECORDS: bundle.rows()})


def sent(place, bundle, unit=None):
    """What its owner sends of it, signed, and sealed if there is a unit to seal it to."""
    named = bundle.manifest["owner"]
    identity = parties.identity_of(named if named in THREE else place)
    made = signed(packed(bundle), identity, unit)
    return gl.seal(made, [unit]) if unit else made


def known_senders(names):
    """The folder of the recipient files that the unit got from the owners."""
    folder = Path("senders")
    folder.mkdir(exist_ok=True)
    for name in names:
        recipient = parties.identity_of(name).recipient
        write_recipient(folder / f"{name}.recipient", recipient, name)
    return folder


def answered(bundles):
    """What a linkage unit does in Python with the files that it got."""
    read = [gl.Bundle.from_bytes(packed(one), "a bundle") for one in bundles]
    found = gl.answer(read, {one.owner: "links" for one in read})
    return [sealed(found.results[one.owner], one, gl.new_identity()) for one in read]


def by_python(bundles, _run, _app):
    with pytest.raises(gl.GramlinkError) as refused:
        answered(bundles)
    return str(refused.value)


def by_command(bundles, run, _app, send=sent, known=THREE):
    files = []
    for number, (place, one) in enumerate(zip(TWO, bundles, strict=True)):
        files.append(f"{number}.bundle")
        Path(files[-1]).write_bytes(send(place, one))
    said = run("link", *files, "--from", known_senders(known))
    assert not Path("links.csv").exists()
    return said


def by_file_drop(bundles, _run, _app, send=sent, known=THREE):
    identity = gl.new_identity()
    write_identity(Path("unit.identity"), identity, "unit")
    for folder in ("inbox", "outbox"):
        Path(folder).mkdir()
    for number, (place, one) in enumerate(zip(TWO, bundles, strict=True)):
        Path(f"inbox/{number}.age").write_bytes(send(place, one, identity.recipient))
    senders = read_senders([known_senders(known)])
    received, answered = file_drop.attend(
        Path("inbox"), Path("outbox"), Path("unit.identity"), senders
    )
    assert not list(Path("outbox").glob("*.results.age"))
    receipts = [path.read_text() for path in sorted(Path("outbox").glob("*.receipt.txt"))]
    assert len(receipts) == len(received) == len(bundles)
    return "".join(receipts) + "".join(f"{', '.join(one.awaited)} awaited\n" for one in answered)


def by_network(bundles, _run, app, send=sent):
    unit = prepared(Settings(Path("unit"), patience=30))
    try:
        return _uploaded(app, unit, bundles, send)
    finally:
        unit.store.close()


def _uploaded(app, unit, bundles, send):
    app.state.unit = unit
    operator = Asker(app, unit.folder.operator_token.read_text().strip())
    names = THREE if len(bundles) == 3 else TWO
    veiled = any(one.manifest["encoding"] == "veiled" for one in bundles)
    schema = fake_unit.VEILED if veiled else parties.SCHEMA
    asked = {"name": EXCHANGE, "schema": schema, "parties": list(names)}
    tokens = operator.ask("POST", "/api/exchanges", json=asked, says=201).json()["tokens"]
    askers = [Asker(app, tokens[name], name) for name in names]
    bring_to_bundles(askers)
    for asker, bundle in zip(askers, bundles, strict=True):
        asker.upload(send(asker.name, bundle, unit.recipient))
    while True:
        with unit.store.change() as db:
            job = db.jobs.take()
        if job is None:
            break
        worker.main(unit.folder.path, job.number, 0)
    view = operator.view()
    assert view["stage"] != "done"
    reasons = [view["reason"], *(asker.me()["bundle"]["reason"] for asker in askers)]
    return "\n".join(filter(None, reasons))


ROUTES = {
    "Python": by_python,
    "command": by_command,
    "file drop": by_file_drop,
    "network": by_network,
}


@dataclass(frozen=True)
class Bad:
    """What is wrong with whose bundle, and the words of its refusal on each route."""

    whose: str
    change: object
    says: str
    otherwise: dict | None = None  # where a route sees it sooner; None: where it may be


def settings(**changes):
    """Other settings of the field."""

    def changed(bundle):
        field = {**bundle.settings["fields"]["surname"], **changes}
        return replace(bundle, settings={**bundle.settings, "fields": {"surname": field}})

    return changed


def with_fields(change):
    return lambda one: replace(
        one,
        records=VectorRecords({key: change(of) for key, of in one.records.fields.items()}),
    )


def shorter(encoded):
    vectors = encoded.vectors
    fewer = gl.Vectors(vectors.counts[:, 1:], vectors.lengths[1:], vectors.missing)
    return replace(encoded, vectors=fewer)


def empty(bundle):
    gone = with_fields(
        lambda of: gl.Encoded(
            gl.Vectors(of.vectors.counts[:0], of.vectors.lengths, of.vectors.missing[:0]),
            None if of.thresholds is None else of.thresholds[:0],
        )
    )
    return replace(gone(bundle), ids=())


OTHER_OWNERS = ("hospital", "registry", "spy")
BAD = {
    "public grams": Bad(
        "hospital", settings(miner="public"), "could know the grams of surname, whose miner is pub"
    ),
    "random grams": Bad("hospital", settings(miner="random"), "surname, whose miner is random"),
    "exact grams": Bad("hospital", settings(miner="exact"), "surname, whose miner is exact"),
    "grams of a miner that nobody knows": Bad(
        "hospital", settings(miner="magic"), "surname, whose miner is magic"
    ),
    "no field that is mined": Bad(
        "hospital", settings(kind="digits"), "could know all grams, because no field is mined"
    ),
    "another exchange": Bad(
        "hospital",
        lambda one: replace(one, exchange="other"),
        "embedded for different exchanges, other and stroke-2026",
        {
            "file drop": "registry awaited\nhospital awaited",
            "network": "bundle's exchange is other, not stroke-2026",
        },
    ),
    "another owner": Bad(
        "hospital",
        lambda one: replace(one, owner="mallory"),
        "does not name its owner, mallory, among two or more owners",
        {
            "network": "the bundle's owner is mallory, not hospital",
            "command": "the bundle claims to be from mallory, whose key is not known",
        },
    ),
    "other owners": Bad(
        "hospital",
        lambda one: replace(one, owners=OTHER_OWNERS),
        "of hospital and registry do not name the same owners",
        {
            "file drop": "spy awaited",
            "network": "the bundle's owners are hospital, registry, spy, not hospital, registry",
        },
    ),
    "owners that look the same": Bad(
        "hospital",
        lambda one: replace(one, owners=("Registry", *one.owners)),
        "the bundle names Registry and registry as two owners",
        {"network": "the bundle's owners are Registry, hospital, registry, not hospital"},
    ),
    "other settings": Bad(
        "hospital",
        lambda one: replace(one, settings={**one.settings, "accept": 0.9}),
        r"differ in accept: 0\.9 and 0\.5",
    ),
    "another projection": Bad(
        "registry", lambda one: replace(one, projection="0" * 64), "with different projections"
    ),
    "grams of other lengths": Bad(
        "registry", with_fields(shorter), "encoded their records differently"
    ),
    "no rows": Bad("registry", empty, "the bundle has no rows"),
    "a left owner without thresholds": Bad(
        "hospital",
        with_fields(lambda of: gl.Encoded(of.vectors)),
        "the bundle of hospital, who is left to another owner, has no thresholds",
    ),
    "nobody to reply to": Bad(
        "hospital",
        lambda one: replace(one, reply=None),
        "does not say which key to seal the results to",
        # what `link` writes stays with the unit
        {"network": "the bundle's key to reply to is none", "command": None},
    ),
    "no exchange": Bad(
        "hospital",
        lambda one: replace(one, exchange=""),
        "embedded for different exchanges, none and stroke-2026",
        {
            "file drop": "the bundle does not name its exchange",
            "network": "the bundle's exchange is none, not stroke-2026",
        },
    ),
    "two bundles of one owner": Bad(
        "registry",
        lambda _: bundles_of(TWO)["hospital"],
        "there are two bundles from hospital",
        {"network": "the bundle's owner is hospital, not registry"},
    ),
}
CASES = [
    (case, route)
    for case, bad in BAD.items()
    for route in ROUTES
    if (bad.otherwise or {}).get(route, "") is not None
]


@pytest.mark.parametrize(("case", "route"), CASES, ids=[" by ".join(one) for one in CASES])
def test_a_bundle_that_was_not_made_for_this_is_not_linked(case, route, run, app, monkeypatch):
    monkeypatch.setattr(limits, "_confined", True)  # read in this process
    bad, bundles = BAD[case], bundles_of(TWO)
    bundles[bad.whose] = bad.change(bundles[bad.whose])
    said = ROUTES[route](list(bundles.values()), run, app)
    assert re.search((bad.otherwise or {}).get(route, bad.says), said), said


@pytest.mark.parametrize("route", ["Python", "network"])
@pytest.mark.parametrize("case", ["public grams", "another projection", "no rows"])
def test_nor_is_one_of_several_owners(case, route, run, app):
    bad, bundles = BAD[case], bundles_of(THREE)
    bundles[bad.whose] = bad.change(bundles[bad.whose])
    assert re.search(bad.says, ROUTES[route](list(bundles.values()), run, app))


# what is linked under the veil


@cache
def veiled_bundle(name, whose="hospital"):
    """A bundle under a secret that the owners share, or under one of somebody else's."""
    projection = gl.agree(*(fake_unit.mined_by(one, fake_unit.VEILED) for one in TWO))
    sender = fake_unit.owner(name, fake_unit.VEILED)
    content = {"registry": bytes(32), whose: bytes(range(32))}
    secret = Secret.of(content, exchange=EXCHANGE, schema=sender.schema.digest)
    reply = parties.identity_of(name).recipient
    return sender.embed(projection, exchange=EXCHANGE, reply=reply, secret=secret)


@dataclass
class Forged:
    """A bundle that nobody's gramlink made."""

    bundle: gl.Bundle
    shape: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    frame: object = lambda rows: rows

    @property
    def manifest(self):
        made = self.bundle.manifest
        return {**made, "shape": {**made["shape"], **self.shape}, **self.claims}

    def rows(self):
        return self.frame(self.bundle.rows())


def forged(**changes):
    return lambda bundle: Forged(bundle, **changes)


def with_records(change):
    return lambda bundle: replace(bundle, records=change(bundle.records))


def repeating(records):
    """With the first key's row of the first record once more."""
    rows = records.rows.copy()
    end = records.layout.starts[1]
    rows[1, :end] = rows[0, :end]
    return replace(records, rows=rows)


def with_keys(change):
    return with_records(
        lambda of: replace(of, layout=replace(of.layout, keys=change(of.layout.keys)))
    )


def farther(records):
    first, *rest = records.cut_offs
    return replace(records, cut_offs=((*first[:-1], first[-1] + 1), *rest))


def resized(by):
    """Rows with so many bytes more, or fewer."""

    def changed(rows):
        longer = [one + bytes(by) if by > 0 else one[:by] for one in rows["rows"]]
        return rows.with_columns(rows=pl.Series(longer, dtype=pl.Binary))

    return changed


def one_short(rows):
    return rows.with_columns(
        rows=pl.Series([rows["rows"][0][:-1], *rows["rows"][1:]], dtype=pl.Binary)
    )


def none_in_the_first(rows):
    return rows.with_columns(rows=pl.Series([None, *rows["rows"][1:]], dtype=pl.Binary))


BAD_VEILS = {
    "a tag twice": Bad("hospital", with_records(repeating), "two of its records have the same tag"),
    "one tag for all": Bad(
        "hospital",
        with_records(lambda of: replace(of, rows=np.zeros_like(of.rows))),
        "two of its records have the same tag",
    ),
    "another secret": Bad(
        "hospital",
        lambda _: veiled_bundle("hospital", whose="clinic"),
        "encoded their records with different secrets",
    ),
    "no secret": Bad(
        "hospital", forged(shape={"check": ""}), "does not say which secret it was made with"
    ),
    "keys in another order": Bad(
        "registry", with_keys(lambda keys: keys[::-1]), "encoded their records differently"
    ),
    "fewer keys": Bad(
        "registry",
        lambda one: Forged(one, shape={"keys": one.manifest["shape"]["keys"][1:]}),
        "a record does not have",
    ),
    "no keys": Bad("registry", forged(shape={"keys": []}), "it does not have 1 to"),
    "a key of another field": Bad(
        "registry", forged(shape={"keys": [[["street", "whole"]]]}), "damaged"
    ),
    "other cut-offs": Bad("registry", with_records(farther), "encoded their records differently"),
    "cut-offs that fall": Bad(
        "registry",
        forged(shape={"cut_offs": {name: [0, 2, 1] for name in ("given_name", "surname", "born")}}),
        "cut-offs do not rise from 0|does not have a cut-off for each number",
    ),
    "wider rows": Bad("registry", forged(frame=resized(1)), "a record does not have"),
    "narrower rows": Bad("registry", forged(frame=resized(-1)), "a record does not have"),
    "one narrower row": Bad("registry", forged(frame=one_short), "a record does not have"),
    "a record without rows": Bad(
        "registry", forged(frame=none_in_the_first), "a record does not have|empty|missing|null"
    ),
    "rows that are not there": Bad(
        "registry", forged(claims={"rows": 10**7}), "it claims more rows than its size allows"
    ),
    "somebody else's encoding": Bad(
        "registry", forged(claims={"encoding": "vectors"}), "its settings say that it is 'veiled'"
    ),
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("case", BAD_VEILS)
def test_a_veiled_bundle_that_was_not_made_for_this_is_not_linked(
    case, route, run, app, monkeypatch
):
    monkeypatch.setattr(limits, "_confined", True)  # read in this process
    bad, bundles = BAD_VEILS[case], {name: veiled_bundle(name) for name in TWO}
    bundles[bad.whose] = bad.change(bundles[bad.whose])
    said = ROUTES[route](list(bundles.values()), run, app)
    assert re.search(bad.says, said), said


def test_of_several_owners_none_is_answered_before_all_have_sent():
    some = list(bundles_of(THREE).values())[:2]
    with pytest.raises(gl.Mismatch, match="there is no bundle from registry"):
        gl.answer(some, {one.owner: "links" for one in some})


@pytest.mark.parametrize("encoding", ["vectors", "veiled"])
def test_what_is_as_agreed_is_linked_on_every_route(encoding, run, app, monkeypatch):
    """So that each refusal above is of what was changed."""
    monkeypatch.setattr(limits, "_confined", True)  # read in this process
    made = {"vectors": bundles_of(TWO), "veiled": {name: veiled_bundle(name) for name in TWO}}
    bundles = list(made[encoding].values())
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        by_python(bundles, run, app)
    with pytest.raises(AssertionError, match="code=0"):
        by_command(bundles, run, app)
    with pytest.raises(AssertionError, match=r"results\.age"):
        by_file_drop(bundles, run, app)
    with pytest.raises(AssertionError, match="done"):
        by_network(bundles, run, app)


# who sent it


def asked_by_python(bundles, _run, _app, send):
    """What a linkage unit does in Python with what each owner sent it."""
    unit = gl.new_identity()

    def admit(place, bundle):
        content, sender = gl.unseal_from(send(place, bundle, unit.recipient), unit, "the bundle")
        gl.admit(
            gl.Bundle.from_bytes(content, "the bundle", sender),
            exchange=EXCHANGE,
            owner=place,
            owners=TWO,
            settings=bundle.settings,
            key=parties.identity_of(place).recipient,
        )

    admit(TWO[0], bundles[0])
    with pytest.raises(gl.GramlinkError) as refused:
        admit(TWO[1], bundles[1])
    return str(refused.value)


CHECKING = {**ROUTES, "Python": asked_by_python}


def by_hospital(make):
    """The registry's file made like this, and everybody else's as it must be."""

    def send(place, bundle, unit=None):
        return sent(place, bundle, unit) if place != "registry" else make(bundle, unit)

    return send


def unsigned(bundle, unit):
    return gl.seal(packed(bundle), [unit]) if unit else packed(bundle)


def signed_by_hospital(bundle, unit):
    made = signed(packed(bundle), parties.identity_of("hospital"), unit)
    return gl.seal(made, [unit]) if unit else made


def said_to_be_registrys(bundle, unit):
    """The hospital signs, and writes that the registry did."""
    ours, theirs = (parties.identity_of(name).recipient.key.encode() for name in TWO)
    made = signed(packed(bundle), parties.identity_of("hospital"), unit).replace(ours, theirs, 1)
    return gl.seal(made, [unit]) if unit else made


def signed_for_another(bundle, unit):
    """What the registry signed for somebody else, who passes it on."""
    made = signed(packed(bundle), parties.identity_of("registry"), gl.new_identity().recipient)
    return gl.seal(made, [unit]) if unit else made


def changed_by_who_can_open_it(bundle, unit):
    """What the registry signed, with another projection in its manifest."""
    made = signed(packed(bundle), parties.identity_of("registry"), unit)
    made = made.replace(bundle.projection.encode(), b"0" * 64)
    return gl.seal(made, [unit]) if unit else made


def answered_to_hospital(bundle, unit):
    """What the registry signed, and the hospital is to get the results of."""
    return sent("registry", replace(bundle, reply=parties.identity_of("hospital").recipient), unit)


def of_another_exchange(bundle, unit):
    """What the registry signed for an exchange that is over."""
    return sent("registry", replace(bundle, exchange="asthma-2025"), unit)


FORGED = {
    unsigned: "the bundle is not signed, so anybody could have made it",
    signed_by_hospital: "the bundle does not come from the key of registry, but from",
    said_to_be_registrys: "does not come from the sender it names, or was made for another",
    signed_for_another: "does not come from the sender it names, or was made for another reader",
    changed_by_who_can_open_it: "does not come from the sender it names, or was made for another",
    answered_to_hospital: "sealed to a key that did not sign it|key to reply to is age1",
    of_another_exchange: "different exchanges|registry awaited|exchange is asthma-2025, not stroke",
}


@pytest.mark.parametrize("route", CHECKING)
@pytest.mark.parametrize("make", FORGED, ids=lambda make: make.__name__)
def test_a_bundle_that_its_owner_did_not_sign_for_this_is_not_linked(
    make, route, run, app, monkeypatch
):
    monkeypatch.setattr(limits, "_confined", True)  # read in this process
    bundles = list(bundles_of(TWO).values())
    said = CHECKING[route](bundles, run, app, by_hospital(make))
    assert re.search(FORGED[make], said), said


@pytest.mark.parametrize("route", ["command", "file drop"])
def test_nor_is_one_of_an_owner_whose_key_is_not_known(route, run, app, monkeypatch):
    monkeypatch.setattr(limits, "_confined", True)  # read in this process
    said = ROUTES[route](list(bundles_of(TWO).values()), run, app, known=("hospital",))
    assert "the bundle claims to be from registry, whose key is not known here" in said


# what is made


def text(miner, more=""):
    return f'epsilon = 20\n\n[fields.surname]\nminer = "{miner}"\n{more}'


SCHEMAS = {
    "public": (text("public", 'grams = ["A", "E"]\n'), "the grams of surname, whose miner is pub"),
    "random": (text("random"), "could know the grams of surname, whose miner is random"),
    "exact": (text("exact"), "could know the grams of surname, whose miner is exact"),
    "one of two": (
        "epsilon = 20\n[fields.given]\ncolumn = 'surname'\nsize = 9\n\n"
        '[fields.surname]\nminer = "random"\n',
        "could know the grams of surname, whose miner is random",
    ),
    "none is mined": (
        "[fields.surname]\nkind = 'category'\n\n[fields.born]\nkind = 'date'\ncolumn = 'born'\n",
        "could know all grams, because no field is mined",
    ),
}


@pytest.fixture(params=SCHEMAS)
def unfit(request):
    """A schema whose grams the unit could know, beside the records; and why it is refused."""
    toml, says = SCHEMAS[request.param]
    Path("linkage.toml").write_text(toml)
    records = fake_unit.records_of("hospital").with_columns(born=pl.lit("1980-01-31"))
    records.write_csv("hospital.csv")
    yield toml, says
    assert not list(Path.cwd().rglob("*.ledger"))
    assert not list(Path.cwd().rglob("*.bundle*"))


def agreed():
    """Two owners of the schema in this folder, and what they would agree on."""
    schema = gl.load_schema("linkage.toml")
    owners = [
        gl.Owner(name, gl.read_records("hospital.csv", schema), schema, name.encode() * 4)
        for name in TWO
    ]
    return owners, gl.agree(*(owner.mine(None) for owner in owners))


def test_in_one_process_anything_may_be_linked(unfit):  # noqa: ARG001
    (one, other), projection = agreed()
    unit = gl.LinkageUnit.of(one.embed(projection), other.embed(projection))
    assert isinstance(unit.link(), gl.Linkage)


def test_python_writes_no_bundle_that_the_unit_could_read(unfit):
    (owner, _), projection = agreed()
    with pytest.raises(gl.InvalidSchema, match=unfit[1]):
        owner.embed(projection).to_bytes()


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_nor_does_embed(unfit, run, more):
    _, projection = agreed()
    Path("projection.json").write_bytes(projection.to_json())
    assert unfit[1] in run("embed", "hospital.csv", *more)


def test_mine_refuses_before_anything_is_paid(unfit, run):
    assert unfit[1] in run("mine", "hospital.csv")
    assert not Path("hospital.mined.json").exists()


def test_a_server_makes_no_such_exchange(unfit):
    with pytest.raises(gl.InvalidSchema, match=unfit[1]):
        Plan(EXCHANGE, unfit[0], TWO)


def test_an_owner_takes_no_part_in_one(unfit):
    unit = fake_unit.FakeUnit(schema=unfit[0])
    with pytest.raises(gl.InvalidSchema, match=unfit[1]):
        part(unit)
    assert not [asked for asked in unit.asked if "PUT" in asked]


# what comes back


def part(unit):
    voice = Voice(lambda _: None, lambda _: nullcontext(), lambda _: True, lambda _: None)
    client = Client("http://localhost", fake_unit.TOKEN, transport=unit.transport, pause=int)
    Path("own.toml").write_text(unit.schema)
    return take_part(client, Choices(Path("hospital.csv"), schema=Path("own.toml")), voice)


def hospital_of(names):
    """The hospital, what it agreed on, and the right results for it."""
    owners = [fake_unit.owner(name) for name in names]
    projection = gl.agree(*(fake_unit.mined_by(name) for name in names))
    reply = gl.new_identity().recipient
    sent = [one.embed(projection, exchange=fake_unit.EXCHANGE, reply=reply) for one in owners]
    found = gl.answer(sent, dict.fromkeys(names, "links")).results["hospital"]
    return fake_unit.owner("hospital"), projection, found


def received_by_python(change, names, _run):
    owner, projection, results = hospital_of(names)
    with pytest.raises(gl.GramlinkError) as refused:
        gl.receive(owner, change(results), projection, fake_unit.EXCHANGE)
    return str(refused.value)


def received_by_command(change, names, run):
    owner, projection, results = hospital_of(names)
    fake_unit.records_of("hospital").write_csv("hospital.csv")
    Path("linkage.toml").write_text(fake_unit.SCHEMA)
    Path("hospital.key").write_text(owner.key.hex())
    Path("projection.json").write_bytes(projection.to_json())
    Path("hospital.results").write_bytes(change(results).to_bytes())
    said = run("results", "hospital.results", "hospital.csv", "--exchange", fake_unit.EXCHANGE)
    assert not list(Path.cwd().glob("*-links*.csv"))
    return said


def received_by_network(change, names, _run):
    fake_unit.records_of("hospital").write_csv("hospital.csv")
    unit = fake_unit.FakeUnit(peers=tuple(name for name in names if name != "hospital"))
    folder = Path(f"{fake_unit.EXCHANGE}-hospital")

    def tampered(path, content):
        if not path.endswith("/results"):
            return content
        identity = read_identity(folder / "identity")
        results = gl.Results.from_bytes(gl.unseal_from(content, identity, "x")[0], "results")
        return gl.seal_from(change(results).to_bytes(), unit.identity, identity.recipient)

    unit.tamper = tampered
    with pytest.raises(gl.GramlinkError) as refused:
        part(unit)
    assert not (folder / "results.age").exists()
    assert not list(folder.glob("*.csv"))
    return str(refused.value)


RECEIVED = {
    "Python": received_by_python,
    "command": received_by_command,
    "network": received_by_network,
}


NOT_THE_UNITS = {
    "not signed": lambda data, _unit, reader: gl.seal(data, [reader]),
    "signed by another": lambda data, _unit, reader: gl.seal_from(data, gl.new_identity(), reader),
    "signed for another": lambda data, unit, reader: gl.seal(
        signed(data, unit, gl.new_identity().recipient), [reader]
    ),
}
SAYS = {
    "not signed": "the file of results is not signed, so anybody could have made it",
    "signed by another": "of results does not come from the key of the linkage unit, but from",
    "signed for another": "does not come from the sender it names, or was made for another reader",
}


@pytest.mark.parametrize("case", SAYS)
def test_results_that_the_unit_did_not_sign_are_not_taken_by_command(case, run):
    owner, projection, results = hospital_of(TWO)
    fake_unit.records_of("hospital").write_csv("hospital.csv")
    Path("linkage.toml").write_text(fake_unit.SCHEMA)
    Path("hospital.key").write_text(owner.key.hex())
    Path("projection.json").write_bytes(projection.to_json())
    unit, reader = gl.new_identity(), parties.identity_of("hospital")
    write_identity(Path("hospital.identity"), reader, "hospital")
    made = NOT_THE_UNITS[case](results.to_bytes(), unit, reader.recipient)
    Path("hospital.results.age").write_bytes(made)
    line = (
        "results", "hospital.results.age", "hospital.csv", "--identity", "hospital.identity",
        "--exchange", fake_unit.EXCHANGE,
    )  # fmt: skip
    for file, args in (("unit.recipient", ()), ("other", ("--from", "other"))):
        write_recipient(Path(file), unit.recipient, "unit")
        assert SAYS[case] in run(*line, *args)
        Path(file).unlink()
    assert not list(Path.cwd().glob("*-links*.csv"))


@pytest.mark.parametrize("case", SAYS)
def test_nor_over_the_network(case):
    fake_unit.records_of("hospital").write_csv("hospital.csv")
    unit, folder = fake_unit.FakeUnit(), Path(f"{fake_unit.EXCHANGE}-hospital")

    def tampered(path, content):
        if not path.endswith("/results"):
            return content
        identity = read_identity(folder / "identity")
        data = gl.unseal_from(content, identity, "results")[0]
        return NOT_THE_UNITS[case](data, unit.identity, identity.recipient)

    unit.tamper = tampered
    with pytest.raises(gl.GramlinkError, match=SAYS[case]):
        part(unit)
    assert not (folder / "results.age").exists()
    assert not list(folder.glob("*.csv"))


@pytest.mark.parametrize("sender", [None, "another"])
def test_nor_in_python(sender):
    owner, projection, results = hospital_of(TWO)
    unit = gl.new_identity().recipient
    other = replace(results, sender=sender and gl.new_identity().recipient)
    with pytest.raises(gl.Mismatch, match=r"of results (is not signed|does not come from the key)"):
        gl.receive(owner, other, projection, fake_unit.EXCHANGE, unit=unit)


def said(**changes):
    return lambda results: replace(results, **changes)


def in_table(returns="links", **columns):
    """Results with other cells in the first row of the first table, or another column."""

    def changed(results):
        (name, table), *rest = results.tables.items()
        first = pl.int_range(pl.len()) == 0
        table = table.with_columns(
            (
                pl.when(first).then(pl.lit(cell)).otherwise(pl.col(column))
                if column in table.columns
                else pl.lit(cell)
            ).alias(column)
            for column, cell in columns.items()
        )
        return replace(results, returns=returns, tables={name: table, **dict(rest)})

    return changed


def as_clusters(results):
    frame = results.tables["links"].select(
        cluster=pl.lit(1, pl.Int64), owner=pl.lit("hospital"), id="id_left"
    )
    return replace(results, tables={"clusters": frame})


UNKNOWN = "0" * 32
ODD = {
    "of another owner": (said(owner="registry"), "the results' owner is registry, not hospital"),
    "of another exchange": (said(exchange="other"), "exchange is other, not stroke-2026"),
    "of no exchange": (said(exchange=""), "the results' exchange is none, not stroke-2026"),
    "of other owners": (said(owners=("hospital", "spy")), "owners are hospital, spy, not hospital"),
    "of another projection": (said(projection="0" * 64), "the results' projection is 0000"),
    "with a cell to be run": (in_table(id_right="=1+1"), "a cell of (its )?links in id_right"),
    "with a level of its own": (
        in_table("weights", level_surname="very near"),
        "a cell of links in level_surname|kind is weights, not links",
    ),
    "with a column of its own": (
        in_table("weights", level_other="equal"),
        "the column 'level_other' of links is not one|kind is weights, not links",
    ),
    "with records that were not sent": (
        in_table(id_left=UNKNOWN),
        "1 records in links are not in (hospital|records)",
    ),
    "with a table that does not belong": (as_clusters, "they have a table of clusters"),
    "with tables besides counts": (
        said(returns="counts"),
        "they have a table of links|kind is counts, not links",
    ),
    "with weights where links were agreed": (
        in_table(distance=1.0),
        "links have a column distance, but only links were to come back",
    ),
    "with owners where there are two": (
        in_table(owner_left="registry", owner_right="registry"),
        "the column 'owner_left' of links is not one of ours",
    ),
}


@pytest.mark.parametrize("route", RECEIVED)
@pytest.mark.parametrize("case", ODD)
def test_results_that_do_not_answer_ones_bundle_are_not_taken(case, route, run):
    change, says = ODD[case]
    told = RECEIVED[route](change, TWO, run)
    assert re.search(says, told), told


def test_an_owner_over_the_network_knows_what_is_to_come_back(run):
    told = received_by_network(said(returns="weights"), TWO, run)
    assert "the results' kind is weights, not links" in told


def other_pseudonym(results):
    """One of the hospital's records in the clusters replaced."""
    table = results.tables["clusters"]
    own = (pl.col("owner") == "hospital") & (pl.col("id") == pl.col("id").filter(owner="hospital")
                                             .first())  # fmt: skip
    swapped = table.with_columns(pl.when(own).then(pl.lit(UNKNOWN)).otherwise("id").alias("id"))
    return replace(results, tables={**results.tables, "clusters": swapped})


def without_owners(results):
    possible = results.tables["possible"].select("id_left", "id_right")
    return replace(results, tables={**results.tables, "possible": possible})


@pytest.mark.parametrize("route", RECEIVED)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (said(owners=(*THREE, "spy")), "registry, spy, not clinic, hospital, registry"),
        (other_pseudonym, "1 records in clusters are not in (hospital|records)"),
        (without_owners, "possible do not have the columns they must have"),
    ],
    ids=["other owners", "records that were not sent", "a table that does not say whose"],
)
def test_nor_are_those_of_several_owners(change, says, route, run):
    told = RECEIVED[route](change, THREE, run)
    assert re.search(says, told), told


@pytest.mark.parametrize("names", [TWO, THREE], ids=len)
def test_results_that_answer_it_are_taken(names):
    owner, projection, results = hospital_of(names)
    tables = gl.receive(owner, results, projection, fake_unit.EXCHANGE, returns="links")
    assert tables.keys() == results.tables.keys()
    assert set(next(iter(tables.values())).to_series(0 if len(names) == 2 else 2)) & set(
        owner.records.ids
    )
