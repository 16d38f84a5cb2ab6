import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile

import polars as pl
import pytest

from cli.owners import COUNT, TOML, contents, disk_of, edit
from gramlink import cli
from gramlink.bundles.bundle import Bundle
from gramlink.bundles.results import Results
from gramlink.bundles.sealing import read_identity, seal_from
from gramlink.embedding.projection import Projection
from gramlink.parties.answers import answer
from systems import posix

TREE = '\nminer = "tree-linear"\n'
COMMANDS_ON_DATA = ["check", "mine"]


def wrong_data(name, content, says, **options):
    return pytest.param(content, says, options, id=name)


@pytest.mark.parametrize("command", COMMANDS_ON_DATA)
@pytest.mark.parametrize(
    ("content", "says", "options"),
    [
        wrong_data("missing column", b"id,name\n1,MILLER\n", ["no column surname", "id, name"]),
        wrong_data("missing id column", b"nr,surname\n1,MILLER\n", "no column id"),
        wrong_data("missing file", None, "x.csv cannot be read: No such file", hint=False),
        wrong_data("empty", b"", "x.csv is empty"),
        wrong_data("blank lines", b"\n\r\n \n", "x.csv is empty"),
        wrong_data("header only", b"id,surname\n", "x.csv has no records"),
        wrong_data("duplicate id", b"id,surname\n1,A\n2,B\n1,C\n", ["row 4", "row 2 has the same"]),
        wrong_data("missing id", b"id,surname\n1,A\n ,B\n", "row 3, column id: the id is missing"),
        wrong_data("latin-1", "id,surname\n1,MÜLLER\n".encode("latin-1"), "row 2, column surname"),
        wrong_data("ragged", b"id,surname\n1,A\n2,B,C\n", "row 3: 3 instead of 2 cells"),
        wrong_data("open quote", b'id,surname\n1,"A\n2,B\n', "row 2, column surname"),
        wrong_data("10 MB", b"id,surname\n1," + b"A" * 10**7 + b"\n", "row 2, column surname"),
        wrong_data("nothing but NUL", bytes(1000), "NUL"),
        wrong_data("zip", b"PK\3\4" + os.urandom(10) * 200, "x.csv"),
    ],
)
def test_data_that_cannot_be_read(refused, folder, command, content, says, options):
    if content is not None:
        (folder / "x.csv").write_bytes(content)
    refused(command, "x.csv", says=says, **options)


@pytest.mark.parametrize("command", [*COMMANDS_ON_DATA, "init"])
def test_a_folder_in_the_place_of_data(refused, folder, command):
    (folder / "x.csv").mkdir()
    args = ["-o", "new.toml"] if command == "init" else []
    refused(command, "x.csv", *args, says="x.csv cannot be read: it is not a file", hint=False)


def test_parquet_that_is_cut_or_holds_a_string_of_10_mb(refused, folder):
    pl.DataFrame({"id": ["1"], "surname": ["A" * 10**7]}).write_parquet(folder / "x.parquet")
    refused("mine", "x.parquet", says="row 1, column surname: the cell is longer")
    data = (folder / "x.parquet").read_bytes()
    (folder / "x.parquet").write_bytes(data[: len(data) // 2])
    refused("mine", "x.parquet", says="x.parquet is damaged")


def test_nothing_of_a_wrong_cell_is_shown(refused, folder):
    (folder / "x.csv").write_bytes(b"id,surname\nSECRETID,SECRETNAM\xc9\n")
    assert "SECRET" not in refused("mine", "x.csv", says="row 2").err


@pytest.mark.parametrize("command", COMMANDS_ON_DATA)
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("epsilon = 20", "epsilon = nan", "NaN is not a number"),
        ("epsilon = 20", "epsilon = inf", "is not a number"),
        ("epsilon = 20", "epsilon = 0", "epsilon must be above 0, not 0"),
        ("epsilon = 20", "epsilon = -1.5", "epsilon must be above 0, not -1.5"),
        ("epsilon = 20", 'epsilon = "much"', "much is not a number"),
        ("epsilon = 20", 'epsilon = "1/0"', "1/0 is not a number"),
        ("size = 60", "size = 0", "size"),
        ("size = 60", 'size = "60"', "size"),
        ("size = 60", "q_min = 3\nq_max = 2", "q_min = 3 is above q_max = 2"),
        ("size = 60", "sizze = 60", "sizze"),
        ("size = 60", 'miner = "magic"', "miner"),
        ("epsilon = 20", "edit = 1", "edit"),
        ("epsilon = 20", "edits = -1", "edits"),
        ("epsilon = 20", "recall = 1.0", "recall"),
        ("epsilon = 20", 'threshold = "high"', "threshold"),
        ("[fields.surname]", "[fields.surname", "not TOML"),
        ("[fields.surname]", "[fields]", "no field"),
        ("size = 60", 'kind = "colour"', "kind"),
        ("size = 60", 'kind = "date"\nsize = 60', "a date field has no setting size"),
        ("size = 60", 'kind = "digits"\nalphabet = "0"', "a digits field has no setting alphabet"),
        ("size = 60", 'format = "DD/MM/YYYY"', "a text field has no setting format"),
        ("size = 60", 'kind = "date"\nformat = "DD/MM"', "'DD/MM' is not a date format"),
        ("size = 60", 'kind = "category"\nlength = 8', "a length of at most 7"),
        ("size = 60", "kind = { text = 1 }", "kind"),
        ('column = "surname"', "column = []", "column"),
        ("size = 60", "share = 0", "a share must be above 0"),
        ("size = 60", 'share = "much"', "much is not a number"),
        ("size = 60", "edits = 6", "edits"),
        ("epsilon = 20", "accept = 2", "accept"),
        ("epsilon = 20", "review = 0.6", "review = 0.6 is above accept = 0.5"),
        ("epsilon = 20", 'unique = "yes"', "unique"),
        ("epsilon = 20", "passes = [{ surname = 1 }]", "passes need records with several fields"),
        ("size = 60", "size = 60\n[[passes]]\n[fields.city]", "pass 1 names no field"),
        ("size = 60", "[fields.b]\n[[passes]]\ncity = 0", "pass 1: there is no field city"),
        ("size = 60", "[fields.b]\n[[passes]]\nb = 2", "pass 1: b can have 0 to 1 edits, not 2"),
        ("size = 60", "[fields.b]\n[[passes]]\nb = -1", "pass 1: b can have 0 to 1 edits, not -1"),
    ],
)
def test_a_schema_that_makes_no_sense(refused, command, old, new, says):
    edit("linkage.toml", old, new)
    refused(command, "hospital.csv", says=["linkage.toml", says], hint=False)


