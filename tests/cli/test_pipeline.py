import csv
import io
import json
import os
import stat
import subprocess
import sys
import time
import zipfile

import polars as pl
import pytest

from cli.owners import COUNT, PEOPLE, TOML, contents, edit, names, people
from gramlink.bundles.archive import unpack
from gramlink.bundles.bundle import Bundle
from gramlink.bundles.sealing import read_identity, seal_from, unseal, unseal_from, verified
from gramlink.errors import InvalidFile
from gramlink.parties.answers import answer
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.records.schema import load_schema
from systems import full_device, posix

HEADER = "id_left,id_right\n"


def pairs(path):
    with path.open(newline="") as file:
        return [tuple(row) for row in csv.reader(file)][1:]


def test_from_two_files_to_links_command_by_command(run, folder):
    (folder / "linkage.toml").unlink()
    assert "linkage.toml" in run("init", "hospital.csv").out
    edit("linkage.toml", "epsilon = 1 ", "epsilon = 20 ")
    checked = run("check", "hospital.csv").out
    assert f"{COUNT + 1} records" in checked
    assert "missing in 1 row: 302" in checked
    assert "spent epsilon 20; 0 is left in hospital.ledger" in run("mine", "hospital.csv").out
    run("mine", "registry.csv")
    merged = run("merge", "hospital.mined.json", "registry.mined.json").out
    run("merge", "registry.mined.json", "hospital.mined.json", "-o", "theirs.json")
    assert (folder / "theirs.json").read_bytes() == (folder / "projection.json").read_bytes()
    assert "fingerprint: " in merged
    assert "  surname: 1000 grams, mined" in merged
    assert "hospital will send thresholds" in merged
    run("embed", "hospital.csv", "-o", "hospital.bundle")
    run("embed", "registry.csv")
    linked = run("link", "registry.bundle", "hospital.bundle", "-o", "links.csv").out
    assert f"{COUNT + 1} records of hospital, {COUNT + 1} of registry: " in linked
    assert [path.name for path in folder.glob("links-*")] == ["links-possible.csv"]  # no model
    run("results", "links.csv", "hospital.csv")
    run("results", "links.csv", "registry.csv")
    run("results", "hospital-links.csv", "registry.csv", "-o", "both.csv")
    scores = json.loads(run("evaluate", "both.csv", "truth.csv", "--json").out)
    assert scores["f1"] > 0.9
    assert scores["truth"] == COUNT
    assert f"F1        {scores['f1']:.4f}" in run("evaluate", "both.csv", "truth.csv").out
    spent = run("ledger", "hospital.ledger").out
    assert "epsilon 20 of 20 spent, 0 left" in spent
    assert "interrupted" not in spent
    assert not list(folder.rglob("*.part"))


def test_each_owner_gets_its_own_ids_back_and_no_other(done):
    links, own = pairs(done / "links.csv"), pairs(done / "hospital-links.csv")
    ids = {f"{i:06d}" for i in range(COUNT)}
    assert {left for left, _ in own} <= ids  # with their leading zeros
    assert [right for _, right in own] == [right for _, right in links]
    theirs = pairs(done / "registry-links.csv")
    assert all(right.startswith("R") for _, right in theirs)
    assert [left for left, _ in theirs] == [left for left, _ in links]
    both = pairs(done / "both.csv")
    assert len(both) == len(links) > 0.9 * COUNT
    assert both == [(left, right) for (left, _), (_, right) in zip(own, theirs, strict=True)]


def test_a_missing_value_never_links(done):
    both = pairs(done / "both.csv")
    assert not {"900000", "R900000"} & {one for pair in both for one in pair}


def test_what_the_linkage_unit_gets_holds_no_name_id_or_gram(done):
    left, _, _ = names()
    grams = json.loads((done / "projection.json").read_bytes())["bases"]["surname"]
    with zipfile.ZipFile(done / "hospital.bundle") as archive:
        manifest = archive.read("manifest.json").decode()
        rows = pl.read_parquet(io.BytesIO(archive.read("records.parquet")))
    assert rows.columns == ["id", "surname.counts", "surname.thresholds"]
    assert all(len(one) == 32 and set(one) <= set("0123456789abcdef") for one in rows["id"])
    assert not [name for name in left if name in manifest]
    settings = json.loads(manifest)["settings"]["fields"]["surname"]
    assert "grams" not in settings
    rest = manifest.replace(settings["alphabet"], "")
    assert not [gram for gram in grams if f'"{gram}"' in rest]
    assert len(grams) == 60


def test_a_dry_run_shows_what_would_leave_and_writes_nothing(run, done):
    for written in ("hospital.key", "hospital.bundle"):
        (done / written).unlink()
    before = contents(done)
    out = run("embed", "hospital.csv", "--dry-run").out
    assert contents(done) == before
    left, _, _ = names()
    assert not [name for name in left if name in out]
    assert "000000" not in out.replace("0, 0, 0, 0", "")
    assert '"owner": "hospital"' in out
    assert f"{COUNT + 1} rows" in out
    assert "'surname.thresholds': " in out
    assert "Nothing was written" in out
    assert "made up" in out


def test_a_dry_run_shows_the_manifest_and_rows_that_are_sent(run, done):
    out = run("embed", "hospital.csv", "--dry-run").out
    with zipfile.ZipFile(done / "hospital.bundle") as archive:
        rows = pl.read_parquet(io.BytesIO(archive.read("records.parquet")))
        manifest = json.loads(archive.read("manifest.json"))
    for row in rows.head(5).iter_rows(named=True):
        assert str(row) in out
    shown = json.loads(run("embed", "hospital.csv", "--dry-run", "--json").out)
    assert shown["manifest"].pop("created") >= manifest["created"]
    assert shown["manifest"].items() <= manifest.items()
    assert shown["rows"] == COUNT + 1
    assert "made up" not in out


