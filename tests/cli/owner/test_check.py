import csv
import html
import json
import os
import re
import stat

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.owners import disk_of, edit
from gramlink.io.files import code
from gramlink.parties import one_process
from gramlink.records.schema import load_schema

SEVERAL = """
[fields.surname]
column = "last"

[fields.born]
kind = "date"
format = "YYYY-MM-DD"

[fields.phone]
kind = "digits"
missing = ["n/k"]

[fields.sex]
kind = "category"
"""

PEOPLE = """
id,sex,last,born,phone

007,F,Ng,1980-02-01,5550101
008,F,??,1980-02-31,5550102

009,M,"Li
",soon,n/k
010,,,,
{blank}
011,F,NG,1980-02-01,555-0101
012,F,Владимир,1980-02-01,0000000
""".replace("{blank}", "  \t")

UNKEPT = "the linkage unit could know all grams, because no field is mined"


@pytest.fixture
def people(folder):
    """A folder with records of several fields, and blank lines between them."""
    (folder / "linkage.toml").write_text(SEVERAL)
    (folder / "people.csv").write_text(PEOPLE, "utf-8")
    return folder


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def codes():
    """What owners compare of the schema, and what one approves."""
    schema = load_schema("linkage.toml")
    return {"settings": code(schema.digest), "schema": code(schema.whole_digest)}


def test_the_codes_tell_what_is_agreed_from_what_is_an_owners_own(people):
    before = codes()
    edit("linkage.toml", 'column = "last"', 'column = "other"')
    own = codes()
    assert own["settings"] == before["settings"]
    assert own["schema"] != before["schema"]
    (people / "linkage.toml").write_text("edits = 3\n" + (people / "linkage.toml").read_text())
    assert codes()["settings"] != own["settings"]


@pytest.mark.usefixtures("people")
def test_several_fields_are_shown_with_all_that_was_found(run):
    *found, settings, schema = run("check", "people.csv").out.splitlines()
    assert settings == f"settings of all owners, code {codes()['settings']}"
    assert schema == f"schema code: {codes()['schema']}  (for `gramlink exchange --approve`)"
    assert found == [
        "people.csv: 6 records, 2 without any problem",
        "",
        "  field    kind      column  values  distinct  missing  invalid  outside  cut  epsilon",
        "  surname  text      last         4         3        1        1        1    0        1",
        "  born     date      born         4         2        1        2        0    0        0",
        "  phone    digits    phone        4         3        2        0        0    0        0",
        "  sex      category  sex          5         2        1        0        0    0        0",
        "  all                                                                                1",
        "",
        "  column last: missing in 1 row: 8",
        "  column last: nothing left after normalising in 1 row: 5",
        "  column last: symbols outside the alphabet in 1 row: 11",
        "  column last: more than half outside the alphabet in 1 row: 11",
        "  column born: missing in 1 row: 8",
        "  column born: not a date, so missing in 1 row: 7",
        "  column born: no day of the calendar, compared by its digits in 1 row: 5",
        "  column phone: missing in 2 rows: 7, 8",
        "  column sex: missing in 1 row: 8",
        "  suspicious, column phone: a filler of one symbol in 1 row: 11",
        "  1 record without a value in any field",
        "  the worst rows, and in which fields:",
        "    8: surname, born, phone, sex",
        "    5: surname, born",
        "    7: born, phone",
        "  the same in all fields: 2 records of 1 kind",
        "    rows 4, 10",
        "    if they are one person twice, keep one record, or set `unique = false`",
        "  to mend: 4 records; --bad-rows FILE.csv lists them",
    ]


@pytest.mark.usefixtures("people")
def test_programs_get_the_same_facts(run):
    facts = json.loads(run("check", "people.csv", "--json").out)
    assert facts["fields"][1] == {
        "name": "born",
        "kind": "date",
        "columns": ["born"],
        "values": 4,
        "distinct": 2,
        "missing": 1,
        "invalid": 2,
        "outside": 0,
        "cut": 0,
        "epsilon": "0",
        "problems": [
            {"what": "missing", "count": 1, "rows": [8]},
            {"what": "not a date, so missing", "count": 1, "rows": [7]},
            {"what": "no day of the calendar, compared by its digits", "count": 1, "rows": [5]},
        ],
        "suspicions": [],
    }
    assert facts["fields"][2]["suspicions"] == [
        {"what": "a filler of one symbol", "count": 1, "rows": [11]}
    ]
    del facts["fields"]
    assert facts == {
        "records": 6,
        "clean": 2,
        "bad": 4,
        "empty": 1,
        "epsilon": "1",
        "worst": [
            {"row": 8, "fields": ["surname", "born", "phone", "sex"]},
            {"row": 5, "fields": ["surname", "born"]},
            {"row": 7, "fields": ["born", "phone"]},
        ],
        "identical": {"records": 2, "groups": 1, "rows": [[4, 10]]},
        "unique": True,
        "warnings": [],
        "codes": codes(),
        "report": None,
        "bad_rows": None,
    }