@pytest.mark.parametrize("command", COMMANDS_ON_DATA)
def test_a_field_whose_column_is_not_there(refused, command):
    edit("linkage.toml", "size = 60", 'size = 60\n[fields.city]\n[fields.x]\ncolumn = "surnam"')
    says = ["hospital.csv has no column city; it has id, surname", "linkage.toml"]
    refused(command, "hospital.csv", says=says)
    edit("linkage.toml", "[fields.city]", '[fields.city]\ncolumn = "surname"')
    says = ["hospital.csv has no column surnam; it has", "did you mean surname?"]
    refused(command, "hospital.csv", says=says)


@pytest.mark.parametrize("command", COMMANDS_ON_DATA)
@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (["01/02/1980", "02/01/1981"], "the dates could be day first or month first"),
        (["SECRET", "later", "1980-01-31"], "fewer than half of the values are dates"),
    ],
)
def test_dates_that_cannot_be_read(refused, folder, command, cells, says):
    rows = [f"{n},{cell}" for n, cell in enumerate(cells)]
    (folder / "x.csv").write_text("\n".join(["id,dob", *rows]) + "\n")
    (folder / "linkage.toml").write_text('[fields.born]\nkind = "date"\ncolumn = "dob"\n')
    result = refused(command, "x.csv", says=["x.csv, column dob: " + says, "format = "])
    assert "SECRET" not in result.err


@pytest.mark.parametrize("command", COMMANDS_ON_DATA)
def test_no_schema_at_all(refused, folder, command):
    (folder / "linkage.toml").unlink()
    refused(command, "hospital.csv", says=["linkage.toml cannot be read", "gramlink init"])
    (folder / "linkage.toml").mkdir()
    refused(command, "hospital.csv", says="linkage.toml cannot be read")


def test_a_schema_that_is_not_text_or_is_empty(refused, folder):
    (folder / "linkage.toml").write_bytes(b"\xff\xfe\x00")
    refused("mine", "hospital.csv", says="linkage.toml is not TOML", hint=False)
    (folder / "linkage.toml").write_bytes(b"")
    refused("mine", "hospital.csv", says="linkage.toml has no fields")


@pytest.mark.parametrize("epsilon", ["nan", "inf", "0", "-1", "-0.0", "much", "1/0", " ", "1;2"])
def test_an_epsilon_on_the_command_line_that_makes_no_sense(refused, epsilon):
    refused("mine", "hospital.csv", "--epsilon", epsilon, says="gramlink: error: ")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--separator", "ab"], "not a separator"),
        (["--separator", "\n"], "not a separator"),
        (["--encoding", "klingon"], "'klingon' is not a known text encoding"),
        (["--encoding", "hex"], "'hex' is not a known text encoding"),
    ],
)
def test_an_encoding_or_separator_that_does_not_exist(refused, options, says):
    refused("mine", "hospital.csv", *options, says=says)


@pytest.mark.parametrize(
    "owner", ["a/b", "../hospital", "a\\b", "a\nb", "\x1b[31m", " ", "b ", "\udcff", "a" * 101]
)
@pytest.mark.parametrize("command", ["mine", "embed", "results links.csv"])
def test_a_name_that_no_file_could_have(refused, owner, command):
    says = "cannot be the name of an owner"
    refused(*command.split(), "hospital.csv", "--owner", owner, says=says)


# outputs


WRITING = {
    "init": "init hospital.csv --force",
    "mine": "mine hospital.csv --owner new --ledger other.ledger --force",
    "merge": "merge hospital.mined.json registry.mined.json",
    "embed": "embed hospital.csv",
    "link": "link hospital.bundle registry.bundle",
    "results": "results links.csv hospital.csv",
}


@pytest.mark.usefixtures("done")
@pytest.mark.parametrize("line", WRITING.values(), ids=WRITING)
@pytest.mark.parametrize("output", ["hospital.csv/x", "nowhere/x", "/proc/nowhere/x"])
def test_a_place_where_nothing_can_be_written(refused, line, output):
    refused(*line.split(), "-o", output, says=f"{output} cannot be written")


@pytest.mark.parametrize("line", WRITING.values(), ids=WRITING)
def test_a_folder_in_the_place_of_the_output(refused, done, line):
    (done / "here").mkdir()
    refused(*line.split(), "-o", "here", says="here cannot be written: it is not a file")
    refused(*line.split(), "-o", "", says=". cannot be written: it is not a file")


@pytest.mark.parametrize("output", ["here", "nowhere/x", "links-model.json/x"])
def test_links_of_several_fields_that_cannot_be_written_leave_nothing_beside(
    refused, linked_people, output
):
    (linked_people / "here").mkdir()
    says = f"{output} cannot be written" if "/" not in output else "cannot be written"
    refused("link", "clinic.bundle", "office.bundle", "-o", output, says=says)


@posix
@pytest.mark.parametrize("line", WRITING.values(), ids=WRITING)
def test_a_device_in_the_place_of_the_output(refused, done, line):
    os.mkfifo(done / "pipe")
    before = (done / "pipe").stat().st_ino
    refused(*line.split(), "-o", "pipe", says="pipe cannot be written: it is not a file")
    assert (done / "pipe").stat().st_ino == before


