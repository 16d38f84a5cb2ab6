"""Of columns that say the same, a proposal keeps the parts that are well filled."""

import random

import polars as pl
import pytest

from gramlink.lab.datasets import persons
from gramlink.records.proposal.columns import Sample, propose
from gramlink.records.proposal.pair import propose_both
from gramlink.records.schema import load_schema

COUNT = 300
PERSONS = persons(COUNT, seed=1).left.to_dicts()
GIVEN = [person["given_name"] or "ANN" for person in PERSONS]
SURNAME = [person["surname"] or "NG" for person in PERSONS]
STREET = [person["street"] or "1 MAIN ST" for person in PERSONS]
CITY = [person["city"] or "YORK" for person in PERSONS]
POSTCODE = [person["postcode"] or "12345" for person in PERSONS]
PHONE = [person["phone"] or "5550101" for person in PERSONS]
BORN = [person["date_of_birth"] or "1980-02-01" for person in PERSONS]
YEAR, MONTH, DAY = (list(parts) for parts in zip(*(day.split("-") for day in BORN), strict=True))
MIDDLE = [random.Random(n).choice(["", "LEE", "MAY", "JO"]) for n in range(COUNT)]
NONE = [""] * COUNT


def sample(columns, name="a.csv"):
    cells = {"id": [f"i{n}" for n in range(COUNT)], **columns}
    return Sample(name, {key: pl.Series(key, cell, pl.String) for key, cell in cells.items()}, {})


def proposed(**columns):
    """The columns that are kept, and why the others are not."""
    proposal = propose(sample(columns))
    return [field.columns[0] for field in proposal.fields], dict(proposal.left_out)


def joined(*columns, by=" "):
    return [by.join(filter(None, cells)) for cells in zip(*columns, strict=True)]


def some(cells, share):
    """The cells of a share of all records."""
    return [cell if n % 100 < 100 * share else "" for n, cell in enumerate(cells)]


# names


@pytest.mark.parametrize(
    "whole",
    [
        joined(GIVEN, SURNAME),
        joined(SURNAME, GIVEN, by=", "),
        [name.title() for name in joined(GIVEN, SURNAME)],
        [name.lower() for name in joined(GIVEN, SURNAME, by="_")],
        joined(GIVEN, SURNAME, by=""),
        some(joined(GIVEN, SURNAME), 0.3),
    ],
    ids=["words", "turned", "in small letters", "with a bar", "without a blank", "at times"],
)
@pytest.mark.parametrize("name", ["full_name", "x"])
def test_a_name_that_is_there_in_parts_is_not_there_whole(name, whole):
    kept, out = proposed(**{name: whole}, first_name=GIVEN, last_name=SURNAME)
    assert kept == ["first_name", "last_name"]
    assert out == {name: "it is made of first_name and last_name"}


def test_a_name_whole_in_halves_and_in_parts_counts_once():
    halves = {"forenames_used": joined(GIVEN, MIDDLE), "first_and_last": joined(GIVEN, SURNAME)}
    parts = {"first_name": GIVEN, "middle_name": MIDDLE, "surname": SURNAME}
    kept, out = proposed(full_name=joined(GIVEN, MIDDLE, SURNAME), **halves, **parts)
    assert kept == list(parts)
    assert out == {
        "full_name": "it is made of first_name, middle_name and surname",
        "forenames_used": "it is made of first_name and middle_name",
        "first_and_last": "it is made of first_name and surname",
    }


def test_a_full_name_with_titles_is_made_of_a_given_name_and_a_surname():
    titled = [f"{name}, 1st Baron of {city}" for name, city in zip(GIVEN, CITY, strict=True)]
    kept, _ = proposed(full_name=joined(titled, SURNAME), first_name=GIVEN, surname=SURNAME)
    assert kept == ["first_name", "surname"]


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_a_whole_name_is_kept_if_its_parts_are_seldom_known(share):
    few = {"first_name": some(GIVEN, share), "surname": some(SURNAME, share)}
    kept, out = proposed(full_name=joined(GIVEN, SURNAME), **few)
    assert kept == ["full_name"]
    assert out.keys() == few.keys()