def parts_of(path):
    """The manifest of a bundle and the bytes of its records."""
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("manifest.json")), archive.read("records.parquet")


def test_embedding_again_gives_the_same_bundle_but_for_its_time(run, done, monkeypatch):
    before, records = parts_of(done / "hospital.bundle")
    monkeypatch.setattr("gramlink.io.files.moment", lambda: "2099-12-31T23:59:59Z")
    run("embed", "hospital.csv")
    after, again = parts_of(done / "hospital.bundle")
    assert again == records
    assert after == {**before, "created": "2099-12-31T23:59:59Z"}
    time.strptime(before["created"], "%Y-%m-%dT%H:%M:%SZ")


def test_records_that_are_the_same_are_sent_once_and_all_come_back(run, done):
    before, records = parts_of(done / "hospital.bundle")
    rows = (done / "hospital.csv").read_text().splitlines()
    name = rows[1].partition(",")[2]
    more = [f"X{n},{name.lower()}" for n in range(5)]  # the same, once it is normalised
    (done / "hospital.csv").write_text("\n".join([rows[0], *more, *rows[1:]]) + "\n")
    out = run("embed", "hospital.csv").out
    assert "5 records repeat another in all fields, and are not sent again" in out
    after, again = parts_of(done / "hospital.bundle")
    assert again == records
    assert {**after, "created": 0} == {**before, "created": 0}
    run("link", "hospital.bundle", "registry.bundle")
    run("results", "links.csv", "hospital.csv")
    links = pairs(done / "links.csv")
    mapped = pairs(done / "hospital-links.csv")
    assert len(mapped) == len(links) + 5
    [partner] = {right for left, right in mapped if left == "000000"}
    assert {left for left, right in mapped if right == partner} == {
        "000000", *(f"X{n}" for n in range(5)),
    }  # fmt: skip


# sealed files


@pytest.fixture
def sealed(run, done):
    """The working folder, with keys of the parties and everything sealed to its reader."""
    for party in ("hospital", "registry", "unit"):
        run("keys", "new", party)
    run("seal", "registry.mined.json", "--to", "hospital.recipient")
    for owner in ("hospital", "registry"):
        run("embed", f"{owner}.csv", "--to", "unit.recipient", "--exchange", "stroke")
    return done


def test_linking_says_whether_it_was_checked_who_sent_the_bundles(run, sealed):
    for owner in ("hospital", "registry"):
        run("embed", f"{owner}.csv", "-o", f"{owner}.signed")
    line = ("link", "hospital.signed", "registry.signed")
    unchecked = "who sent the bundles was not checked: `--from OWNER.recipient` does so"
    assert unchecked in run(*line).out
    before = (sealed / "links.csv").read_bytes()
    owners = ("--from", "hospital.recipient", "--from", "registry.recipient")
    assert "not checked" not in run(*line, *owners).out
    assert (sealed / "links.csv").read_bytes() == before
    (sealed / "mallory").mkdir()
    theirs = (sealed / "registry.recipient").read_bytes()
    (sealed / "mallory/hospital.recipient").write_bytes(theirs)
    said = run(*line, "--from", "mallory", "--from", "registry.recipient", ok=False).err
    assert "the bundle does not come from the key of hospital, but from" in said
    assert "call hospital: if this is its new key" in said


@posix
def test_new_keys_are_a_secret_one_and_a_public_one(run, folder):
    out = run("keys", "new", "hospital").out
    identity, recipient = folder / "hospital.identity", folder / "hospital.recipient"
    assert stat.S_IMODE(identity.stat().st_mode) == 0o600
    secret = identity.read_text().splitlines()[-1]
    assert secret.startswith("AGE-SECRET-KEY-1")
    assert secret not in out + recipient.read_text()
    assert "hospital.identity: keep it secret" in out
    shown = run("keys", "show", "hospital.recipient").out
    key, fingerprint = shown.splitlines()
    assert key == recipient.read_text().splitlines()[-1]
    assert fingerprint in out
    assert run("keys", "show", "hospital.identity").out == shown
    assert run("keys", "new", "other", "--quiet").out == ""
    assert run("keys", "show", "other.recipient").out != shown


def test_a_file_is_sealed_to_one_or_several_readers(run, sealed):
    out = run(
        "seal", "hospital.mined.json", "--to", "registry.recipient", "--to", "unit.recipient",
        "-o", "x.age",
    ).out  # fmt: skip
    for party in ("registry", "unit"):
        assert run("keys", "show", f"{party}.recipient").out.splitlines()[1][13:] in out
        data = unseal(
            (sealed / "x.age").read_bytes(), read_identity(sealed / f"{party}.identity"), "x"
        )
        assert data == (sealed / "hospital.mined.json").read_bytes()
    with pytest.raises(InvalidFile, match="sealed to another key"):
        unseal((sealed / "x.age").read_bytes(), read_identity(sealed / "hospital.identity"), "x")
    assert run("seal", "x.age", "--to", "unit.recipient", "--quiet").out == ""
    assert (sealed / "x.age.age").is_file()


def test_merging_opens_what_is_sealed(run, sealed):
    before = (sealed / "projection.json").read_bytes()
    (sealed / "projection.json").unlink()
    run(
        "merge", "hospital.mined.json", "registry.mined.json.age", "--identity", "hospital.identity"
    )
    assert (sealed / "projection.json").read_bytes() == before


