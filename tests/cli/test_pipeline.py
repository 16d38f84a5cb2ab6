import csv
import io
import json
import os
import subprocess
import sys
import zipfile

import polars as pl
import pytest
from owners import COUNT, TOML, contents, edit, names

from gramlink.schema import load_schema

HEADER = "id_left,id_right\n"


def pairs(path):
    with path.open(newline="") as file:
        return [tuple(row) for row in csv.reader(file)][1:]


def test_from_two_files_to_links_command_by_command(run, folder):
    (folder / "linkage.toml").unlink()
    assert "linkage.toml" in run("init", "hospital.csv").out
    edit("linkage.toml", "epsilon = 1 ", "epsilon = 30 ")
    checked = run("check", "hospital.csv").out
    assert f"{COUNT + 1} records" in checked
    assert "missing in 1 row: 302" in checked
    assert "spent epsilon 30; 0 is left in hospital.ledger" in run("mine", "hospital.csv").out
    run("mine", "registry.csv")
    merged = run("merge", "hospital.mined.json", "registry.mined.json").out
    run("merge", "registry.mined.json", "hospital.mined.json", "-o", "theirs.json")
    assert (folder / "theirs.json").read_bytes() == (folder / "projection.json").read_bytes()
    assert "fingerprint: " in merged
    assert "hospital is the left owner" in merged
    run("embed", "hospital.csv", "-o", "hospital.bundle")
    run("embed", "registry.csv")
    linked = run("link", "registry.bundle", "hospital.bundle", "-o", "links.csv").out
    assert f"between {COUNT + 1} records of hospital and {COUNT + 1} of registry" in linked
    run("results", "links.csv", "hospital.csv")
    run("results", "links.csv", "registry.csv")
    run("results", "hospital-links.csv", "registry.csv", "-o", "both.csv")
    scores = json.loads(run("evaluate", "both.csv", "truth.csv", "--json").out)
    assert scores["f1"] > 0.9
    assert scores["truth"] == COUNT
    assert f"F1        {scores['f1']:.4f}" in run("evaluate", "both.csv", "truth.csv").out
    spent = run("ledger", "hospital.ledger").out
    assert "epsilon 30 of 30 spent, 0 left" in spent
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
    assert set(rows.columns) == {"id", "counts", "threshold"}
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
    assert "'threshold': " in out
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
    assert shown["manifest"].items() <= manifest.items()
    assert shown["rows"] == COUNT + 1
    assert "made up" not in out


def test_embedding_again_gives_the_same_bundle(run, done):
    before = (done / "hospital.bundle").read_bytes()
    run("embed", "hospital.csv")
    assert (done / "hospital.bundle").read_bytes() == before


@pytest.mark.parametrize(
    ("args", "keys"),
    [
        ("check hospital.csv", {"records", "field", "distinct", "missing", "problems"}),
        (
            "mine hospital.csv --owner other --ledger o.ledger -o o.json",
            {"output", "epsilon", "grams"},
        ),
        ("merge hospital.mined.json registry.mined.json", {"output", "digest", "left"}),
        ("embed hospital.csv", {"output", "rows", "bytes"}),
        ("embed hospital.csv --dry-run", {"manifest", "rows", "bytes"}),
        ("link hospital.bundle registry.bundle", {"output", "links"}),
        (
            "evaluate both.csv truth.csv",
            {"links", "truth", "correct", "precision", "recall", "f1"},
        ),
        ("ledger hospital.ledger", {"dataset", "allowance", "spent", "left", "releases"}),
    ],
)
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
    odd, other = "St. Mary's [2024] 病院.csv", "régistre*.csv"
    (folder / "hospital.csv").rename(odd)
    (folder / "registry.csv").rename(other)
    run("mine", odd)
    run("mine", other)
    run("merge", "St. Mary's [2024] 病院.mined.json", "régistre*.mined.json")
    run("embed", odd)
    run("embed", other)
    out = run("link", "St. Mary's [2024] 病院.bundle", "régistre*.bundle").out
    assert "301 of régistre*" in out
    run("results", "links.csv", odd)
    assert (folder / "St. Mary's [2024] 病院-links.csv").is_file()