@pytest.mark.parametrize("line", WRITING.values(), ids=WRITING)
def test_a_full_disk_leaves_the_old_output(refused, done, line):
    (done / "output").write_text("old")
    with disk_of(500):
        refused(*line.split(), "-o", "output", says="output cannot be written: File too large")


@pytest.mark.parametrize("room", [0, 100, 1000, 10_000])
def test_a_full_disk_costs_nothing(refused, room):
    with disk_of(room):
        refused("mine", "hospital.csv", says="cannot be written")


@pytest.mark.usefixtures("done")
@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("init hospital.csv -o hospital.csv --force", "hospital.csv"),
        ("mine hospital.csv -o hospital.csv --force", "hospital.csv"),
        ("mine hospital.csv -o hospital.ledger --force", "hospital.ledger"),
        ("mine hospital.csv --owner new --ledger new.ledger -o ./new.ledger --force", "new.ledger"),
        ("mine hospital.csv -o linkage.toml --force", "linkage.toml"),
        ("merge hospital.mined.json registry.mined.json -o registry.mined.json", "registry"),
        ("embed hospital.csv -o hospital.csv", "hospital.csv"),
        ("embed hospital.csv -o hospital.key", "hospital.key"),
        ("embed hospital.csv -o projection.json", "projection.json"),
        ("link hospital.bundle registry.bundle -o hospital.bundle", "hospital.bundle"),
        ("results links.csv hospital.csv -o hospital.csv", "hospital.csv"),
        ("results links.csv hospital.csv -o links.csv", "links.csv"),
    ],
)
def test_an_output_never_replaces_what_its_command_reads(refused, line, lost):
    refused(*line.split(), says=["the output would replace", lost])


@pytest.mark.parametrize(
    "line", ["mine hospital.csv", "mine hospital.csv --again hospital.mined.json"]
)
def test_what_was_paid_for_is_not_overwritten(refused, done, line):
    refused(*line.split(), says=["hospital.mined.json exists already", "it is paid for"])
    assert (done / "hospital.mined.json").is_file()


def test_a_schema_is_not_overwritten_unless_asked(refused, run, folder):
    refused("init", "hospital.csv", says=["linkage.toml exists already", "--force"])
    run("init", "hospital.csv", "--force")
    assert (folder / "linkage.toml").read_text() != TOML


# the ledger


def test_overspending_is_refused_with_code_3_and_says_what_is_left(refused, run, done):
    refused("mine", "hospital.csv", "--force", code=3, says=["costs epsilon 20", "only 0 is left"])
    run("ledger", "hospital.ledger", "--allow", "20.1")
    refused("mine", "hospital.csv", "--force", code=3, says="only 0.1 is left in hospital.ledger")
    refused(
        "ledger", "hospital.ledger", "--allow", "19", code=3, says="20 is already spent", hint=False
    )
    assert (done / "hospital.mined.json").is_file()


def test_overspending_on_several_fields_is_refused_as_a_whole(refused, linked_people):
    before = (linked_people / "clinic.mined.json").read_bytes()
    line = ["mine", "clinic.csv", "--schema", "clinic.toml", "--force"]
    refused(*line, code=3, says=["costs epsilon 18", "only 0 is left"])
    assert (linked_people / "clinic.mined.json").read_bytes() == before


@pytest.mark.parametrize("share", ["1e-20", '"1/1000000000000"', f'"1/{10**60 + 7}"'])
def test_a_share_that_buys_no_noise_costs_nothing(refused, share):
    twin = f'[fields.twin]\ncolumn = "surname"\nshare = {share}\n'
    edit("linkage.toml", "size = 60\n", f"size = 60\n{twin}")
    refused("mine", "hospital.csv", says="gramlink: error: ", hint=False)


def test_shares_of_any_denominators_can_be_paid_for(run, folder):
    """Their exact portions have more digits than a person would write."""
    for n in range(101, 181, 2):
        with (folder / "linkage.toml").open("a") as file:
            file.write(f'[fields.f{n}]\ncolumn = "surname"\nsize = 5\nshare = "1/{n}"\n')
    run("mine", "hospital.csv", "--quiet")
    assert json.loads(run("ledger", "hospital.ledger", "--json").out)["spent"] == "20"


def test_the_ledger_of_another_data_set(refused, done):
    (done / "hospital.mined.json").unlink()
    says = "hospital.ledger is the ledger of data set 'hospital', not 'registry'"
    (done / "registry.mined.json").unlink()
    refused("mine", "registry.csv", "--ledger", "hospital.ledger", says=says)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace('"epsilon": "20"', '"epsilon": "3"', 1).replace("{", "", 1),
        lambda text: "\n".join(text.splitlines()[:1] + text.splitlines()[2:]) + "\n",
        lambda text: text.replace('"entry": 1', '"entry": 7'),
        lambda text: text.replace('"charge"', '"refund"'),
        lambda text: "id,surname\n" + text,
    ],
)
def test_a_damaged_ledger_pays_for_nothing(refused, done, damage):
    path = done / "hospital.ledger"
    path.write_text(damage(path.read_text()))
    refused("mine", "hospital.csv", "--force", says="hospital.ledger")
    refused("ledger", "hospital.ledger", says="hospital.ledger")


def test_a_ledger_that_is_not_there_or_no_ledger(refused, done):
    refused("ledger", "nowhere.ledger", says="nowhere.ledger does not exist")
    refused("ledger", "hospital.csv", says="hospital.csv is damaged or not a ledger")
    refused("ledger", "projection.json", says="projection.json")
    refused("ledger", str(done), says="is not a file")


def test_a_ledger_that_cannot_be_written_costs_nothing(refused):
    for path in ("nowhere/x.ledger", "hospital.csv/x.ledger"):
        refused("mine", "hospital.csv", "--ledger", path, says=path)


@pytest.mark.usefixtures("done")
def test_an_allowance_that_makes_no_sense(refused):
    for allow in ("0", "-1", "nan", "much"):
        refused("ledger", "hospital.ledger", "--allow", allow, says="gramlink: error: ")


