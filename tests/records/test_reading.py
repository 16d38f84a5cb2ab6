"""Records read from files and frames, and everything that can be wrong with them."""

import errno
import os
import unicodedata
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.embedding.base import Base
from gramlink.embedding.vectors import embed
from gramlink.errors import InvalidParameter, InvalidRecords
from gramlink.records.fields import CATCH_ALL, Field
from gramlink.records.reading import Problem, normalise, read_records
from gramlink.records.schema import Schema
from gramlink.records.tables import header, read_table
from reference import normalising

NAME = Field(name="surname")
SCHEMA = Schema(fields=(NAME,))

# Python and polars carry tables of different Unicode versions: text is drawn from what has
# been assigned since Unicode 3.2, less the two letters of it that got capitals in Unicode 16.
OLD = [
    chr(point)
    for point in range(0x110000)
    if unicodedata.ucd_3_2_0.category(chr(point)) not in ("Cn", "Cs") and chr(point) not in "ƛɤ"
]
TEXT = st.text(
    st.one_of(st.sampled_from(OLD), st.sampled_from("aéÉßŁʼ .-'\t\u0301\u1161\u11a8\u1100"))
)
FIELDS = st.builds(
    Field,
    name=st.just("surname"),
    case=st.sampled_from(["upper", "lower", "keep"]),
    accents=st.sampled_from(["strip", "keep"]),
    punctuation=st.sampled_from(["strip", "space", "keep"]),
    whitespace=st.sampled_from(["collapse", "strip", "keep"]),
)