def test_a_sealed_bundle_says_what_it_is_for(run, sealed):
    out = run("embed", "hospital.csv", "--to", "unit.recipient", "--exchange", "stroke").out
    assert "wrote hospital.bundle.age" in out
    unit, hospital = (read_identity(sealed / f"{name}.identity") for name in ("unit", "hospital"))
    assert f"sealed to the linkage unit's key {unit.recipient.fingerprint}" in out
    data, sender = unseal_from((sealed / "hospital.bundle.age").read_bytes(), unit, "x")
    bundle = Bundle.from_bytes(data, "x")
    assert sender == hospital.recipient
    assert f"signed with the key {sender.fingerprint}" in out
    assert (bundle.exchange, bundle.owners) == ("stroke", ("hospital", "registry"))
    assert bundle.reply == hospital.recipient
    assert bundle.epsilon == 20
    plain = run("embed", "hospital.csv").out
    assert "not sealed" in plain
    opened, sender = verified((sealed / "hospital.bundle").read_bytes(), "x")
    assert sender == hospital.recipient
    manifest = unpack("bundle", opened, "x").manifest
    assert (manifest["exchange"], manifest["reply"]) == ("", None)


def test_the_answer_can_be_for_another_identity(run, sealed):
    run("keys", "new", "second")
    run("embed", "hospital.csv", "--to", "unit.recipient", "--identity", "second.identity")
    unit = read_identity(sealed / "unit.identity")
    data, sender = unseal_from((sealed / "hospital.bundle.age").read_bytes(), unit, "x")
    second = read_identity(sealed / "second.identity").recipient
    assert Bundle.from_bytes(data, "x").reply == sender == second


def test_linking_opens_what_is_sealed(run, sealed):
    before = (sealed / "links.csv").read_text()
    run("link", "hospital.bundle.age", "registry.bundle.age", "--identity", "unit.identity")
    assert (sealed / "links.csv").read_text() == before
    run("embed", "hospital.csv", "--exchange", "stroke", "-o", "plain.bundle")
    run("link", "plain.bundle", "registry.bundle.age", "--identity", "unit.identity", "-o", "x")
    assert (sealed / "x").read_text() == before


INTACT = {
    "hospital.mined.json": ("mined", ["owner: hospital", "epsilon: 20", "fields: surname"]),
    "projection.json": ("projection", ["owners: hospital, registry", "bases: surname"]),
    "hospital.bundle": (
        "bundle",
        ["owner: hospital", "exchange: none", "rows: 301", "reply: none"],
    ),
}


@pytest.mark.usefixtures("done")
@pytest.mark.parametrize("name", INTACT)
def test_inspecting_says_what_a_file_is_and_that_it_is_intact(run, name):
    kind, lines = INTACT[name]
    out = run("inspect", name).out
    assert f"{name} is a {kind} file, intact" in out
    for line in lines:
        assert f"  {line}" in out.splitlines()
    told = json.loads(run("inspect", name, "--json").out)
    assert (told["kind"], told["sealed"]) == (kind, False)
    assert told["settings"]["decide"] == "one-to-one"


def test_inspecting_opens_what_is_sealed(run, sealed):
    out = run("inspect", "hospital.bundle.age", "--identity", "unit.identity").out
    assert "sealed, and opened: not a byte was changed" in out
    assert "hospital.bundle.age is a bundle file, intact" in out
    assert "  exchange: stroke" in out.splitlines()
    line = ("inspect", "registry.mined.json.age", "--identity", "hospital.identity", "--json")
    told = json.loads(run(*line).out)
    assert (told["kind"], told["sealed"], told["owner"]) == ("mined", True, "registry")
    assert "AGE-SECRET" not in out
    assert (sealed / "hospital.bundle.age").is_file()


def test_inspecting_shows_a_model(run, linked_people):
    out = run("inspect", "links-model.json").out
    assert "links-model.json is a model file, intact" in out
    assert (linked_people / "links-model.json").is_file()


def answered(folder, wanted, *owners, exchange="stroke"):
    """What a linkage unit writes for each owner, sealed to the keys in the bundles."""
    unit = read_identity(folder / "unit.identity")
    bundles = [
        Bundle.from_bytes(
            unseal_from((folder / f"{owner}.bundle.age").read_bytes(), unit, "x")[0], "x"
        )
        for owner in owners
    ]
    answers = answer(bundles, dict.fromkeys(owners, wanted), created="2026-03-14T15:09:26Z")
    for bundle in bundles:
        data = seal_from(answers.results[bundle.owner].to_bytes(), unit, bundle.reply)
        (folder / f"{exchange}-{bundle.owner}.results.age").write_bytes(data)
    return answers


def test_results_that_are_sealed_are_mapped_back(run, sealed):
    answered(sealed, "links", "hospital", "registry")
    before = (sealed / "hospital-links.csv").read_text()
    (sealed / "hospital-links.csv").unlink()
    name = "stroke-hospital.results.age"
    stroke = ("--exchange", "stroke")
    run("results", name, "hospital.csv", "--identity", "hospital.identity", *stroke)
    assert (sealed / "hospital-links.csv").read_text() == before
    out = run("inspect", name, "--identity", "hospital.identity").out
    assert f"{name} is a results file, intact" in out
    assert "  returns: links" in out.splitlines()
    assert "  created: 2026-03-14T15:09:26Z" in out.splitlines()
    opened = unseal((sealed / name).read_bytes(), read_identity(sealed / "hospital.identity"), name)
    (sealed / "hospital.results").write_bytes(opened)
    line = ("results", "hospital.results", "hospital.csv", "-o", "mine.csv", *stroke)
    assert "if it came sealed to you, name your --identity" in run(*line, ok=False).err
    run(*line, "--identity", "hospital.identity")
    assert (sealed / "mine.csv").read_text() == before


def test_results_with_weights_have_them_in_the_owners_file(run, sealed):
    answered(sealed, "weights", "hospital", "registry")
    line = ("stroke-registry.results.age", "registry.csv", "--exchange", "stroke")
    run("results", *line, "--identity", "registry.identity")
    found = pl.read_csv(sealed / "registry-links.csv", infer_schema=False)
    assert found.columns == ["id_left", "id_right", "distance", "match_probability"]
    assert all(one.startswith("R") for one in found["id_right"])


