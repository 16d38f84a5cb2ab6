"""What is found in records of several fields, and that no cell is told with it."""

import dataclasses
import html
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.records.fields import Field
from gramlink.records.quality import Identical, Worst, assess, bad_rows
from gramlink.records.reading import Records, read_records
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings
from gramlink.records.suspicions import TOO_COMMON
from gramlink.reports.check_page import check_page
from reference import dates, normalising

NAME = Field(name="surname", column="last")
GIVEN = Field(name="given", column=("first", "middle"), length=8)
BORN = Field(name="born", kind="date", column="dob", format="YYYY-MM-DD", missing=("n/k",))
PHONE = Field(name="phone", kind="digits")
SEX = Field(name="sex", kind="category")
SCHEMA = Schema(fields=(NAME, GIVEN, BORN, PHONE, SEX))
ONE = Schema(fields=(NAME,))


def frame(rows, schema=SCHEMA) -> pl.DataFrame:
    """A frame of these cells, with ids that do not look like row numbers."""
    names = [column for field in schema.fields for column in field.columns]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    ids = [f"id{place}" for place in range(len(rows))]
    return pl.DataFrame(
        {"id": ids, **columns}, {"id": pl.String, **dict.fromkeys(names, pl.String)}
    )


def found(*rows, schema=SCHEMA):
    return assess(read_records(frame(rows, schema), schema), schema)


def of_one(*cells, **settings):
    """What is found in a column of these cells, and nothing else."""
    field = Field(name="it", **settings)
    schema = Schema(fields=(field,))
    return found(*([cell] for cell in cells), schema=schema).fields[0]


# one finding at a time


def test_a_field_says_what_it_is_and_what_it_costs():
    fields = found(["Ng", "Al", "B", "1980-02-01", "123", "F"]).fields
    assert [(f.name, f.kind, f.columns) for f in fields[:3]] == [
        ("surname", "text", ("last",)),
        ("given", "text", ("first", "middle")),
        ("born", "date", ("dob",)),
    ]
    assert [f.epsilon for f in fields] == [Fraction(1, 2), Fraction(1, 2), 0, 0, 0]
    assert found(["Ng", "Al", "B", "1980-02-01", "123", "F"]).epsilon == 1


def test_missing_and_invalid_values_are_told_apart():
    born = of_one(
        "1980-02-01", "", "n/k", "soon", "1980-02-31", "1980-02-01", kind="date",
        format="YYYY-MM-DD", missing=("N/K",),
    )  # fmt: skip
    assert (born.values, born.distinct) == (3, 2)
    assert (born.missing, born.invalid) == (2, 2)
    name = of_one("Ng", "??", None, " ", "Ng")
    assert (name.values, name.distinct, name.missing, name.invalid) == (2, 1, 2, 1)


def test_symbols_outside_and_cut_values_are_counted():
    name = of_one("Ng", "N5", "55N", "Abcdefg", "Abcde5g", length=6)
    assert (name.outside, name.cut, name.invalid) == (3, 2, 0)
    assert of_one("12", "1x", kind="digits").outside == 1


# over all fields


GOOD = ["Ng", "Al", "", "1980-02-01", "5550101", "F"]


def test_the_worst_rows_have_a_problem_in_the_most_fields():
    result = found(
        GOOD,
        ["", "Al", "", "", "5550102", "F"],
        ["5555", "Bo", "", "1980-02-31", "5550103", "F"],
        ["", "", "", "", "5550104", "F"],
        ["", "Cy", "", "1980-02-03", "5550105", "F"],
    )
    assert result.worst == (
        Worst(4, ("surname", "given", "born")),
        Worst(3, ("surname", "born")),  # as many as row 2, but more than missing
        Worst(2, ("surname", "born")),
    )
    assert result.clean == 1


def test_no_more_than_ten_rows_are_the_worst():
    result = found(*[["", "", "", "", "", "F"]] * 12)
    assert [one.row for one in result.worst] == list(range(1, 11))