def test_rows_to_mend_are_written_with_their_ids_and_the_rows_of_the_file(run, people):
    out = run("check", "people.csv", "--bad-rows", "bad.csv").out
    assert "to mend: 4 records\nwrote bad.csv: 4 rows\n" in out
    assert table(people / "bad.csv") == [
        ["row", "id", "reason"],
        [
            "5",
            "008",
            "last: nothing left after normalising; "
            "born: no day of the calendar, compared by its digits",
        ],
        ["7", "009", "born: not a date, so missing"],
        ["8", "010", "no value in any field"],
        ["11", "012", "last: more than half outside the alphabet"],
    ]
    lines = PEOPLE.splitlines()
    assert lines[4].startswith("008")  # a spreadsheet would show it as row 5


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_their_owner_can_read_the_rows_to_mend(run, people):
    (people / "bad.csv").write_text("old")
    (people / "bad.csv").chmod(0o644)
    run("check", "people.csv", "--bad-rows", "bad.csv", "--force")
    assert stat.S_IMODE((people / "bad.csv").stat().st_mode) == 0o600


def test_ids_of_any_kind_come_back_as_they_were(run, people):
    ids = ["a,b", 'say "so"', "two\nlines", "é😀", "=1+1", " 7"]
    frame = pl.DataFrame({"id": ids, "last": ["??"] * 6, "born": "", "phone": "", "sex": ""})
    frame.write_csv(people / "odd.csv", separator=";")
    run("check", "odd.csv", "--bad-rows", "bad.csv", "--quiet")
    assert [row[1] for row in table(people / "bad.csv")[1:]] == [one.strip() for one in ids]
    assert [row[0] for row in table(people / "bad.csv")[1:]] == list("234567")


def test_parquet_rows_are_numbered_from_1(run, people):
    cells = {"id": ["x", "y"], "last": ["Ng", "??"], "born": None, "phone": "12", "sex": "F"}
    frame = pl.DataFrame(cells)
    frame.with_columns(pl.col("born").cast(pl.String)).write_parquet(people / "p.parquet")
    run("check", "p.parquet", "--bad-rows", "bad.csv")
    assert table(people / "bad.csv")[1][:2] == ["2", "y"]


def test_without_bad_rows_the_file_is_a_header(run, folder):
    (folder / "fine.csv").write_text("id,surname\n1,Ng\n2,Li\n")
    out = run("check", "fine.csv", "--bad-rows", "bad.csv").out
    assert "nothing to report" in out
    assert "to mend" not in out
    assert table(folder / "bad.csv") == [["row", "id", "reason"]]


def test_a_page_is_written_that_says_the_same(run, people):
    facts = json.loads(run("check", "people.csv", "--report", "page.html", "--json").out)
    assert facts["report"] == "page.html"
    page = (people / "page.html").read_text("utf-8")
    for field in facts["fields"]:
        for problem in field["problems"] + field["suspicions"]:
            assert html.escape(problem["what"]) in page
    assert "row 8: surname, born, phone, sex" in page
    assert "rows 4, 10" in page
    assert not re.findall(r"<script|<link|<img|https?:|url\(", page)


@pytest.mark.usefixtures("people")
def test_a_file_that_may_hold_a_person_twice_gets_no_advice(run):
    line = "set `unique = false`"
    assert line in run("check", "people.csv").out
    edit("linkage.toml", SEVERAL, "unique = false\n" + SEVERAL)
    out = run("check", "people.csv").out
    assert line not in out
    assert "the same in all fields: 2 records" in out


def test_quiet_writes_and_says_nothing(run, people):
    args = ["--quiet", "--report", "page.html", "--bad-rows", "bad.csv"]
    assert run("check", "people.csv", *args).out == ""
    assert (people / "page.html").is_file()
    assert len(table(people / "bad.csv")) == 5