@pytest.fixture
def write(tmp_path):
    """Write a file, as text or bytes, and return its path."""

    def write(content: str | bytes, name: str = "hospital.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def refusal(source, schema=SCHEMA, **options) -> InvalidRecords:
    """The error that reading ends in: one short line, with nothing of a cell in it."""
    with pytest.raises(InvalidRecords) as caught:
        read_records(source, schema, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    return caught.value


def surnames(source, schema=SCHEMA, **options) -> list[str]:
    return list(read_records(source, schema, **options)["surname"])


def frame(*values, ids=None) -> pl.DataFrame:
    names = [str(number) for number in range(len(values))] if ids is None else ids
    return pl.DataFrame({"id": names, "surname": values})


# CSV files


def test_a_file_gives_ids_and_normalised_columns(write):
    records = read_records(write("id,surname\n001,Müller\n002,O'Brien\n"), SCHEMA)
    assert records.name == "hospital.csv"
    assert records.ids == ("001", "002")
    assert list(records["surname"]) == ["MULLER", "OBRIEN"]
    assert len(records) == 2
    assert records.problems == ()


def test_columns_may_come_in_any_order_and_under_any_name(write):
    schema = Schema(fields=(Field(name="surname", column="Nachname"),), id="nr")
    path = write("Ort,Nachname,nr\nBonn,Schmidt,7\n")
    records = read_records(path, schema)
    assert records.ids == ("7",)
    assert list(records["surname"]) == ["SCHMIDT"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_in_the_header(write, separator):
    content = '"a,b;c|d,,;;||",id,surname\nx,1,"x,;|y"\n'.replace('",', f'"{separator}')
    content = content.replace("id,surname", f"id{separator}surname")
    content = content.replace("x,1,", f"x{separator}1{separator}")
    assert surnames(write(content)) == ["XY"]


def test_a_given_separator_wins_over_what_the_header_looks_like(write):
    path = write("a;b;c;,id,surname\nx,1,Ng\n")
    assert header(path) == ("a", "b", "c", ",id,surname")
    assert header(path, separator=",") == ("a;b;c;", "id", "surname")
    assert surnames(path, separator=",") == ["NG"]


@pytest.mark.parametrize("separator", ["", "::", '"', "\n", " "])
def test_what_cannot_separate_is_refused(write, separator):
    with pytest.raises(InvalidParameter, match="is not a separator"):
        read_records(write("id,surname\n1,a\n"), SCHEMA, separator=separator)


def test_a_file_may_have_one_column(write):
    schema = Schema(fields=(Field(name="surname"),), id="surname")
    assert surnames(write("surname\nNg\nLi\n"), schema) == ["NG", "LI"]


def test_quotes_hold_separators_newlines_and_quotes(write):
    field = Field(name="surname", punctuation="keep", alphabet='ABCDEFG,"X ')
    path = write('id,surname\n1,"A,B"\n2,"C\nD"\n3,"E ""X"" F"\n')
    assert surnames(path, Schema(fields=(field,))) == ["A,B", "C D", 'E "X" F']


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way_and_the_last_one_in_none(write, ending):
    path = write(ending.join(["id,surname", "1,Ng", '2,"a', 'b"']))
    assert surnames(path) == ["NG", "A B"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_utf_8_and_utf_16_with_a_bom_need_no_encoding(write, encoding, quote):
    path = write(f"{quote}id{quote},surname\n1,Žižek\n", encoding=encoding)
    assert header(path) == ("id", "surname")
    assert surnames(path) == ["ZIZEK"]


@pytest.mark.parametrize(
    "encoding", ["cp1252", "latin-1", "utf-8", "utf-16-le", "cp850", "mac-roman"]
)
def test_any_encoding_can_be_named(write, encoding):
    assert surnames(write("id,surname\n1,Müller\n", encoding=encoding), encoding=encoding) == [
        "MULLER"
    ]


def test_a_bom_is_no_part_of_a_name_if_the_encoding_is_given(write):
    path = write("id,surname\n1,Ng\n", encoding="utf-8-sig")
    assert read_records(path, SCHEMA, encoding="utf-8").ids == ("1",)
    path = write(b"\xff\xfe" + "id,surname\n1,Ng\n".encode("utf-16-le"))
    assert read_records(path, SCHEMA, encoding="utf-16-le").ids == ("1",)


@pytest.mark.parametrize("encoding", ["klingon", "hex", "a\0b"])
def test_an_unknown_encoding_is_named(write, encoding):
    with pytest.raises(InvalidParameter, match="is not a known text encoding") as caught:
        read_records(write("id,surname\n1,Ng\n"), SCHEMA, encoding=encoding)
    assert "cp1252" in caught.value.hint


def test_what_is_not_utf_8_is_never_guessed(write):
    content = 'id,city,surname\n1,Bonn,Ng\n\n2,"a, ""b""\nc",Müller\n'
    error = refusal(write(content, encoding="cp1252"))
    assert str(error) == "hospital.csv, row 4, column surname: this is not UTF-8 text"
    assert "--encoding cp1252" in error.hint
    assert "latin-1" in error.hint


def test_a_header_that_is_not_utf_8_is_told_by_its_number(write):
    error = refusal(write("id,größe,surname\n1,2,Ng\n", encoding="latin-1"))
    assert str(error) == "hospital.csv, row 1, column 2: this is not UTF-8 text"


def test_what_is_not_of_the_given_encoding_is_said(write):
    error = refusal(write("id,surname\n1,Ng\n2,Müller\n"), encoding="ascii")
    assert str(error) == "hospital.csv, row 3, column surname: this is not ASCII text"
    half = "id,surname\n1,Ng\n".encode("utf-16") + b"A"
    assert str(refusal(write(half))) == "hospital.csv, row 1 or later: this is not UTF-16 text"


def test_undecodable_bytes_far_down_are_found_too(write):
    lines = [f"{number},Ng\n" for number in range(50_000)]
    lines[40_000] = "40000,Müller\n"
    error = refusal(write("id,surname\n" + "".join(lines), encoding="cp1252"))
    assert "row 40002, column surname" in str(error)


@pytest.mark.parametrize(("row", "cells"), [("2", 1), ("2,Li,Bonn", 3), (",,", 3)])
def test_a_row_with_too_few_or_too_many_cells_is_named(write, row, cells):
    error = refusal(write(f"id,surname\n1,Ng\n{row}\n"))
    assert str(error) == f"hospital.csv, row 3: {cells} instead of 2 cells"


def test_blank_lines_are_skipped_and_counted(write):
    path = write("\n\nid,surname\n\n1,Ng\n   \n\r\n2,\n\n")
    records = read_records(path, SCHEMA)
    assert records.ids == ("1", "2")
    assert records.problems == (Problem("surname", "missing", 1, (8,)),)


def test_a_row_is_one_row_however_many_lines_it_has(write):
    records = read_records(write('id,surname\n1,"a\n\nb"\n2,\n'), SCHEMA)
    assert records.problems[0].rows == (3,)


def test_a_nul_byte_is_named(write):
    error = refusal(write("id,surname\n1,Ng\n2,L\0i\n"))
    assert str(error) == "hospital.csv, row 3, column surname: the cell contains a NUL byte"


def test_utf_16_without_a_bom_is_not_taken_for_text(write):
    error = refusal(write("id,surname\n1,Ng\n", encoding="utf-16-le"))
    assert str(error) == "hospital.csv, row 1 contains NUL bytes"
    assert "utf-16-le" in error.hint


def test_a_quote_that_is_never_closed_is_found(write):
    error = refusal(write('id,surname\n1,Ng\n2,"Li\n3,Wu\n'))
    assert str(error) == ("hospital.csv, row 3, column surname: a quote is opened and never closed")


def test_text_after_a_closing_quote_is_found(write):
    error = refusal(write('id,surname,city\n1,Ng,Ulm\n2,"Li"x,Bonn\n'))
    assert str(error) == "hospital.csv, row 3, column surname: text follows a closing quote"


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_cell_of_ten_megabytes_is_refused_and_not_echoed(write, quote):
    long = quote + "x" * 10_000_000 + quote
    error = refusal(write(f"id,surname,city\n1,Ng,Ulm\n2,{long},Bonn\n"))
    assert str(error) == (
        "hospital.csv, row 3, column surname: the cell is longer than 131,072 symbols"
    )


def test_an_open_quote_that_swallows_a_large_file_is_found_where_it_opens(write):
    rest = "".join(f"{number},Wu\n" for number in range(50_000))
    error = refusal(write('id,surname\n1,Ng\n2,"Li\n' + rest))
    assert "row 3, column surname: the cell is longer than" in str(error)
    assert "quote" in error.hint


def test_a_cell_may_have_4096_symbols_and_no_more(write):
    assert len(surnames(write("id,surname\n1," + "x" * 4096 + "\n"))[0]) == 32
    error = refusal(write("id,surname\n1," + "x" * 4097 + "\n"))
    assert str(error) == (
        "hospital.csv, row 2, column surname: the cell is longer than 4,096 symbols"
    )


def test_a_long_note_in_a_column_that_is_not_needed_is_none_of_our_business(write):
    assert surnames(write("id,note,surname\n1," + "x" * 9999 + ",Ng\n")) == ["NG"]


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(write, content):
    assert str(refusal(write(content))) == "hospital.csv is empty"


def test_a_header_without_records_is_refused(write):
    assert str(refusal(write("id,surname\n"))) == "hospital.csv has no records"


def test_a_missing_column_lists_those_there_are_and_the_one_that_is_meant(write):
    error = refusal(write("id,Sur_Name,dob\n1,Ng,1980\n"))
    assert str(error) == "hospital.csv has no column surname; it has id, Sur_Name, dob"
    assert error.hint.startswith("did you mean Sur_Name? ")
    assert "linkage.toml" in error.hint
    assert "`column`" in error.hint


def test_no_column_is_proposed_if_none_is_alike(write):
    error = refusal(write("id,zzz\n1,Ng\n"))
    assert "did you mean" not in error.hint
    assert "linkage.toml" in error.hint


def test_a_file_without_a_header_does_not_fill_the_screen(write):
    refusal(write(",".join(['"x\n' + "x" * 1000 + '"'] * 100) + "\n"))


def test_a_needed_column_that_is_there_twice_is_refused(write):
    error = refusal(write("id,surname,surname\n1,a,b\n"))
    assert str(error) == "hospital.csv has 2 columns named surname"
    assert surnames(write("id,x,x,surname\n1,a,b,Ng\n")) == ["NG"]


def test_blanks_around_names_and_cells_do_not_count(write):
    path = write('rec_id, surname , given_name\nrec-1, ng , "a, b"\n')
    schema = Schema(fields=(NAME,), id="rec_id")
    records = read_records(path, schema)
    assert header(path) == ("rec_id", "surname", "given_name")
    assert list(records["surname"]) == ["NG"]


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    error = refusal(tmp_path / "no.csv")
    assert str(error) == f"{tmp_path / 'no.csv'} cannot be read: No such file or directory"
    refusal(str(tmp_path / "no.csv"), encoding="latin-1")
    refusal(tmp_path / "no.parquet")
    refusal("a\0b.csv")


def test_a_folder_is_not_a_file(tmp_path):
    assert str(refusal(tmp_path)) == f"{tmp_path} cannot be read: it is not a file"
    (tmp_path / "x.parquet").mkdir()
    assert "cannot be read" in str(refusal(tmp_path / "x.parquet"))


def test_a_file_that_may_not_be_read_is_one_line(write, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    path = write("id,surname\n1,Ng\n")
    monkeypatch.setattr(Path, "open", refuse)
    assert str(refusal(path)) == f"{path} cannot be read: Permission denied"


def test_a_disk_that_fails_half_way_is_one_line(write, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    path = write("id,surname\n1,Ng\n")
    monkeypatch.setattr("gramlink.records.csv._separator", fail)
    assert str(refusal(path)) == f"{path} cannot be read: Input/output error"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert "it is not a file" in str(refusal(tmp_path / "pipe.csv"))


def test_an_unknown_ending_is_read_as_csv(write):
    assert surnames(write("id\tsurname\n1\tNg\n", name="export.dat")) == ["NG"]


def test_a_table_has_all_named_columns_and_as_many_records_as_asked(write):
    path = write("id,surname,\n1,a,x\n2,b,y\n3,c,z\n")
    table = read_table(path, limit=2)
    assert {name: series.to_list() for name, series in table.columns.items()} == {
        "id": ["1", "2"],
        "surname": ["a", "b"],
    }
    assert list(table.rows) == [2, 3]
    with pytest.raises(InvalidRecords, match="no column with a name"):
        read_table(write(" ,\n1,2\n"))


# Parquet files and frames


def test_a_parquet_file_is_read(tmp_path):
    path = tmp_path / "hospital.parquet"
    frame("Ng", None, ids=["007", "008"]).with_columns(x=1.5).write_parquet(path)
    records = read_records(path, SCHEMA)
    assert header(path) == ("id", "surname", "x")
    assert records.name == "hospital.parquet"
    assert records.ids == ("007", "008")
    assert records.problems == (Problem("surname", "missing", 1, (2,)),)
    assert list(read_table(path, columns=["surname"], limit=1).columns["surname"]) == ["Ng"]


@pytest.mark.parametrize("name", ["hospital.parquet", "HOSPITAL.PQ"])
def test_a_broken_parquet_file_is_one_line(tmp_path, write, name):
    frame("Ng").write_parquet(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    for content in (b"", b"id,surname\n1,Ng\n", whole[:-9], whole[: len(whole) // 2]):
        path = write(content, name=name)
        assert str(refusal(path)).startswith(f"{name} is damaged, or not a table: ")
        with pytest.raises(InvalidRecords, match="is damaged, or not a table"):
            header(path)


FRAMES = {
    "polars": lambda columns: pl.DataFrame(columns),
    "lazy polars": lambda columns: pl.LazyFrame(columns),
    "pandas": lambda columns: pd.DataFrame(columns),
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pyarrow": lambda columns: pa.table(columns),
    "Arrow stream": lambda columns: Stream(pa.table(columns)),
}


class Stream:
    """Any other library's table."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.fixture(params=FRAMES.values(), ids=FRAMES.keys())
def make(request):
    return request.param


def test_any_frame_is_read(make):
    columns = {"other": [1.5, 2.5], " id ": ["007", "8"], "surname": ["Ng", None]}
    records = read_records(make(columns), SCHEMA)
    assert records.name == "records"
    assert records.ids == ("007", "8")
    assert list(records["surname"]) == ["NG", ""]
    assert records.problems == (Problem("surname", "missing", 1, (2,)),)


def test_whole_numbers_become_their_digits(make):
    field = Field(name="surname", alphabet="0123456789")
    schema = Schema(fields=(field,))
    records = read_records(make({"id": [7, 10**15], "surname": [2010, 90]}), schema)
    assert records.ids == ("7", "1000000000000000")
    assert list(records["surname"]) == ["2010", "90"]


@pytest.mark.parametrize("column", ["id", "surname"])
def test_floats_are_refused(make, column):
    columns = {"id": ["1", "2"], "surname": ["Ng", "Li"], column: [1.0, None]}
    error = refusal(make(columns))
    assert str(error) == f"records, column {column} is Float64, not text"
    assert "as text" in error.hint


def test_a_column_of_nan_is_missing_throughout(make):
    columns = {"id": ["1", "2"], "surname": [float("nan")] * 2}
    assert surnames(make(columns)) == ["", ""]
    assert str(refusal(make({"id": [float("nan")], "surname": ["Ng"]}))) == (
        "records, row 1, column id: the id is missing"
    )


def test_a_missing_id_in_a_frame_names_the_row(make):
    error = refusal(make({"id": ["1", None], "surname": ["Ng", "Li"]}))
    assert str(error) == "records, row 2, column id: the id is missing"


def test_a_frame_without_records_is_refused(make):
    assert str(refusal(make({"id": [], "surname": []}))) == "records has no records"


def test_a_frame_without_the_column_lists_those_it_has(make):
    error = refusal(make({"id": ["1"], "surnam": ["Ng"]}))
    assert str(error) == "records has no column surname; it has id, surnam"


def test_every_missing_value_of_pandas_is_missing():
    values = ["Ng", None, float("nan"), pd.NA, pd.NaT]
    ids = list("abcde")
    assert surnames(pd.DataFrame({"id": ids, "surname": pd.Series(values, dtype=object)})) == [
        "NG",
        *[""] * 4,
    ]
    whole = pd.array([1, None], dtype="Int64")
    assert read_records(pd.DataFrame({"id": whole[:1], "surname": ["Ng"]}), SCHEMA).ids == ("1",)
    assert "row 2" in str(refusal(pd.DataFrame({"id": whole, "surname": ["Ng", "Li"]})))


def test_a_column_of_mixed_types_is_refused():
    error = refusal(pd.DataFrame({"id": ["1", 2], "surname": ["Ng", "Li"]}))
    assert str(error) == "records, column id is a mixture of types, not text"


def test_text_that_is_not_unicode_is_refused():
    refusal(pd.DataFrame({"id": ["1"], "surname": pd.Series(["\ud800"], dtype=object)}))


def test_pandas_columns_that_are_there_twice_are_refused():
    twice = pd.DataFrame([["1", "a", "b"]], columns=["id", "surname", "surname"])
    assert str(refusal(twice)) == "records has 2 columns named surname"


def test_categories_and_dates_are_text():
    field = Field(name="surname", alphabet="0123456789-", punctuation="keep")
    days = pl.Series([date(1980, 1, 31)])
    assert surnames(pl.DataFrame({"id": ["1"], "surname": days}), Schema(fields=(field,))) == [
        "1980-01-31"
    ]
    names = pl.Series(["Ng", "Ng"], dtype=pl.Categorical)
    assert surnames(pl.DataFrame({"id": ["1", "2"], "surname": names})) == ["NG", "NG"]


@pytest.mark.parametrize("value", [b"Ng", ["Ng"], True, 1.5])
def test_other_types_are_refused(value):
    assert "not text" in str(refusal(frame(value)))


@pytest.mark.parametrize("source", [3, object(), None, [1, 2]])
def test_what_is_not_a_table_is_refused(source):
    refusal(source)


def test_cells_of_frames_have_the_same_limits():
    assert "row 2, column surname: the cell is longer" in str(refusal(frame("a", "x" * 4097)))
    assert "row 1, column id: the cell contains a NUL" in str(refusal(frame("a", ids=["\0"])))


# ids


@pytest.mark.parametrize("value", ["", "  ", '""'])
def test_a_missing_id_names_the_row(write, value):
    error = refusal(write(f"id,surname\n1,Ng\n{value},Li\n"))
    assert str(error) == "hospital.csv, row 3, column id: the id is missing"


def test_a_duplicate_id_names_both_rows(write):
    error = refusal(write("id,surname\n1,Ng\n2,Li\n\n1 ,Wu\n"))
    assert str(error) == "hospital.csv, row 5, column id: row 2 has the same id"


def test_an_id_is_kept_as_it_is_but_for_blanks_around_it(write):
    path = write('id,surname\n007,a\n7,b\n"  é-x Y\t",c\n7.0,d\n')
    assert read_records(path, SCHEMA).ids == ("007", "7", "é-x Y", "7.0")


def test_a_column_may_be_id_and_field_at_once():
    schema = Schema(fields=(NAME,), id="surname")
    records = read_records(frame("Ng", "Li"), schema)
    assert records.ids == ("Ng", "Li")
    assert list(records["surname"]) == ["NG", "LI"]


# problems


def test_a_problem_reads_as_a_sentence():
    one = Problem("surname", "missing", 1, (3,))
    many = Problem("surname", "missing", 12, tuple(range(2, 12)))
    assert str(one) == "column surname: missing in 1 row: 3"
    assert str(many) == "column surname: missing in 12 rows: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ..."


def test_the_first_ten_rows_are_named_and_all_are_counted():
    (problem,) = read_records(frame(*[None] * 12), SCHEMA).problems
    assert problem == Problem("surname", "missing", 12, tuple(range(1, 11)))


def test_a_problem_names_the_owners_own_column(write):
    schema = Schema(fields=(Field(name="surname", column="Nachname"),))
    assert read_records(write("id,Nachname\n1,\n"), schema).problems[0].column == "Nachname"


def test_names_in_other_scripts_do_not_vanish():
    records = read_records(frame("Ng", "Иванов", "Li5", "田中"), SCHEMA)
    assert list(records["surname"]) == ["NG", "������", "LI�", "��"]
    assert records.problems == (
        Problem("surname", "symbols outside the alphabet", 3, (2, 3, 4)),
        Problem("surname", "more than half outside the alphabet", 2, (2, 4)),
    )


def test_half_outside_is_not_more_than_half():
    (problem,) = read_records(frame("ab12"), SCHEMA).problems
    assert problem.what == "symbols outside the alphabet"


def test_a_letter_that_was_lost_earlier_is_reported():
    records = read_records(frame("M\ufffdller"), SCHEMA)
    assert list(records["surname"]) == ["M�LLER"]
    assert records.problems[0].what == "symbols outside the alphabet"


@pytest.mark.parametrize("punctuation", ["strip", "space"])
@pytest.mark.parametrize("whitespace", ["collapse", "strip", "keep"])
def test_a_value_of_which_nothing_is_left_is_missing_and_reported(punctuation, whitespace):
    field = Field(name="surname", punctuation=punctuation, whitespace=whitespace)
    records = read_records(frame("---", "   ", "", None, "Ng"), Schema(fields=(field,)))
    assert records["surname"].missing.tolist() == [True, True, True, True, False]
    assert records.problems == (
        Problem("surname", "missing", 3, (2, 3, 4)),
        Problem("surname", "nothing left after normalising", 1, (1,)),
    )


def test_a_long_value_is_cut_and_reported():
    field = Field(name="surname", length=4)
    records = read_records(frame("Abcd", "Ab-cde", "A-b-c-d"), Schema(fields=(field,)))
    assert list(records["surname"]) == ["ABCD", "ABCD", "ABCD"]
    assert records.problems == (Problem("surname", "longer than 4 symbols, cut", 1, (2,)),)


def test_what_lies_behind_the_cut_is_not_outside_the_alphabet():
    field = Field(name="surname", length=4)
    (problem,) = read_records(frame("Abcdя"), Schema(fields=(field,))).problems
    assert problem.what == "longer than 4 symbols, cut"


# normalising


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Ørsted Łódź Đorđe", "ORSTED LODZ DORDE"),
        ("Æsir Œuvre Þór straße STRAẞE ısı", "AESIR OEUVRE THOR STRASSE STRASSE ISI"),
        ("O'Neill O’Neill Oʼneill", "ONEILL ONEILL ONEILL"),
        ("  Anna\u00a0\tMaria\n", "ANNA MARIA"),
        ("Ｆｕｌｌ ﬁt", "FULL FIT"),
        ("Nguyễn Šefčovič İnönü", "NGUYEN SEFCOVIC INONU"),
        ("A\u030ase Åse", "ASE ASE"),
        ("Иванов-Йод", "ИВАНОВИОД"),
    ],
)
def test_names_are_spelt_plainly(text, plain):
    assert normalise(pl.Series([text]), NAME).to_list() == [plain]
    assert normalising.normalise(text, NAME) == plain


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"case": "lower"}, "anne marie oneil-muller"),
        ({"case": "keep"}, "Anne Marie ONeil-Muller"),
        ({"accents": "keep"}, "ANNE MARIE ONEIL-MÜLLER"),
        ({"case": "keep", "accents": "keep"}, "Anne Marie ONeil-Müller"),
        ({"punctuation": "space"}, "ANNE MARIE O NEIL MULLER"),
        ({"punctuation": "keep"}, "ANNE MARIE O'NEIL-MULLER"),
        ({"whitespace": "strip"}, "ANNEMARIEONEIL-MULLER"),
        ({"whitespace": "keep"}, " ANNE  MARIE\tONEIL-MULLER"),
    ],
)
def test_each_setting_does_what_it_says(settings, expected):
    field = Field(name="surname", **settings)
    if field.punctuation == "strip":
        expected = expected.replace("-", "")
    values = pl.Series([" Anne  Marie\tO'Neil-Müller", None])
    assert normalise(values, field).to_list() == [expected, None]


def test_text_may_keep_its_case_and_accents_with_the_default_alphabet():
    field = Field(name="surname", case="keep", accents="keep")
    records = read_records(frame("LI", "Müller"), Schema(fields=(field,)))
    assert list(records["surname"]) == ["LI", "M�����"]


@settings(deadline=None)
@given(st.lists(st.text() | TEXT), FIELDS)
def test_normalising_twice_is_normalising_once(texts, field):
    once = normalise(pl.Series(texts, dtype=pl.String), field)
    assert normalise(once, field).to_list() == once.to_list()


@settings(deadline=None)
@given(st.lists(TEXT), FIELDS)
def test_normalising_agrees_with_its_definition(texts, field):
    expected = [normalising.normalise(text, field) for text in texts]
    assert normalise(pl.Series(texts, dtype=pl.String), field).to_list() == expected


@pytest.mark.parametrize("accents", ["strip", "keep"])
@pytest.mark.parametrize("case", ["upper", "lower"])
def test_each_letter_agrees_with_the_definition(case, accents):
    field = Field(name="surname", case=case, accents=accents)
    letters = [letter for letter in OLD if letter < "\U00010000"]
    expected = [normalising.normalise(letter, field) for letter in letters]
    found = normalise(pl.Series(letters), field)
    assert found.to_list() == expected
    assert normalise(found, field).to_list() == expected


# several fields, of every kind


def kind(name="x", **settings):
    return Field(name=name, **settings)


def column(values, field, **more):
    """The records of one column."""
    ids = [str(number) for number in range(len(values))]
    return read_records(
        pl.DataFrame({"id": ids, field.name: values, **more}), Schema(fields=(field,))
    )


def plain(records, field):
    """The values as they are compared, with each symbol as if it had no place."""
    spelt = {s: field.spelling[i % len(field.alphabet)] for i, s in enumerate(field.symbols[:-1])}
    return ["".join(spelt.get(s, CATCH_ALL) for s in text) for text in records[field.name]]


def told(records):
    return [(problem.what, problem.rows) for problem in records.problems]


BORN, SEX, PHONE = (
    kind("born", kind="date"),
    kind("sex", kind="category"),
    kind("phone", kind="digits"),
)
SEVERAL = Schema(fields=(NAME, BORN, SEX, PHONE), id="nr")
PATIENTS = """nr,surname,born,sex,phone
007,Müller,31.01.1980,m,(0)30-1234
008,O'Brien,1.2.1981,F,
009,,30.02.1982,x y,12a4
"""


def test_a_file_gives_a_column_for_each_field_in_its_kind(write):
    records = read_records(write(PATIENTS), SEVERAL)
    assert records.ids == ("007", "008", "009")
    assert list(records.columns) == ["surname", "born", "sex", "phone"]
    assert list(records["surname"]) == ["MULLER", "OBRIEN", ""]
    assert plain(records, BORN) == ["19800131", "19810201", "19820230"]
    assert plain(records, SEX) == ["M", "F", "XY"]
    assert list(records["phone"]) == ["0301234", "", f"12{CATCH_ALL}4"]
    assert records.problems == (
        Problem("surname", "missing", 1, (4,)),
        Problem("born", "no day of the calendar, compared by its digits", 1, (4,)),
        Problem("phone", "missing", 1, (3,)),
        Problem("phone", "symbols outside the alphabet", 1, (4,)),
    )
    assert list(records.rows) == [2, 3, 4]
    for field in SEVERAL.fields:
        assert records[field.name].symbols == (field.symbols if field.placed else field.spelling)


def test_fields_may_share_a_column(write):
    fields = (kind("whole", column="surname"), kind("start", column="surname", length=1))
    records = read_records(write("id,surname\n1,Ng\n"), Schema(fields=fields))
    assert [list(records[field.name]) for field in fields] == [["NG"], ["N"]]


def test_a_wrong_name_among_many_columns_is_told_with_the_one_that_is_meant(write):
    schema = Schema(fields=(NAME, kind("born", kind="date", column="DateOfBirth"), SEX))
    error = refusal(write("id,surname,date_of_birth,sex\n1,Ng,1980-01-31,m\n"), schema)
    assert str(error) == (
        "hospital.csv has no column DateOfBirth; it has id, surname, date_of_birth, sex"
    )
    assert error.hint.startswith("did you mean date_of_birth? ")


def test_a_wrong_name_among_columns_to_be_joined_is_told(write):
    schema = Schema(fields=(kind("name", column=("surname", "middle")),))
    error = refusal(write("id,surname,midle\n1,Ng,A\n"), schema)
    assert "has no column middle; it has id, surname, midle" in str(error)
    assert "did you mean midle?" in error.hint


@pytest.mark.parametrize("name", ["surname", "born", "sex", "phone"])
def test_a_column_that_is_there_twice_is_refused_whatever_its_kind(write, name):
    content = PATIENTS.replace("nr,", f"nr,{name},", 1).replace("\n0", "\n0,0")
    assert f"has 2 columns named {name}" in str(refusal(write(content), SEVERAL))


# what stands for "not known"


@pytest.mark.parametrize(
    ("field", "value"),
    [(NAME, "Ng"), (BORN, "1980-01-31"), (SEX, "m"), (PHONE, "123")],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_stands_for_not_known_is_missing_in_every_kind(field, value):
    field = field.model_copy(update={"missing": ("Unknown", " n/a ", "99-99")})
    values = [value, "unknown", "  UNKNOWN\t", "N/A", "99-99", "", None, "  "]
    records = column(values, field)
    assert records[field.name].missing.tolist() == [False] + [True] * 7
    assert told(records) == [("missing", (2, 3, 4, 5, 6, 7, 8))]


def test_a_token_is_a_whole_value_and_not_a_part_of_one():
    field = kind(missing=("na", "x"))
    assert list(column(["Nana", "na na", "xx", "NA"], field)["x"]) == ["NANA", "NA NA", "XX", ""]


def test_no_token_is_missing_unless_the_owner_says_so():
    assert list(column(["unknown", "NA", "null"], kind())["x"]) == ["UNKNOWN", "NA", "NULL"]


def test_a_token_that_is_no_date_does_not_make_a_column_unreadable():
    field = kind(kind="date", missing=("unknown",))
    records = column(["unknown"] * 9 + ["31.12.1980"], field)
    assert plain(records, field) == [""] * 9 + ["19801231"]


# codes


@pytest.mark.parametrize("written", ["1", " 1 ", "1\t"])
def test_a_code_is_replaced_by_what_is_meant(written):
    field = kind(kind="category", codes={"1": "M", "2": "F"})
    assert plain(column([written, "2"], field), field) == ["M", "F"]


def test_codes_do_not_look_at_case_or_at_blanks_around_them():
    field = kind(kind="category", codes={" Male ": "m", "FEMALE": "f"})
    assert plain(column(["male", "MALE", " Female "], field), field) == ["M", "M", "F"]


def test_what_is_no_code_stays_as_it_is():
    field = kind(kind="category", codes={"male": "m"})
    assert plain(column(["X", "fem", "m"], field), field) == ["X", "FEM", "M"]


def test_what_is_meant_is_normalised_and_cut_like_any_value():
    field = kind(kind="category", codes={"1": "é-x", "2": "abcdef"})
    records = column(["1", "2"], field)
    assert plain(records, field) == ["EX", "ABCD"]
    assert told(records) == [("longer than 4 symbols, cut", (2,))]


def test_a_code_for_nothing_is_missing():
    field = kind(kind="category", codes={"9": ""})
    records = column(["9", "m"], field)
    assert records["x"].missing.tolist() == [True, False]


def test_a_token_is_missing_before_codes_are_looked_up():
    field = kind(kind="category", codes={"9": "M"}, missing=("9",))
    assert column(["9", "M"], field)["x"].missing.tolist() == [True, False]


def test_owners_of_different_codes_have_the_same_vectors():
    one = kind(kind="category", codes={"male": "M", "female": "F"})
    other = kind(kind="category", codes={"1": "m", "2": "f"})
    ours, theirs = column(["male", "Female", ""], one), column(["1", "2", None], other)
    assert same_vectors(ours["x"], theirs["x"], one)


def same_vectors(one, other, field):
    base = Base(field.public_grams)
    ours, theirs = embed(one, base), embed(other, base)
    return np.array_equal(ours.counts, theirs.counts) and np.array_equal(
        ours.missing, theirs.missing
    )


# joined columns


def test_columns_are_joined_in_the_order_they_are_named(write):
    field = kind(column=("surname", "given"))
    path = write("id,given,surname\n1,Anna,Ng\n2,,Li\n3,Eva,\n4,,\n5,  , Wu \n")
    records = read_records(path, Schema(fields=(field,)))
    assert list(records["x"]) == ["NG ANNA", "LI", "EVA", "", "WU"]
    assert records.problems == (Problem("surname+given", "missing", 1, (5,)),)


def test_columns_of_a_number_are_joined_without_blanks(write):
    field = kind(kind="digits", column=("prefix", "number"))
    records = read_records(write("id,prefix,number\n1,030,12 34\n2,,99\n"), Schema(fields=(field,)))
    assert list(records["x"]) == ["0301234", "99"]


def test_a_null_in_a_frame_is_nothing_to_join():
    frame = pl.DataFrame({"id": ["1", "2"], "a": [None, "x"], "b": ["y", None]})
    records = read_records(frame, Schema(fields=(kind(column=("a", "b")),)))
    assert list(records["x"]) == ["Y", "X"]


def test_what_stands_for_not_known_is_nothing_to_join():
    frame = pl.DataFrame({"id": ["1", "2"], "a": ["?", "?"], "b": ["Ng", "?"]})
    field = kind(column=("a", "b"), missing=("?",), punctuation="keep")
    records = read_records(frame, Schema(fields=(field,)))
    assert list(records["x"]) == ["NG", ""]


def test_a_date_may_stand_in_three_columns(write):
    field = kind(kind="date", column=("y", "m", "d"))
    path = write("id,d,m,y\n1,31,1,1980\n2,1,12,1981\n3,,,\n4,5,,1982\n")
    records = read_records(path, Schema(fields=(field,)))
    assert plain(records, field) == ["19800131", "19811201", "", ""]
    assert told(records) == [("missing", (4,)), ("not a date, so missing", (5,))]


# dates

DAYS = [date(1980, 1, 31), date(1999, 12, 1), date(2000, 2, 29), date(1923, 7, 4), None]


def written(date_format):
    return [day and day.strftime(date_format) for day in DAYS]


WRITTEN = {
    "%Y-%m-%d": "YYYY-MM-DD",
    "%d.%m.%Y": "DD.MM.YYYY",
    "%m/%d/%Y": "MM/DD/YYYY",
    "%Y%m%d": "YYYYMMDD",
    "%d%m%Y": "DDMMYYYY",
    "%d %b %Y": "DD MMM YYYY",
    "%B %d, %Y": "MMM DD YYYY",
    "%Y-%m-%dT00:00:00": "YYYY-MM-DD",
}


@pytest.mark.parametrize("stated", [True, False], ids=["stated", "recognised"])
@pytest.mark.parametrize("date_format", WRITTEN)
def test_dates_of_any_format_have_the_same_vectors(date_format, stated):
    field = kind(kind="date", format=WRITTEN[date_format] if stated else "")
    records = column(written(date_format), field)
    assert plain(records, field) == [f"{day:%Y%m%d}" if day else "" for day in DAYS]
    iso = column(written("%Y-%m-%d"), kind(kind="date"))
    assert same_vectors(records["x"], iso["x"], field)
    assert told(records) == [("missing", (5,))]


def test_dates_of_a_frame_need_no_format():
    days = pl.Series(DAYS)
    assert days.dtype == pl.Date
    records = column(days, kind(kind="date"))
    assert plain(records, kind(kind="date")) == ["19800131", "19991201", "20000229", "19230704", ""]


def test_dates_that_may_be_read_in_two_ways_are_refused_with_both(write):
    schema = Schema(fields=(BORN,))
    error = refusal(write("id,born\n1,01/02/1980\n2,03/04/1981\n"), schema)
    assert str(error) == "hospital.csv, column born: the dates could be day first or month first"
    assert error.hint == 'state `format = "DD/MM/YYYY" or "MM/DD/YYYY"` for the field'


def test_a_stated_format_settles_what_may_be_read_in_two_ways(write):
    path = write("id,born\n1,01/02/1980\n2,03/04/1981\n")
    for date_format, expected in (
        ("DD/MM/YYYY", ["19800201", "19810403"]),
        ("MM/DD/YYYY", ["19800102", "19810304"]),
    ):
        field = kind("born", kind="date", format=date_format)
        assert plain(read_records(path, Schema(fields=(field,))), field) == expected


def test_a_column_of_no_dates_is_refused_and_not_echoed(write):
    schema = Schema(fields=(kind("born", kind="date", column=("born", "city")),))
    error = refusal(write("id,born,city\n1,SECRET,Bonn\n2,1980-01-31,\n3,x,\n"), schema)
    assert str(error).startswith("hospital.csv, column born+city: fewer than half")
    assert "SECRET" not in str(error) + error.hint
    assert "format" in error.hint


def test_an_impossible_date_keeps_its_digits_and_is_reported():
    good = ["1980-01-31"] * 3
    records = column(["1980-02-30", "1980-13-01", "1980-00-00", *good], BORN)
    assert plain(records, BORN) == ["19800230", "19801301", "19800000", *["19800131"] * 3]
    assert not records["born"].missing.any()
    assert told(records) == [("no day of the calendar, compared by its digits", (1, 2, 3))]


def test_what_is_no_date_is_missing_and_reported():
    good = ["1980-01-31"] * 3
    records = column(["later", "1980", "", "31 January 1980", *good], BORN)
    assert plain(records, BORN) == ["", "", "", "", *["19800131"] * 3]
    assert told(records) == [("missing", (3,)), ("not a date, so missing", (1, 2, 4))]


def test_dates_that_do_not_fit_a_stated_format_are_missing():
    field = kind(kind="date", format="DD/MM/YYYY")
    records = column(["31/01/1980", "1980-01-31"], field)
    assert plain(records, field) == ["19800131", ""]


def test_a_century_that_is_unknown_is_no_evidence_for_or_against():
    short, whole = kind(kind="date", format="DD/MM/YY"), kind(kind="date")
    records = column(["31/01/80"], short)
    assert plain(records, short) == [CATCH_ALL * 2 + "800131"]
    base = Base(whole.public_grams)
    counts = embed(records["x"], base).counts.astype(int)
    for full, far in (("1980-01-31", 2), ("2080-01-31", 2), ("1980-01-30", 4)):
        other = embed(column([full], whole)["x"], base).counts
        assert ((counts - other) ** 2).sum() == far


def test_dates_that_are_all_missing_are_no_error():
    records = column(["", None, " "], BORN)
    assert records["born"].missing.all()
    assert told(records) == [("missing", (1, 2, 3))]


# digits


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("+1 (555) 123-4567", "15551234567"),
        ("0049/30.1234", "0049301234"),
        ("１２３", "123"),
        ("007", "007"),
        ("12a", f"12{CATCH_ALL}"),
        ("-", ""),
    ],
)
def test_digits_lose_their_punctuation_and_nothing_else(text, digits):
    assert list(column([text], PHONE)["phone"]) == [digits]


def test_digits_are_cut_and_reported_like_text():
    records = column(["1" * 16, "1" * 17, "--", "ab1"], PHONE)
    assert [len(text) for text in records["phone"]] == [16, 16, 0, 3]
    assert told(records) == [
        ("nothing left after normalising", (3,)),
        ("longer than 16 symbols, cut", (2,)),
        ("symbols outside the alphabet", (4,)),
        ("more than half outside the alphabet", (4,)),
    ]


def test_numbers_of_a_frame_are_their_digits():
    assert list(column(pl.Series([30, 40]), PHONE)["phone"]) == ["30", "40"]


# categories


def test_a_category_is_spelt_in_letters_and_digits():
    records = column(["Männlich", "nsw", "A-1", "1 b", "?", "é"], SEX)
    assert plain(records, SEX) == ["MANN", "NSW", "A1", "1B", "", "E"]
    assert told(records) == [
        ("nothing left after normalising", (5,)),
        ("longer than 4 symbols, cut", (1,)),
    ]


def test_a_category_outside_its_alphabet_is_reported():
    records = column(["м", "M"], SEX)
    assert plain(records, SEX) == [CATCH_ALL, "M"]
    assert told(records) == [
        ("symbols outside the alphabet", (1,)),
        ("more than half outside the alphabet", (1,)),
    ]


# where a problem is


def test_a_problem_knows_all_of_its_records_though_it_names_few(write):
    lines = [f"{n}," + ("" if n % 2 else "Ng") for n in range(30)]
    records = read_records(write("\n".join(["id,surname", *lines])), SCHEMA)
    (problem,) = records.problems
    assert problem.count == 15
    assert problem.rows == tuple(range(3, 23, 2))  # of the file, whose header is row 1
    assert problem.places.tolist() == list(range(1, 30, 2))  # of the records
    assert [records.rows[place] for place in problem.places[:10]] == list(problem.rows)
