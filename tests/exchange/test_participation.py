"""An owner's part in an exchange: what is spent and sent, stopped and gone on with at any point."""

import csv
import json
import os
import shutil
import stat
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import httpx
import pytest

import gramlink.privacy.ledger
from fake_unit import (
    COUNT,
    EXCHANGE,
    SCHEMA,
    TOKEN,
    VEILED,
    FakeUnit,
    mined_by,
    records_of,
    reply,
    schema_of,
)
from gramlink.bundles.bundle import Bundle
from gramlink.bundles.results import Results
from gramlink.bundles.sealing import (
    Recipient,
    new_identity,
    seal,
    seal_from,
    unseal_from,
    write_recipient,
)
from gramlink.encodings.vectors import VectorRecords
from gramlink.errors import (
    BudgetExceeded,
    ExposureExceeded,
    GramlinkError,
    InvalidFile,
    InvalidLedger,
    InvalidParameter,
    InvalidRecords,
    InvalidSchema,
    Mismatch,
    Refused,
)
from gramlink.exchange import Choices, Voice, consent, take_part
from gramlink.exchange.client import Client
from gramlink.exchange.status import Place
from gramlink.exchange.terms import keys_code
from gramlink.mining.mined import Mined
from gramlink.parties import one_process
from gramlink.parties.contribution import Contribution
from gramlink.parties.handover import Handover
from gramlink.parties.owner import Owner
from gramlink.privacy.exposure import Disclosure
from gramlink.privacy.ledger import Ledger
from systems import posix

FILES = [
    "exchange.json", "linkage.toml", "pseudonyms.key", "identity", "recipient", "consent.json",
    "mining.json", "mined.json", "mined-for-2.age", "mined-2.json", "projection.json", "bundle.age",
    "results.age", "links.csv", "possible.csv", "done.json", "terms.txt",
]  # fmt: skip
ERASED = ["contribution.json", "identity", "mined-2.json"]  # at the end of a veiled exchange
AROUND_THE_SECRET = [
    *ERASED, "consent.json", "mined-for-2.age", "projection.json", "bundle.age", "done.json",
]  # fmt: skip
both = pytest.mark.parametrize("agreed", [SCHEMA, VEILED], ids=["vectors", "veiled"])
veiled = pytest.mark.parametrize("agreed", [VEILED], ids=["veiled"])


class Crash(BaseException):
    """The end of the process, as far as the code can tell."""


class Hospital:
    """An owner with its data, its folder and its ledger, who takes part as often as it must."""

    def __init__(self, unit):
        self.unit, self.said, self.asked, self.agrees, self.pauses = unit, [], 0, True, 0
        self.warned, self.typed, self.types = [], 0, None
        self.data, self.folder = Path("hospital.csv"), Path(f"{EXCHANGE}-hospital")

    def pause(self, _):
        self.pauses += 1
        assert self.pauses < 100, "it waits for ever"

    def ask(self, _):
        self.asked += 1
        return self.agrees

    def read(self, _):
        """The keys code, as the other owner reads it from its own screen."""
        self.typed += 1
        return self.code() if self.types is None else self.types

    def code(self, **other):
        """As an owner sees it who is told the same, but for what is other."""
        return code_of(self.unit, **other)

    def take_part(self, **choices):
        choices = {"schema": Path("own.toml"), **choices}
        bar = nullcontext(lambda *_: None)
        voice = Voice(self.said.append, lambda _: bar, self.ask, self.warned.append, self.read)
        client = Client("http://localhost", TOKEN, transport=self.unit.transport, pause=self.pause)
        return take_part(client, Choices(**{"data": self.data, **choices}), voice)

    def links(self):
        with (self.folder / "links.csv").open(newline="") as file:
            return [row["id_left"] for row in csv.DictReader(file)]

    @property
    def ledger(self):
        return Ledger(Path("hospital.ledger"), "hospital", Fraction(20)).state

    def check(self):
        """All is well: paid for once, the release recorded, and the right records linked."""
        (release,) = self.ledger.releases
        mined = Mined.from_json((self.folder / "mined.json").read_bytes(), "mined.json")
        assert release.digest == mined.digest
        assert release.parameters["exchange"] == EXCHANGE
        assert self.ledger.spent == 20
        (shown,) = self.ledger.exposures  # once, however often it was stopped
        assert (shown.exchange, shown.unit) == (EXCHANGE, self.unit.identity.recipient.key)
        assert len(set(self.links()) & set(records_of("hospital")["id"])) > 0.9 * COUNT
        assert not list(self.folder.glob(".*"))
        # the peer embedded with the very grams that the folder has
        sent, _ = unseal_from(
            self.unit.mined["hospital", "registry"], self.unit.peers[0].identity, "what was sent"
        )
        if self.unit.agreed == SCHEMA:
            assert sent == mined.to_json()
        else:
            assert Handover.from_json(sent, "sent", with_secret=True).mined == mined
            self.check_forgotten()

    def check_forgotten(self):
        """What could open the bundles is in no file that is left, and nobody was told of it."""
        assert not [name for name in ERASED if (self.folder / name).exists()]
        (peer,) = self.unit.peers
        secret, told = peer.secret(self.unit), peer.received(self.unit)["hospital"].contribution
        purposes = ("tags", "seeds", "streams", "keys", "equal", "private")
        hidden = [secret.root, told.content, peer.contribution.content]
        hidden += [secret.key(purpose) for purpose in purposes]
        left = [path.read_bytes() for path in Path.cwd().rglob("*") if path.is_file()]
        left += ["\n".join((*self.said, *self.warned, *self.unit.asked)).encode()]
        left += [*self.unit.mined.values(), *self.unit.results.values(), self.unit.part]
        for one in left:
            assert not [key for key in hidden if key in one or key.hex().encode() in one]


@pytest.fixture
def agreed():
    """The schema of the exchange, unless a test says otherwise."""
    return SCHEMA


@pytest.fixture
def unit(agreed):
    return FakeUnit(schema=agreed)