def test_what_has_no_privacy_cannot_be_paid_for(refused):
    edit("linkage.toml", "size = 60", 'miner = "exact"')
    refused("mine", "hospital.csv", says="the grams of surname, whose miner is exact")


KILLED = """
import os, signal, sys
from gramlink.parties import owner
owner.mine = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
from gramlink.cli import main
main()
"""


@posix
def test_a_miner_that_is_killed_has_spent_once_and_released_nothing(run, refused, folder):
    dead = subprocess.run([sys.executable, "-c", KILLED, "mine", "hospital.csv"], cwd=folder)
    assert dead.returncode == -signal.SIGKILL
    assert not (folder / "hospital.mined.json").exists()
    assert not any(b"".join(path.read_bytes() for path in folder.glob(".*.part")))
    assert "interrupted, nothing released" in run("ledger", "hospital.ledger").out
    state = json.loads(run("ledger", "hospital.ledger", "--json").out)
    assert (state["spent"], state["left"]) == ("20", "0")
    assert [release["digest"] for release in state["releases"]] == [None]
    assert len(list(folder.glob(".*.part"))) == 1
    refused("mine", "hospital.csv", "-o", "other.json", code=3, says="only 0 is left")
    out = run("mine", "hospital.csv").out
    assert "an earlier run paid for it, and was stopped before it was done" in out
    assert "spent epsilon 0; 0 is left" in out
    assert not list(folder.glob(".*.part"))
    state = json.loads(run("ledger", "hospital.ledger", "--json").out)
    assert (state["spent"], len(state["releases"])) == ("20", 1)
    refused("mine", "hospital.csv", "--force", code=3, says="only 0 is left")


def test_a_ledger_that_was_emptied_or_set_back_pays_for_nothing(run, refused, folder):
    run("ledger", "new", "hospital.csv", "--allowance", "90", "--quiet")
    older = (folder / "hospital.ledger").read_bytes()
    run("mine", "hospital.csv")
    latest = (folder / "hospital.ledger").read_bytes()
    mine = ("mine", "hospital.csv", "--force")
    for content, says in ((older, "is an older copy: the release in hospital.mined.json"),
                          (b"", "hospital.ledger is empty"),
                          (latest[:-1].rpartition(b"\n")[0] + b"\n{", "cut short")):  # fmt: skip
        (folder / "hospital.ledger").write_bytes(content)
        refused(*mine, says=says)
        refused("ledger", "hospital.ledger", "--allow", "99", says=says)
        refused("ledger", "hospital.ledger", says=says)
        assert (folder / "hospital.ledger").read_bytes() == content
    (folder / "hospital.ledger").unlink()
    refused(*mine, says="does not exist, though hospital.mined.json was paid for")
    (folder / "hospital.ledger").write_bytes(latest)
    assert "spent epsilon 20; 50 is left" in run(*mine).out


def test_a_ledger_set_back_is_noticed_from_another_folder(run, refused, folder):
    (folder / "data").mkdir()
    (folder / "hospital.csv").rename(folder / "data" / "hospital.csv")
    data = "data/hospital.csv"
    run("ledger", "new", data, "--allowance", "90")
    older = (folder / "data" / "hospital.ledger").read_bytes()
    run("mine", data)  # the grams are here, and the ledger is beside the data
    (folder / "data" / "hospital.ledger").write_bytes(older)
    refused("mine", data, "-o", "more.json", says="older copy")
    refused("ledger", "data/hospital.ledger", says="older copy")


def test_a_miner_that_is_interrupted_leaves_nothing_but_its_charge(run, folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gramlink.parties.owner.mine", interrupted)
    before = set(contents(folder))
    result = run("mine", "hospital.csv", ok=False)
    assert result.code not in (0, None)
    assert "Traceback" not in result.err
    assert set(contents(folder)) == before | {"hospital.ledger"}


# files that the parties send each other


SENT = ["hospital.mined.json", "projection.json", "hospital.bundle", "hospital.key", "links.csv"]
READING = {
    "hospital.mined.json": "merge hospital.mined.json registry.mined.json",
    "projection.json": "embed hospital.csv",
    "hospital.bundle": "link hospital.bundle registry.bundle",
    "hospital.key": "results links.csv hospital.csv",
    "links.csv": "results links.csv hospital.csv",
}


@pytest.mark.parametrize("name", SENT)
def test_a_file_that_was_sent_is_missing(refused, done, name):
    (done / name).unlink()
    refused(*READING[name].split(), says=name, hint=False)
    (done / name).mkdir()
    refused(*READING[name].split(), says=name, hint=False)


@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.97])
def test_a_file_that_was_sent_is_cut_short(refused, done, name, share):
    data = (done / name).read_bytes()
    cut = data[: int(len(data) * share)]
    # half a table of links is a table still, unless the cut is within a pair
    (done / name).write_bytes(cut[: cut.rfind(b",")] if name == "links.csv" else cut)
    refused(*READING[name].split(), says=name)


@pytest.mark.usefixtures("done")
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("merge hospital.bundle registry.bundle", "hospital.bundle is damaged or not a mined file"),
        (
            "merge projection.json registry.mined.json -o new.json",
            "not a mined file but a projection file",
        ),
        ("merge hospital.csv registry.csv", "hospital.csv is damaged or not a mined file"),
        ("link hospital.mined.json registry.mined.json", "hospital.mined.json is damaged or not a"),
        ("link links.csv registry.bundle -o new.csv", "links.csv is damaged or not a bundle"),
        (
            "embed hospital.csv --projection hospital.mined.json",
            "not a projection file but a mined",
        ),
        ("embed hospital.csv --projection hospital.bundle -o new.bundle", "not a projection file"),
        ("embed projection.json", "projection.json has no column"),
        ("results hospital.csv links.csv --key hospital.key", "hospital.csv has no column id_left"),
        (
            "results truth.csv hospital.csv",
            "no pseudonym in truth.csv belongs to hospital.csv",
        ),
        ("evaluate hospital.csv truth.csv", "hospital.csv has no column id_left"),
        ("evaluate both.csv hospital.csv", "hospital.csv has no column id_left"),
        ("evaluate links.csv truth.csv", "links.csv and truth.csv have no left id in common"),
        (
            "evaluate hospital-links.csv truth.csv",
            "hospital-links.csv and truth.csv have no right id in common",
        ),
        ("mine hospital.csv --owner b --again projection.json", "not a mined file"),
    ],
)
def test_files_in_the_wrong_place(refused, line, says):
    refused(*line.split(), says=says)


