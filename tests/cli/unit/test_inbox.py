"""The whole exchange by files, each party in a folder of its own."""

import hashlib
import json
import os
import shutil
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from cli.owners import write_people
from gramlink import cli
from gramlink.bundles.bundle import Bundle
from gramlink.bundles.pseudonyms import owner_key
from gramlink.bundles.sealing import (
    new_identity,
    read_identity,
    read_recipient,
    seal,
    seal_from,
    unseal_from,
    write_recipient,
)
from gramlink.deciding.links import Links
from gramlink.embedding.projection import agree
from gramlink.errors import InvalidFile
from gramlink.exchange.file_drop import attend
from gramlink.io import limits
from gramlink.mining.mined import Mined
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.privacy.ledger import Ledger
from gramlink.records.reading import read_records
from gramlink.records.schema import load_schema

OWNERS = ("clinic", "office")
FILES = ["clinic.bundle.age", "office.bundle.age"]
FROM = ("--from", "clinic.recipient", "--from", "office.recipient")
LONG_AGO = 1_700_000_000


@pytest.fixture(scope="session")
def dropped(tmp_path_factory):
    """Two owners' sealed bundles in the unit's inbox, and all that was needed for them."""
    root = tmp_path_factory.mktemp("drop")
    files = tmp_path_factory.mktemp("files")
    write_people(files)
    with pytest.MonkeyPatch.context() as patch:

        def run(folder, line):
            patch.chdir(root / folder)
            patch.setattr(sys, "argv", ["gramlink", *line.split()])
            with pytest.raises(SystemExit) as end:
                cli.main()
            assert not end.value.code, line

        for folder in (*OWNERS, "unit", "unit/inbox", "unit/outbox"):
            (root / folder).mkdir()
        for party in (*OWNERS, "unit"):
            run(party, f"keys new {party} -q")
        for owner, other in (OWNERS, OWNERS[::-1]):
            shutil.copy(files / f"{owner}.csv", root / owner)
            shutil.copy(files / f"{owner}.toml", root / owner / "linkage.toml")
            shutil.copy(root / "unit/unit.recipient", root / owner)
            shutil.copy(root / owner / f"{owner}.recipient", root / "unit")
            shutil.copy(root / other / f"{other}.recipient", root / owner)
            run(owner, f"mine {owner}.csv -q")
            keys = f"--to {other}.recipient --identity {owner}.identity"
            run(owner, f"seal {owner}.mined.json {keys} -q")
            shutil.copy(root / owner / f"{owner}.mined.json.age", root / other)
        for owner, other in (OWNERS, OWNERS[::-1]):
            files = f"{owner}.mined.json {other}.mined.json.age"
            keys = f"--identity {owner}.identity --from {other}.recipient"
            run(owner, f"merge {files} {keys} -q")
            run(owner, f"embed {owner}.csv --to unit.recipient --exchange stroke -q")
            shutil.copy(root / owner / f"{owner}.bundle.age", root / "unit/inbox")
    return root


@pytest.fixture
def drop(dropped, folder, monkeypatch):
    """A copy of it to work in, from the unit's folder."""
    shutil.copytree(dropped, folder / "drop")
    monkeypatch.chdir(folder / "drop/unit")
    return folder / "drop"


@pytest.fixture
def apart():
    """Bundles are read in a process of their own, as in use."""


@pytest.fixture(autouse=True)
def quick(request, monkeypatch):
    """Bundles are read in this process, unless a test asks for another."""
    if "apart" not in request.fixturenames:
        monkeypatch.setattr(limits, "_confined", True)


def long_there(folder="inbox"):
    """Nothing in the inbox is still on its way."""
    for path in Path(folder).iterdir():
        os.utime(path, (LONG_AGO, LONG_AGO))


def attended(run, *, ok=True, args=()):
    long_there()
    result = run("unit", "inbox", "inbox", "outbox", *FROM, "--json", *args, ok=ok)
    return json.loads(result.out)


def receipt(drop, name):
    return (drop / f"unit/outbox/{name}.receipt.txt").read_text()