@pytest.fixture
def hospital(unit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no test cuts the power
    records_of("hospital", unit.agreed).write_csv("hospital.csv")
    Path("own.toml").write_text(unit.schema)
    if unit.agreed == VEILED:
        quickly(monkeypatch)
    return Hospital(unit)


def code_of(unit, *, keys=None, schema=None, returns=None, exchange=EXCHANGE):
    """The keys code of what a unit tells the owners, but for what is other."""
    served = {name: Recipient(key) for name, key in unit.recipients.items()}
    return keys_code(
        Place(exchange, "hospital", unit.identity.recipient),
        {**served, **(keys or {})},
        schema_of(schema or unit.schema),
        {**dict.fromkeys(unit.parties, unit.returns), **(returns or {})},
    )


def quickly(monkeypatch):
    """With what the hospital mined before, as mining says nothing of the veil."""
    mined, mining = mined_by("hospital", VEILED), Owner._mined
    monkeypatch.setattr(
        Owner,
        "_mined",
        lambda self, budget: mined if self.name == "hospital" else mining(self, budget),
    )
    monkeypatch.setattr(consent, "duplicates_warning", lambda *_: ())


@both
def test_a_whole_part_from_the_token_to_own_ids(hospital, unit, agreed):
    done = hospital.take_part()
    hospital.check()
    assert done["counts"][0]["links"] == len(hospital.links())
    written = {"links": "links.csv", "possible": "possible.csv"}
    assert done["written"] == {name: str(hospital.folder / file) for name, file in written.items()}
    assert hospital.asked == 1
    left = FILES if agreed == SCHEMA else [name for name in FILES if name not in ERASED]
    assert sorted(path.name for path in hospital.folder.iterdir()) == sorted([*left, "lock"])
    assert unit.asked.count(f"PUT /api/exchanges/{EXCHANGE}/mined/registry") == 1


@posix
@both
def test_what_is_kept_is_for_the_owner_alone(hospital, monkeypatch):
    replaced, modes = Path.replace, {}

    def noted(path, target):
        if Path(target).name != "recipient":
            modes[Path(target).name] = stat.S_IMODE(path.stat().st_mode)
        return replaced(path, target)

    monkeypatch.setattr(Path, "replace", noted)
    hospital.take_part()
    assert set(modes.values()) == {0o600}, modes  # those that were erased, too
    for path in hospital.folder.iterdir():
        assert path.name == "recipient" or stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE(hospital.folder.stat().st_mode) == 0o700


@both
def test_an_owner_sees_what_is_spent_and_sent_before_it_agrees(hospital, unit, agreed):
    hospital.agrees = False
    with pytest.raises(GramlinkError, match="you did not agree; nothing was spent"):
        hospital.take_part()
    said = "\n".join(hospital.said)
    for phrase in (
        "epsilon 20 of the 20 left in hospital.ledger",
        "will be sent to registry",
        f"{COUNT} records as {'gram counts' if agreed == SCHEMA else 'veiled rows'} under",
        "column surname as surname, text",
        "to registry: links, without weights",
        f"the linkage unit's key: {unit.identity.recipient.fingerprint}",
        "keys code: ",
    ):
        assert phrase in said
    assert not Path("hospital.ledger").exists()
    assert not [asked for asked in unit.asked if "PUT" in asked and "recipient" not in asked]


def test_an_owner_hears_of_duplicates_before_it_agrees_and_only_then(hospital, monkeypatch):
    monkeypatch.setattr(one_process, "likely_duplicates", lambda *_: 31.4)
    hospital.agrees = False
    with pytest.raises(GramlinkError, match="you did not agree"):
        hospital.take_part()
    (warning,) = hospital.warned
    assert warning.startswith("about 31 pairs of records look like one person twice")
    hospital.agrees = True
    hospital.take_part()
    hospital.take_part()
    assert hospital.warned == [warning] * 2


def test_all_owners_see_the_same_code_if_and_only_if_they_are_told_the_same(hospital, unit):
    hospital.take_part()
    assert f"keys code: {code_of(unit)}" in hospital.said
    for name in unit.recipients:
        assert code_of(unit, keys={name: new_identity().recipient}) != code_of(unit)
    others = [
        {"keys": {"spy": new_identity().recipient}, "returns": {"spy": "links"}},
        {"schema": SCHEMA.replace("40", "41")},
        {"schema": "accept = 0.6\n" + SCHEMA},
        {"schema": 'encoding = "veiled"\n' + SCHEMA},
        {"returns": {"registry": "weights"}},
        {"exchange": "stroke-2027"},
    ]
    assert len({code_of(unit, **one) for one in [{}, *others]}) == 1 + len(others)
    unit.identity = new_identity()  # of whom each bundle is sealed to
    assert f"keys code: {code_of(unit)}" not in hospital.said


@both
def test_once_finished_nothing_is_done_again(hospital, unit):
    done = hospital.take_part()
    before = {path: path.read_bytes() for path in hospital.folder.iterdir()}
    unit.asked.clear()
    assert hospital.take_part() == done
    assert unit.asked == ["GET /api/token", "GET /api/unit"]
    assert hospital.take_part(folder=hospital.folder) == done
    assert len(unit.asked) == 2
    assert "this exchange is finished" in hospital.said[-1]
    assert {path: path.read_bytes() for path in hospital.folder.iterdir()} == before


def crash_at(monkeypatch, name, when, skip=0):
    """Crash before or after a file gets its name, once."""
    replace, left = Path.replace, [True, *[False] * skip]

    def crashing(path, target):
        hit = Path(target).name == name and left and left.pop()
        if hit and when == "before":
            raise Crash
        found = replace(path, target)
        if hit:
            raise Crash
        return found

    monkeypatch.setattr(Path, "replace", crashing)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("agreed", "name"),
    [(SCHEMA, name) for name in FILES] + [(VEILED, name) for name in AROUND_THE_SECRET],
    ids=[f"vectors-{name}" for name in FILES] + [f"veiled-{name}" for name in AROUND_THE_SECRET],
)
def test_a_crash_at_any_file_loses_nothing_and_spends_nothing_twice(
    hospital, monkeypatch, agreed, name, when
):
    crash_at(monkeypatch, name, when)
    with pytest.raises(Crash):
        hospital.take_part()
    hospital.take_part()
    hospital.check()
    assert hospital.asked == (2 if (name, when) == ("consent.json", "before") else 1)
    assert hospital.typed == (0 if agreed == SCHEMA else hospital.asked)