def test_a_bundle_is_changed_on_its_way(refused, done):
    with zipfile.ZipFile(done / "hospital.bundle") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(done / "registry.bundle") as archive:
        parts["records.parquet"] = archive.read("records.parquet")
    with zipfile.ZipFile(done / "hospital.bundle", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    refused("link", "hospital.bundle", "registry.bundle", says="records.parquet was changed")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("hospital.mined.json", {"settings": {}}),
        ("hospital.mined.json", {"settings": []}),
        ("hospital.mined.json", {"fields": {}}),
        ("hospital.mined.json", {"epsilon": "1/0"}),
        ("hospital.mined.json", {"fields": {"surname": {"grams": {"A": "many"}}}}),
        ("hospital.mined.json", {"version": 2}),
        ("projection.json", {"settings": []}),
        ("projection.json", {"bases": {}}),
        ("projection.json", {"bases": {"surname": []}}),
        ("projection.json", {"bases": {"surname": ["😀"]}}),
        ("projection.json", {"owners": ["hospital"]}),
        ("projection.json", {"epsilon": {"hospital": "1/0"}}),
    ],
    ids=str,
)
def test_a_file_that_was_sent_makes_no_sense(refused, done, name, content):
    document = json.loads((done / name).read_bytes()) | content
    (done / name).write_text(json.dumps(document))
    refused(*READING[name].split(), says="gramlink: error: ", hint=False)


def test_another_partys_name_cannot_write_to_the_terminal(refused, done):
    for owner in ("hospital", "registry"):
        path = done / f"{owner}.mined.json"
        document = json.loads(path.read_bytes()) | {"owner": "evil\x1b[2J\nname"}
        path.write_text(json.dumps(document))
    result = refused(*READING["hospital.mined.json"].split(), says="cannot be the name of an owner")
    assert "\x1b" not in result.err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("size = 60", "size = 61", "differ in fields.surname.size: 60 and 61"),
        ("size = 60", 'case = "keep"', "fields.surname.case: upper and keep"),
        ("epsilon = 20", "edits = 2", "differ in edits: 1 and 2"),
        ("[fields.surname]", "[fields.last]", "differ in fields.last"),
    ],
)
def test_owners_whose_schemas_differ_are_told_in_what(refused, run, done, old, new, says):
    run("ledger", "registry.ledger", "--allow", "90")
    edit("linkage.toml", old, new)
    run("mine", "registry.csv", "--force")
    refused("merge", "hospital.mined.json", "registry.mined.json", says=says)
    ours = says.replace("differ in ", "")
    refused("embed", "hospital.csv", says=["the projection and this schema differ", ours[:8]])
    assert (done / "projection.json").is_file()


def test_one_name_for_two_owners(refused, run, done):
    run("mine", "registry.csv", "--owner", "hospital", "-o", "b.json", "--ledger", "b.ledger")
    says = ["two files were mined by 'hospital'", "--owner"]
    refused("merge", "hospital.mined.json", "b.json", says=says)
    refused("merge", "hospital.mined.json", "hospital.mined.json", says=says)
    refused(
        "link", "hospital.bundle", "hospital.bundle", says="there are two bundles from", hint=False
    )
    refused("embed", "registry.csv", "--owner", "nobody", says=["not to nobody", "--owner"])
    (done / "registry.key").unlink()
    refused("embed", "registry.csv", "--owner", "nobody", says="not to nobody")


def test_bundles_of_different_projections(refused, run, done):
    shutil.copy(done / "hospital.bundle", done / "old.bundle")
    run("ledger", "registry.ledger", "--allow", "99")
    run("mine", "registry.csv", "--force")
    run("merge", "hospital.mined.json", "registry.mined.json")
    run("embed", "registry.csv")
    says = ["embedded with different projections", "fingerprints"]
    refused("link", "old.bundle", "registry.bundle", says=says)


@pytest.mark.usefixtures("done")
def test_one_file_alone_has_nothing_to_be_merged_or_linked_with(refused):
    says = ["at least two owners", "ask the other owner"]
    refused("merge", "hospital.mined.json", says=says)
    says = ["at least two bundles", "gramlink dedupe"]
    refused("link", "hospital.bundle", says=says)


def test_one_name_for_two_of_three_owners(refused, run, done):
    run("mine", "registry.csv", "--owner", "x", "-o", "x.json", "--ledger", "x.ledger")
    names = ["hospital.mined.json", "x.json", "registry.mined.json"]
    run("merge", *names)
    refused("merge", *names, "x.json", says="two files were mined by 'x'")
    (done / "copy.bundle").write_bytes((done / "hospital.bundle").read_bytes())
    bundles = ["hospital.bundle", "registry.bundle", "copy.bundle"]
    refused("link", *bundles, says="there are two bundles from hospital", hint=False)


def test_a_third_owner_of_another_schema_is_named(refused, run, done):
    edit("linkage.toml", "size = 60", "size = 61")
    run("mine", "registry.csv", "--owner", "zoo", "-o", "z.json", "--ledger", "z.ledger")
    says = "registry and zoo differ in fields.surname.size: 60 and 61"
    refused("merge", "hospital.mined.json", "z.json", "registry.mined.json", says=says)
    assert (done / "projection.json").is_file()