def test_counts_have_nothing_to_be_mapped_back(run, sealed):
    answered(sealed, "counts", "hospital", "registry")
    before = contents(sealed)
    line = ("stroke-hospital.results.age", "hospital.csv", "--identity", "hospital.identity")
    assert "counts only" in run("results", *line, "--exchange", "stroke").out
    assert contents(sealed) == before


def test_three_owners_map_sealed_clusters_back(run, linked_people):
    owners = ("clinic", "office", "police")
    run("keys", "new", "unit")
    for owner in owners:
        run("keys", "new", owner)
        run(*by(owner, "embed", f"{owner}.csv", "--to", "unit.recipient"))
    answers = answered(linked_people, "weights", *owners)
    for owner in owners:
        name = f"stroke-{owner}.results.age"
        run(*by(owner, "results", name, f"{owner}.csv", "--identity", f"{owner}.identity"))
        found = clusters(linked_people / f"{owner}-links.csv")
        assert found.columns == ["cluster", "owner", "id"]
        sent = answers.results[owner].tables["clusters"]
        assert found["owner"].to_list() == sent["owner"].to_list()
        others = pl.col("owner") != owner
        assert found.filter(others)["id"].to_list() == sent.filter(others)["id"].to_list()
        assert not set(found.filter(~others)["id"]) & set(sent["id"])
        possible = clusters(linked_people / f"{owner}-links-possible.csv")
        assert {"owner_left", "owner_right", "match_weight"} <= set(possible.columns)