def test_records_that_are_the_same_in_all_fields_are_counted():
    other = ["Li", "Bo", "", "", "", "M"]
    result = found(GOOD, other, [*GOOD[:5], "M"], ["NG", "A-l", " ", *GOOD[3:]], other, other)
    assert result.identical == Identical(5, 2, ((1, 4), (2, 5, 6)))
    assert found(GOOD, other).identical == Identical(0, 0, ())


def test_records_without_any_value_are_bad_and_not_the_same():
    none = ["", "", "", "n/k", "", " "]
    result = found(none, GOOD, none)
    assert (result.empty, result.bad, result.clean) == (2, 2, 1)
    assert result.identical.records == 0


def test_ten_groups_of_ten_rows_are_named_and_all_are_counted():
    rows = [[letter * 2] for letter in "ABCDEFGHIJKL" for _ in range(11)]
    identical = found(*rows, schema=ONE).identical
    assert (identical.records, identical.groups) == (132, 12)
    assert [len(group) for group in identical.rows] == [10] * 10
    assert identical.rows[1] == tuple(range(12, 22))


def test_whether_the_owner_says_that_nobody_is_there_twice_is_kept():
    assert found(["Ng"], schema=ONE).unique
    assert not found(["Ng"], schema=Schema(fields=(NAME,), unique=False)).unique


def test_what_is_found_cannot_be_changed():
    result = found(GOOD)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.bad = 3
    assert result == found(GOOD)
    assert hash(result) == hash(found(GOOD))


# bad rows


def mend(*rows, schema=SCHEMA):
    return bad_rows(read_records(frame(rows, schema), schema), schema).rows()


def test_rows_to_mend_have_a_reason_for_each_field():
    assert mend(
        GOOD,
        ["", *GOOD[1:]],
        ["??", *GOOD[1:3], "1980-02-31", *GOOD[4:]],
        ["Ng5", "Alexandra", "", "soon", "x", "F"],
        ["", "", "", "", "", "??"],
        ["", "", "", "", "", ""],
    ) == [
        (
            3,
            "id2",
            "last: nothing left after normalising; "
            "dob: no day of the calendar, compared by its digits",
        ),
        (
            4,
            "id3",
            "first+middle: longer than 8 symbols, cut; dob: not a date, so missing; "
            "phone: more than half outside the alphabet",
        ),
        (5, "id4", "sex: nothing left after normalising; no value in any field"),
        (6, "id5", "no value in any field"),
    ]


def test_without_bad_rows_the_table_has_its_columns_all_the_same():
    table = bad_rows(read_records(frame([GOOD]), SCHEMA), SCHEMA)
    assert table.schema == {"row": pl.Int64, "id": pl.String, "reason": pl.String}
    assert table.is_empty()


