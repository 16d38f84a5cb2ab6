"""A veiled exchange by files, each party in a folder of its own."""

import json
import os
import shutil
import stat
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from cli.owners import contents, edit, write_people
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
)
from gramlink.embedding.projection import agree
from gramlink.io import limits
from gramlink.mining.mined import Mined
from gramlink.parties.contribution import Contribution, secret_of
from gramlink.parties.handover import Handover
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.records.reading import read_records
from gramlink.records.schema import load_schema
from systems import posix

OWNERS = ("clinic", "office")
MINE, THEIRS = "stroke-clinic.contribution", "office.mined.json.age"


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    """Without what costs time and has nothing to do with the veil."""
    monkeypatch.setattr(limits, "_confined", True)  # read in this process
    monkeypatch.setattr("gramlink.cli.owner.embed.duplicates_seen", lambda *_: ())


@pytest.fixture(scope="session")
def agreed(tmp_path_factory):
    """Two owners who have all that they need to embed, each in a folder of its own."""
    root, files = tmp_path_factory.mktemp("veiled"), tmp_path_factory.mktemp("files")
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
        (root / "unit/senders").mkdir()
        for owner in OWNERS:
            shutil.copy(root / owner / f"{owner}.recipient", root / "unit/senders")
        for owner, other in (OWNERS, OWNERS[::-1]):
            own = root / owner
            shutil.copy(files / f"{owner}.csv", own)
            shutil.copy(files / f"{owner}.toml", own / "linkage.toml")
            edit(own / "linkage.toml", "epsilon = 18", 'epsilon = 18\nencoding = "veiled"')
            shutil.copy(root / "unit/unit.recipient", own)
            shutil.copy(root / other / f"{other}.recipient", own)
            run(owner, f"mine {owner}.csv -q")
            run(owner, f"contribute {owner} --exchange stroke -q")
            beside = f"--contribution stroke-{owner}.contribution"
            file = f"{owner}.mined.json"
            sealed = f"seal {file} {beside} --to {other}.recipient --identity {owner}.identity -q"
            run(owner, sealed)
            shutil.move(own / f"{file}.age", root / other)
        for owner, other in (OWNERS, OWNERS[::-1]):
            run(
                owner,
                f"merge {owner}.mined.json {other}.mined.json.age --identity {owner}.identity -q",
            )
    return root


@pytest.fixture(scope="session")
def sent(agreed, tmp_path_factory):
    """The same with both bundles in the unit's inbox."""
    root = tmp_path_factory.mktemp("sent") / "drop"
    shutil.copytree(agreed, root)
    with pytest.MonkeyPatch.context() as patch:
        for owner in OWNERS:
            patch.chdir(root / owner)
            line = f"gramlink embed {owner}.csv --to unit.recipient --exchange stroke -q"
            patch.setattr(sys, "argv", line.split())
            with pytest.raises(SystemExit) as end:
                cli.main()
            assert not end.value.code
            shutil.copy(f"{owner}.bundle.age", "../unit/inbox")
    return root


@pytest.fixture
def clinic(agreed, tmp_path, run, monkeypatch):  # noqa: ARG001
    """A copy to work in, from the clinic's folder, before it embeds."""
    shutil.copytree(agreed, tmp_path / "drop")
    monkeypatch.chdir(tmp_path / "drop/clinic")
    return tmp_path / "drop"


@pytest.fixture
def drop(sent, tmp_path, run, monkeypatch):  # noqa: ARG001
    """A copy to work in, from the unit's folder, with both bundles in the inbox."""
    shutil.copytree(sent, tmp_path / "drop")
    monkeypatch.chdir(tmp_path / "drop/unit")
    return tmp_path / "drop"


INBOX = ("unit", "inbox", "inbox", "outbox", "--from", "senders")
EMBED = ("embed", "clinic.csv", "--to", "unit.recipient", "--exchange", "stroke")


def contributions(root):
    return [
        Contribution.from_json((root / one / f"stroke-{one}.contribution").read_bytes(), one)
        for one in OWNERS
    ]