@pytest.mark.parametrize("owner", ["../clinic", "a/b", "", "x" * 300, "a\x1b[2Jb", "a\nb"])
@pytest.mark.parametrize("name", ["clinic", "office"])
def test_an_owner_in_a_bundle_whose_name_no_file_could_have(refused, linked_people, name, owner):
    """Of three owners, files are named after each two."""
    for one in ("clinic", "office", "police"):
        with zipfile.ZipFile(linked_people / f"{one}.bundle") as archive:
            parts = {part: archive.read(part) for part in archive.namelist()}
        if one == name:
            manifest = json.loads(parts["manifest.json"]) | {"owner": owner}
            parts["manifest.json"] = json.dumps(manifest).encode()
        with zipfile.ZipFile(linked_people / f"{one}.bundle", "w") as archive:
            for part, data in parts.items():
                archive.writestr(part, data)
    bundles = ["clinic.bundle", "office.bundle", "police.bundle"]
    refused("link", *bundles, "-o", "all.csv", says="gramlink: error: ", hint=False)


@pytest.mark.usefixtures("done")
def test_a_rule_that_does_not_exist(refused):
    says = ["no rule 'best'", "one-to-one"]
    refused("link", "hospital.bundle", "registry.bundle", "--decide", "best", says=says)


def test_tables_of_no_links_need_their_columns_all_the_same(refused, done):
    (done / "none.csv").write_text("left,right\n")
    refused("results", "none.csv", "hospital.csv", says="none.csv has no column id_left")
    (done / "none.csv").write_text("")
    refused("results", "none.csv", "hospital.csv", says="none.csv is empty")
    (done / "none.csv").write_text("cluster,owner,nr\n1,hospital,x\n")
    refused("results", "none.csv", "hospital.csv", says="none.csv has no column id")


# explaining


def some_link(folder):
    return (folder / "links.csv").read_text().splitlines()[1].split(",")


EXPLAIN = ("explain", "links-model.json", "clinic.bundle", "office.bundle")


def test_records_that_there_are_not_cannot_be_explained(refused, linked_people):
    left, right = some_link(linked_people)
    says = ["no record of clinic has a pseudonym that starts with 'xyz'", "clinic"]
    refused(*EXPLAIN, "xyz", right, says=says)
    refused(*EXPLAIN, left, "xyz", says="no record of office has a pseudonym")
    refused(*EXPLAIN, right, left, says=["no record of clinic", "the owner whose name sorts first"])
    refused(*EXPLAIN, "", right, says="200 records of clinic have a pseudonym")


def test_the_model_of_other_fields_explains_nothing(refused, linked_people):
    left, right = some_link(linked_people)
    model = json.loads((linked_people / "links-model.json").read_bytes())
    model["levels"]["city"] = model["levels"].pop("postcode")
    (linked_people / "links-model.json").write_text(json.dumps(model))
    refused(*EXPLAIN, left, right, says="links-model.json", hint=False)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"gramlink": "bundle"},
        {"pairs": "many"},
        {"pairs": 0},
        {"levels": []},
        {"levels": {}},
        {"passes": 1},
        {"random": {}},
        {"matches": []},
        {"matches": [{}]},
        {"related": 5},
        {"within": []},
    ],
    ids=str,
)
def test_a_damaged_model_explains_nothing(refused, linked_people, change):
    left, right = some_link(linked_people)
    path = linked_people / "links-model.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change))
    refused(*EXPLAIN, left, right, says="links-model.json", hint=False)


@pytest.mark.parametrize("line", ["explain x.json {} {} a b", "explain {} {} {} a b"])
def test_files_that_explain_nothing(refused, linked_people, line):
    bundles = ["clinic.bundle", "office.bundle", "police.bundle"]
    refused(*line.format(*bundles).split(), says="gramlink: error: ", hint=False)
    assert (linked_people / "links-model.json").is_file()


# duplicates


def test_duplicates_are_not_looked_for_in_one_field(refused):
    says = ["finding duplicates needs records with several fields", "linkage.toml"]
    refused("dedupe", "hospital.csv", says=says)


def test_duplicates_never_replace_what_is_there(refused, linked_people):
    line = ["dedupe", "clinic.csv", "--schema", "clinic.toml", "-o"]
    refused(*line, "clinic.csv", says="the output would replace clinic.csv")
    refused(*line, "clinic.toml", says="the output would replace clinic.toml")
    refused(*line, "office.csv", says=["office.csv exists already", "--force"])
    refused(*line, "nowhere/x.csv", says="nowhere/x.csv cannot be written")
    assert (linked_people / "office.csv").is_file()


# keys


@pytest.mark.usefixtures("done")
def test_another_owners_key(refused):
    says = "no pseudonym in links.csv belongs to hospital.csv under registry.key"
    refused("results", "links.csv", "hospital.csv", "--key", "registry.key", says=says)


@pytest.mark.parametrize("key", [b"", b"00", b"zz" * 32, b"\xff" * 64, b"ab" * 33])
@pytest.mark.parametrize("line", ["results links.csv hospital.csv", "embed hospital.csv"])
def test_a_damaged_key(refused, done, key, line):
    (done / "hospital.key").write_bytes(key)
    refused(*line.split(), says="hospital.key is not a gramlink key")


def test_other_data_than_was_embedded(refused, done):
    rows = "\n".join(f"X{i},MILLER" for i in range(COUNT))
    (done / "hospital.csv").write_text(f"id,surname\n{rows}\n")
    says = "no pseudonym in links.csv belongs to hospital.csv"
    refused("results", "links.csv", "hospital.csv", says=says)


# reading a tree again


@pytest.mark.usefixtures("done")
def test_grams_without_a_tree_cannot_be_read_again(refused):
    edit("linkage.toml", "size = 60", "size = 20")
    line = "mine hospital.csv --again hospital.mined.json -o small.json"
    refused(*line.split(), says=["do not come from a prefix tree", "tree-linear"])