def reseal(drop, change):
    """The clinic's bundle with its plain bytes changed, sealed to the unit again."""
    path = drop / "unit/inbox/clinic.bundle.age"
    plain, _ = unseal_from(path.read_bytes(), read_identity(drop / "unit/unit.identity"), "x")
    path.write_bytes(signed_by_clinic(drop, change(plain)))


def signed_by_clinic(drop, data):
    """What the clinic makes of it for the unit."""
    unit = read_recipient(drop / "unit/unit.recipient")
    return seal_from(data, read_identity(drop / "clinic/clinic.identity"), unit)


def in_one_process(drop):
    """The links of the same mined files, by the roles themselves."""
    mined = [
        Mined.from_json((drop / one / f"{one}.mined.json").read_bytes(), one) for one in OWNERS
    ]
    projection, parties = agree(*mined), []
    for owner in OWNERS:
        schema = load_schema(drop / owner / "linkage.toml")
        records = read_records(drop / owner / f"{owner}.csv", schema)
        parties.append(Owner(owner, records, schema, owner_key(drop / owner / f"{owner}.key")))
    linkage = LinkageUnit.of(*(party.embed(projection) for party in parties)).link()
    return parties, linkage


@pytest.mark.usefixtures("apart")
def test_a_file_drop_makes_the_links_of_one_process_bit_for_bit(run, drop):
    state = attended(run)
    assert [one["refused"] for one in state["received"]] == ["", ""]
    assert state["exchanges"][0]["files"] == [f"stroke-{owner}.results.age" for owner in OWNERS]
    parties, linkage = in_one_process(drop)
    assert len(linkage.links) > 150
    for party in parties:
        os.chdir(drop / party.name)
        shutil.copy(f"../unit/outbox/stroke-{party.name}.results.age", ".")
        files = f"stroke-{party.name}.results.age {party.name}.csv"
        run(
            "results",
            *files.split(),
            "--exchange",
            "stroke",
            "--identity",
            f"{party.name}.identity",
        )
        got = pl.read_csv(f"{party.name}-links.csv", infer_schema=False)
        assert got.equals(party.translate(linkage.links.bare).to_polars())
        possible = pl.read_csv(f"{party.name}-links-possible.csv", infer_schema=False)
        assert possible.equals(party.translate(linkage.possible.bare).to_polars())
        spent = Ledger.open(drop / party.name / f"{party.name}.ledger").state
        assert (spent.spent, len(spent.releases)) == (18, 1)


def test_weights_and_levels_come_back_where_that_was_agreed(run, drop):
    attended(run, args=("--returns", "weights"))
    _, linkage = in_one_process(drop)
    os.chdir(drop / "clinic")
    files = ("../unit/outbox/stroke-clinic.results.age", "clinic.csv")
    run("results", *files, "--exchange", "stroke", "--identity", "clinic.identity")
    got = pl.read_csv("clinic-links.csv")
    assert got["match_weight"].to_list() == linkage.links.details["match_weight"].to_list()


def test_counts_only_come_without_any_pseudonym(run, drop):
    attended(run, args=("--returns", "counts"))
    os.chdir(drop / "clinic")
    sent, opening = "../unit/outbox/stroke-clinic.results.age", ("--identity", "clinic.identity")
    told = json.loads(run("inspect", sent, *opening, "--json").out)
    assert told["rows"] == {}
    assert told["counts"][0]["links"] > 150
    assert "counts only" in run("results", sent, "clinic.csv", "--exchange", "stroke", *opening).out


def test_what_was_answered_is_not_answered_again(run, drop):
    attended(run)
    path = drop / "unit/outbox/stroke-clinic.results.age"
    before = path.read_bytes()
    assert attended(run)["exchanges"][0]["files"] == []
    assert path.read_bytes() == before
    os.chdir(drop / "clinic")
    run("embed", "clinic.csv", "--to", "unit.recipient", "--exchange", "stroke", "-q")
    shutil.copy("clinic.bundle.age", "../unit/inbox")
    os.chdir(drop / "unit")
    assert len(attended(run)["exchanges"][0]["files"]) == 2
    assert path.read_bytes() != before


def test_an_owner_who_has_not_sent_anything_is_awaited(run, drop):
    (drop / "unit/inbox/office.bundle.age").unlink()
    exchange = attended(run)["exchanges"][0]
    assert (exchange["awaited"], exchange["files"]) == (["office"], [])
    assert receipt(drop, "clinic.bundle.age").startswith("accepted: the bundle of clinic, digest")
    assert "waiting for office" in run("unit", "inbox", "inbox", "outbox", *FROM).out


