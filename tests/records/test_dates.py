"""Dates in every format, formats told apart, and cells that are no dates."""

from datetime import date
from itertools import permutations, product

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gramlink.errors import InvalidRecords
from gramlink.records.dates import FORMATS, check_format, read_dates, recognise
from reference import dates as reference

PARTS = [("YYYY", "YY"), ("M", "MM", "MMM"), ("D", "DD")]
BREAKS = ["/", "-", " ", ". ", ", ", "_", "\u00a0", "／", "\u200e-\u200e"]
TIMES = ["T00:00:00", " 00:00", " 9:15 AM", "T10:30:00.123Z", " 10:30:00,5 utc", ":10:30:00"]
TIMES += [
    "t23.59.59",
    "-00.00.00.000000",
    " 10:30:00+01",
    "T10:30+01:00",
    " 12:00am -0100",
    " 10:30 GMT",
]

# what dates are written with, and what is like it but is a letter, another digit or a mark
SYMBOLS = "0123456789" * 3 + "//--..::  TtZzJanFEBmaySept,'+_\t\n\u00a0０１２９／：．Ｊ"
SYMBOLS += "٣½〇月éßſ\u0301\u0345\u200e\u3000\ufffd"
TEXT = st.text(SYMBOLS, max_size=12)

DAYS = st.dates(date(1583, 1, 1))
SETTLING = date(1980, 12, 31)  # is a day in one order only, with or without its century


def joined(separators: list[str]) -> list[str]:
    """Every format with these between its parts."""
    orders = [order for parts in product(*PARTS) for order in permutations(parts)]
    return [
        first + left + second + right + third
        for (first, second, third), left, right in product(orders, separators, separators)
        if fits(first, left, second) and fits(second, right, third)
    ]


def fits(before: str, separator: str, after: str) -> bool:
    """Whether it can be told where one part ends and the next begins."""
    return bool(separator) or "MMM" in (before, after) or 1 not in (len(before), len(after))


ALL = joined(["", "/"])


def written(parts: tuple[int, int, int], date_format: str, name: str = "") -> str:
    """A year, month and day, which need not exist, in a format."""
    year, month, day = parts
    text = date_format.replace("YYYY", f"{year:04}").replace("YY", f"{year % 100:02}")
    text = text.replace("DD", f"{day:02}").replace("D", str(day))
    if "MMM" in text:
        return text.replace("MMM", name or f"{date(2000, month, 1):%B}")
    return text.replace("MM", f"{month:02}").replace("M", str(month))


def write(day: date, date_format: str, name: str = "") -> str:
    return written((day.year, day.month, day.day), date_format, name)


def digits(day: date, date_format: str) -> str:
    year = f"{day.year:04}" if "YYYY" in date_format else f"--{day.year % 100:02}"
    return f"{year}{day.month:02}{day.day:02}"


def read(cells: list[str | None], date_format: str) -> list[tuple[str, bool, bool]]:
    dates = read_dates(pl.Series(cells, dtype=pl.String), date_format)
    return list(zip(dates.digits, dates.unreadable, dates.impossible, strict=True))


def refusal(cells: list[str | None]) -> InvalidRecords:
    with pytest.raises(InvalidRecords) as caught:
        recognise(pl.Series(cells))
    return caught.value


# formats


@pytest.mark.parametrize("date_format", ALL + list(FORMATS))
def test_a_format_in_the_notation_is_returned_as_it_is(date_format):
    assert check_format(date_format) == date_format


def test_a_format_comes_back_in_capitals_and_with_nothing_around_it():
    assert check_format("  yyyy-MM-dd\n") == "YYYY-MM-DD"
    assert check_format("__(ｄｄ．mmm_Yy)__") == "DD.MMM_YY"


