"""What a Parquet file says of itself: taken if it can be so, and refused in our words if not."""

import io
import struct
from contextlib import suppress

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.io.parquet import (
    LONGEST_FOOTER,
    MOST_COLUMNS,
    Damaged,
    check_text,
    footer_of,
    from_bytes,
    to_bytes,
)
from hostile.lying_parquet import MAGIC, claiming, one_text, relabelled, repeated, run_lengths

FRAME = pl.DataFrame(
    {
        "id": ["a", "b", "c"],
        "n": [1, None, 3],
        "x": [1.5, None, 2.5],
        "yes": [True, False, None],
        "list": [[1, 2], [], None],
        "record": [{"a": 1, "b": [{"c": "x"}]}] * 3,
        "nothing": pl.Series([None] * 3, dtype=pl.Null),
        "array": pl.Series([[1, 2, 3]] * 3, dtype=pl.Array(pl.UInt8, 3)),
        "kind": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        "day": pl.Series([0, 1, None], dtype=pl.Date),
    }
)


def written(frame=FRAME, **options):
    file = io.BytesIO()
    frame.write_parquet(file, **options)
    return file.getvalue()


GOOD = written()


def damaged(data, why=""):
    with pytest.raises(Damaged) as caught:
        footer_of(data)
    assert why in str(caught.value)


@pytest.mark.parametrize("frame", [FRAME, FRAME.head(0), pl.concat([FRAME] * 50)])
@pytest.mark.parametrize("options", [{}, {"row_group_size": 7}, {"use_pyarrow": True}])
def test_the_columns_and_rows_of_a_sound_file_are_known(frame, options, tmp_path):
    data = written(frame, **options)
    footer = footer_of(data)
    assert footer.names == tuple(frame.columns)
    assert (footer.rows, footer.size) == (len(frame), len(data))
    (tmp_path / "x").write_bytes(data)
    assert footer_of(tmp_path / "x") == footer


def test_what_reading_takes_grows_with_the_values_of_the_columns_that_are_read():
    footer = footer_of(written(pl.DataFrame({"a": range(100_000), "b": ["x"] * 100_000})))
    assert footer.bytes_of[0] >= 8 * 100_000
    one, both = footer.limits([0]), footer.limits([0, 1])
    assert one.memory < both.memory
    assert one.seconds < both.seconds
    assert footer.limits([0, 1], rows=10).memory < one.memory
    assert footer.limits([]).memory >= 10**9


def test_a_file_that_claims_more_than_its_size_allows_is_refused():
    footer = footer_of(claiming(one_text(1000, 4), 20_000_000))
    with pytest.raises(Damaged, match="and claims to hold"):
        footer.limits([0, 1])
    footer.limits([0, 1], rows=10_000)  # of which it is enough to read the start


def test_a_text_that_stands_in_every_row_counts_each_time():
    frame = pl.DataFrame({"a": ["x" * 100] * 5, "b": range(5)})
    check_text(frame, 500)
    with pytest.raises(Damaged, match="500 bytes of text, 499 at most"):
        check_text(frame, 499)


@pytest.mark.parametrize(
    ("frame"), [FRAME.drop("kind"), FRAME.drop("kind").head(0), pl.DataFrame({"a": ["é", None]})]
)
def test_frames_travel_as_they_are(frame):
    assert from_bytes(to_bytes(frame)).equals(frame)
    assert from_bytes(to_bytes(frame)).schema == frame.schema


# lies


def group(footer):
    return footer[4][1][1][0]


def chunk(footer, column=0):
    return group(footer)[1][1][1][column][3][1]


def lie(change):
    return relabelled(GOOD, change)


def test_the_hand_written_footer_is_a_good_one():
    assert footer_of(lie(lambda _: None)).names == tuple(FRAME.columns)