def test_an_owner_cannot_open_what_is_for_another(refused_there, drop, run):
    attended(run)
    os.chdir(drop / "clinic")
    refused_there(
        "inspect", "../unit/outbox/stroke-office.results.age", "--identity", "clinic.identity",
        says="sealed to another key",
    )  # fmt: skip


@pytest.fixture
def refused_there(run):
    def runner(*args, says):
        result = run(*args, ok=False)
        assert result.code == 1
        assert says in result.err

    return runner


def _manifest(change):
    """A change of a bundle's manifest, as somebody would make it who knows the format."""

    def changed(plain):
        with zipfile.ZipFile(BytesIO(plain)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(parts["manifest.json"])
        change(manifest)
        parts["manifest.json"] = json.dumps(manifest).encode()
        packed = BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
        return packed.getvalue()

    return changed


TAMPERED = {
    "a plain bundle": (None, "is not a sealed file"),
    "cut short": (lambda data: data[:-1], "is damaged or not a bundle"),
    "nothing": (lambda _: b"", "is damaged or not a bundle"),
    "another owner's name": (
        _manifest(lambda m: m.update(owner="mallory")),
        "does not name its owner, mallory, among two or more owners",
    ),
    "no key to reply to": (_manifest(lambda m: m.update(reply=None)), "which key to seal"),
    "a path as its exchange": (
        _manifest(lambda m: m.update(exchange="../../etc")),
        "cannot be the name of an exchange",
    ),
    "a path as an owner": (_manifest(lambda m: m.update(owner="../x")), "name of an owner"),
}


@pytest.mark.parametrize(("change", "says"), TAMPERED.values(), ids=TAMPERED)
def test_a_file_that_is_no_good_gets_a_receipt_that_says_why(run, drop, change, says):
    if change:
        reseal(drop, change)
    else:
        identity = read_identity(drop / "unit/unit.identity")
        path = drop / "unit/inbox/clinic.bundle.age"
        path.write_bytes(unseal_from(path.read_bytes(), identity, "x")[0])
    state = attended(run, ok=False)
    assert says in receipt(drop, "clinic.bundle.age")
    assert receipt(drop, "office.bundle.age").startswith("accepted")
    assert state["exchanges"][0]["awaited"] == ["clinic"]
    assert not list((drop / "unit/outbox").glob("*.results.age"))


def forged(drop, change, *, signed=True):
    """What somebody who knows a bundle, and not its owner's identity, makes of it for the unit."""
    identity = read_identity(drop / "unit/unit.identity")
    plain, _ = unseal_from((drop / "clinic/clinic.bundle.age").read_bytes(), identity, "x")
    plain = change(plain)
    if signed:
        return seal_from(plain, new_identity(), identity.recipient)
    return seal(plain, [identity.recipient])


@pytest.mark.parametrize("signed", [False, True])
def test_a_forged_bundle_beside_the_right_one_is_refused_and_keeps_nobody_waiting(
    run, drop, signed
):
    data = forged(drop, _manifest(lambda m: m.update(epsilon="1/7")), signed=signed)
    (drop / "unit/inbox/forged.age").write_bytes(data)
    state = attended(run, ok=False)
    says = "does not come from the key of clinic, but from" if signed else "is not signed"
    assert f"refused: the bundle {says}" in receipt(drop, "forged.age")
    assert receipt(drop, "clinic.bundle.age").startswith("accepted")
    assert len(state["exchanges"][0]["files"]) == 2


def test_who_signs_a_bundle_in_anothers_name_gets_none_of_the_results(run, drop):
    """Not even where the results go, which a bundle says itself, is for others to choose."""
    mallory = new_identity()
    identity = read_identity(drop / "unit/unit.identity")
    reply = _manifest(lambda m: m.update(reply=mallory.recipient.key))
    plain, _ = unseal_from((drop / "clinic/clinic.bundle.age").read_bytes(), identity, "x")
    path = drop / "unit/inbox/clinic.bundle.age"
    for data in (
        seal_from(reply(plain), mallory, identity.recipient),
        signed_by_clinic(drop, reply(plain)),
    ):
        path.write_bytes(data)
        assert attended(run, ok=False)["exchanges"][0]["awaited"] == ["clinic"]
    assert not list((drop / "unit/outbox").glob("*.results.age"))


def test_a_bundle_from_an_owner_whose_key_the_unit_does_not_have_is_refused(run, drop):
    args = ("inbox", "outbox", "--from", "clinic.recipient", "--json")
    state = json.loads(run("unit", "inbox", *args, ok=False).out)
    assert "claims to be from office, whose key is not known" in receipt(drop, "office.bundle.age")
    assert state["exchanges"][0]["awaited"] == ["office"]


def test_without_any_owners_key_nothing_is_taken(run, drop):
    result = run("unit", "inbox", "inbox", "outbox", ok=False)
    assert result.code == 2
    assert "--from" in result.err
    assert not list((drop / "unit/outbox").iterdir())


def test_keys_may_be_in_folders_and_an_owner_may_have_several(run, drop):
    for folder, identity in (("old", new_identity()), ("new", None)):
        (drop / "unit" / folder).mkdir()
        for name in OWNERS:
            recipient = (
                identity.recipient if identity else read_recipient(Path(f"{name}.recipient"))
            )
            write_recipient(Path(folder, f"{name}.recipient"), recipient, name)
    args = ("inbox", "outbox", "--from", "old", "--from", "new", "--json")
    state = json.loads(run("unit", "inbox", *args).out)
    assert len(state["exchanges"][0]["files"]) == 2


def test_an_altered_byte_is_noticed(run, drop):
    path = drop / "unit/inbox/clinic.bundle.age"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    attended(run, ok=False)
    told = receipt(drop, "clinic.bundle.age")
    assert "cut short or changed" in told
    assert f"digest: {hashlib.sha256(data).hexdigest()}" in told


def test_two_bundles_of_an_owner_are_refused_both(run, drop):
    inbox = drop / "unit/inbox"
    shutil.copy(inbox / "clinic.bundle.age", inbox / "again.age")
    state = attended(run, ok=False)
    for name in ("again.age", "clinic.bundle.age"):
        assert "there are two bundles from clinic; keep one" in receipt(drop, name)
    assert state["exchanges"][0]["awaited"] == ["clinic"]


def test_a_bundle_of_another_projection_is_refused_with_the_reason(run, drop):
    def other(plain):
        bundle = Bundle.from_bytes(plain, "x")
        return type(bundle)(
            **{name: getattr(bundle, name) for name in bundle.__slots__} | {"projection": "0" * 64}
        ).to_bytes()

    reseal(drop, other)
    state = attended(run, ok=False)
    assert "different projections" in state["exchanges"][0]["failed"]
    assert "different projections" in receipt(drop, "clinic.bundle.age")


@pytest.mark.usefixtures("apart")
def test_a_file_that_takes_its_reader_down_is_refused_and_the_others_are_read(
    run, drop, monkeypatch
):
    bomb = drop / "unit/inbox/bomb.age"
    bomb.write_bytes(b"boom")
    monkeypatch.setenv("PYTHONPATH", f"{drop}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    # a reader that dies of one file, as of a Parquet file that makes it abort
    (drop / "sitecustomize.py").write_text(
        "import os, pathlib\n"
        "real = pathlib.Path.read_bytes\n"
        "def dying(path):\n"
        "    data = real(path)\n"
        "    return os.abort() if data == b'boom' else data\n"
        "pathlib.Path.read_bytes = dying\n"
    )
    state = attended(run, ok=False)
    assert [one["name"] for one in state["received"] if one["refused"]] == ["bomb.age"]
    assert "crashed the process" in receipt(drop, "bomb.age")
    assert len(state["exchanges"][0]["files"]) == 2


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize(
    ("option", "limit", "says"),
    [("--memory", 10**8, "memory"), ("--hours", 1e-6, "it took more than")],
)
def test_what_takes_more_than_the_unit_allows_is_refused_with_the_reason(
    run, drop, option, limit, says
):
    (drop / "unit/inbox/office.bundle.age").unlink()
    if option == "--memory" and sys.platform != "linux":
        pytest.skip("the system has no such limit")
    state = attended(run, ok=False, args=(option, limit))
    assert [one["name"] for one in state["received"] if one["refused"]] == ["clinic.bundle.age"]
    assert says in receipt(drop, "clinic.bundle.age")
    assert state["exchanges"] == []


@pytest.mark.usefixtures("drop")
@pytest.mark.parametrize("args", [("--memory", -1), ("--hours", -1), ("--hours", 10**6)])
def test_limits_that_make_no_sense_are_refused(refused_there, args):
    refused_there("unit", "inbox", "inbox", "outbox", *FROM, *args, says="cannot be")


def test_two_units_at_once_are_refused(drop, run, refused_there):
    from gramlink.io.locks import alone

    with alone(drop / "unit/outbox/.gramlink.lock", "at work"):
        refused_there("unit", "inbox", "inbox", "outbox", *FROM, says="another process is at work")
    attended(run)


@pytest.mark.usefixtures("drop")
@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("nowhere", "outbox"), "there is no folder nowhere"),
        (("inbox", "nowhere/outbox"), "cannot make the folder nowhere/outbox"),
        (("inbox", "inbox"), "are the same folder"),
        (("inbox", "outbox", "--returns", "all"), "'all' cannot be returned to an owner"),
        (("inbox", "outbox", "--identity", "unit.recipient"), "not an age identity"),
        (("inbox", "outbox", "--identity", "nowhere"), "cannot be read"),
        (("inbox", "outbox", "--from", "nowhere.recipient"), "cannot be read"),
        (("inbox", "outbox", "--from", "unit.identity"), "this is not an age recipient"),
    ],
)
def test_what_cannot_be_attended_to_is_said(refused_there, args, says):
    refused_there("unit", "inbox", *FROM, *args, says=says)