@pytest.mark.parametrize(
    ("date_format", "complaint"),
    [
        ("DD/MM", "it needs the year exactly once, as YYYY or YY"),
        ("DD/MM/YYY", "it needs the year exactly once, as YYYY or YY"),
        ("%d/%m/%Y", "it needs the year exactly once, as YYYY or YY"),
        ("DD/MM/YYYY/YYYY", "it needs the year exactly once, as YYYY or YY"),
        ("", "it needs the year exactly once, as YYYY or YY"),
        (" / ", "it needs the year exactly once, as YYYY or YY"),
        ("YYYY-DDD", "it needs the month exactly once, as M or MM or MMM"),
        ("DD MMMM YYYY", "it needs the month exactly once, as M or MM or MMM"),
        ("MM/MM/YYYY", "it needs the month exactly once, as M or MM or MMM"),
        ("YYYY-MM", "it needs the day exactly once, as D or DD"),
        ("YYYY-MM-DDD", "it needs the day exactly once, as D or DD"),
        ("DD/DD/MM/YYYY", "it needs the day exactly once, as D or DD"),
        ("YYYY-MM-DD HH", 'use only Y, M and D, as in "DD/MM/YYYY"'),
        ("1/MM/YYYY", 'use only Y, M and D, as in "DD/MM/YYYY"'),
        ("YYYY年MM月DD", 'use only Y, M and D, as in "DD/MM/YYYY"'),
        ("DMYYYY", "a number of one or two digits cannot touch another number"),
        ("DD/MYYYY", "a number of one or two digits cannot touch another number"),
        ("YYYYM-DD", "a number of one or two digits cannot touch another number"),
        ("MMMDYYYY", "a number of one or two digits cannot touch another number"),
        ("YYYYMMD", "a number of one or two digits cannot touch another number"),
    ],
)
def test_what_is_no_format_is_refused_with_the_reason(date_format, complaint):
    for refuses in (check_format, lambda text: read_dates(pl.Series(["1"]), text)):
        with pytest.raises(ValueError, match="is not a date format") as caught:
            refuses(date_format)
        assert str(caught.value) == f"{date_format!r} is not a date format: {complaint}"


def test_a_long_format_is_cut_in_its_refusal():
    with pytest.raises(ValueError, match=r"\A'XXXXXXXXXXXXXXXXXXXX' is not"):
        check_format("X" * 1000)


# reading


@pytest.mark.parametrize(
    ("cell", "date_format"),
    [
        ("19800201", "YYYYMMDD"),
        ("1980-02-01", "YYYY-MM-DD"),
        ("01/02/1980", "DD/MM/YYYY"),
        ("02/01/1980", "MM/DD/YYYY"),
        ("01.02.1980", "DD.MM.YYYY"),
        ("1/2/1980", "D/M/YYYY"),
        ("01 Feb 1980", "DD MMM YYYY"),
        ("01021980", "DDMMYYYY"),
        ("02011980", "MMDDYYYY"),
        ("0102.1980", "DDMM/YYYY"),
        ("01FEB1980", "DDMMMYYYY"),
        ("February 1, 1980", "MMM DD YYYY"),
    ],
)
def test_a_day_has_the_same_digits_in_every_format(cell, date_format):
    assert read([cell], date_format) == [("19800201", False, False)]
    assert read([cell], date_format.lower()) == [("19800201", False, False)]


@pytest.mark.parametrize(
    "cell",
    [
        "1/2/1980",
        "01-02-1980",
        "01.02.1980 ",
        " 1. 2. 1980",
        "01/2\\1980",
        "'01 02 1980'",
        "１／２／１９８０",
        "\u00a001\u00a002\u00a01980\u00a0",
        "\u200e1\u200e/\u200e2\u200e/\u200e1980",
        "1//2--1980.",
    ],
)
@pytest.mark.parametrize("date_format", ["DD/MM/YYYY", "D/M/YYYY", "DD-MM.YYYY", "D  MM  YYYY"])
def test_separators_read_alike_whatever_they_are(cell, date_format):
    assert read([cell], date_format) == [("19800201", False, False)]


def test_a_year_of_two_digits_leaves_the_century_open():
    assert read(["01/02/80", "1.2.00", "29/2/00", "29/2/01"], "DD/MM/YY") == [
        ("--800201", False, False),
        ("--000201", False, False),
        ("--000229", False, False),
        ("--010229", False, True),
    ]


@pytest.mark.parametrize("name", ["{:%B}", "{:%b}"])
@pytest.mark.parametrize("change", [str, str.upper, str.lower, lambda name: name + "."])
def test_a_month_may_have_its_name_or_an_abbreviation(name, change):
    days = [date(1980, month, 7) for month in range(1, 13)]
    names = [change(name.format(day)) for day in days]
    for date_format in ("DD MMM YYYY", "DDMMMYYYY", "MMM D, YYYY", "YYYY-MMM-D"):
        cells = [write(day, date_format, name) for day, name in zip(days, names, strict=True)]
        assert read(cells, date_format) == [(f"{day:%Y%m%d}", False, False) for day in days]