def test_a_whole_name_is_kept_if_a_part_is_missing():
    kept, out = proposed(full_name=joined(GIVEN, SURNAME), surname=SURNAME)
    assert kept == ["full_name"]
    assert out == {"surname": "it is part of full_name"}


def test_a_whole_without_its_parts_is_kept():
    assert proposed(full_name=joined(GIVEN, SURNAME), city=CITY)[1] == {}


# addresses


def test_an_address_that_is_there_in_parts_is_not_there_whole():
    parts = {"street": STREET, "city": CITY, "postcode": POSTCODE}
    kept, out = proposed(address=joined(*parts.values(), by=", "), **parts)
    assert kept == list(parts)
    assert out == {"address": "it is made of street, city and postcode"}


def test_an_address_is_kept_for_the_house_number_that_is_nowhere_else():
    names = [street.split(" ", 1)[1] for street in STREET]
    whole = joined(STREET, CITY, POSTCODE)
    kept, out = proposed(address=whole, street=names, city=CITY, postcode=POSTCODE)
    assert kept == ["address", "city", "postcode"]
    assert out == {"street": "it is part of address"}


def test_an_address_with_a_postcode_keeps_both():
    kept, out = proposed(address=joined(STREET, CITY, POSTCODE), postcode=POSTCODE)
    assert (kept, out) == (["address", "postcode"], {})


def test_an_email_with_a_name_in_it_replaces_no_name():
    emails = [
        f"{name}@mail{n % 9}.example" for n, name in enumerate(joined(GIVEN, SURNAME, by="."))
    ]
    kept, _ = proposed(email=emails, first_name=GIVEN, surname=SURNAME)
    assert {"first_name", "surname"} <= set(kept)


# copies and pieces


@pytest.mark.parametrize(
    ("column", "copy"),
    [
        (SURNAME, [name.lower() for name in SURNAME]),
        (joined(GIVEN, SURNAME), joined(SURNAME, GIVEN, by=", ")),
        (PHONE, [f"({phone[:3]}) {phone[3:6]}-{phone[6:]}" for phone in PHONE]),
        (BORN, [f"{d}/{m}/{y}" for y, m, d in zip(YEAR, MONTH, DAY, strict=True)]),
        (CITY, [*CITY[:280], *GIVEN[280:]]),
    ],
    ids=["case", "order", "punctuation", "dates", "not throughout"],
)
def test_of_copies_one_is_kept(column, copy):
    assert proposed(x=column, y=copy) == (["x"], {"y": "it says the same as x"})


def test_the_fullest_copy_is_kept_and_of_these_one_with_a_known_name():
    assert proposed(surname=some(SURNAME, 0.5), x=SURNAME)[0] == ["x"]
    assert proposed(x=SURNAME, surname=SURNAME)[0] == ["surname"]


def test_columns_that_complement_each_other_are_both_kept():
    kept, _ = proposed(x=some(PHONE, 0.6), y=some(PHONE[::-1], 0.6)[::-1])
    assert kept == ["x", "y"]


def test_columns_that_agree_by_chance_are_no_copies():
    often = [random.Random(n).choices("YN", [95, 5])[0] for n in range(2 * COUNT)]
    kept, _ = proposed(smoker=often[:COUNT], driver=often[COUNT:], surname=SURNAME)
    assert kept == ["smoker", "driver", "surname"]


def test_other_things_of_the_same_persons_are_all_kept():
    columns = {"given": GIVEN, "surname": SURNAME, "street": STREET, "city": CITY}
    maiden = [
        other if n % 3 else own for n, (own, other) in enumerate(zip(SURNAME, CITY, strict=True))
    ]
    kept, out = proposed(**columns, maiden_name=maiden, postcode=POSTCODE, phone=PHONE, dob=BORN)
    assert len(kept) == 8
    assert out == {}


@pytest.mark.parametrize(
    ("piece", "whole"),
    [
        ([name[0] for name in GIVEN], GIVEN),
        ([name[:5] for name in SURNAME], SURNAME),
        ([phone[-4:] for phone in PHONE], PHONE),
        ([phone[:3] for phone in PHONE], PHONE),
    ],
    ids=["initial", "cut", "last digits", "first digits"],
)
def test_a_piece_of_a_column_is_left_out(piece, whole):
    assert proposed(x=piece, y=whole) == (["y"], {"x": "it is part of y"})