def test_an_empty_inbox_is_said(run, drop):
    for path in (drop / "unit/inbox").iterdir():
        path.unlink()
    assert "there are no bundles in inbox" in run("unit", "inbox", "inbox", "outbox", *FROM).out


def test_what_is_written_for_all_to_see_holds_no_pseudonym(run, drop):
    attended(run)
    _, linkage = in_one_process(drop)
    assert isinstance(linkage.links, Links)
    seen = b"".join(path.read_bytes() for path in (drop / "unit/outbox").iterdir())
    assert not [one for one in linkage.links.left if one.encode() in seen]
    told = json.loads((drop / "unit/outbox/stroke-answered.json").read_bytes())
    data = (drop / "unit/inbox/clinic.bundle.age").read_bytes()
    assert told["bundles"]["clinic"] == hashlib.sha256(data).hexdigest()


def test_another_units_bundle_is_refused(run, drop):
    path = drop / "unit/inbox/clinic.bundle.age"
    plain, _ = unseal_from(path.read_bytes(), read_identity(drop / "unit/unit.identity"), "x")
    clinic = read_identity(drop / "clinic/clinic.identity")
    path.write_bytes(seal_from(plain, clinic, new_identity().recipient))
    attended(run, ok=False)
    assert "sealed to another key" in receipt(drop, "clinic.bundle.age")