def test_rows_are_those_of_the_file(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text('\nid,last\n\n1,Ng\n2,"a\n\nb"\n   \n3,??\n\n4,\n5,NG\n')
    records = read_records(path, ONE)
    assert list(records.rows) == [4, 5, 7, 9, 10]
    table = bad_rows(records, ONE)
    assert table["row"].to_list() == [7, 9]
    assert table["id"].to_list() == ["3", "4"]
    result = assess(records, ONE)
    assert result.identical.rows == ((4, 10),)
    assert result.problems[1].rows == (7,)


def test_records_that_are_of_no_file_are_numbered_from_1():
    strings = Strings.of(["NG", "", "NG"], NAME.symbols)
    records = Records("made", ("a", "b", "c"), {"surname": strings}, ())
    assert assess(records, ONE).identical.rows == ((1, 3),)
    assert assess(records, ONE).fields[0].missing == 1
    assert bad_rows(records, ONE).rows() == [(2, "b", "no value in any field")]


def test_a_schema_may_have_fewer_fields_than_the_records():
    records = read_records(frame([["??", *GOOD[1:]], ["Ng", *GOOD[1:3], "x", "", "F"]]), SCHEMA)
    assert assess(records, ONE).bad == 1
    assert bad_rows(records, ONE)["row"].to_list() == [1]


# against the definition


CELLS = st.tuples(
    st.sampled_from(["Ng", "NG", "Li", "", "??", "я", "Li5", "xxx", "N" * 40]),
    st.sampled_from(["Al", "", "Bo", "Alexandra", "-"]),
    st.sampled_from(["", "B", "?"]),
    st.sampled_from(["1980-02-01", "1980-02-01", "1980-2-1", "1980-02-31", "n/k", "", "x"]),
    st.sampled_from(["1234567", "123-4567", "000", "", "99", "abc", "1a"]),
    st.sampled_from(["F", "f", "M", "", "?", "Fй"]),
)


def told_of(cells, field):
    """The value of one cell, and what is wrong with it."""
    raw = " ".join(cells)
    if raw.strip().lower() in ("", *field.missing):
        return "", {"missing"}
    if field.kind == "date":
        text, unreadable, impossible = dates.read(raw, field.format)
        return text, {"invalid"} if unreadable or impossible else set()
    text = normalising.normalise(raw, field)
    if not text.strip():
        return "", {"invalid"}
    cut, wrong = text[: field.length], set()
    text = "".join(symbol if symbol in field.alphabet else "�" for symbol in cut)
    if len(cut) < len(normalising.normalise(raw, field)):
        wrong.add("cut")
    if "�" in text:
        wrong.add("outside")
    if 2 * text.count("�") > len(text):
        wrong.add("mostly outside")
    return text, wrong


def suspected(values, field):
    """The rows of each suspicious value, most rows first."""
    rows = {value: [] for value in values if value}
    for row, value in enumerate(values, 1):
        if value:
            rows[value].append(row)
    if not rows:
        return [list(range(1, 1 + len(values)))]
    if len(rows) == 1 and sum(map(len, rows.values())) > 1:
        return list(rows.values())
    filler = r"([09])\1\1+" if field.kind == "digits" else r"([A-Z])\1\1+"
    fillers = [v for v in rows if field.kind in ("text", "digits") and re.fullmatch(filler, v)]
    listed = [sorted(row for value in fillers for row in rows[value])] if fillers else []
    least = TOO_COMMON.get(field.kind, 1) * sum(map(len, rows.values()))
    common = [
        where for value, where in rows.items()
        if value not in fillers and len(where) > least and len(where) >= 10
    ]  # fmt: skip
    return listed + sorted(common, key=len, reverse=True)[:3]


@settings(deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=60), st.booleans())
def test_every_count_agrees_with_the_definition(rows, often):
    rows = rows * 4 if often else rows
    result = found(*rows)
    places = {"surname": [0], "given": [1, 2], "born": [3], "phone": [4], "sex": [5]}
    values, wrong = [], []
    for field in SCHEMA.fields:
        cells = [told_of([row[place] for place in places[field.name]], field) for row in rows]
        values.append([text for text, _ in cells])
        wrong.append([what for _, what in cells])
    for field, texts, whats, one in zip(SCHEMA.fields, values, wrong, result.fields, strict=True):
        counts = Counter(what for row in whats for what in row)
        assert one.values == sum(map(bool, texts))
        assert one.distinct == len(set(texts) - {""})
        assert one.missing == counts["missing"]
        assert one.invalid == counts["invalid"]
        assert one.outside == counts["outside"]
        assert one.cut == counts["cut"]
        suspects = suspected(texts, field)
        assert [one.places.tolist() for one in one.suspicions] == [
            [row - 1 for row in where] for where in suspects
        ]
        assert [one.rows for one in one.suspicions] == [tuple(where[:10]) for where in suspects]
    whole = list(zip(*values, strict=True))
    bad = [
        any(what & {"invalid", "cut", "mostly outside"} for what in whats) or not any(texts)
        for whats, texts in zip(zip(*wrong, strict=True), whole, strict=True)
    ]
    troubled = [sum(map(bool, whats)) for whats in zip(*wrong, strict=True)]
    assert result.bad == sum(bad)
    assert result.clean == troubled.count(0)
    assert result.empty == sum(not any(texts) for texts in whole)
    same = {texts: [row for row, other in enumerate(whole, 1) if other == texts] for texts in whole}
    groups = [where for texts, where in same.items() if len(where) > 1 and any(texts)]
    assert result.identical.records == sum(map(len, groups))
    assert result.identical.groups == len(groups)
    assert result.identical.rows == tuple(tuple(where[:10]) for where in groups[:10])
    assert [len(one.fields) for one in result.worst] == [
        count for count in sorted(troubled, reverse=True) if count > 1
    ][:10]
    for one in result.worst:
        assert one.fields == tuple(
            field.name for field, whats in zip(SCHEMA.fields, wrong, strict=True)
            if whats[one.row - 1]
        )  # fmt: skip
    listed = bad_rows(read_records(frame(rows), SCHEMA), SCHEMA)
    assert listed["row"].to_list() == [row for row, is_bad in enumerate(bad, 1) if is_bad]