def test_a_surname_is_kept_beside_a_user_name_that_ends_with_it():
    users = [given[0] + surname for given, surname in zip(GIVEN, SURNAME, strict=True)]
    assert proposed(user=users, surname=SURNAME)[0] == ["user", "surname"]


def test_a_piece_is_kept_if_the_whole_is_seldom_known():
    assert proposed(x=[name[0] for name in GIVEN], y=some(GIVEN, 0.4))[0] == ["x", "y"]


# dates


def test_parts_of_a_date_and_ages_are_left_out():
    ages = [str(2020 - int(year)) for year in YEAR]
    kept, out = proposed(dob=BORN, yob=YEAR, x=[str(int(one)) for one in MONTH], y=DAY, age=ages)
    assert kept == ["dob"]
    part = "it is part of dob"
    assert out == {"yob": part, "x": part, "y": part, "age": "it follows from dob"}


def test_a_year_is_kept_if_the_date_is_seldom_known():
    assert proposed(dob=some(BORN, 0.5), yob=YEAR)[0] == ["dob", "yob"]


# what is said, and two files


def test_columns_that_are_asked_for_are_kept():
    looked = sample({"full_name": joined(GIVEN, SURNAME), "first_name": GIVEN, "surname": SURNAME})
    asked = ["full_name", "surname"]
    assert [field.columns[0] for field in propose(looked, fields=asked).fields] == asked
    both = propose_both(looked, looked, fields=asked)
    assert [[field.columns[0] for field in one.fields] for one in both] == [asked, asked]


def test_names_of_columns_are_fit_for_a_comment(tmp_path):
    proposal = propose(sample({"a\nb\0": SURNAME, "c": SURNAME, "d{e}": SURNAME}))
    assert proposal.left_out == dict.fromkeys(("c", "d{e}"), "it says the same as a b?")
    (tmp_path / "x.toml").write_text(proposal.text)
    assert load_schema(tmp_path / "x.toml")


def test_a_few_records_show_what_repeats_what_and_two_do_not():
    def kept(count):
        columns = {"name": joined(GIVEN, SURNAME), "first": GIVEN, "last": SURNAME}
        cells = {key: pl.Series(key, cells[:count]) for key, cells in columns.items()}
        cells["id"] = pl.Series(list(map(str, range(count))))
        return {field.columns[0] for field in propose(Sample("a.csv", cells, {})).fields}

    assert kept(4) == {"first", "last"}
    assert kept(2) == {"name", "first", "last"}


def test_two_files_keep_what_both_have():
    whole = joined(GIVEN, SURNAME)
    ours = {"full_name": whole, "first_name": GIVEN, "surname": SURNAME, "dob": BORN, "yob": YEAR}
    theirs = {"Name": whole, "dob": BORN, "yob": YEAR, "city": CITY, "full name": whole[::-1]}
    left, right = propose_both(sample(ours), sample(theirs, "b.csv"))
    assert [field.columns[0] for field in left.fields] == ["full_name", "dob"]
    assert [field.columns[0] for field in right.fields] == ["full name", "dob"]
    assert right.left_out["yob"] == "it is part of dob"


def test_what_repeats_others_in_one_file_is_left_out_of_both(tmp_path):
    parts = {"first_name": GIVEN, "surname": SURNAME}
    ours = {"full_name": joined(GIVEN, SURNAME), **parts, "town": CITY, "place": CITY}
    theirs = {"full_name": CITY[::-1], "forename": GIVEN, "last_name": SURNAME, "place": CITY}
    theirs |= {"city": CITY[::-1]}
    proposals = propose_both(sample(ours), sample(theirs, "b.csv"))
    schemas = []
    for proposal in proposals:
        (tmp_path / "x.toml").write_text(proposal.text)
        schemas.append(load_schema(tmp_path / "x.toml"))
    assert schemas[0].agreed == schemas[1].agreed
    assert [field.name for field in schemas[0].fields] == ["given_name", "surname", "city"]
    assert [one.left_out["full_name"] for one in proposals] == [
        "it is made of first_name and surname",
        "it is made of forename and last_name",
    ]
    assert [one.left_out["place"] for one in proposals] == [
        "it says the same as town",
        "it says the same as city",
    ]