def secret(root):
    schema = load_schema(root / "clinic/linkage.toml")
    return secret_of(contributions(root), projection(root), "stroke", schema)


def projection(root):
    return agree(
        *(Mined.from_json((root / one / f"{one}.mined.json").read_bytes(), one) for one in OWNERS)
    )


def in_one_process(root):
    """The links of the same mined files and contributions, by the roles themselves."""
    parties = []
    for owner in OWNERS:
        schema = load_schema(root / owner / "linkage.toml")
        records = read_records(root / owner / f"{owner}.csv", schema)
        parties.append(Owner(owner, records, schema, owner_key(root / owner / f"{owner}.key")))
    bundles = [party.embed(projection(root), secret=secret(root)) for party in parties]
    return parties, LinkageUnit.of(*bundles).link()


# the whole way


def test_a_veiled_file_drop_makes_the_links_of_one_process_bit_for_bit(run, drop):
    parties, linkage = in_one_process(drop)
    hidden = [secret(drop).root, *(one.content for one in contributions(drop))]
    run(*INBOX)
    assert len(linkage.links) > 150
    for party in parties:
        os.chdir(drop / party.name)
        results = f"../unit/outbox/stroke-{party.name}.results.age"
        opening = ("--exchange", "stroke", "--identity", f"{party.name}.identity")
        out = run("results", results, f"{party.name}.csv", *opening).out
        for owner in OWNERS:
            own = owner == party.name
            file = f"stroke-{owner}.contribution" if own else f"{owner}.mined.json.age"
            assert f"deleted {file}: the exchange is over" in out
        got = pl.read_csv(f"{party.name}-links.csv", infer_schema=False)
        assert got.equals(party.translate(linkage.links.bare).to_polars())
        possible = pl.read_csv(f"{party.name}-links-possible.csv", infer_schema=False)
        assert possible.equals(party.translate(linkage.possible.bare).to_polars())
        again = run("results", results, f"{party.name}.csv", *opening).out
        assert "deleted" not in again
    assert not list(drop.rglob("*contribution*"))
    for path in drop.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert not [one for one in hidden if one in data or one.hex().encode() in data], path


def test_a_plain_and_a_sealed_copy_are_both_deleted_at_the_end(run, drop):
    run(*INBOX)
    os.chdir(drop / "clinic")
    shutil.copy(drop / "office/stroke-office.contribution", ".")
    results = ("results", "../unit/outbox/stroke-clinic.results.age", "clinic.csv")
    run(*results, "--exchange", "stroke", "--identity", "clinic.identity")
    assert not list(Path.cwd().glob("*contribution*"))


def test_contributions_under_other_names_are_named_to_embed_and_to_results(run, drop):
    os.chdir(drop / "clinic")
    Path(MINE).rename("mine.secret")
    Path(THEIRS).rename("theirs.secret")
    named = ("--contribution", "mine.secret", "--contribution", "theirs.secret")
    run(*EMBED, *named)
    os.chdir(drop / "unit")
    run(*INBOX)
    os.chdir(drop / "clinic")
    results = ("results", "../unit/outbox/stroke-clinic.results.age", "clinic.csv")
    out = run(*results, "--exchange", "stroke", "--identity", "clinic.identity", *named).out
    assert "deleted mine.secret" in out
    assert "deleted theirs.secret" in out
    assert not list(Path.cwd().glob("*.secret*"))


def test_links_that_come_as_a_csv_file_leave_the_contributions_and_say_so(run, drop):
    os.chdir(drop / "clinic")
    Path("links.csv").write_text("id_left,id_right\n")
    out = run("results", "links.csv", "clinic.csv").out
    assert "delete the contributions" in out
    assert Path(MINE).exists()