def test_other_results_are_written_when_something_else_is_to_go_back(run, drop):
    attended(run)
    before = (drop / "unit/outbox/stroke-clinic.results.age").read_bytes()
    assert len(attended(run, args=("--returns", "counts"))["exchanges"][0]["files"]) == 2
    assert (drop / "unit/outbox/stroke-clinic.results.age").read_bytes() != before


def test_a_file_that_cannot_be_told_of_does_not_keep_others_waiting(run, drop):
    (drop / "unit/inbox" / ("x" * 240 + ".age")).write_bytes(b"")
    state = attended(run, ok=False)
    assert len(state["exchanges"][0]["files"]) == 2


def test_bundles_that_name_other_owners_are_not_linked(run, drop):
    reseal(drop, _manifest(lambda m: m.update(owners=["clinic", "office", "spy"])))
    path = drop / "unit/inbox/spy.age"
    identity = read_identity(drop / "unit/unit.identity")
    clinic, _ = unseal_from((drop / "unit/inbox/clinic.bundle.age").read_bytes(), identity, "x")
    spy = _manifest(lambda m: m.update(owner="spy"))(clinic)
    path.write_bytes(signed_by_clinic(drop, spy))
    shutil.copy("clinic.recipient", "spy.recipient")
    state = attended(run, ok=False, args=("--from", "spy.recipient"))
    assert "do not name the same owners" in state["exchanges"][0]["failed"]