def test_a_schema_that_mine_refuses_is_warned_of(run, refused, people):
    assert "warning" not in run("check", "people.csv").out
    (people / "linkage.toml").write_text('[fields.sex]\nkind = "category"\n')
    refused("mine", "people.csv", says=UNKEPT)
    facts = json.loads(run("check", "people.csv", "--report", "page.html", "--json").out)
    (warning,) = facts["warnings"]
    assert warning.startswith(f"between organisations, {UNKEPT}; all owners: add a field")
    assert f"  warning: {warning}\n" in run("check", "people.csv").out
    assert f"Warning: {warning}." in (people / "page.html").read_text("utf-8")


# what must not be lost


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("option", ["--report", "--bad-rows"])
@pytest.mark.parametrize("output", ["people.csv", "./people.csv", "linkage.toml"])
def test_no_input_is_replaced(refused, option, output):
    refused("check", "people.csv", option, output, "--force", says="the output would replace")


@pytest.mark.usefixtures("people")
def test_one_output_does_not_replace_the_other(refused):
    both = ["--report", "same", "--bad-rows", "./same"]
    refused("check", "people.csv", *both, says="the output would replace same")


@pytest.mark.parametrize("option", ["--report", "--bad-rows"])
def test_an_output_is_not_overwritten_unless_asked(refused, run, people, option):
    (people / "old").write_text("old")
    refused("check", "people.csv", option, "old", says=["old exists already", "--force"])
    run("check", "people.csv", option, "old", "--force")
    assert (people / "old").read_text("utf-8") != "old"


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("option", ["--report", "--bad-rows"])
@pytest.mark.parametrize("output", ["nowhere/x", "people.csv/x", "/proc/nowhere/x"])
def test_a_place_where_nothing_can_be_written(refused, option, output):
    other = {"--report": "--bad-rows", "--bad-rows": "--report"}[option]
    line = [option, output, other, "fine"]
    refused("check", "people.csv", *line, says=f"{output} cannot be written")


@pytest.mark.parametrize("option", ["--report", "--bad-rows"])
def test_a_full_disk_leaves_the_old_output(refused, people, option):
    (people / "output").write_text("old")
    with disk_of(100):
        line = ["check", "people.csv", option, "output", "--force"]
        refused(*line, says="output cannot be written: File too large")


def test_names_that_are_not_unicode_get_a_page_too(run, people):
    odd = os.fsdecode(b"h\xff<b>.csv")
    (people / "people.csv").rename(odd)
    run("check", odd, "--report", "page.html")
    assert "h?&lt;b&gt;.csv" in (people / "page.html").read_text("utf-8")


# nothing of a cell


WORD = st.text("QZXJKV", min_size=8, max_size=40)
DAY = st.dates().map(lambda day: f"{day:%Y-%m-%d}").filter(lambda text: text[:4] > "1000")
NUMBER = st.integers(10**7, 10**20).map(str)
ROWS = st.tuples(
    st.one_of(WORD, WORD.map(lambda text: "é7" * 9 + text), st.just("XQXQXQXQ")),
    st.one_of(DAY, DAY.map(lambda text: text[:8] + "32"), WORD, st.just("1911-11-11")),
    st.one_of(NUMBER, WORD, st.just("777888999777")),
    st.one_of(st.sampled_from(["QZXJ", "VKVK"]), WORD),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ROWS, min_size=1, max_size=30))
def test_nothing_that_a_cell_holds_is_said_anywhere(run, people, monkeypatch, rows):
    monkeypatch.setattr(one_process, "likely_duplicates", lambda *_: 7.0)  # a number, soon found
    lines = ["id,last,born,phone,sex"]
    lines += [f"ID{place:05}," + ",".join(row) for place, row in enumerate(rows)]
    (people / "x.csv").write_text("\n".join(lines), "utf-8")
    files = ["--report", "page.html", "--bad-rows", "bad.csv", "--force"]
    said = run("check", "x.csv", *files).out + run("check", "x.csv", "--json").out
    said += (people / "page.html").read_text("utf-8")
    assert not re.search("ID[0-9]{5}", said)
    said += re.sub("ID[0-9]{5}", "", (people / "bad.csv").read_text("utf-8"))
    for cell in {cell for row in rows for cell in row}:
        for told in (cell, cell.replace("-", ""), cell[:8], cell[:4], cell[:32]):
            if told[:4].isdigit() and len(told) == 4:
                continue  # a year may be a count or a width
            assert told.casefold() not in said.casefold()