def test_results_of_another_exchange_delete_nothing(run, drop):
    run(*INBOX)
    os.chdir(drop / "clinic")
    results = ("results", "../unit/outbox/stroke-clinic.results.age", "clinic.csv")
    said = run(*results, "--exchange", "heart", "--identity", "clinic.identity", ok=False)
    assert "the results' exchange is stroke, not heart" in said.err
    assert Path(MINE).exists()
    assert Path(THEIRS).exists()


# contributing


@posix
def test_a_contribution_is_for_its_owner_alone_and_says_where_it_goes(run, clinic):  # noqa: ARG001
    out = run("contribute", "clinic", "--exchange", "heart").out
    assert "wrote heart-clinic.contribution: for the other owners, and never for the" in out
    assert "gramlink seal" in out
    assert stat.S_IMODE(Path("heart-clinic.contribution").stat().st_mode) == 0o600
    content = json.loads(Path("heart-clinic.contribution").read_bytes())["content"]
    assert content not in out


@pytest.mark.usefixtures("clinic")
def test_without_an_exchange_the_file_is_named_after_its_owner(run):
    assert "wrote clinic.contribution" in run("contribute", "clinic").out


@pytest.fixture
def refused(run):
    """Run a command that must fail in a line and a hint, and change nothing at all."""

    def runner(*args, says):
        before = contents(Path.cwd())
        result = run(*args, ok=False)
        assert (result.code, result.out) == (1, ""), result
        lines = result.err.splitlines()
        assert [line[:16] for line in lines] == ["gramlink: error:", "gramlink: hint: "], result
        assert says in lines[0]
        after = contents(Path.cwd())
        new = {name for name in after if name not in before}
        assert not {name for name in new if not name.endswith(".lock")}
        assert {name: after[name] for name in before} == before
        return lines[1]

    return runner


@pytest.mark.usefixtures("clinic")
@pytest.mark.parametrize(
    ("fields", "encoding", "says"),
    [
        ("[fields.surname]", "vectors", "encoding = 'vectors' needs no secret"),
        ("[fields.surname]", "veiled", "the veiled encoding cannot link records of one field"),
        (
            '[fields.street]\n[fields.postcode]\nkind = "digits"',
            "veiled",
            "no field tells the members of a household apart",
        ),
    ],
)
def test_a_contribution_that_nobody_could_use_is_not_made(refused, fields, encoding, says):
    Path("linkage.toml").write_text(f'encoding = "{encoding}"\n{fields}\n')
    refused("contribute", "clinic", "--exchange", "heart", says=says)


@pytest.mark.usefixtures("clinic")
def test_an_owner_contributes_once(refused):
    hint = refused("contribute", "clinic", "--exchange", "stroke", says=f"{MINE} exists already")
    assert "use the first" in hint


# mistakes


def other(name="office", **changes):
    """A file with a contribution that does not belong here."""

    def write():
        schema = load_schema("linkage.toml")
        made = Contribution.new(changes.get("owner", name), changes.get("exchange", "stroke"),
                                schema)  # fmt: skip
        content = json.loads(made.to_json()) | {"schema": changes.get("schema", schema.digest)}
        Path(THEIRS).unlink(missing_ok=True)
        Path("stroke-office.contribution").write_text(json.dumps(content))

    return write


def unlinked(name):
    return lambda: Path(name).unlink()


def sealed_to_another():
    data = Path(MINE).read_bytes()
    Path(THEIRS).write_bytes(seal(data, [new_identity().recipient]))


def test_a_contribution_that_another_owner_did_not_sign_is_not_taken(refused, clinic):
    """The unit, who carries it, could make one up: it then knew a part of the owners' secret."""
    named = ("--from", "office.recipient")
    schema = load_schema(Path("linkage.toml"))
    handed = Handover.of(
        Mined.from_json((clinic / "office/office.mined.json").read_bytes(), "office"),
        Contribution.new("office", "stroke", schema),
    ).to_json()
    reader = read_recipient(Path("clinic.recipient"))
    Path(THEIRS).write_bytes(seal(handed, [reader]))
    refused(*EMBED, *named, says="office.mined.json.age is not signed")
    Path(THEIRS).write_bytes(seal_from(handed, new_identity(), reader))
    refused(*EMBED, *named, says="office.mined.json.age does not come from the key of office")
    merge = ("merge", "clinic.mined.json", THEIRS, "--identity", "clinic.identity")
    refused(*merge, *named, says="office.mined.json.age does not come from the key of office")
    refused(*merge, "--from", "unit.recipient", says="from office, whose key is not known here")