def said(run, *args, ok=True):
    return run("unit", "inbox", "inbox", "outbox", *FROM, *args, ok=ok).out.splitlines()


def written(drop):
    """When each file in the outbox was written."""
    return {path.name: path.stat().st_mtime_ns for path in (drop / "unit/outbox").iterdir()}


def test_a_run_tells_what_is_new_and_all_only_if_asked(run, drop):
    bad = drop / "unit/inbox/bad.age"
    bad.write_bytes(b"no seal")
    long_there()
    first = said(run, ok=False)
    assert [line.split(":")[0] for line in first] == ["bad.age", *FILES, "stroke"]
    before = written(drop)
    assert said(run) == ["nothing new in inbox: --all prints what was told before"]
    assert written(drop) == before
    assert said(run, "--all", ok=False) == [*first[:-1], "stroke: already answered"]
    bad.write_bytes(b"no seal either")
    long_there()
    assert said(run, ok=False) == ["bad.age: refused: bad.age is not a sealed file"]


def test_an_exchange_that_cannot_be_linked_is_told_once(run, drop):
    reseal(drop, _manifest(lambda m: m.update(projection="0" * 64)))
    told = said(run, ok=False)
    assert "stroke: cannot be linked" in told[-1]
    assert receipt(drop, "clinic.bundle.age").startswith("refused: clinic and office embedded")
    assert said(run) == ["nothing new in inbox: --all prints what was told before"]
    shutil.copy(drop / "clinic/clinic.bundle.age", "inbox")
    assert said(run)[-1].startswith("stroke: linked; wrote")
    assert receipt(drop, "office.bundle.age").startswith("accepted")


def test_a_file_that_is_not_whole_yet_is_not_judged(run, drop):
    path = drop / "unit/inbox/clinic.bundle.age"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    told = json.loads(run("unit", "inbox", "inbox", "outbox", *FROM, "--json").out)
    assert [one["arriving"] for one in told["received"]] == [True, False]
    assert not (drop / "unit/outbox/clinic.bundle.age.receipt.txt").exists()
    path.write_bytes(whole)
    assert said(run)[0].startswith("clinic.bundle.age: accepted")


def test_a_watch_takes_what_has_stopped_changing_until_it_is_ended(run, drop, monkeypatch):
    clinic, office = (drop / "unit/inbox" / name for name in FILES)
    whole = clinic.read_bytes()
    clinic.unlink()
    seen = []

    def at_work_alone():
        with pytest.raises(InvalidFile, match="another process is at work"):
            attend(Path("inbox"), Path("outbox"), Path("unit.identity"), {})

    def looks():
        yield at_work_alone()
        yield clinic.write_bytes(whole[:1000])
        yield clinic.write_bytes(whole[:2000])
        yield clinic.write_bytes(whole)
        yield None
        yield None
        raise KeyboardInterrupt

    steps = looks()

    def pause(seconds):
        seen.append((seconds, sorted(path.name for path in Path("outbox").glob("*.txt"))))
        next(steps)

    command = sys.modules["gramlink.cli.unit.inbox"]
    monkeypatch.setattr(command, "time", SimpleNamespace(sleep=pause))
    result = run("unit", "inbox", "inbox", "outbox", *FROM, "--watch", ok=False)
    assert (result.code, result.err) == (130, "stopped; run the same command again to resume\n")
    lines = result.out.splitlines()
    assert lines[0] == "looking into inbox every 10 seconds; Ctrl-C ends it"
    assert [line.split(",")[0] for line in lines[1:]] == [
        "office.bundle.age: accepted: the bundle of office",
        "stroke: waiting for clinic",
        "clinic.bundle.age: accepted: the bundle of clinic",
        "stroke: linked; wrote stroke-clinic.results.age",
    ]
    assert {seconds for seconds, _ in seen} == {10}
    assert office.exists()
    assert said(run) == ["nothing new in inbox: --all prints what was told before"]