# the page


def test_the_page_is_whole_in_itself_and_escapes_names():
    field = Field(name="<b>&name", column='a"<script>')
    schema = Schema(fields=(field,))
    page = check_page(found(["??"], ["Ng"], ["Ng"], [""], schema=schema))
    assert "<script" not in page
    assert "&lt;b&gt;&amp;name" in page
    assert not re.findall(r"(?:src|href)\s*=|url\(|@import|https?:", page)
    assert "Content-Security-Policy" in page
    assert 'name="viewport"' in page


def test_the_page_has_every_finding():
    records = [*[["", "Al", "", "soon", "000", "F"]] * 12, GOOD, GOOD]
    result = found(*records)
    page = check_page(result)
    for problem in (*result.problems, *result.suspicions):
        assert html.escape(str(problem)) in page
    assert "row 1: surname, born" in page
    assert "rows 13, 14" in page


def test_a_page_about_clean_records_says_that_there_is_nothing():
    page = check_page(found(["Ng"], ["Li"], schema=ONE))
    assert "Nothing to report." in page
    assert "<h2>" not in page


def test_the_widths_of_a_bar_are_shares_of_the_records():
    page = check_page(found(["Ng"], ["??"], [""], ["Li"], schema=ONE))
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%\"", page)]
    assert widths == [50, 25, 25]


LETTERS = st.text("QZXJKV", min_size=9, max_size=12)
NUMBER = st.integers(10**8, 10**9 - 1).map(str)


@settings(deadline=None)
@given(st.lists(st.tuples(LETTERS, LETTERS, LETTERS, NUMBER, NUMBER, LETTERS), min_size=1))
def test_nothing_that_a_cell_holds_is_told(rows):
    result = found(*rows)
    said = check_page(result) + repr(result)
    reasons = mend(*rows)
    said += "".join(reason for _, _, reason in reasons)
    for cell in {cell for row in rows for cell in row}:
        assert cell not in said
        assert cell[:6] not in said
    assert not re.search("id[0-9]", said)


def test_many_rows_are_counted_as_polars_counts_them():
    source = np.random.default_rng(1)
    columns = {f"f{n}": source.integers(0, 20, 50_000).astype(str) for n in range(3)}
    cells = pl.DataFrame({"id": [str(place) for place in range(50_000)], **columns})
    schema = Schema(fields=tuple(Field(name=name, kind="digits") for name in columns))
    result = assess(read_records(cells, schema), schema)
    values = cells.drop("id")
    assert [one.distinct for one in result.fields] == [one.n_unique() for one in values]
    assert result.identical.records == values.is_duplicated().sum()
    assert result.identical.groups == values.filter(values.is_duplicated()).n_unique()