def test_only_one_file_is_an_owners_own_where_senders_are_checked(refused, clinic):
    """Whoever carries the files could put one of an owner that nobody named among them."""
    content = json.loads((clinic / "office/office.mined.json").read_bytes())
    Path("forged.json").write_text(json.dumps({**content, "owner": "registry"}))
    refused(
        *("merge", "clinic.mined.json", "forged.json", "--from", "office.recipient"),
        says="clinic.mined.json and forged.json are not signed, and only one of them can be",
    )


@pytest.mark.usefixtures("clinic")
def test_who_sent_a_contribution_is_said(run):
    office = read_recipient(Path("office.recipient"))
    said = f"{THEIRS} comes from the key {office.fingerprint}: is it that of office?"
    assert said in run(*EMBED).out
    assert f"{THEIRS} is signed by office" in run(*EMBED, "--from", "office.recipient").out
    merge = ("merge", "clinic.mined.json", THEIRS, "--identity", "clinic.identity")
    assert said in run(*merge).out
    assert f"{THEIRS} is signed by office" in run(*merge, "--from", "office.recipient").out


def own_sealed():
    reader = read_recipient(Path("clinic.recipient"))
    Path(f"{MINE}.age").write_bytes(seal(Path(MINE).read_bytes(), [reader]))
    Path(MINE).unlink()


def written(data):
    def write():
        Path(THEIRS).unlink()
        Path("stroke-office.contribution").write_bytes(data)

    return write


def with_mined():
    shutil.copy("clinic.mined.json", "stroke-office.contribution")


MISTAKES = {
    "none of the other owner": (unlinked(THEIRS), (), "no contribution stroke-office.contribut"),
    "none of one's own": (unlinked(MINE), (), f"there is no contribution {MINE}"),
    "somebody else's": (other(owner="police"), (), "contributions are from clinic, police, but"),
    "one's own twice": (other(owner="clinic"), (), "there are two contributions of clinic"),
    "sealed to another key": (sealed_to_another, (), "sealed to another key"),
    "one's own only sealed": (own_sealed, (), "no file has the contribution that clinic made"),
    "of another exchange": (other(exchange="heart"), (), "exchange is heart, not stroke"),
    "of no exchange": (other(exchange=""), (), "exchange is none, not stroke"),
    "of another schema": (other(schema="0" * 64), (), "settings are 0000000000000000, not"),
    "damaged": (written(b"{"), (), "is damaged or not a contribution file"),
    "what was mined": (with_mined, (), "has no contribution beside what was mined"),
    "one alone named": (lambda: None, ("--contribution", MINE), "contributions are from clinic, b"),
    "one that is not there": (lambda: None, ("--contribution", "none"), "no contribution none"),
    "the output": (lambda: None, ("-o", MINE), f"the output would replace {MINE}"),
}


