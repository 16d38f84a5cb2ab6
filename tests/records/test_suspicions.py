import polars as pl
import pytest

from gramlink.records.fields import Field
from gramlink.records.quality import assess
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema
from gramlink.records.suspicions import LEAST_COMMON, TOO_COMMON


def of_one(*cells, **settings):
    """What is found in a column of these cells, and nothing else."""
    schema = Schema(fields=(Field(name="it", **settings),))
    table = {"id": [f"id{place}" for place in range(len(cells))], "it": cells}
    records = read_records(pl.DataFrame(table, dict.fromkeys(table, pl.String)), schema)
    return assess(records, schema).fields[0]


def told(problems):
    return [(problem.what, problem.count, problem.rows) for problem in problems]


def test_a_date_that_fills_three_percent_is_suspicious():
    days = [
        f"{1950 + place // 300}-{1 + place % 12:02}-{1 + place % 28:02}" for place in range(970)
    ]
    cells = ["1900-01-01"] * 15 + days + ["1900-01-01"] * 15
    (suspicion,) = of_one(*cells, kind="date").suspicions
    expected = (
        "column it: the same value, 3.0 % of all, in 30 rows: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..."
    )
    assert str(suspicion) == expected
    assert suspicion.places.tolist() == [*range(15), *range(985, 1000)]


def names(count):
    return ["Q" + "".join(chr(65 + int(d)) for d in f"{place:04}") for place in range(count)]


def test_a_surname_of_eight_percent_is_suspicious_and_one_of_five_is_not():
    assert told(of_one(*["Ng"] * 80, *names(920)).suspicions) == [
        ("the same value, 8.0 % of all,", 80, tuple(range(1, 11)))
    ]
    assert of_one(*["Ng"] * 50, *names(950)).suspicions == ()
    assert len(of_one(*["Ng"] * 51, *names(949)).suspicions) == 1


def test_shares_are_of_the_values_that_are_there():
    (suspicion,) = of_one(*["Ng"] * 10, *names(90), *[None] * 900).suspicions
    assert "10.0 %" in suspicion.what


def test_a_few_equal_values_of_a_small_file_are_no_suspicion():
    assert LEAST_COMMON == 10
    assert of_one(*["Ng"] * 9, *names(20)).suspicions == ()
    assert len(of_one(*["Ng"] * 10, *names(20)).suspicions) == 1


def test_the_most_common_values_come_first_and_not_all_are_named():
    cells = [letter * 2 for place, letter in enumerate("ABCDE") for _ in range(10 + place)]
    assert [one.count for one in of_one(*cells).suspicions] == [14, 13, 12]


def test_a_category_may_be_as_common_as_it_likes():
    assert of_one(*["F"] * 999, "M", kind="category").suspicions == ()


@pytest.mark.parametrize("kind", ["text", "digits", "category"])
def test_a_field_of_one_value_tells_nobody_apart(kind):
    (suspicion,) = of_one("7", "", "7", kind=kind).suspicions
    assert str(suspicion) == "column it: the same value throughout, that is, in 2 rows: 1, 3"
    assert of_one("7", "", kind=kind).suspicions == ()


@pytest.mark.parametrize("kind", ["text", "digits", "category", "date"])
def test_a_field_that_is_missing_throughout_is_suspicious(kind):
    field = of_one(None, "", kind=kind)
    assert told(field.suspicions) == [("missing throughout, that is,", 2, (1, 2))]
    assert (field.values, field.distinct, field.missing) == (0, 0, 2)


def test_fillers_of_one_symbol_are_found_however_few():
    what = "a filler of one symbol"
    phones = ["000", "99999", "00", "9", "1111", "090", "0000000", "", "x00"]
    assert told(of_one(*phones, kind="digits").suspicions) == [(what, 3, (1, 2, 7))]
    assert told(of_one("xxx", "Ng", "X X X", "xx", "Xxxx", "яяя", "").suspicions) == [
        (what, 2, (1, 5))
    ]
    mixed = Field(name="house", alphabet="ABC 0123456789").alphabet
    assert told(of_one("111", "000", "aaa", "a00", alphabet=mixed).suspicions) == [
        (what, 2, (2, 3))
    ]


def test_a_filler_is_not_said_to_be_common_too():
    assert [one.what for one in of_one(*["000000"] * 20, *map(str, range(20)), kind="digits")
            .suspicions] == ["a filler of one symbol"]  # fmt: skip


def test_names_in_other_scripts_are_no_fillers():
    assert of_one("田中中", "Иванов", "Ng").suspicions == ()
    assert of_one("яяя", "xxx", "F", kind="category").suspicions == ()


def test_what_is_too_common_is_the_same_for_everybody():
    with pytest.raises(TypeError):
        TOO_COMMON["text"] = 1.0