@veiled
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_while_it_is_noted_what_was_encoded_loses_nothing(hospital, monkeypatch, when):
    crash_at(monkeypatch, "contribution.json", when, skip=1)
    with pytest.raises(Crash):
        hospital.take_part()
    assert not (hospital.folder / "bundle.age").exists()
    hospital.take_part()
    hospital.check()


@veiled
@pytest.mark.parametrize("name", ERASED)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_while_the_secret_is_erased_is_made_up_for(hospital, monkeypatch, name, when):
    unlink, left = Path.unlink, [1]

    def crashing(path, **options):
        hit = path.name == name and left and left.pop()
        if hit and when == "before":
            raise Crash
        unlink(path, **options)
        if hit:
            raise Crash

    monkeypatch.setattr(Path, "unlink", crashing)
    with pytest.raises(Crash):
        hospital.take_part()
    hospital.take_part(folder=hospital.folder)
    hospital.check()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("entry", [0, 1, 2], ids=["charge", "release", "exposure"])
def test_a_crash_at_the_ledger_spends_and_shows_nothing_twice(hospital, monkeypatch, entry, when):
    write, count = gramlink.privacy.ledger.append, []

    def crashing(*args):
        count.append(args)
        hit = len(count) == entry + 1
        if hit and when == "before":
            raise Crash
        write(*args)
        if hit:
            raise Crash

    monkeypatch.setattr(gramlink.privacy.ledger, "append", crashing)
    with pytest.raises(Crash):
        hospital.take_part()
    hospital.take_part()
    hospital.check()


def test_a_ledger_set_back_pays_for_no_other_exchange(hospital):
    Ledger.create(Path("hospital.ledger"), "hospital", Fraction(60))
    older = Path("hospital.ledger").read_bytes()
    hospital.take_part()
    hospital.folder.rename("earlier")
    Path("hospital.ledger").write_bytes(older)
    with pytest.raises(InvalidLedger, match=r"older copy: the release in earlier/mined\.json is m"):
        hospital.take_part()
    assert Path("hospital.ledger").read_bytes() == older


def test_a_crash_before_what_was_mined_has_its_name_draws_nothing_new(hospital, monkeypatch):
    named, seen = Path.replace, []

    def crash(part, target):
        if target.name == "mined.json" and not seen:
            seen.append(part.read_bytes())
            raise Crash
        return named(part, target)

    monkeypatch.setattr(Path, "replace", crash)
    with pytest.raises(Crash):
        hospital.take_part()
    hospital.take_part()
    hospital.check()
    assert [(hospital.folder / "mined.json").read_bytes()] == seen
    assert len(hospital.ledger.releases) == 1


def test_a_crash_while_mining_draws_again_for_the_same_charge(hospital, monkeypatch):
    with monkeypatch.context() as patch:

        def crash(*_):
            raise Crash

        patch.setattr(Owner, "_mined", crash)
        with pytest.raises(Crash):
            hospital.take_part()
    assert hospital.ledger.spent == 20
    hospital.take_part()
    hospital.check()


@both
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_at_every_single_request_loses_nothing(hospital, unit, when):
    crashed = set()

    def once(request):
        where = f"{request.method} {request.url.path}"
        return where not in crashed and not crashed.add(where)

    def crash(request):
        if when == "before" and once(request):
            raise Crash

    handle = unit.handle

    def handled(request):
        answer = handle(request)
        if when == "after" and once(request):
            raise Crash
        return answer

    unit.trouble, unit.handle = crash, handled
    for _ in range(30):
        try:
            hospital.take_part()
            break
        except Crash:
            continue
    hospital.check()
    assert len(crashed) == 10


@both
@pytest.mark.parametrize("where", ["PUT /mined/registry", "POST /upload"])
def test_the_same_bytes_are_sent_whenever_it_is_tried(hospital, unit, where):
    sent = []

    def lost(request):
        if where == f"{request.method} {request.url.path.partition(EXCHANGE)[2]}":
            sent.append(request.content)  # of an upload: its digest
            if len(sent) == 1:
                raise Crash

    unit.trouble = lost
    with pytest.raises(Crash):
        hospital.take_part()
    hospital.take_part()
    assert len(sent) == 2
    assert sent[0] == sent[1]


def test_a_second_process_in_the_same_folder_is_refused(hospital, unit):
    def second(_):
        unit.trouble = lambda _: None
        with pytest.raises(InvalidFile, match="another process is taking part"):
            Hospital(unit).take_part()

    unit.trouble = lambda request: second(request) if "schema" in request.url.path else None
    hospital.take_part()
    hospital.check()


def test_a_folder_with_files_that_are_not_ours_is_refused(hospital):
    hospital.folder.mkdir()
    (hospital.folder / "linkage.toml").write_text("mine")
    with pytest.raises(InvalidParameter, match=r"linkage\.toml exists already"):
        hospital.take_part()
    assert (hospital.folder / "linkage.toml").read_text() == "mine"


def test_a_folder_of_another_exchange_is_refused(hospital, unit):
    hospital.agrees = False
    with pytest.raises(GramlinkError):
        hospital.take_part()
    unit.name = "another-one"
    with pytest.raises(Mismatch, match="the exchange of stroke-2026-hospital is stroke-2026"):
        hospital.take_part(folder=hospital.folder)
    unit.name, unit.identity = EXCHANGE, new_identity()
    with pytest.raises(Mismatch, match="the unit's key of"):
        hospital.take_part()