@pytest.mark.parametrize(
    ("old", "new", "options", "says"),
    [
        ("size = 60", 'case = "keep"', "", "surname.case: upper and keep"),
        ("size = 60", "length = 5", "", "surname.length: 32 and 5"),
        ("tree-linear", "tree-adaptive", "", "surname.miner: tree-linear and tree-adaptive"),
        ("[fields.surname]", "[fields.last]", "", "other settings: last"),
        ("size = 60", "size = 20", "--owner registry", "mined by hospital, not by registry"),
    ],
)
def test_a_tree_of_other_data_is_not_passed_off_as_this(
    refused, run, folder, old, new, options, says
):
    (folder / "linkage.toml").write_text(TOML + TREE)
    run("mine", "hospital.csv")
    edit("linkage.toml", old, new)
    line = f"mine hospital.csv --again hospital.mined.json -o small.json {options}"
    refused(*line.split(), says=says)


def test_a_new_name_is_no_new_budget(run, refused):
    run("mine", "hospital.csv")
    says = ["only 0 is left in hospital.ledger"]
    refused("mine", "hospital.csv", "--owner", "second", says=says, code=3)
    run("mine", "registry.csv", "--owner", "second")


# sealed files


@pytest.fixture(scope="session")
def finished_sealed(finished, tmp_path_factory):
    """A folder with keys of the parties and everything sealed to its reader."""
    folder = tmp_path_factory.mktemp("sealed") / "all"
    shutil.copytree(finished, folder)
    parties = ("hospital", "registry", "unit")
    embed = "embed {}.csv --to unit.recipient --exchange stroke --quiet"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in (
            *(f"keys new {party} --quiet" for party in parties),
            "seal registry.mined.json --to hospital.recipient --quiet",
            *(embed.format(owner) for owner in parties[:2]),
        ):
            patch.setattr(sys, "argv", ["gramlink", *line.split()])
            with pytest.raises(SystemExit) as end:
                cli.main()
            assert not end.value.code, line
    bundles = [
        Bundle.from_bytes((folder / f"{owner}.bundle").read_bytes(), owner) for owner in parties[:2]
    ]
    unit = read_identity(folder / "unit.identity")
    for owner, sent in answer(bundles, dict.fromkeys(parties, "links")).results.items():
        reader = read_identity(folder / f"{owner}.identity").recipient
        (folder / f"{owner}.results.age").write_bytes(seal_from(sent.to_bytes(), unit, reader))
    return folder


@pytest.fixture
def sealed(finished_sealed, folder):
    """The working folder, with all that is sealed in it."""
    shutil.copytree(finished_sealed, folder, dirs_exist_ok=True)
    return folder


SEALED = {
    "registry.mined.json.age": (
        "merge hospital.mined.json registry.mined.json.age -o new.json",
        "hospital.identity",
    ),
    "hospital.bundle.age": (
        "link hospital.bundle.age registry.bundle.age -o new.csv",
        "unit.identity",
    ),
    "hospital.results.age": (
        "results hospital.results.age hospital.csv -o new.csv",
        "hospital.identity",
    ),
}


def lines_of(name):
    """The commands that read a sealed file, and its reader's identity."""
    line, identity = SEALED[name]
    return [line.split(), ["inspect", name]], identity


@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize("name", SEALED)
def test_what_is_sealed_needs_its_readers_identity(refused, run, name):
    lines, identity = lines_of(name)
    for line in lines:
        refused(*line, says=[f"{name} is sealed", "--identity"])
        says = [f"{name} is sealed to another key", "it must be sealed to the key"]
        refused(*line, "--identity", "registry.identity", says=says)
        refused(*line, "--identity", "nowhere", says="nowhere cannot be read", hint=False)
        refused(*line, "--identity", "unit.recipient", says="not an age identity")
        refused(*line, "--identity", "hospital.csv", says="hospital.csv has no identity")
    for line in lines:
        run(*line, "--identity", identity)


@pytest.mark.parametrize("name", SEALED)
def test_a_sealed_file_that_was_changed_or_cut_short_is_refused(refused, sealed, name):
    (line, look), identity = lines_of(name)
    secret = (sealed / identity).read_text().splitlines()[-1]
    data = (sealed / name).read_bytes()
    for share in (0.0, 0.01, 0.05, 0.5, 0.99):
        changed = bytearray(data)
        changed[int(len(data) * share)] ^= 1
        for damaged in (changed, data[: int(len(data) * share)]):
            (sealed / name).write_bytes(damaged)
            result = refused(*look, "--identity", identity, says=name)
            assert secret not in result.err
    refused(*line, "--identity", identity, says=name)


@pytest.mark.parametrize("name", ["hospital.mined.json", "projection.json", "hospital.bundle"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_was_cut_short_is_not_said_to_be_intact(refused, done, name, share):
    data = (done / name).read_bytes()
    (done / name).write_bytes(data[: int(len(data) * share)])
    refused("inspect", name, says=f"{name} is {'damaged' if share else 'not a file that'}")


def changed_manifest(path, **changes):
    """Change what an archive says of itself; its parts are as they were."""
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    parts["manifest.json"] = json.dumps(json.loads(parts["manifest.json"]) | changes).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for part, data in parts.items():
            archive.writestr(part, data)


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 300},
        {"schema": "0" * 64},
        {"reply": "age1nobody"},
        {"epsilon": "1/0"},
        {"exchange": "../x"},
        {"owner": "a/b"},
        {"settings": {}},
    ],
    ids=str,
)
def test_a_bundle_that_makes_no_sense_is_not_said_to_be_intact(refused, done, changes):
    changed_manifest(done / "hospital.bundle", **changes)
    refused("inspect", "hospital.bundle", says="hospital.bundle is damaged")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("hospital.mined.json", {"fields": {"surname": {"grams": {"A": "many"}}}}),
        ("hospital.mined.json", {"epsilon": "1e1000000"}),
        ("projection.json", {"epsilon": {"hospital": "1e1000000", "registry": "1"}}),
        ("projection.json", {"owners": ["registry", "hospital"]}),
        ("projection.json", {"bases": {}}),
    ],
    ids=str,
)
def test_a_file_that_makes_no_sense_is_not_said_to_be_intact(refused, done, name, content):
    document = json.loads((done / name).read_bytes()) | content
    (done / name).write_text(json.dumps(document))
    refused("inspect", name, says=f"{name} is damaged")