@pytest.mark.parametrize(
    ("args", "keys"),
    [
        (
            "check hospital.csv",
            {
                "records", "clean", "bad", "empty", "epsilon", "fields", "worst", "identical",
                "unique", "report", "bad_rows", "warnings", "codes",
            },
        ),
        (
            "mine hospital.csv --owner other --ledger o.ledger -o o.json",
            {"output", "epsilon", "grams", "shares", "warnings"},
        ),
        ("merge hospital.mined.json registry.mined.json", {"output", "digest", "left"}),
        ("embed hospital.csv", {"output", "rows", "bytes", "warnings"}),
        ("embed hospital.csv --dry-run", {"manifest", "rows", "bytes"}),
        ("link hospital.bundle registry.bundle", {"output", "links", "pairs"}),
        (
            "evaluate both.csv truth.csv",
            {"links", "truth", "correct", "precision", "recall", "f1"},
        ),
        (
            "ledger hospital.ledger",
            {
                "dataset", "allowance", "spent", "left", "releases", "most_exposures", "exposures",
                "entries", "head",
            },
        ),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("done")
def test_a_summary_for_programs_is_one_json_document(run, args, keys):
    assert json.loads(run(*args.split(), "--json").out).keys() == keys


@pytest.mark.parametrize(
    "args",
    [
        "check hospital.csv",
        "mine hospital.csv --owner other --ledger o.ledger",
        "merge hospital.mined.json registry.mined.json",
        "embed hospital.csv",
        "embed hospital.csv --dry-run",
        "link hospital.bundle registry.bundle",
        "results links.csv hospital.csv",
    ],
)
@pytest.mark.usefixtures("done")
def test_quiet_commands_say_nothing(run, args):
    assert run(*args.split(), "--quiet").out == ""


def linked(run, one, other, truth, *options):
    """Link two files from the start; the scores."""
    run("mine", *one)
    run("mine", *other)
    run("merge", "hospital.mined.json", "registry.mined.json")
    run("embed", *one)
    run("embed", *other)
    run("link", "hospital.bundle", "registry.bundle", *options)
    run("results", "links.csv", *one)
    run("results", "hospital-links.csv", *other, "-o", "both.csv")
    return json.loads(run("evaluate", "both.csv", truth, "--json").out)


def test_owners_whose_columns_have_other_names_can_link(run, folder):
    edit("registry.csv", "id,surname", "Nr,Nachname")
    ours, theirs = folder / "linkage.toml", folder / "theirs.toml"
    theirs.write_text('id = "Nr"\n' + TOML.replace('"surname"', '"Nachname"'))
    scores = linked(run, ["hospital.csv"], ["registry.csv", "--schema", "theirs.toml"], "truth.csv")
    assert scores["f1"] > 0.9
    assert load_schema(ours).digest == load_schema(theirs).digest


def test_files_of_windows_and_of_excel_link_like_any_other(run, folder):
    left, right, order = names()
    left = ["MÜLLER-" + left[0], *left[1:]]
    right = [left[0] if i == 0 else name for i, name in zip(order, right, strict=True)]
    lines = ['"surname";"id"'] + [f'"{name}";"{i:06d}"' for i, name in enumerate(left)]
    (folder / "hospital.csv").write_bytes("\r\n".join(lines).encode("latin-1") + b"\r\n")
    frame = pl.DataFrame({"surname": right, "id": [f"R{i}" for i in range(COUNT)]})
    frame.write_parquet("registry.parquet")
    edit("linkage.toml", "\n", "\r\n")
    (folder / "linkage.toml").write_bytes(b"\xef\xbb\xbf" + (folder / "linkage.toml").read_bytes())
    scores = linked(
        run, ["hospital.csv", "--encoding", "latin-1"], ["registry.parquet"], "truth.csv"
    )
    assert scores["f1"] > 0.9
    place = order.index(0)
    assert ("000000", f"R{place}") in pairs(folder / "both.csv")


def test_file_names_may_hold_blanks_brackets_and_letters_of_any_script(run, folder):
    odd, other = "St. Mary's [2024] 病院.csv", "régistre+.csv"
    (folder / "hospital.csv").rename(odd)
    (folder / "registry.csv").rename(other)
    run("mine", odd)
    run("mine", other)
    run("merge", "St. Mary's [2024] 病院.mined.json", "régistre+.mined.json")
    run("embed", odd)
    run("embed", other)
    out = run("link", "St. Mary's [2024] 病院.bundle", "régistre+.bundle").out
    assert "301 of régistre+" in out
    run("results", "links.csv", odd)
    assert (folder / "St. Mary's [2024] 病院-links.csv").is_file()


def test_files_can_be_in_other_folders_than_the_commands_run_in(run, folder):
    secret = folder / "secret"
    secret.mkdir()
    (folder / "hospital.csv").rename(secret / "hospital.csv")
    run("mine", "secret/hospital.csv")
    assert (secret / "hospital.ledger").is_file()  # kept with the data
    assert (folder / "hospital.mined.json").is_file()


@posix
def test_an_output_that_is_a_link_stays_one(run, done):
    shared = done / "shared"
    shared.mkdir()
    (done / "links.csv").unlink()
    (done / "links.csv").symlink_to(shared / "links.csv")
    run("link", "hospital.bundle", "registry.bundle")
    assert (done / "links.csv").is_symlink()
    assert pairs(shared / "links.csv")


def test_links_with_distances_only_when_asked_for(run, done):
    run("link", "hospital.bundle", "registry.bundle", "-o", "far.csv", "--details")
    assert (
        (done / "far.csv").read_text().startswith("id_left,id_right,distance,match_probability\n")
    )
    assert (done / "links.csv").read_text().startswith(HEADER)


def test_another_rule_decides_when_asked_for(run, done):
    run("link", "hospital.bundle", "registry.bundle", "-o", "all.csv", "--decide", "all")
    names = ("hospital.bundle", "registry.bundle")
    bundles = [Bundle.from_bytes((done / name).read_bytes(), name) for name in names]
    expected = LinkageUnit.of(*bundles).link("all").links
    assert set(pairs(done / "all.csv")) == set(zip(expected.left, expected.right, strict=True))
    assert set(pairs(done / "all.csv")) != set(pairs(done / "links.csv"))


def test_no_link_at_all_is_a_result_too(run, folder):
    lines = ["id,surname"] + [f"R{i},ZZZZZZZZZZZZ" for i in range(50)]
    (folder / "registry.csv").write_text("\n".join(lines))
    scores = linked(run, ["hospital.csv"], ["registry.csv"], "truth.csv")
    assert scores["links"] == scores["correct"] == 0
    assert (folder / "both.csv").read_text() == HEADER


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_links_are_read_whatever_ends_their_lines(run, done, end):
    text = (done / "both.csv").read_text()
    (done / "both.csv").write_bytes(text.replace("\n", end).encode())
    scores = json.loads(run("evaluate", "both.csv", "truth.csv", "--json").out)
    assert scores["links"] == len(text.splitlines()) - 1


def test_a_file_name_that_is_not_unicode_is_no_hindrance(run, folder):
    odd = os.fsdecode(b"h\xff.csv")
    (folder / "hospital.csv").rename(odd)
    run("init", odd, "--force")
    assert "h?.csv: 301 records" in run("check", odd).out
    named = ("--owner", "hospital", "--dataset", "hospital")
    run("mine", odd, *named, "--epsilon", "20")
    assert (folder / "hospital.ledger").is_file()


@pytest.mark.usefixtures("done")
def test_splinks_names_of_columns_are_understood(run):
    edit("both.csv", "id_left,id_right", "unique_id_l,unique_id_r")
    edit("truth.csv", "id_left,id_right", "unique_id_l,unique_id_r")
    assert json.loads(run("evaluate", "both.csv", "truth.csv", "--json").out)["f1"] > 0.9


def test_a_tree_is_read_again_for_another_size_at_no_cost(run, folder):
    edit("linkage.toml", "size = 60", 'size = 60\nminer = "tree-linear"')
    run("mine", "hospital.csv")
    ledger = (folder / "hospital.ledger").read_bytes()
    edit("linkage.toml", "size = 60", "size = 20\nq_max = 2")
    out = run("mine", "hospital.csv", "--again", "hospital.mined.json", "-o", "small.json").out
    assert "at no cost" in out
    assert (folder / "hospital.ledger").read_bytes() == ledger
    before, after = (
        json.loads((folder / name).read_bytes()) for name in ("hospital.mined.json", "small.json")
    )
    grams = after["fields"]["surname"]["grams"]
    assert len(grams) == 20
    assert max(map(len, grams)) <= 2
    assert after["fields"]["surname"]["tree"] == before["fields"]["surname"]["tree"]
    assert after["epsilon"] == before["epsilon"]
    assert after["settings"] == load_schema(folder / "linkage.toml").agreed


@pytest.mark.parametrize("count", [1, 50])
def test_few_records_and_little_epsilon_are_mined_all_the_same(run, folder, count):
    lines = (folder / "hospital.csv").read_text().splitlines()[: count + 1]
    (folder / "few.csv").write_text("\n".join(lines))
    for turn in range(10):  # the noise is not the same each time
        run(
            "mine",
            "few.csv",
            "--owner",
            f"few{turn}",
            "--ledger",
            f"{turn}.ledger",
            "--epsilon",
            "0.1",
            "--quiet",
        )


def test_more_is_allowed_only_on_the_record(run, done):
    out = run("ledger", "hospital.ledger", "--allow", "39").out
    assert "epsilon 20 of 39 spent, 19 left" in out
    run("mine", "hospital.csv", "--epsilon", "37/2", "--force", "--quiet")
    releases = json.loads(run("ledger", "hospital.ledger", "--json").out)
    assert [one["epsilon"] for one in releases["releases"]] == ["20", "37/2"]
    assert releases["left"] == "1/2"
    lines = (done / "hospital.ledger").read_text().splitlines()
    kinds = [json.loads(line).get("kind") for line in lines]
    assert kinds == [None, "charge", "release", "exposure", "allow", "charge", "release"]


@pytest.mark.parametrize("column", ["a name", 'say "so"', "back\\slash", "naïve", "😀", "del\x7f"])
def test_a_proposal_for_any_column_can_be_used(run, folder, column):
    quoted = '"' + column.replace('"', '""') + '"'
    (folder / "odd.csv").write_text(f"id,{quoted}\n1,MILLER\n", "utf-8")
    run("init", "odd.csv", "--field", column, "--force")
    assert load_schema(folder / "linkage.toml").fields[0].source == column
    assert "1 records" in run("check", "odd.csv").out


def shell(folder, *args, **options):
    """A command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from gramlink.cli import main; main()", *args],
        cwd=folder,
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_no_terminal_is_too_old_to_be_spoken_to(done, encoding):
    (done / "hospital.csv").rename(done / "病院.csv")
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0"}
    result = shell(done, "check", "病院.csv", stdout=subprocess.PIPE, env=environment)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"301 records" in result.stdout


@posix
def test_a_reader_that_stops_reading_is_no_error_of_ours(done):
    reading, writing = os.pipe()
    os.close(reading)
    result = shell(done, "ledger", "hospital.ledger", stdout=writing)
    os.close(writing)
    assert (result.returncode, result.stderr) == (1, b"")


@posix
def test_a_closed_output_is_no_error_of_ours(done):
    result = shell(done, "check", "hospital.csv", preexec_fn=lambda: os.close(1))
    assert (result.returncode, result.stderr) == (0, b"")


@full_device
def test_an_output_that_is_full_is_said_in_a_line(done):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        result = shell(done, "check", "hospital.csv", stdout=full)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        b"gramlink: error: input or output: No space left on device"
    ]


def test_distances_come_through_to_the_owner(done, run):
    run("link", "hospital.bundle", "registry.bundle", "-o", "far.csv", "--details")
    run("results", "far.csv", "hospital.csv", "-o", "mine.csv")
    sent, mapped = (
        pl.read_csv(done / name, infer_schema=False) for name in ("far.csv", "mine.csv")
    )
    assert mapped.columns == ["id_left", "id_right", "distance", "match_probability"]
    assert mapped["distance"].equals(sent["distance"])


def test_exports_of_one_data_set_share_its_ledger(folder, run):
    (folder / "november.csv").write_bytes((folder / "hospital.csv").read_bytes())
    run("mine", "hospital.csv")
    run("ledger", "hospital.ledger", "--allow", "40")
    run("mine", "november.csv", "--dataset", "hospital")
    assert json.loads(run("ledger", "hospital.ledger", "--json").out)["spent"] == "40"


# several fields


def by(owner, *line):
    """A command of one of the owners, with its own schema."""
    return (*line, "--schema", f"{owner}.toml")


def scored(run, links):
    """Links that both the clinic and the office have mapped back."""
    truth = people().truth
    truth.write_csv("people.csv")
    run(*by("clinic", "results", links, "clinic.csv", "-o", "half.csv"))
    run(*by("office", "results", "half.csv", "office.csv", "-o", "whole.csv"))
    return json.loads(run("evaluate", "whole.csv", "people.csv", "--json").out)


@pytest.mark.usefixtures("linked_people")
def test_from_two_files_of_several_fields_to_links(run):
    scores = scored(run, "links.csv")
    assert scores["truth"] == PEOPLE
    assert scores["f1"] > 0.9


def test_epsilon_is_split_over_the_mined_fields_and_that_is_said(run, linked_people):
    out = run(*by("clinic", "mine", "clinic.csv", "--owner", "x", "--ledger", "x.ledger")).out
    assert "epsilon 18 was split over the mined fields: given 12, surname 6" in out
    assert "spent epsilon 18; 0 is left in x.ledger" in out
    told = json.loads((linked_people / "x.mined.json").read_bytes())
    assert list(told["fields"]) == ["given", "surname"]
    assert told["epsilon"] == "18"
    ledger = json.loads(run("ledger", "x.ledger", "--json").out)
    assert [release["what"] for release in ledger["releases"]] == ["mine given, surname"]
    assert ledger["releases"][0]["parameters"]["shares"] == {"given": "12", "surname": "6"}


@pytest.mark.usefixtures("linked_people")
def test_a_split_for_programs_is_exact(run):
    edit("clinic.toml", "share = 2", "share = 0.5")
    line = ("mine", "clinic.csv", "--owner", "x", "--ledger", "x.ledger", "--json")
    told = json.loads(run(*by("clinic", *line, "--epsilon", "1/10")).out)
    assert told["shares"] == {"given": "1/30", "surname": "1/15"}
    assert told["epsilon"] == "1/10"


def test_one_mined_field_has_nothing_to_split(run, folder):
    assert "split" not in run("mine", "hospital.csv").out
    (folder / "linkage.toml").write_text(TOML + '[fields.x]\ncolumn = "surname"\nkind = "digits"\n')
    line = ("mine", "hospital.csv", "--owner", "x", "--ledger", "x.ledger")
    assert "split" not in run(*line).out


def test_merging_says_which_bases_were_mined(run, linked_people):
    files = [f"{owner}.mined.json" for owner in ("clinic", "office")]
    out = run("merge", *files, "-o", "two.json").out
    for line in (
        "  given: 40 grams, mined",
        "  surname: 60 grams, mined",
        "  born: 80 grams, public",
        "  sex: 144 grams, public",
        "  postcode: 110 grams, public",
        "clinic will send thresholds",
    ):
        assert line in out.splitlines()
    bases = json.loads((linked_people / "two.json").read_bytes())["bases"]
    assert {name: len(grams) for name, grams in bases.items()} == {"given": 40, "surname": 60}


def test_three_owners_merge_to_the_same_in_any_order(run, linked_people):
    files = [f"{owner}.mined.json" for owner in ("police", "clinic", "office")]
    out = run("merge", *files, "-o", "again.json").out
    again, before = (linked_people / name for name in ("again.json", "projection.json"))
    assert again.read_bytes() == before.read_bytes()
    assert "clinic, office will send thresholds" in out
    told = json.loads(run("merge", *files, "-o", "again.json", "--json").out)
    assert told["left"] == ["clinic", "office"]
    assert json.loads(again.read_bytes())["owners"] == ["clinic", "office", "police"]


def test_of_three_owners_two_send_thresholds(linked_people):
    for owner in ("clinic", "office", "police"):
        with zipfile.ZipFile(linked_people / f"{owner}.bundle") as archive:
            rows = pl.read_parquet(io.BytesIO(archive.read("records.parquet")))
        fields = ["given", "surname", "born", "sex", "postcode"]
        assert [f"{name}.counts" in rows.columns for name in fields] == [True] * 5
        left = [f"{name}.thresholds" in rows.columns for name in fields]
        assert left == [owner != "police"] * 5


def test_what_the_unit_gets_of_several_fields_holds_no_value(linked_people):
    with zipfile.ZipFile(linked_people / "clinic.bundle") as archive:
        manifest = archive.read("manifest.json").decode()
        rows = pl.read_parquet(io.BytesIO(archive.read("records.parquet")))
    about = json.loads(manifest)
    assert list(about["shape"]) == ["given", "surname", "born", "sex", "postcode"]
    assert about["unique"] is True
    own = ("column", "missing", "format", "codes", "grams")
    assert not [
        key for field in about["settings"]["fields"].values() for key in own if key in field
    ]
    left = people().left
    values = {
        v for name in ("id", "given_name", "surname", "date_of_birth") for v in left[name] if v
    }
    cells = manifest + rows.write_json()
    assert not [value for value in values if f'"{value}"' in cells]


def test_links_of_several_fields_come_with_possible_ones_and_a_model(run, linked_people):
    line = ("link", "office.bundle", "clinic.bundle")
    out = run(*line, "-o", "again.csv").out
    assert f"{PEOPLE} records of clinic, {PEOPLE} of office: " in out
    assert "possible ones" in out
    assert "estimated precision" in out
    for name in ("again.csv", "again-possible.csv"):
        text = (linked_people / name).read_text()
        assert text.startswith(HEADER)
        assert name in out
        assert text == (linked_people / name.replace("again", "links")).read_text()
    model = json.loads((linked_people / "again-model.json").read_bytes())
    assert (model["gramlink"], model["version"]) == ("model", 1)
    told = json.loads(run(*line, "-o", "again.csv", "--json").out)
    assert told["links"] == told["pairs"][0]["links"] == len(pairs(linked_people / "again.csv"))
    assert 0 < told["pairs"][0]["precision"] <= 1
    assert told["pairs"][0]["weights"].keys() == {"given", "surname", "born", "sex", "postcode"}
    assert told["pairs"][0]["passes"]


def test_details_of_several_fields_come_through_to_the_owner(run, linked_people):
    run("link", "clinic.bundle", "office.bundle", "-o", "far.csv", "--details")
    run(*by("clinic", "results", "far.csv", "clinic.csv", "-o", "mine.csv"))
    sent, mapped = (
        pl.read_csv(linked_people / name, infer_schema=False) for name in ("far.csv", "mine.csv")
    )
    levels = [f"level_{name}" for name in ("given", "surname", "born", "sex", "postcode")]
    assert sent.columns == ["id_left", "id_right", "match_weight", "match_probability", *levels]
    assert mapped.columns == sent.columns
    assert mapped.drop("id_left").equals(sent.drop("id_left"))
    assert all(one.startswith("A") for one in mapped["id_left"])
    assert (linked_people / "far-possible.csv").read_text().startswith("id_left,id_right,match_")


def test_columns_of_anybody_else_come_through_too(run, done):
    text = (done / "links.csv").read_text().splitlines()
    lines = [f"{line},note {n},x" for n, line in enumerate(text[1:])]
    (done / "noted.csv").write_text("\n".join([text[0] + ",note,id", *lines]) + "\n")
    run("results", "noted.csv", "hospital.csv", "-o", "mine.csv")
    mapped = pl.read_csv(done / "mine.csv", infer_schema=False)
    assert mapped["note"].to_list() == [f"note {n}" for n in range(len(lines))]
    assert mapped["id_left"].to_list() == [left for left, _ in pairs(done / "hospital-links.csv")]


def test_the_trees_of_several_fields_are_read_again_at_no_cost(run, linked_people):
    for old in ("size = 40", "size = 60"):
        edit("clinic.toml", old, f'{old}\nminer = "tree-linear"')
    mine = by("clinic", "mine", "clinic.csv", "--owner", "x", "--ledger", "x.ledger")
    run(*mine)
    ledger = (linked_people / "x.ledger").read_bytes()
    edit("clinic.toml", "size = 40", "size = 10")
    run(*mine, "--again", "x.mined.json", "-o", "small.json")
    assert (linked_people / "x.ledger").read_bytes() == ledger
    after = json.loads((linked_people / "small.json").read_bytes())
    sizes = {name: len(found["grams"]) for name, found in after["fields"].items()}
    assert sizes == {"given": 10, "surname": 60}
    assert after["settings"] == load_schema(linked_people / "clinic.toml").agreed


# several owners


def clusters(path):
    return pl.read_csv(path, infer_schema=False)


def test_three_owners_make_clusters(run, linked_people):
    found = clusters(linked_people / "clusters.csv")
    assert found.columns == ["cluster", "owner", "id"]
    assert found.group_by("cluster", "owner").len()["len"].max() == 1
    assert found.group_by("cluster").len()["len"].is_between(2, 3).all()
    assert set(found["owner"]) == {"clinic", "office", "police"}
    for one, other in (("clinic", "office"), ("clinic", "police"), ("office", "police")):
        for end in ("possible.csv", "model.json"):
            assert (linked_people / f"clusters-{one}-{other}-{end}").is_file()
    bundles = [f"{owner}.bundle" for owner in ("police", "office", "clinic")]
    out = run("link", *bundles, "-o", "again.csv").out
    assert f"wrote again.csv: {found['cluster'].n_unique()} clusters of 3 owners' records" in out
    assert clusters(linked_people / "again.csv").equals(found)


def test_clusters_are_mapped_back_by_each_owner_in_turn(run, linked_people):
    sent = clusters(linked_people / "clusters.csv")
    out = run(*by("clinic", "results", "clusters.csv", "clinic.csv", "-o", "one.csv")).out
    assert f"wrote one.csv: {len(sent)} records in clusters" in out
    one = clusters(linked_people / "one.csv")
    assert one.select("cluster", "owner").equals(sent.select("cluster", "owner"))
    ours, others = pl.col("owner") == "clinic", pl.col("owner") != "clinic"
    assert set(one.filter(ours)["id"]) <= set(people().left["id"])
    assert one.filter(others).select(sent.columns).equals(sent.filter(others))
    run(*by("office", "results", "one.csv", "office.csv", "-o", "two.csv"))
    run(*by("police", "results", "two.csv", "police.csv", "-o", "all.csv"))
    whole = clusters(linked_people / "all.csv").pivot("owner", index="cluster", values="id")
    truth = dict(people().truth.rows())
    right = whole.filter(
        pl.col("office") == pl.col("clinic").replace_strict(truth, default=None),
        pl.col("police") == pl.col("clinic").str.replace("A", "P"),
    )
    assert len(right) > 0.9 * PEOPLE


def test_no_cluster_at_all_is_a_result_too(run, linked_people):
    (linked_people / "none.csv").write_text("cluster,owner,id\n")
    out = run(*by("clinic", "results", "none.csv", "clinic.csv", "-o", "mine.csv")).out
    assert "0 records in clusters" in out
    assert sorted(clusters(linked_people / "mine.csv").columns) == ["cluster", "id", "owner"]
    # so that the next owner can read it
    run(*by("office", "results", "mine.csv", "office.csv", "-o", "theirs.csv"))


def test_no_link_with_details_keeps_its_columns(run, done):
    (done / "none.csv").write_text("id_left,id_right,distance,match_probability\n")
    run("results", "none.csv", "hospital.csv", "-o", "mine.csv")
    assert (done / "mine.csv").read_text() == "id_left,id_right,distance,match_probability\n"


def test_clusters_in_which_an_owner_has_no_record_are_no_mistake_of_its_key(run, linked_people):
    found = clusters(linked_people / "clusters.csv")
    others = found.filter(pl.col("owner") != "police")
    others.filter(pl.len().over("cluster") > 1).write_csv(linked_people / "two.csv")
    run(*by("police", "results", "two.csv", "police.csv", "-o", "mine.csv"))
    assert len(clusters(linked_people / "mine.csv")) > 300


def test_owners_of_one_field_make_clusters_too(run, done):
    (done / "third.csv").write_bytes((done / "hospital.csv").read_bytes())
    run("mine", "third.csv")
    names_of_three = ("hospital", "registry", "third")
    run("merge", *(f"{name}.mined.json" for name in names_of_three))
    for name in names_of_three:
        run("embed", f"{name}.csv")
    run("link", *(f"{name}.bundle" for name in names_of_three), "-o", "clusters.csv")
    found = clusters(done / "clusters.csv")
    assert found.group_by("cluster", "owner").len()["len"].max() == 1
    assert found["cluster"].n_unique() > 0.9 * COUNT


# explaining, and duplicates


def test_a_link_is_explained_field_by_field(run, linked_people):
    run("link", "clinic.bundle", "office.bundle", "-o", "far.csv", "--details")
    best = pl.read_csv(linked_people / "far.csv").sort("match_weight").row(-1, named=True)
    line = ("explain", "links-model.json", "office.bundle", "clinic.bundle")
    out = run(*line, best["id_left"], best["id_right"][:12]).out
    for name in ("given", "surname", "born", "sex", "postcode", "match weight", "probability"):
        assert name in out
    told = json.loads(run(*line, best["id_left"], best["id_right"], "--json").out)
    assert told["weight"] == pytest.approx(best["match_weight"], abs=0.001)
    assert [reason["field"] for reason in told["reasons"]] == [
        "given", "surname", "born", "sex", "postcode",
    ]  # fmt: skip
    for reason in told["reasons"]:
        assert reason["level"] == best[f"level_{reason['field']}"]


def test_duplicates_in_a_file_are_found_and_nothing_is_spent(run, linked_people):
    left = pl.read_csv(linked_people / "clinic.csv", infer_schema=False)
    again = left.head(60).with_columns(id="C" + pl.col("id"))
    pl.concat([left, again]).write_csv(linked_people / "twice.csv")
    out = run(*by("clinic", "dedupe", "twice.csv")).out
    assert "twice-duplicates.csv" in out
    found = pl.read_csv(linked_people / "twice-duplicates.csv", infer_schema=False)
    assert found.columns == ["cluster", "id"]
    groups = {tuple(sorted(ids)) for ids in found.group_by("cluster").agg("id")["id"].to_list()}
    assert len(groups & {(one, "C" + one) for one in left["id"].head(60)}) > 50
    assert not (linked_people / "twice.ledger").exists()
    assert not (linked_people / "twice.key").exists()