def test_september_has_two_abbreviations():
    assert read(["1 Sept 1980", "1-sep-1980"], "DD MMM YYYY") == [("19800901", False, False)] * 2


@pytest.mark.parametrize("cell", ["1 Janu 1980", "1 Ja 1980", "1 Mai 1980", "1 1 1980", "1  1980"])
def test_what_is_no_english_month_is_unreadable(cell):
    assert read([cell], "DD MMM YYYY") == [("", True, False)]


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("date_format", FORMATS)
def test_a_time_of_day_after_the_date_is_ignored(date_format, time):
    day = date(1980, 2, 1)
    cell = write(day, date_format) + time
    assert read([cell, f" {cell} "], date_format) == [(digits(day, date_format), False, False)] * 2


@pytest.mark.parametrize("rest", ["T", " 1", " 10:3", "10:30", " 10:30 Uhr", " 10:30:00:00", "T 1"])
def test_anything_else_after_the_date_makes_it_unreadable(rest):
    assert read(["1980-02-01" + rest], "YYYY-MM-DD") == [("", True, False)]


@pytest.mark.parametrize(
    ("cell", "date_format"),
    [
        ("1021980", "DDMMYYYY"),
        ("0102 1980", "DDMMYYYY"),
        ("01/02/1980", "DDMMYYYY"),
        ("198021", "YYYYMMDD"),
        ("19800201", "YYYY-MM-DD"),
        ("80-02-01", "YYYY-MM-DD"),
        ("01/02/1980", "DD/MM/YY"),
        ("001/02/1980", "DD/MM/YYYY"),
        ("01/02/19800", "DD/MM/YYYY"),
        ("01x02x1980", "DD/MM/YYYY"),
        ("on 01/02/1980", "DD/MM/YYYY"),
        ("/02/1980", "DD/MM/YYYY"),
        ("٠١/٠٢/١٩٨٠", "DD/MM/YYYY"),
        ("01〇02〇1980", "DD/MM/YYYY"),
        ("1980 1 Jan T10:30", "YYYY D MMM"),
        ("unknown", "DD/MM/YYYY"),
        ("-", "DD/MM/YYYY"),
        ("29252", "DD/MM/YYYY"),
    ],
)
def test_what_is_not_in_the_format_is_unreadable(cell, date_format):
    assert read([cell], date_format) == [("", True, False)]


def test_a_missing_cell_is_not_unreadable():
    assert read([None, "", " \t\u00a0\u3000"], "DD/MM/YYYY") == [("", False, False)] * 3
    assert read([], "DD MMM YYYY") == []


def test_columns_of_other_types_are_read_by_their_text():
    missing = read_dates(pl.Series([None, None]), "YYYYMMDD")
    assert missing.digits.to_list() == ["", ""]
    same = pl.Series(["19800201"] * 2, dtype=pl.Categorical)
    assert read_dates(same, "YYYYMMDD").digits.to_list() == ["19800201"] * 2
    assert read_dates(pl.Series([19800201]), "YYYYMMDD").digits.to_list() == ["19800201"]
    assert read_dates(pl.Series([SETTLING]), "YYYY-MM-DD").digits.to_list() == ["19801231"]


@pytest.mark.parametrize("cell", ["19390231", "19001301", "19800100", "19800001", "00000101"])
def test_a_day_that_no_calendar_has_keeps_its_digits(cell):
    assert read([cell], "YYYYMMDD") == [(cell, False, True)]


def test_the_calendar_is_the_gregorian_one():
    years = [0, 1, 4, 100, 400, 1582, 1583, 1899, 1900, 1980, 1999, 2000, 2023, 2024, 2100, 9999]
    parts = list(product(years, range(14), range(33)))
    for date_format in ("YYYYMMDD", "D/M/YYYY", "YYMMDD"):
        cells = [written(part, date_format) for part in parts]
        expected = [reference.read(cell, date_format) for cell in cells]
        assert read(cells, date_format) == expected