LIES = {
    "fewer rows than its groups": (lambda f: f.update({3: (6, 2)}), "row groups"),
    "less than no rows": (lambda f: f.update({3: (6, -1)}), "impossible number of rows"),
    "rows without number": (lambda f: f.update({3: (6, 2**62)}), "impossible number of rows"),
    "rows that are text": (lambda f: f.update({3: (8, b"3")}), "cannot be read"),
    "no rows at all": (lambda f: f.pop(3), "cannot be read"),
    "no columns at all": (lambda f: f.pop(2), "cannot be read"),
    "a group of other rows": (lambda f: group(f).update({3: (6, 4)}), "row groups"),
    "a group without a column": (lambda f: group(f)[1][1][1].pop(), "all columns"),
    "other values than rows": (lambda f: chunk(f).update({5: (6, 7)}), "as many values"),
    "less than no values": (lambda f: chunk(f, 4).update({5: (6, -7)}), "impossible size"),
    "less than no bytes": (lambda f: chunk(f).update({7: (6, -1)}), "impossible size"),
    "a column before the file": (lambda f: chunk(f).update({9: (6, -1)}), "impossible size"),
    "a column behind the file": (lambda f: chunk(f).update({9: (6, 10**6)}), "impossible size"),
    "a dictionary before it": (lambda f: chunk(f).update({11: (6, -5)}), "impossible size"),
    "a column larger than it": (lambda f: chunk(f).update({7: (6, 10**6)}), "impossible size"),
    "another type": (lambda f: chunk(f).update({1: (5, 2)}), "impossible size, place or type"),
    "an unknown type": (lambda f: f[2][1][1][1].update({1: (5, 77)}), "or type"),
    "a name that is no text": (lambda f: f[2][1][1][1].update({4: (8, b"\xff")}), "cannot be read"),
    "more columns than it lists": (lambda f: f[2][1][1][0].update({5: (5, 99)}), "form a table"),
    "fewer columns": (lambda f: f[2][1][1][0].update({5: (5, 1)}), "form a table"),
    "less than no columns": (lambda f: f[2][1][1][0].update({5: (5, -1)}), "form a table"),
}


@pytest.mark.parametrize(("change", "why"), LIES.values(), ids=LIES)
def test_a_footer_that_contradicts_itself_is_refused(change, why):
    damaged(lie(change), why)


def test_a_table_of_billions_of_values_in_a_few_bytes_is_seen_for_what_it_is():
    runs = run_lengths(["0"] * 10, "counts", 1000)
    with pytest.raises(Damaged, match="claims to hold"):
        footer_of(claiming(runs, 10**6)).limits(range(2))


def test_columns_that_are_the_same_bytes_are_refused():
    counts = pa.FixedSizeListArray.from_arrays(pa.array(range(10_000), pa.uint16()), 100)
    table = pa.table({"id": pa.array(["0"] * 100, pa.large_string()), "counts": counts})
    file = io.BytesIO()
    pq.write_table(table, file, compression="none", use_dictionary=False)
    damaged(repeated(file.getvalue(), "counts", "abcdefgh", 100), "more room than the whole file")


def test_billions_of_rows_that_are_not_there_are_refused():
    data = claiming(written(FRAME.select("id", "n")), 3 * 10**9)
    with pytest.raises(Damaged, match="claims to hold"):
        footer_of(data).limits(range(2))


def test_more_columns_than_a_table_can_have_are_refused():
    frame = pl.DataFrame({f"c{n}": [] for n in range(MOST_COLUMNS + 1)})
    damaged(written(frame), "form a table")


def raw(footer, length=None):
    length = len(footer) if length is None else length
    return MAGIC + footer + struct.pack("<I", length) + MAGIC


@pytest.mark.parametrize(
    "data",
    [
        b"", MAGIC, MAGIC * 2, MAGIC + bytes(4) + MAGIC, raw(b""), raw(b"\0" * 9, 10),
        raw(b"\0" * 9, 2**32 - 1), raw(b"\0" * 9, LONGEST_FOOTER + 1), raw(b"\0" * 20),
        raw(b"\x19" * 10**5), raw(b"\x1c" * 10**5),  # lists and structs without an end
        raw(b"\x29\xfc" + b"\xff" * 8 + b"\1"),  # a list of more structs than there are bytes
        raw(b"\x15" + b"\xff" * 10**6), raw(b"\x18" + b"\xff" * 8 + b"\1"),
        GOOD[:-1] + b"E", GOOD[:-1], GOOD + b"x",
    ],
    ids=range(17),
)  # fmt: skip
def test_a_footer_that_is_none_is_refused_at_once(data):
    damaged(data)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(1, 1500), st.integers(0, 255)), min_size=1, max_size=3))
def test_whatever_is_changed_in_a_footer_no_other_error_comes_of_it(changes):
    data = bytearray(GOOD)
    for place, value in changes:
        data[-min(place, len(data))] = value
    with suppress(Damaged):
        footer = footer_of(bytes(data))
        assert footer.rows >= 0
        footer.limits(range(len(footer.names)))


@given(st.binary(max_size=100))
def test_no_bytes_at_all_are_anything_but_damaged(footer):
    damaged(raw(footer))