def test_files_can_be_in_other_folders_than_the_commands_run_in(run, folder):
    secret = folder / "secret"
    secret.mkdir()
    (folder / "hospital.csv").rename(secret / "hospital.csv")
    run("mine", "secret/hospital.csv")
    assert (secret / "hospital.ledger").is_file()  # kept with the data
    assert (folder / "hospital.mined.json").is_file()


def test_an_output_that_is_a_link_stays_one(run, done):
    shared = done / "shared"
    shared.mkdir()
    (done / "links.csv").unlink()
    (done / "links.csv").symlink_to(shared / "links.csv")
    run("link", "hospital.bundle", "registry.bundle")
    assert (done / "links.csv").is_symlink()
    assert pairs(shared / "links.csv")


def test_links_with_distances_only_when_asked_for(run, done):
    run("link", "hospital.bundle", "registry.bundle", "-o", "far.csv", "--distances")
    assert (done / "far.csv").read_text().startswith("id_left,id_right,distance\n")
    assert (done / "links.csv").read_text().startswith(HEADER)


def test_another_rule_decides_when_asked_for(run, done):
    run("link", "hospital.bundle", "registry.bundle", "-o", "all.csv", "--decide", "all")
    assert set(pairs(done / "links.csv")) < set(pairs(done / "all.csv"))


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
    run("mine", odd, *named, "--epsilon", "30")
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
    out = run("ledger", "hospital.ledger", "--allow", "61").out
    assert "epsilon 30 of 61 spent, 31 left" in out
    run("mine", "hospital.csv", "--epsilon", "61/2", "--force", "--quiet")
    releases = json.loads(run("ledger", "hospital.ledger", "--json").out)
    assert [one["epsilon"] for one in releases["releases"]] == ["30", "61/2"]
    assert releases["left"] == "1/2"
    lines = (done / "hospital.ledger").read_text().splitlines()
    kinds = [json.loads(line).get("kind") for line in lines]
    assert kinds == [None, "charge", "release", "allow", "charge", "release"]


def test_grams_that_read_no_record_cost_nothing(run, folder):
    edit("linkage.toml", "size = 60", 'miner = "public"\ngrams = ["A", "B", "ER"]')
    assert "spent nothing" in run("mine", "hospital.csv").out
    assert not (folder / "hospital.ledger").exists()


@pytest.mark.parametrize("column", ["a name", 'say "so"', "back\\slash", "naïve", "😀", "del\x7f"])
def test_a_proposal_for_any_column_can_be_used(run, folder, column):
    quoted = '"' + column.replace('"', '""') + '"'
    (folder / "odd.csv").write_text(f"id,{quoted}\n1,MILLER\n", "utf-8")
    run("init", "odd.csv", "--field", column, "--force")
    assert load_schema(folder / "linkage.toml").field.source == column
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


def test_a_reader_that_stops_reading_is_no_error_of_ours(done):
    reading, writing = os.pipe()
    os.close(reading)
    result = shell(done, "ledger", "hospital.ledger", stdout=writing)
    os.close(writing)
    assert (result.returncode, result.stderr) == (1, b"")


def test_a_closed_output_is_no_error_of_ours(done):
    result = shell(done, "check", "hospital.csv", preexec_fn=lambda: os.close(1))
    assert (result.returncode, result.stderr) == (0, b"")


def test_an_output_that_is_full_is_said_in_a_line(done):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        result = shell(done, "check", "hospital.csv", stdout=full)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        b"gramlink: error: input or output: No space left on device"
    ]


def test_distances_come_through_to_the_owner(done, run):
    run("link", "hospital.bundle", "registry.bundle", "-o", "far.csv", "--distances")
    run("results", "far.csv", "hospital.csv", "-o", "mine.csv")
    sent, mapped = (
        pl.read_csv(done / name, infer_schema=False) for name in ("far.csv", "mine.csv")
    )
    assert mapped.columns == ["id_left", "id_right", "distance"]
    assert mapped["distance"].equals(sent["distance"])


def test_exports_of_one_data_set_share_its_ledger(folder, run):
    (folder / "november.csv").write_bytes((folder / "hospital.csv").read_bytes())
    run("mine", "hospital.csv")
    run("ledger", "hospital.ledger", "--allow", "60")
    run("mine", "november.csv", "--dataset", "hospital")
    assert json.loads(run("ledger", "hospital.ledger", "--json").out)["spent"] == "60"