def test_bad_records_are_said_before_anyone_is_joined(hospital, unit):
    hospital.data.write_text("id,surname\n1,Miller\n1,Meyer\n")
    with pytest.raises(InvalidRecords, match=r"row 3.* row 2 has the same id"):
        hospital.take_part()
    assert not [asked for asked in unit.asked if "PUT" in asked]
    hospital.data.write_text("id,surname\n1,Miller\n2,\n")
    hospital.agrees = False
    with pytest.raises(GramlinkError):
        hospital.take_part()
    assert "  column surname: missing in 1 row: 3" in hospital.said


def test_a_schema_of_ones_own_names_the_columns_and_may_differ_in_nothing_else(hospital):
    hospital.data.write_text(hospital.data.read_text().replace("id,surname", "key;Nachname", 1))
    hospital.data.write_text(hospital.data.read_text().replace(",", ";"))
    own = Path("own.toml")
    own.write_text('id = "key"\n' + SCHEMA.replace("[", "[", 1) + 'column = "Nachname"\n')
    own.write_text(own.read_text().replace("size = 40", "size = 41"))
    with pytest.raises(Mismatch, match=r"fields\.surname\.size: 40 and 41"):
        hospital.take_part(schema=own)
    own.write_text(own.read_text().replace("size = 41", "size = 40"))
    hospital.take_part(schema=own)
    hospital.check()


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ('[fields.surname]\nminer = "public"\ngrams = ["A"]\n', "could know the grams of surname"),
        ('[fields.surname]\nminer = "random"\n', "could know the grams of surname"),
        ('[fields.surname]\nminer = "exact"\n', "could know the grams of surname"),
        ('[fields.born]\nkind = "date"\n', "could know all grams, because no field is mined"),
        ("nonsense", "is not TOML"),
        ("", "has no field"),
    ],
)
def test_a_schema_that_would_show_the_unit_the_grams_is_refused(hospital, unit, schema, says):
    unit.schema = schema
    with pytest.raises(GramlinkError, match=says):
        hospital.take_part()
    assert not [asked for asked in unit.asked if "PUT" in asked]


def test_a_schema_that_changes_under_way_is_refused(hospital, unit):
    hospital.agrees = False
    with pytest.raises(GramlinkError):
        hospital.take_part()
    unit.schema = SCHEMA.replace("40", "41")
    with pytest.raises(Mismatch, match="is no longer, the schema of the exchange"):
        hospital.take_part()


def test_a_ledger_that_cannot_pay_is_said_before_anyone_is_joined(hospital, unit):
    Ledger(Path("hospital.ledger"), "hospital", Fraction(1)).charge(Fraction(1), "mine", {})
    with pytest.raises(BudgetExceeded, match="costs epsilon 20, only 0 is left"):
        hospital.take_part()
    assert not [asked for asked in unit.asked if "PUT" in asked]


def test_a_limit_on_exposures_is_said_before_anything_is_spent_or_sent(hospital, unit, monkeypatch):
    disclosure = Disclosure(rows=16, draws={"surname": 672})
    monkeypatch.setattr(VectorRecords, "disclosure", lambda _: disclosure)
    ledger = Ledger(Path("hospital.ledger"), "hospital", Fraction(20))
    ledger.limit_exposures(0)
    with pytest.raises(ExposureExceeded, match=r"hospital\.ledger permits 0"):
        hospital.take_part()
    assert not [asked for asked in unit.asked if "PUT" in asked]
    assert hospital.ledger.spent == hospital.asked == 0
    ledger.limit_exposures(1)
    hospital.take_part()
    hospital.check()


def test_what_is_embedded_already_may_be_sent_though_the_limit_is_reached(
    hospital, unit, monkeypatch
):
    disclosure = Disclosure(rows=16, draws={"surname": 672})
    monkeypatch.setattr(VectorRecords, "disclosure", lambda _: disclosure)
    unit.trouble = lambda request: fail() if "/upload" in request.url.path else None

    def fail():
        raise Crash

    with pytest.raises(Crash):
        hospital.take_part()
    Ledger(Path("hospital.ledger"), "hospital", Fraction(20)).limit_exposures(1)
    unit.trouble = lambda _: None
    (hospital.folder / "bundle.age").unlink()  # as the unit may ask for; it is made again
    hospital.take_part()
    hospital.check()


def test_another_folder_does_not_pay_again_for_the_same_exchange(hospital, unit):
    unit.trouble = lambda request: fail() if "/mined/" in request.url.path else None

    def fail():
        raise Crash

    with pytest.raises(Crash):
        hospital.take_part()
    assert hospital.ledger.spent == 20
    with pytest.raises(Mismatch, match="has already paid for this exchange, from another folder"):
        hospital.take_part(folder=Path("another"), ledger=Path("hospital.ledger"))


@pytest.mark.parametrize("where", ["/mined/", "/upload"])
def test_mined_grams_that_are_paid_for_are_not_mined_again(hospital, unit, where):
    unit.trouble = lambda request: fail() if where in request.url.path else None

    def fail():
        raise Crash

    with pytest.raises(Crash):
        hospital.take_part()
    (hospital.folder / "mined.json").unlink()
    with pytest.raises(InvalidFile, match=r"mined\.json is missing, though it is paid for"):
        hospital.take_part()
    assert hospital.ledger.spent == 20


def test_what_was_mined_for_another_exchange_costs_nothing_again(hospital, tmp_path):
    hospital.take_part()
    (hospital.folder / "mined.json").rename(tmp_path / "before.json")
    shutil.rmtree(hospital.folder)
    hospital.unit = again = FakeUnit()
    hospital.said.clear()
    hospital.take_part(mined=tmp_path / "before.json")
    assert "  nothing: what was mined before is reused" in hospital.said
    assert (hospital.ledger.spent, len(hospital.ledger.releases)) == (20, 1)
    assert len(hospital.links()) > 0.9 * COUNT
    sent, _ = unseal_from(again.mined["hospital", "registry"], again.peers[0].identity, "x")
    assert sent == (tmp_path / "before.json").read_bytes()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"owner": "registry"}, "was mined by registry"),
        ({"edits": 2}, "differs from the exchange in edits: 2 and 1"),
    ],
)
def test_what_another_mined_or_with_other_settings_is_not_used_again(hospital, changes, says):
    mined = mined_by("hospital")
    owner = changes.get("owner", mined.owner)
    settings = {**mined.settings, **{k: v for k, v in changes.items() if k != "owner"}}
    Path("before.json").write_bytes(replace(mined, owner=owner, settings=settings).to_json())
    with pytest.raises(Mismatch, match=says):
        hospital.take_part(mined=Path("before.json"))
    assert not hospital.ledger.releases
    assert not (hospital.folder / "mined.json").exists()