def test_what_a_file_says_of_itself_does_not_pass_for_what_was_found(run, done):
    document = json.loads((done / "projection.json").read_bytes())
    forged = {**document, "sealed": True, "kind": "results"}
    (done / "projection.json").write_text(json.dumps(forged))
    told = json.loads(run("inspect", "projection.json", "--json").out)
    assert (told["kind"], told["sealed"]) == ("projection", False)


@pytest.mark.usefixtures("done")
@pytest.mark.parametrize(
    "name", ["hospital.csv", "linkage.toml", "hospital.key", "nowhere", "hospital.ledger"]
)
def test_what_cannot_be_inspected_is_refused(refused, name):
    refused("inspect", name, says=name, hint=False)


def test_a_file_that_writes_to_the_terminal_is_shown_without(run, done):
    document = json.loads((done / "projection.json").read_bytes())
    (done / "projection.json").write_text(json.dumps({**document, "x\x1b[2J": "a\x1b[2J\nb"}))
    assert "\x1b" not in run("inspect", "projection.json").out


@pytest.mark.parametrize("owner", ["a/b", "../x", "", " ", "a\nb", "\x1b[2J", "a" * 101])
def test_keys_of_a_name_that_no_file_could_have(refused, owner):
    refused("keys", "new", owner, says="cannot be the name of an owner")


def test_keys_are_never_overwritten(refused, run, folder):
    run("keys", "new", "hospital")
    refused("keys", "new", "hospital", says="hospital.identity exists already")
    (folder / "hospital.identity").unlink()
    refused("keys", "new", "hospital", says="hospital.recipient exists already")


@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize("name", ["hospital.csv", "hospital.key", "nowhere", "hospital.bundle.age"])
def test_what_is_no_key_cannot_be_shown(refused, name):
    refused("keys", "show", name, says="gramlink: error: ", hint=False)
    refused("seal", "hospital.mined.json", "--to", name, says="gramlink: error: ", hint=False)


@pytest.mark.usefixtures("sealed")
def test_an_identity_is_no_recipient_and_is_not_shown(refused):
    for line in ("seal hospital.mined.json", "embed hospital.csv"):
        result = refused(*line.split(), "--to", "unit.identity", says="not an age recipient")
        assert "AGE-SECRET" not in result.err


def test_sealing_a_file_that_is_not_there(refused, run, folder):
    run("keys", "new", "unit")
    says = "nowhere cannot be read"
    refused("seal", "nowhere", "--to", "unit.recipient", says=says, hint=False)
    assert not (folder / "nowhere.age").exists()


@pytest.mark.usefixtures("done")
def test_a_bundle_is_not_sealed_without_somebody_to_reply_to(refused, run):
    run("keys", "new", "unit")
    line = ("embed", "hospital.csv", "--to", "unit.recipient")
    refused(*line, says="hospital.identity cannot be read", hint=False)
    refused(*line, "--identity", "unit.recipient", says="not an age identity")


@pytest.mark.usefixtures("done")
@pytest.mark.parametrize("exchange", ["../x", "Stroke", "-x", "a b", "a" * 65, " "])
def test_an_exchange_whose_name_could_lead_elsewhere(refused, exchange):
    says = "cannot be the name of an exchange"
    refused("embed", "hospital.csv", "--exchange", exchange, says=says)


KEPT = [
    ("seal hospital.mined.json --to unit.recipient -o", "unit.recipient"),
    ("seal hospital.mined.json --to unit.recipient -o", "hospital.mined.json"),
    ("embed hospital.csv --to unit.recipient -o", "unit.recipient"),
    ("embed hospital.csv --to unit.recipient -o", "hospital.identity"),
    ("merge hospital.mined.json registry.mined.json.age --identity hospital.identity -o",
     "hospital.identity"),
    ("link hospital.bundle.age registry.bundle.age --identity unit.identity -o", "unit.identity"),
    ("results hospital.results.age hospital.csv --identity hospital.identity -o",
     "hospital.identity"),
]  # fmt: skip


@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize(("line", "lost"), KEPT)
def test_an_output_never_replaces_a_key(refused, line, lost):
    refused(*line.split(), lost, says=["the output would replace", lost])


def test_results_for_another_owner(refused, run, sealed):
    line = ("results", "registry.results.age", "hospital.csv", "--identity", "registry.identity")
    refused(*line, says=["the results' owner is registry, not hospital", "--owner"])
    run(*line[:2], "registry.csv", *line[3:])
    assert (sealed / "registry-links.csv").is_file()


@pytest.mark.parametrize("possible", [False, True])
def test_results_under_another_key(refused, sealed, possible):
    """Also where there are no possible links beside the links."""
    opened = read_identity(sealed / "hospital.identity")
    line = ("results", "hospital.results.age", "hospital.csv", "--identity", "hospital.identity")
    if possible:
        links = pl.DataFrame({"id_left": ["0a" * 16], "id_right": ["0b" * 16]})
        projection = Projection.from_json((sealed / "projection.json").read_bytes(), "x").digest
        sent = Results(
            "hospital", ("hospital", "registry"), projection, "links", (),
            {"links": links, "possible": links.clear()},
        )  # fmt: skip
        unit = read_identity(sealed / "unit.identity")
        data = seal_from(sent.to_bytes(), unit, opened.recipient)
        (sealed / "hospital.results.age").write_bytes(data)
    says = ["records in links are not in hospital.csv", "use the data and the key"]
    refused(*line, "--key", "registry.key", says=says)


@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize("name", ["hospital.bundle", "hospital.bundle.age", "registry.mined.json"])
def test_another_file_in_the_place_of_results(refused, name):
    line = ("results", name, "hospital.csv", "--identity", "unit.identity")
    refused(*line, says=name)