def test_a_leap_day_without_a_century_is_possible_every_four_years():
    cells = [f"{year:02}0229" for year in range(100)]
    found = [not impossible for _, _, impossible in read(cells, "YYMMDD")]
    assert found == [year % 4 == 0 for year in range(100)]


@settings(deadline=None)
@given(st.lists(st.dates(), min_size=1), st.sampled_from(ALL), st.data())
def test_every_day_written_in_a_format_is_read_back(days, date_format, data):
    separator, time = data.draw(st.tuples(st.sampled_from(BREAKS), st.sampled_from(["", *TIMES])))
    cells = [write(day, date_format).replace("/", separator) + time for day in days]
    assert read(cells, date_format) == [(digits(day, date_format), False, False) for day in days]


@st.composite
def cells(draw, date_format: str) -> str:
    """A date, which need not exist, nearly in the format; or anything."""
    if draw(st.integers(0, 7)) == 0:
        return draw(TEXT)
    parts = draw(st.tuples(st.integers(0, 9999), st.integers(1, 12), st.integers(0, 40)))
    text = written(parts, date_format).replace("/", draw(st.sampled_from(BREAKS)))
    text += draw(st.sampled_from(["", "", *TIMES]))
    place, wrong = draw(st.tuples(st.integers(0, len(text)), st.integers(0, 3)))
    if wrong == 0:
        return text[:place] + text[place + 1 :]
    if wrong == 1:
        return text[:place] + draw(st.sampled_from(SYMBOLS)) + text[place:]
    return text


@settings(deadline=None, max_examples=300)
@given(st.data(), st.sampled_from(ALL))
def test_reading_agrees_with_its_definition(data, date_format):
    column = data.draw(st.lists(st.none() | cells(date_format), max_size=10))
    assert read(column, date_format) == [reference.read(cell, date_format) for cell in column]


@settings(deadline=None)
@given(st.text() | TEXT, st.sampled_from(ALL))
@example("\ufdfa" * 100, "DD/MM/YYYY")
def test_each_cell_is_missing_unreadable_or_a_date(cell, date_format):
    ((found, unreadable, impossible),) = read([cell], date_format)
    assert len(found) == (8 if cell.strip() and not unreadable else 0)
    assert not (unreadable and impossible)


# recognising


@settings(deadline=None)
@given(st.lists(DAYS), st.sampled_from(FORMATS), st.sampled_from(BREAKS), st.randoms())
def test_the_format_of_a_column_is_recognised(days, date_format, separator, random):
    days = [*days, SETTLING]
    random.shuffle(days)
    column = [write(day, date_format).replace("/", separator) for day in days]
    assert recognise(pl.Series(column)) == date_format
    assert read(column, date_format) == [(digits(day, date_format), False, False) for day in days]


@pytest.mark.parametrize("date_format", ["D/M/YYYY", "D.MM.YYYY", "DD-M-YYYY"])
def test_days_and_months_of_one_digit_are_recognised(date_format):
    column = [write(day, date_format) for day in (date(1980, 2, 1), SETTLING)]
    assert recognise(pl.Series(column)) == "DD/MM/YYYY"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (["01/02/1980", "13/02/1980"], "DD/MM/YYYY"),
        (["01/02/1980", "02/13/1980"], "MM/DD/YYYY"),
        (["13/02/1980"] * 2 + ["02/13/1980"], "DD/MM/YYYY"),
        (["01021980", "02131980"], "MMDDYYYY"),
        (["01/02/03", "13/02/80"], "DD/MM/YY"),
        (["01/02/03", "80/02/13"], "YY-MM-DD"),
        (["01JAN1980", "1 Feb. 1980"], "DD MMM YYYY"),
        (["Jan 1, 1980", "Feb  1 1980 12:00AM"], "MMM DD YYYY"),
        (["1980-Jan-01"], "YYYY MMM DD"),
        (["01-JAN-80"], "DD MMM YY"),
        (["123180"], "MMDDYY"),
        (["311280"], "DDMMYY"),
        (["1980-02-01 00:00:00"], "YYYY-MM-DD"),
        (["01/02/1980 00:00", "31/12/1980 00:00"], "DD/MM/YYYY"),
        (["1980-02-01", "unknown"], "YYYY-MM-DD"),
        (["31/12/1980", "1980-02-01"], "YYYY-MM-DD"),
        (["1980-02-01", "2000-02-30"], "YYYY-MM-DD"),
        (["1980-02-01", None, "", " ", None], "YYYY-MM-DD"),
    ],
)
def test_the_values_decide(column, expected):
    assert recognise(pl.Series(column)) == expected