@both
@pytest.mark.parametrize("marked", [False, True])
def test_a_unit_cannot_make_up_what_another_owner_mined(hospital, unit, agreed, marked):
    """It knows all recipients, so it can seal to anybody; it is no owner, so that shows."""
    schema = schema_of(agreed)
    own = Contribution.new("registry", EXCHANGE, schema) if agreed == VEILED else None
    mined = Handover(mined_by("registry", agreed), own).to_json()

    def forged(where, content):
        if where != f"GET /api/exchanges/{EXCHANGE}/mined/registry":
            return content
        reader = Recipient(unit.recipients["hospital"])
        return seal_from(mined, unit.identity, reader) if marked else seal(mined, [reader])

    unit.tamper = forged
    says = "does not come from the key of registry" if marked else "mined is not signed"
    with pytest.raises(Mismatch, match=says):
        hospital.take_part()
    assert not (hospital.folder / "projection.json").exists()
    unit.tamper = lambda _, content: content
    hospital.take_part()
    hospital.check()


@both
def test_a_party_that_joins_after_consent_ends_everything(hospital, unit):
    def grown(where, content):
        agreed = (hospital.folder / "consent.json").exists()
        if not agreed or where != f"GET /api/exchanges/{EXCHANGE}":
            return content
        told = json.loads(content)
        told["parties"].append({**told["parties"][-1], "name": "spy"})
        return json.dumps(told).encode()

    unit.tamper = grown
    with pytest.raises(Mismatch, match="not those you agreed to"):
        hospital.take_part()
    assert ("hospital", "spy") not in unit.mined


def pinned(unit, *names):
    """The recipient files of other owners, had from them directly."""
    for peer in unit.peers:
        write_recipient(Path(f"{peer.owner.name}.recipient"), peer.identity.recipient, "registry")
    return tuple(Path(f"{name}.recipient") for name in names)


@both
def test_keys_that_were_had_from_the_owners_are_the_ones_served(hospital, unit):
    hospital.take_part(peers=pinned(unit, "registry"))
    hospital.check()
    assert hospital.typed == 0


def only_joined(hospital):
    """Nothing was spent, and only the own key was sent."""
    sent = [asked for asked in hospital.unit.asked if not asked.startswith("GET")]
    assert sent == [f"PUT /api/exchanges/{EXCHANGE}/recipient"]
    assert not Path("hospital.ledger").exists()
    assert not (hospital.folder / "contribution.json").exists()
    return True


@veiled
@pytest.mark.parametrize(
    "written",
    [str, str.upper, lambda code: code.replace(" ", ""), lambda code: f"  {code}\t".title()],
)
def test_the_keys_code_that_was_read_out_is_right_in_any_spelling(hospital, written):
    hospital.agrees = False
    with pytest.raises(GramlinkError, match="you did not agree"):
        hospital.take_part()
    hospital.agrees, hospital.types = True, written(hospital.code())
    hospital.take_part()
    hospital.check()
    assert (hospital.typed, hospital.asked) == (2, 2)


@veiled
@pytest.mark.parametrize("other", [True, False], ids=["another", "cut short"])
def test_another_keys_code_ends_everything_before_consent(hospital, other):
    code = hospital.code(keys={"registry": new_identity().recipient})
    hospital.types = code if other else code[:19]
    with pytest.raises(Mismatch, match="the keys code that you typed is not ours") as error:
        hospital.take_part()
    assert "the linkage unit told you different things" in error.value.hint
    assert only_joined(hospital)
    assert hospital.asked == 0


@veiled
@pytest.mark.parametrize("typed", ["", " \n"])
def test_without_the_keys_code_an_owner_cannot_agree(hospital, typed):
    hospital.types = typed
    with pytest.raises(InvalidParameter, match="needs the other owners' keys to be") as error:
        hospital.take_part()
    assert "--peer" in error.value.hint
    assert "--keys-code" in error.value.hint
    assert only_joined(hospital)


@veiled
def test_a_unit_that_serves_another_key_is_found_out_by_the_code(hospital, unit):
    """The other owner reads the code of the true keys; ours is of the keys we were served."""
    unit.recipients["registry"] = new_identity().recipient.key
    true = unit.peers[0].identity.recipient

    def read(_):
        return hospital.code(keys={"registry": true})

    hospital.read = read
    with pytest.raises(Mismatch, match="the keys code that you typed is not ours"):
        hospital.take_part()
    assert only_joined(hospital)


def test_a_key_in_the_place_of_an_owners_own_ends_everything(hospital, unit):
    peers = pinned(unit, "registry")
    unit.recipients["registry"] = new_identity().recipient.key
    with pytest.raises(Mismatch, match=r"no other owner with the key in registry\.recipient"):
        hospital.take_part(peers=peers)
    assert hospital.asked == 0
    assert not Path("hospital.ledger").exists()
    assert ("hospital", "registry") not in unit.mined


@pytest.mark.parametrize("part", ["both", "age", "signs"])
@pytest.mark.parametrize("whose", ["unit", "own"])
def test_two_parties_with_the_same_key_end_everything(hospital, unit, whose, part):
    hospital.agrees = False
    with pytest.raises(GramlinkError):
        hospital.take_part()
    own = Recipient(unit.recipients["hospital"]) if whose == "own" else unit.identity.recipient
    keys = {"age": new_identity().recipient.age, "signs": new_identity().recipient.signs}
    keys |= {"age": own.age} if part != "signs" else {}
    keys |= {"signs": own.signs} if part != "age" else {}
    unit.recipients["registry"] = "{age}+ed25519:{signs}".format_map(keys)
    with pytest.raises(Mismatch, match="two parties have the same key"):
        hospital.take_part()