@pytest.mark.usefixtures("clinic")
@pytest.mark.parametrize(("mistake", "more", "says"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_with_contributions_is_said_and_nothing_is_made(refused, mistake, more, says):
    mistake()
    refused(*EMBED, *more, says=says)


@pytest.mark.usefixtures("clinic")
def test_contributions_of_another_exchange_are_not_looked_for(refused):
    names = ("--contribution", MINE, "--contribution", THEIRS)
    line = ("embed", "clinic.csv", "--exchange", "heart")
    refused(*line, says="there is no contribution heart-clinic.contribution")
    refused(*line, *names, "--identity", "clinic.identity", says="exchange is stroke, not heart")


@pytest.mark.usefixtures("clinic")
def test_contributions_that_no_encoding_needs_are_a_mistake(refused):
    edit("linkage.toml", 'encoding = "veiled"', 'encoding = "vectors"')
    refused(*EMBED, says="the projection and this schema differ in encoding")


def test_a_bundle_of_another_secret_is_refused_and_the_receipt_says_why(run, drop):
    os.chdir(drop / "office")
    Path("stroke-office.contribution").unlink()
    run("contribute", "office", "--exchange", "stroke")
    run("embed", "office.csv", "--to", "unit.recipient", "--exchange", "stroke")
    shutil.copy("office.bundle.age", "../unit/inbox")
    os.chdir(drop / "unit")
    run(*INBOX, ok=False)
    for owner in OWNERS:
        receipt = Path(f"outbox/{owner}.bundle.age.receipt.txt").read_text()
        assert "clinic and office encoded their records with different secrets" in receipt
    assert not list(Path("outbox").glob("*.results.age"))


# a dry run, and embedding again


def test_a_dry_run_shows_the_rows_that_are_sent_and_notes_nothing(run, drop):
    os.chdir(drop / "clinic")
    before = contents(Path.cwd())
    out = run(*EMBED, "--dry-run").out
    assert contents(Path.cwd()) == before
    rows = opened(drop, "clinic").rows()
    for row in rows["rows"].head(5):
        assert row[:24].hex() in out
    assert "made up" not in out
    assert "owners' secret" not in out


def test_a_dry_run_before_the_others_have_contributed_makes_a_secret_up(run, clinic):
    (clinic / "clinic" / THEIRS).unlink()
    before = contents(Path.cwd())
    out = run(*EMBED, "--dry-run").out
    assert "So is the owners' secret" in out
    assert contents(Path.cwd()) == before
    assert "MILLER" not in out


def opened(drop, owner):
    unit = read_identity(drop / "unit/unit.identity")
    data = (drop / owner / f"{owner}.bundle.age").read_bytes()
    return Bundle.from_bytes(unseal_from(data, unit, "x")[0], "x")


def test_embedding_again_gives_the_same_rows(run, drop):
    before = opened(drop, "clinic").rows()
    os.chdir(drop / "clinic")
    run(*EMBED)
    assert opened(drop, "clinic").rows().equals(before)
    run("embed", "clinic.csv", "--exchange", "stroke", "--identity", "clinic.identity")
    with zipfile.ZipFile("clinic.bundle") as archive:
        assert pl.read_parquet(BytesIO(archive.read("records.parquet"))).equals(before)


@pytest.mark.parametrize("change", ["data", "key"])
def test_embedding_something_else_under_the_same_secret_is_refused(refused, drop, change):
    os.chdir(drop / "clinic")
    if change == "data":
        lines = Path("clinic.csv").read_text().splitlines()
        Path("clinic.csv").write_text("\n".join(lines[:-1]) + "\n")
    else:
        Path("clinic.key").write_text("00" * 32)
    hint = refused(*EMBED, says="has encoded other records, or the same under another key")
    assert "agree on a new exchange" in hint


# the unit's files


def test_the_model_of_veiled_bundles_explains_a_link_and_a_pair_without_a_key(run, refused, drop):
    for owner in OWNERS:
        os.chdir(drop / owner)
        line = ("embed", f"{owner}.csv", "--exchange", "stroke", "--identity", f"{owner}.identity")
        run(*line, "-o", f"../unit/{owner}.bundle")
    os.chdir(drop / "unit")
    run("link", "clinic.bundle", "office.bundle", "--details")
    links = pl.read_csv("links.csv")
    line = ("explain", "links-model.json", "clinic.bundle", "office.bundle")
    linked = links.row(0, named=True)
    out = run(*line, linked["id_left"], linked["id_right"]).out
    assert f"{linked['match_weight']:+.1f}" in out
    hint = refused(
        *line,
        links["id_left"][0],
        links["id_right"][1],
        says="the two records share no key, so nothing can be told of them",
    )
    assert "only records that share a key are compared" in hint