def test_children_born_in_2005_are_not_taken_for_days_of_long_ago():
    # 20050317 is 20 May 317, too
    assert recognise(pl.Series(["20050317", "20051231"])) == "YYYYMMDD"


def test_it_does_not_matter_which_comes_first_if_every_day_is_its_month():
    assert recognise(pl.Series(["01/01/1980", "12.12.1980"])) == "DD/MM/YYYY"
    assert recognise(pl.Series(["01011980"])) == "DDMMYYYY"


@pytest.mark.parametrize(
    ("column", "orders", "stated"),
    [
        (["01/02/1980"], "day first or month first", '"DD/MM/YYYY" or "MM/DD/YYYY"'),
        (["1.2.1980", "1.1.1980"], "day first or month first", '"DD/MM/YYYY" or "MM/DD/YYYY"'),
        (["13/02/1980", "02/13/1980"], "day first or month first", '"DD/MM/YYYY" or "MM/DD/YYYY"'),
        (["01021980"], "day first or month first", '"DDMMYYYY" or "MMDDYYYY"'),
        (["01/02/80"], "day first or month first", '"DD/MM/YY" or "MM/DD/YY"'),
        (["13/02/05"], "day first or year first", '"DD/MM/YY" or "YY-MM-DD"'),
        (
            ["010203"],
            "day first or month first or year first",
            '"DDMMYY" or "MMDDYY" or "YYMMDD"',
        ),
    ],
)
def test_days_and_months_that_cannot_be_told_apart_are_refused(column, orders, stated):
    error = refusal([*column, None])
    assert str(error) == f"the dates could be {orders}"
    assert error.hint == f"state `format = {stated}` for the field"


@pytest.mark.parametrize(
    "column",
    [
        ["unknown"],
        ["Smith", "Jones", "01/13/1980"],
        ["1980-02-01", "1980-02-30", "1980-13-01"],
        ["29252", "29253"],
        ["0980-02-01"],
        ["1980-02-01", "31/12/1980", "Jan 1 1980"],
    ],
)
def test_a_column_that_is_hardly_one_of_dates_is_refused(column):
    error = refusal([*column, None, None, None])
    assert str(error) == "fewer than half of the values are dates"
    assert error.hint == 'state the format of the field, such as `format = "DD/MM/YYYY"`'


@pytest.mark.parametrize("column", [[], [None], ["", " "], ["\u00a0"]])
def test_a_column_in_which_all_is_missing_has_a_format(column):
    assert recognise(pl.Series(column, dtype=pl.String)) == "YYYY-MM-DD"
    assert recognise(pl.Series([None] * len(column))) == "YYYY-MM-DD"


@pytest.mark.parametrize("name", ["", "text", "count", "Y"])
def test_a_column_may_have_any_name(name):
    column = pl.Series(name, ["31/12/1980"])
    assert recognise(column) == "DD/MM/YYYY"
    assert read_dates(column, "DD/MM/YYYY").digits.to_list() == ["19801231"]


@settings(deadline=None)
@given(st.data(), st.lists(st.sampled_from(FORMATS), min_size=1, max_size=3))
def test_recognising_agrees_with_its_definition(data, mixture):
    days = st.tuples(
        st.sampled_from([3, 1231, 1582, 1583, 1980, 2003, 2012]),
        st.integers(1, 12),
        st.integers(1, 14),
    )
    written_days = st.builds(written, days, st.sampled_from(mixture))
    column = data.draw(st.lists(st.one_of(*[written_days] * 4, st.none(), TEXT), max_size=8))
    expected = reference.recognise(column, FORMATS)
    if len(expected) == 1:
        assert {recognise(pl.Series(column, dtype=pl.String))} == expected
    else:
        error = refusal(column)
        assert {name for name in FORMATS if f'"{name}"' in error.hint} == (
            expected or {"DD/MM/YYYY"}
        )
        assert str(error).startswith("the dates could be" if expected else "fewer than half")