@pytest.mark.usefixtures("hospital")
def test_peers_must_be_named_all_or_none():
    unit = FakeUnit(peers=("registry", "clinic"))
    three = Hospital(unit)
    with pytest.raises(Mismatch, match="no --peer file has the key of clinic"):
        three.take_part(peers=pinned(unit, "registry"))
    three.take_part(peers=pinned(unit, "clinic", "registry"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda h: h.unit.recipients.update(registry=new_identity().recipient.key), "keys code"),
        (lambda h: h.data.write_text(h.data.read_text() + "h999,NEW\n"), "the data file"),
    ],
)
def test_what_changes_after_consent_ends_everything(hospital, unit, change, says):
    unit.trouble = lambda request: fail() if "PUT" in request.method and unit.mined else None

    def fail():
        raise Crash

    with pytest.raises(Crash):
        hospital.take_part()
    unit.trouble = lambda _: None
    change(hospital)
    with pytest.raises(Mismatch, match=f"since you agreed, this has changed: .*{says}"):
        hospital.take_part()
    assert ("hospital", "registry") not in unit.mined


def test_another_epsilon_or_ledger_after_consent_is_refused(hospital, unit):
    unit.trouble = lambda request: fail() if "/mined/" in request.url.path else None

    def fail():
        raise Crash

    with pytest.raises(Crash):
        hospital.take_part()
    unit.trouble = lambda _: None
    with pytest.raises(Mismatch, match="the epsilon, from 20 to 2"):
        hospital.take_part(epsilon="2")
    with pytest.raises(Mismatch, match=r"the ledger, from .*hospital\.ledger to .*new\.ledger"):
        hospital.take_part(ledger=Path("new.ledger"))
    assert not Path("new.ledger").exists()
    hospital.take_part()
    hospital.check()


def test_our_own_key_is_not_replaced_by_another(hospital, unit):
    unit.tamper = lambda path, content: (
        swapped(content) if path.endswith(EXCHANGE) and unit.recipients.get("hospital") else content
    )

    def swapped(content):
        key = new_identity().recipient.key
        return content.replace(unit.recipients["hospital"].encode(), key.encode())

    with pytest.raises(Mismatch, match="key for hospital is not the one in"):
        hospital.take_part()
    assert not Path("hospital.ledger").exists()


def refuse(unit):
    """Let the unit refuse the bundle; returns how it does not."""
    check, unit.check = unit.check, lambda: setattr(unit, "refused", "it is from the future")
    return check


@both
def test_a_refused_bundle_ends_with_the_units_reason_and_can_be_sent_again(hospital, unit):
    check = refuse(unit)
    with pytest.raises(Refused, match="refuses the bundle: it is from the future"):
        hospital.take_part()
    unit.check = check
    hospital.take_part()
    hospital.check()


def rows_sent(unit):
    return Bundle.from_bytes(unseal_from(unit.part, unit.identity, "bundle")[0], "bundle").rows()


@veiled
def test_a_bundle_that_is_made_again_has_the_same_rows(hospital, unit):
    check = refuse(unit)
    with pytest.raises(Refused):
        hospital.take_part()
    before = rows_sent(unit)
    (hospital.folder / "bundle.age").unlink()
    unit.check = check
    hospital.take_part()
    assert rows_sent(unit).equals(before)
    hospital.check()


@veiled
def test_other_data_are_not_encoded_under_the_same_secret(hospital, unit):
    """Two encodings under one secret would show what both hide."""
    check = refuse(unit)
    with pytest.raises(Refused):
        hospital.take_part()
    sent, before = unit.part, hospital.data.read_text()
    (hospital.folder / "bundle.age").unlink()
    hospital.data.write_text(before + "h999,ANNA,NEWMAN,1980-01-31\n")
    unit.check = check
    with pytest.raises(Mismatch, match="since you agreed, this has changed: the data file"):
        hospital.take_part()
    (hospital.folder / "consent.json").unlink()
    with pytest.raises(Mismatch, match="has encoded other records") as error:
        hospital.take_part()
    assert "restore the data" in error.value.hint
    assert "agree on a new exchange" in error.value.hint
    assert not (hospital.folder / "bundle.age").exists()
    assert unit.part == sent
    hospital.data.write_text(before)
    (hospital.folder / "consent.json").unlink()
    hospital.take_part()
    hospital.check()


def test_a_failed_exchange_ends_with_the_units_reason(hospital, unit):
    unit.failed = "the worker had no memory"
    with pytest.raises(GramlinkError, match="could not link: the worker had no memory"):
        hospital.take_part()


def test_results_that_were_erased_are_not_waited_for(hospital, unit):
    party = unit.party
    unit.party = lambda name, _: party(name, False)
    with pytest.raises(Refused, match="no longer has our results"):
        hospital.take_part()


def of_results(unit, change):
    """Tamper with the results that are fetched."""

    def tampered(path, content):
        return change(content) if path.endswith("/results") else content

    unit.tamper = tampered


def resealed(unit, **changes):
    """Results with something else in them, sealed as they should be."""
    from dataclasses import replace

    def change(_):
        unit.tamper = lambda _, content: content
        peer = unit.peers[0]
        theirs = Results.from_bytes(
            unseal_from(unit.results["registry"], peer.identity, "results")[0], "results"
        )
        wrong = replace(theirs, **{"owner": "hospital", **changes})
        return seal_from(wrong.to_bytes(), unit.identity, Recipient(unit.recipients["hospital"]))

    return change


HOSTILE = {
    "truncated": (lambda _: lambda sealed: sealed[:-20], "cut short or changed"),
    "not sealed": (lambda _: lambda _: b"hello", "is not a sealed file|not a sealed"),
    "sealed to another": (
        lambda _: lambda _: seal(b"hello", [new_identity().recipient]),
        "sealed to another key",
    ),
    "nonsense": (
        lambda unit: lambda _: seal(b"hello", [Recipient(unit.recipients["hospital"])]),
        "damaged or not a results",
    ),
    "of another owner": (
        lambda unit: resealed(unit, owner="registry"),
        "results' owner is registry, not hospital",
    ),
    "of another exchange": (
        lambda unit: resealed(unit, exchange="other"),
        "exchange is other, not stroke-2026",
    ),
    "of another projection": (
        lambda unit: resealed(unit, projection="0"),
        "results' projection is 0, not ",
    ),
    "of other owners": (
        lambda unit: resealed(unit, owners=("a", "hospital")),
        "owners are a, hospital, not hospital, reg",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_results_are_refused_and_right_ones_fetched_afterwards(hospital, unit, kind):
    change, says = HOSTILE[kind]
    of_results(unit, change(unit))
    with pytest.raises(GramlinkError, match=says) as error:
        hospital.take_part()
    assert "\n" not in str(error.value)
    assert not (hospital.folder / "results.age").exists()
    assert not (hospital.folder / "links.csv").exists()
    unit.tamper = lambda _, content: content
    hospital.take_part()
    hospital.check()


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"id_left": "=1+1"}, "a cell of its links in id_left"),
        ({"id_right": "@SUM(A1)"}, "a cell of its links in id_right"),
        ({"id_left": "0" * 32}, "1 records in links are not in hospital"),
        ({"=cmd()": "x"}, "have a column '=cmd"),
        ({"level_surname": "=1+1"}, "a cell of its links in level_surname"),
        ({"cluster": "=1+1"}, "have a column 'cluster'"),
        ({"level_other": "equal"}, "is not one of ours"),
        ({"match_weight": "=1+1"}, "its columns are not those of a results"),
    ],
)
def test_nothing_gets_into_a_spreadsheet_that_could_run(hospital, unit, columns, says):
    import polars as pl

    def change(sealed):
        own = hospital.folder / "identity"
        from gramlink.bundles.sealing import read_identity

        results = Results.from_bytes(unseal_from(sealed, read_identity(own), "x")[0], "results")
        table = results.tables["links"].with_columns(
            **{name: pl.lit(value, pl.String) for name, value in columns.items()}
        )
        return resealed(unit, tables={"links": table})(sealed)

    of_results(unit, change)
    with pytest.raises(GramlinkError, match=says):
        hospital.take_part()
    assert not (hospital.folder / "results.age").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda status: status.pop("parties"),
        lambda status: status.update(parties=status["parties"][:1]),
        lambda status: status.update(parties=status["parties"] * 2),
        lambda status: status.update(parties=None),
        lambda status: status.update(name="another"),
        lambda status: status["parties"][0].update(name="a/b"),
        lambda status: status["parties"][0].update(name="someone else"),
        lambda status: status["parties"][0].update(recipient="age1nonsense"),
        lambda status: status["parties"][0].update(recipient=5),
        lambda status: status["parties"][0].update(mined_sent_to=5),
        lambda status: status["parties"][0].update(bundle=None),
        lambda status: status["progress"].update(done="many"),
        lambda status: status["progress"].update(done=-1),
        lambda status: status.update(stage=5),
    ],
)
def test_a_status_that_cannot_be_is_refused_in_one_line(hospital, unit, change):
    def tampered(path, content):
        if not path.endswith(f"GET /api/exchanges/{EXCHANGE}"):
            return content
        status = json.loads(content)
        change(status)
        return json.dumps(status).encode()

    unit.tamper = tampered
    with pytest.raises(GramlinkError, match="does not answer like a linkage unit") as error:
        hospital.take_part()
    assert "\n" not in str(error.value)
    unit.tamper = lambda _, content: content
    hospital.take_part()
    hospital.check()


@pytest.mark.parametrize(
    "token",
    [
        {"role": "operator", "exchange": None, "party": None},
        {"role": "party", "exchange": None, "party": None},
        {"role": "party", "exchange": "../../etc", "party": "hospital"},
        {"role": "party", "exchange": EXCHANGE, "party": "../hospital"},
        {"role": "party", "exchange": 5, "party": "hospital"},
        {"role": "party"},
        {},
    ],
)
def test_a_token_of_something_else_makes_no_folder(hospital, unit, token):
    told = {"expires": "2030-01-01T00:00:00Z", **token} if token else token
    unit.tamper = lambda path, content: json.dumps(told).encode() if "token" in path else content
    before = set(Path.cwd().iterdir())
    with pytest.raises(GramlinkError):
        hospital.take_part()
    assert set(Path.cwd().iterdir()) == before


def foreign(name):
    """What a party mined, with a gram of another alphabet."""
    content = json.loads(mined_by(name).to_json())
    content["fields"]["surname"]["grams"] = {"Б": 3}
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (lambda: b"hello", "what registry mined is not a mined|damaged or not a mined"),
        (lambda: mined_by("clinic").to_json(), "what registry mined claims to be from clinic"),
        (
            lambda: mined_by("registry").to_json().replace(b'"size": 40', b'"size": 41'),
            r"what registry mined differs from the schema in fields\.surname\.size: 41 and 40",
        ),
        (lambda: foreign("registry"), "registry cannot have mined this: surname: the gram 'Б'"),
    ],
)
def test_what_another_owner_mined_is_checked(hospital, unit, sent, says):
    unit.tamper = lambda path, content: (
        seal_from(sent(), unit.peers[0].identity, Recipient(unit.recipients["hospital"]))
        if path.startswith("GET") and "/mined/" in path
        else content
    )
    with pytest.raises(GramlinkError, match=says):
        hospital.take_part()
    assert not (hospital.folder / "projection.json").exists()


def told(peer, **changes):
    """What a peer hands over, but for its contribution."""
    return Handover(peer.mined, replace(peer.contribution, **changes)).to_json()


@veiled
@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (lambda _: b"hello", "damaged or not a handover"),
        (lambda peer: peer.mined.to_json(), "what registry mined is not a handover file but a min"),
        (lambda peer: told(peer, owner="clinic"), "contribution's owner is clinic, not registry"),
        (lambda peer: told(peer, exchange="heart"), "exchange is heart, not stroke-2026"),
        (lambda peer: told(peer, exchange=""), "exchange is none, not stroke-2026"),
        (lambda peer: told(peer, schema="0" * 64), "contribution's settings are 0000000000000000,"),
        (lambda peer: told(peer, content=bytes(31)), "it is not a contribution"),
        (
            lambda peer: Handover(mined_by("clinic", VEILED), peer.contribution).to_json(),
            "what registry mined claims to be from clinic",
        ),
    ],
)
def test_what_another_owner_contributed_is_checked(hospital, unit, sent, says):
    (peer,) = unit.peers
    unit.tamper = lambda path, content: (
        seal_from(sent(peer), peer.identity, Recipient(unit.recipients["hospital"]))
        if path.startswith("GET") and "/mined/" in path
        else content
    )
    with pytest.raises(GramlinkError, match=says) as error:
        hospital.take_part()
    assert "\n" not in str(error.value)
    assert peer.contribution.content.hex() not in f"{error.value} {error.value.hint}"
    assert not (hospital.folder / "mined-2.json").exists()
    assert not (hospital.folder / "bundle.age").exists()
    unit.tamper = lambda _, content: content
    hospital.take_part()
    hospital.check()


def test_a_handover_with_a_contribution_is_refused_where_none_is_needed(hospital, unit):
    (peer,) = unit.peers
    other = Handover(peer.mined, Contribution.new("registry", EXCHANGE, peer.owner.schema))
    unit.tamper = lambda path, content: (
        seal_from(other.to_json(), peer.identity, Recipient(unit.recipients["hospital"]))
        if path.startswith("GET") and "/mined/" in path
        else content
    )
    with pytest.raises(InvalidFile, match="is not a mined file but a handover file"):
        hospital.take_part()


@veiled
def test_two_exchanges_have_two_secrets_though_what_was_mined_is_the_same(hospital, unit):
    hospital.take_part()
    first = unit.peers[0].secret(unit).root
    (hospital.folder / "mined.json").rename("before.json")
    shutil.rmtree(hospital.folder)
    hospital.unit = again = FakeUnit(schema=VEILED)
    hospital.take_part(mined=Path("before.json"))
    assert again.peers[0].secret(again).root != first
    assert len(hospital.ledger.exposures) == 2
    assert len(hospital.ledger.releases) == 1


@veiled
@pytest.mark.usefixtures("hospital")
def test_three_owners_of_a_veiled_exchange_share_one_secret():
    unit = FakeUnit(peers=("registry", "clinic"), schema=VEILED)
    three = Hospital(unit)
    assert three.take_part()["written"].keys() == {"clusters", "possible"}
    roots = {peer.secret(unit).root for peer in unit.peers}
    assert len(roots) == 1
    left = {path.name for path in three.folder.iterdir()}
    assert not left & {"contribution.json", "identity", "mined-1.json", "mined-3.json"}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ("[fields.surname]", "the veiled encoding cannot link records of one field"),
        (
            '[fields.street]\n\n[fields.postcode]\nkind = "digits"',
            "no field tells the members of a household apart",
        ),
    ],
)
def test_a_schema_that_cannot_be_veiled_is_refused_before_anyone_is_joined(
    hospital, unit, fields, says
):
    unit.schema = f'encoding = "veiled"\n\n{fields}\n'
    Path("own.toml").write_text(unit.schema)
    hospital.data.write_text("id,surname,street,postcode\n1,MILLER,MAIN STREET,12345\n")
    with pytest.raises(InvalidSchema, match=says) as error:
        hospital.take_part()
    assert 'encoding = "vectors"' in error.value.hint
    assert not [asked for asked in unit.asked if "PUT" in asked]
    assert not Path("hospital.ledger").exists()


@pytest.mark.usefixtures("hospital")
def test_the_results_of_three_owners_are_clusters_with_own_ids():
    three = Hospital(FakeUnit(peers=("registry", "clinic")))
    done = three.take_part(output=Path("found.csv"))
    assert done["written"] == {"clusters": "found.csv", "possible": "found-possible.csv"}
    rows = list(csv.DictReader(Path("found.csv").read_text().splitlines()))
    own = {row["id"] for row in rows if row["owner"] == "hospital"}
    assert own <= set(records_of("hospital")["id"])
    assert len(own) > 0.9 * COUNT
    assert {row["owner"] for row in rows} == {"hospital", "registry", "clinic"}


@pytest.mark.usefixtures("hospital")
def test_weights_come_back_where_the_unit_gives_them_and_counts_write_nothing():
    weights = Hospital(FakeUnit(returns="weights"))
    weights.take_part(folder=Path("weights"), ledger=Path("1.ledger"))
    header = Path("weights", "links.csv").read_text().splitlines()[0]
    assert header == "id_left,id_right,distance,match_probability"
    counts = Hospital(FakeUnit(returns="counts"))
    done = counts.take_part(folder=Path("counts"), ledger=Path("2.ledger"))
    assert done["written"] == {}
    assert done["counts"][0]["links"] > 0.9 * COUNT


def test_an_output_that_exists_is_not_replaced(hospital):
    Path("found.csv").write_text("mine")
    with pytest.raises(InvalidFile, match=r"found\.csv exists already"):
        hospital.take_part(output=Path("found.csv"))


def test_an_unsteady_unit_is_borne_with(hospital, unit):
    count = [0]

    def unsteady(_):
        count[0] += 1
        if count[0] % 5 == 0:
            raise httpx.ReadError("cut off")
        return reply(503) if count[0] % 5 == 1 else None

    unit.trouble = unsteady
    hospital.take_part()
    hospital.check()
