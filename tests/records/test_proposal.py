"""Proposals load, are right about usual files, and hold nothing of a record."""

import gzip
import json
import re
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gramlink
from gramlink.errors import GramlinkError, InvalidRecords
from gramlink.lab.datasets import persons
from gramlink.records.dates import FORMATS
from gramlink.records.fields import ALPHABET, DIGITS, LETTERS, Field
from gramlink.records.proposal.columns import (
    TOO_MANY,
    TWICE,
    UNREADABLE,
    Sample,
    choose_id,
    propose,
    read_sample,
    unique_names,
)
from gramlink.records.proposal.guess import (
    AMBIGUOUS,
    CONSTANT,
    CYRILLIC,
    EMPTY,
    FREE_TEXT,
    GREEK,
    IDS,
    NEARLY_EMPTY,
    NOT_DATES,
    OTHER_SCRIPT,
    PLACEHOLDERS,
    ROWS,
    SCRIPT,
    SEX_CODES,
    STAMP,
    guess,
)
from gramlink.records.proposal.headings import heading_of, plain
from gramlink.records.proposal.pair import (
    BY_SPELLING,
    NOT_THERE,
    TWO_KINDS,
    TWO_LENGTHS,
    TWO_SCRIPTS,
    propose_both,
)
from gramlink.records.proposal.placeholders import PUBLIC
from gramlink.records.proposal.proposal import TEXT_SETTINGS
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema, load_schema

FEBRL = {
    "given_name": "text",
    "surname": "text",
    "street_number": "digits",
    "address_1": "text",
    "address_2": "text",
    "suburb": "text",
    "postcode": "digits",
    "state": "category",
    "date_of_birth": "date",
    "soc_sec_id": "digits",
}
WITH_DIGITS = ALPHABET + DIGITS
MANY = [f"{chr(65 + i % 26)}{chr(65 + i // 26)}NAME" for i in range(300)]


def sample(columns, name="a.csv"):
    """A look at columns of cells."""
    cells = {column: pl.Series(values, dtype=pl.String) for column, values in columns.items()}
    return Sample(name, cells, {})


def with_ids(columns):
    count = max(map(len, columns.values()))
    return sample({"id": [f"i{number}" for number in range(count)], **columns})


def loaded(proposal, folder) -> Schema:
    (folder / "proposed.toml").write_text(proposal.text, "utf-8")
    return load_schema(folder / "proposed.toml")


def guessed(column, values):
    return guess(heading_of(column), pl.Series(values, dtype=pl.String))


def kinds(proposal):
    return {field.name: field.guess.kind for field in proposal.fields}


# usual files


@pytest.fixture(scope="module")
def febrl(tmp_path_factory):
    """The files of FEBRL 4, as they are published."""
    folder = tmp_path_factory.mktemp("febrl")
    for name in ("febrl4a.csv", "febrl4b.csv"):
        data = files("gramlink.lab.datasets").joinpath("data", f"{name}.gz").read_bytes()
        (folder / name).write_bytes(gzip.decompress(data))
    return folder


@pytest.mark.parametrize("name", ["febrl4a.csv", "febrl4b.csv"])
def test_each_file_of_febrl_gets_the_fields_it_has(febrl, name):
    proposal = propose(read_sample(febrl / name))
    schema = loaded(proposal, febrl)
    assert {field.name: field.kind for field in schema.fields} == FEBRL
    assert (schema.id, schema.edits, schema.epsilon) == ("rec_id", 2, 1)
    assert schema["address_1"].alphabet == schema["address_2"].alphabet == WITH_DIGITS
    assert schema["suburb"].alphabet == ALPHABET
    assert schema["date_of_birth"].format == "YYYYMMDD"
    assert {name: float(schema[name].share) for name in schema.costs if schema.costs[name]} == {
        "given_name": 2,
        "surname": 2,
        "address_1": 1,
        "address_2": 1,
        "suburb": 0.5,
    }
    assert schema.swaps == (("given_name", "surname"), ("address_1", "address_2"))
    assert proposal.left_out == {}
    assert len(read_records(febrl / name, schema)) == 5000


def test_both_files_of_febrl_agree(febrl, tmp_path):
    samples = [read_sample(febrl / name) for name in ("febrl4a.csv", "febrl4b.csv")]
    alone = [loaded(propose(one), tmp_path).digest for one in samples]
    both = [loaded(one, tmp_path).digest for one in propose_both(*samples)]
    assert len({*alone, *both}) == 1


def test_invented_persons_get_the_fields_they_have(tmp_path):
    proposal = propose(sample(persons(1000, seed=1).left.to_dict()))
    schema = loaded(proposal, tmp_path)
    assert schema.id == "id"
    assert {field.name: field.kind for field in schema.fields} == {
        "given_name": "text",
        "surname": "text",
        "sex": "category",
        "date_of_birth": "date",
        "street": "text",
        "city": "text",
        "postcode": "digits",
        "phone": "digits",
    }
    assert schema["sex"].length == 1
    assert schema["street"].alphabet == WITH_DIGITS
    assert schema.swaps == (("given_name", "surname"),)


def test_fields_that_people_swap_are_named_if_both_are_there_and_are_text(tmp_path):
    names = {"first name": MANY, "last name": MANY[::-1]}
    assert loaded(propose(with_ids(names)), tmp_path).swaps == (("given_name", "surname"),)
    assert loaded(propose(with_ids({"surname": MANY})), tmp_path).swaps == ()


def test_other_persons_in_the_same_columns_get_the_same_text():
    texts = {
        propose(sample(file.to_dict())).text
        for count, seed in ((500, 1), (700, 2), (2000, 3))
        for file in (persons(count, seed=seed).left, persons(count, seed=seed).right)
    }
    assert len(texts) == 1


def test_a_file_of_one_field_is_linked_by_one_typo(tmp_path):
    schema = loaded(propose(with_ids({"surname": MANY})), tmp_path)
    assert (len(schema.fields), schema.edits, schema.fields[0].size) == (1, 1, 1000)


def test_the_settings_in_the_comments_are_what_holds_without_them(tmp_path):
    text = propose(with_ids({"surname": MANY})).text
    text = re.sub(r"size = 1000 .*\n", "", text)
    (tmp_path / "plain.toml").write_text(text)
    head, _, rest = text.partition("share = 2\n")
    (tmp_path / "stated.toml").write_text(f"{head}share = 2\n{TEXT_SETTINGS}{rest}")
    assert load_schema(tmp_path / "stated.toml") == load_schema(tmp_path / "plain.toml")
    assert load_schema(tmp_path / "plain.toml") == Schema(
        fields=(Field(name="surname", column="surname", share=2),)
    )


# kinds


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [
        ("surname", ["MILLER", "O'Neill"], "text"),
        ("surname", ["LI", "NG"] * 100, "text"),
        ("x", MANY, "text"),
        ("x", ["North Carolina", "South Carolina"] * 100, "text"),
        ("state", ["North Carolina", "South Carolina"] * 100, "text"),
        ("state", ["NSW", "VIC", "QLD"], "category"),
        ("x", ["NSW", "VIC", "QLD"] * 10, "category"),
        ("x", ["yes", "no"] * 10, "category"),
        ("x", ["0", "1"] * 10, "category"),
        ("Gender", ["male", "female"], "category"),
        ("sex", ["1", "2"], "category"),
        ("sex", [], "category"),
        ("marital status", ["married", "divorced"], "category"),
        ("marital status", ["married", "in a registered partnership"], "text"),
        ("x", ["public", "private"] * 10, "category"),
        ("x", MANY[:13] * 10, "text"),
        ("state", MANY, "text"),
        ("postcode", ["2041", "0800"], "digits"),
        ("postcode", ["SW1A 1AA", "EC1A 1BB"], "text"),
        ("phone", ["+61 (0)2 9999-1234", "02 1234 5678"], "digits"),
        ("ssn", ["078-05-1120", "219-09-9999"], "digits"),
        ("house_number", ["1", "2"] * 100, "digits"),
        ("x", ["12", "31"] * 100, "digits"),
        ("house_number", ["1", "12", "7A", "7B"], "text"),
        ("dob", ["1980-12-31", "unknown"], "date"),
        ("x", ["31.12.1980", "1.2.1999"], "date"),
        ("x", ["31 Dec 1980", "1 Feb 1999"], "date"),
        ("x", ["1980-12-31"] * 2 + ["soon"], "text"),
        ("birth_date", ["1980-12-31"] * 2 + ["soon"], "date"),
        ("yob", ["1980", "1981"], "digits"),
        ("dob", [], "date"),
        ("phone", ["19801231", "19991201"], "digits"),
        ("x", ["٠١٢٣", "٤٥٦٧"], "text"),
    ],
)
def test_the_kind_of_a_column(column, values, kind):
    assert guessed(column, values).kind == kind


@pytest.mark.parametrize("name", [name for name in FORMATS if "MMM" not in name])
def test_every_format_of_dates_is_recognised(name):
    days = [("1980", "12", "31"), ("1975", "07", "14"), ("1999", "01", "28")]
    written = [
        name.replace("YYYY", y).replace("YY", y[2:]).replace("MM", m).replace("DD", d)
        for y, m, d in days
    ]
    found = guessed("born", written)
    assert found.kind == "date"
    if AMBIGUOUS not in found.checks:
        assert found.format == name


@pytest.mark.parametrize("separator", ["/", "-", "."])
def test_a_day_that_may_be_a_month_is_to_be_checked(separator, tmp_path):
    cells = [separator.join(day) for day in (("01", "02", "1980"), ("12", "11", "1999"))]
    proposal = propose(with_ids({"dob": cells, "surname": ["A", "B"]}))
    assert loaded(proposal, tmp_path)["date_of_birth"].format == "DD/MM/YYYY"
    assert f"# check: {AMBIGUOUS}\n[fields.date_of_birth]" in proposal.text


def test_what_is_called_a_date_and_is_none_is_to_be_checked():
    assert NOT_DATES in guessed("dob", ["soon", "later"]).checks
    assert NOT_DATES not in guessed("dob", []).checks
    assert NOT_DATES not in guessed("birth_city", ["Paris", "Rome"]).checks


def test_sexes_in_numbers_may_need_codes(tmp_path):
    proposal = propose(with_ids({"sex": ["1", "2", "9"], "surname": ["A", "B", "C"]}))
    assert SEX_CODES in proposal.fields[0].guess.checks
    assert loaded(proposal, tmp_path)["sex"].missing == ("9",)
    (tmp_path / "coded.toml").write_text(proposal.text.replace("# codes", "codes"))
    assert load_schema(tmp_path / "coded.toml")["sex"].codes == {"1": "M", "2": "F"}


@pytest.mark.parametrize(
    ("values", "alphabet"),
    [
        (["Иванов", "Толстой", "Ёлкин"], CYRILLIC + " "),
        (["улица Мира 5", "улица Ленина 7"], CYRILLIC + " " + DIGITS),
        (["Παπαδόπουλος", "Γεωργίου"], GREEK + " "),
        (["Müller", "Łukasz", "O'Neill"], ALPHABET),
        (["Ivanov", "Иванов", "Tolstoy", "Smirnova"], ALPHABET),
    ],
)
def test_the_alphabet_is_that_of_the_script(values, alphabet):
    found = guessed("x", values)
    assert (found.kind, found.alphabet) == ("text", alphabet)


@pytest.mark.parametrize("alphabet", [CYRILLIC, GREEK])
def test_an_alphabet_has_all_letters_that_are_left_of_its_script(alphabet):
    assert len(set(alphabet)) == len(alphabet)
    field = Field(name="x", alphabet=alphabet + " ")
    letters = list("ΆΈΉΊΌΎΏϊϋςσ" if alphabet is GREEK else "ЙЁЇЎЃЌйёїўщЪыьэюяґєђљњћџ")
    ids = list(map(str, range(len(letters))))
    records = read_records(pl.DataFrame({"id": ids, "x": letters}), Schema(fields=(field,)))
    assert [p.what for p in records.problems] == []


@pytest.mark.parametrize("values", [["田中", "山本"], ["محمد", "علي"], ["김", "이"]])
def test_a_script_that_is_not_known_is_to_be_checked(values):
    assert OTHER_SCRIPT in guessed("surname", values).checks
    assert OTHER_SCRIPT in guessed("sex", values).checks


def test_a_category_of_another_script_keeps_its_letters(tmp_path):
    proposal = propose(with_ids({"sex": ["М", "Ж"], "группа": ["А", "Б"] * 20}))
    schema = loaded(proposal, tmp_path)
    assert set("МЖ") <= set(schema["sex"].alphabet)
    assert schema["группа"].kind == "category"


# lengths of categories


def with_problems(column, values, folder):
    """What is wrong with the only field of a proposal."""
    table = {"id": list(map(str, range(len(values)))), column: values}
    schema = loaded(propose(sample(table)), folder)
    return [one.what for one in read_records(pl.DataFrame(table), schema).problems]


@pytest.mark.parametrize(
    ("column", "values", "length"),
    [
        ("sex", ["M", "F"], 1),
        ("sex", ["Male", "Female"], 1),
        ("sex", ["male", "FEMALE", "M", "f", "Other"], 1),
        ("Geschlecht", ["männlich", "weiblich", "divers"], 1),
        ("sexe", ["Féminin", "Masculin"], 1),
        ("gender", ["man", "woman"], 9),
        ("gender", ["boy", "girl"], 4),
        ("state", ["NSW", "QLD"], 4),
        ("state", ["Victoria", "Tasmania"], 9),
        ("marital status", ["single", "separated", "de facto"], 9),
        ("x", ["in", "out"] * 10, 4),
        ("x", ["stage 1", "stage 2"] * 10, 7),
    ],
)
def test_no_usual_value_of_a_category_is_cut(column, values, length, tmp_path):
    schema = loaded(propose(with_ids({column: values})), tmp_path)
    assert (schema.fields[0].kind, schema.fields[0].length) == ("category", length)
    assert with_problems(column, values, tmp_path) == []


def test_the_length_of_a_category_says_nothing_of_a_rare_value():
    usual = ["NSW", "QLD"] * 100
    assert guessed("state", usual) == guessed("state", [*usual, "Victoria"])


def test_codes_of_sexes_are_the_same_whichever_of_them_occur():
    assert guessed("sex", ["Male", "Female"]) == guessed("sex", ["female", "M", "intersex"])
    assert guessed("sex", ["M", "F"]).codes == ()
    assert guessed("x", ["male", "female"] * 10).codes == ()


def test_sexes_in_words_and_in_letters_are_equal(tmp_path):
    ours = with_ids({"sex": ["M", "F", "F"]})
    theirs = with_ids({"gender": ["Female", "Male", "unknown"]})
    schemas = [loaded(one, tmp_path) for one in propose_both(ours, theirs)]
    assert schemas[0].agreed == schemas[1].agreed
    sexes = [
        list(read_records(pl.DataFrame(dict(file.columns)), schema)["sex"])
        for file, schema in zip((ours, theirs), schemas, strict=True)
    ]
    assert sexes[0][:2] == sexes[1][1::-1]


def test_sexes_in_unknown_words_are_compared_by_their_first_letter(tmp_path):
    proposals = propose_both(with_ids({"sex": ["M", "F"]}), with_ids({"sex": ["mies", "nainen"]}))
    assert [loaded(one, tmp_path)["sex"].length for one in proposals] == [1, 1]
    assert TWO_LENGTHS in proposals[0].fields[0].guess.checks


# shares of epsilon


@pytest.mark.parametrize(
    ("column", "share"),
    [
        ("Last Name", 2),
        ("vorname", 2),
        ("full_name", 2),
        ("street", 1),
        ("address_2", 1),
        ("occupation", 1),
        ("City", 0.5),
        ("suburb", 0.5),
        ("province", 0.5),
    ],
)
def test_a_share_follows_from_the_heading_and_not_from_the_cells(column, share):
    assert {guessed(column, values).share for values in (MANY, ["NG"] * 9, [])} == {share}


def test_two_files_give_a_field_the_larger_of_their_shares(tmp_path):
    proposals = propose_both(with_ids({"surnames": MANY}), with_ids({"surname": MANY}))
    assert {loaded(one, tmp_path)["surname"].share for one in proposals} == {2}


# dates in three columns


@pytest.mark.parametrize(
    ("names", "cells", "name"),
    [
        (("birth_year", "birth_month", "birth_day"), ("1980", "2", "28"), "YYYY-MM-DD"),
        (("birthYear", "birthMonth", "birthDay"), ("1980", "12", "31"), "YYYY-MM-DD"),
        (("by", "bm", "bd"), ("1980", "12", "31"), "YYYY-MM-DD"),
        (("YearOfBirth", "MonthOfBirth", "DayOfBirth"), ("1980", "Dec", "31"), "YYYY MMM DD"),
        (("dob_year", "dob_month", "dob_day"), ("80", "12", "31"), "YY-MM-DD"),
    ],
)
def test_year_month_and_day_are_one_date(names, cells, name, tmp_path):
    year, month, day = ([cell, cell, "", cell] for cell in cells)  # all of one age
    table = {names[2]: day, names[0]: year, "surname": MANY[:4], names[1]: month}
    proposal = propose(with_ids(table))
    schema = loaded(proposal, tmp_path)
    assert [field.name for field in schema.fields] == ["date_of_birth", "surname"]
    assert schema["date_of_birth"].columns == names
    assert schema["date_of_birth"].format == name
    assert proposal.left_out == {}
    records = read_records(pl.DataFrame({"id": list("abcd"), **table}), schema)
    assert records["date_of_birth"].missing.tolist() == [False, False, True, False]


def test_a_date_of_birth_goes_before_its_parts():
    parts = {"yob": ["1980", "1981"], "mob": ["2", "3"], "dayofbirth": ["4", "5"]}
    proposal = propose(with_ids({"dob": ["1980-02-04", "1981-03-05"], **parts}))
    assert kinds(proposal) == {"date_of_birth": "date"}
    assert proposal.fields[0].columns == ("dob",)
    assert proposal.left_out == dict.fromkeys(["yob", "mob", "dayofbirth"], "it is part of dob")
    assert len(propose(with_ids({"dob": ["", ""], **parts})).fields[0].columns) == 3


def test_parts_that_make_no_date_stay_apart():
    parts = {"birth_year": ["old", "young"], "birth_month": ["a", "b"], "birthday": ["c", "d"]}
    assert len(propose(with_ids(parts)).fields) == 3
    assert kinds(propose(with_ids({"birthday": ["1980-12-31", "1981-01-01"]}))) == {
        "date_of_birth": "date"
    }


# what is left out


@pytest.mark.parametrize(
    ("column", "values", "why"),
    [
        ("x", ["", None, "  "], EMPTY),
        ("x", ["n/a", "NULL", "-"], EMPTY),
        ("x", ["clinic", "clinic", ""], CONSTANT),
        ("x", ["clinic", "Clinic"], CONSTANT),
        ("x", [*MANY[:9], *[""] * 91], NEARLY_EMPTY),
        ("surname", [*MANY[:10], *["unknown"] * 90], NEARLY_EMPTY),
        ("surname", [*MANY[:11], *[""] * 89], ""),
        ("notes", ["short", "shorter"], FREE_TEXT),
        ("x", ["much to say " * 20, "more to say " * 30], FREE_TEXT),
        ("x", [f"seen in the clinic for {name} again" for name in MANY], FREE_TEXT),
        ("x", ["one of the same few long sentences", "and of these, another"] * 20, ""),
        ("x", [f"{n} The Long Road, North {name} on Sea" for n, name in enumerate(MANY)], ""),
        ("address", [f"The {name} House, Long Road, New Town" for name in MANY], ""),
        ("exported_at", ["2024-01-02 10:15:00", "2024-01-02 10:15:01"], STAMP),
        ("x", ["2024-01-02 10:15:00", "2024-01-03 10:15:01"], STAMP),
        ("x", ["2024-01-02 00:00:00", "2024-01-03 00:00:00"], ""),
        ("dob", ["1980-01-02 10:15:00", "1990-01-03 10:15:01"], ""),
        ("x", ["17", "18", "19"], ROWS),
        ("postcode", ["2017", "2018", "2019"], ""),
        ("household_id", ["H17", "H17", "H3"], IDS),
        ("x", [f"H-{number * 7}" for number in range(40)], IDS),
        ("ssn", [f"{number * 7}" for number in range(40)], ""),
        ("x", [f"{number * 7} High Street" for number in range(40)], ""),
        ("x", MANY, ""),
    ],
)
def test_columns_that_are_not_fit_are_left_out(column, values, why):
    assert guessed(column, values).unfit == why


def test_what_is_left_out_is_said_and_may_be_asked_for(tmp_path):
    looked = with_ids({"surname": MANY, "clinic": ["same"] * 300})
    assert f"#   clinic: {CONSTANT}\n" in propose(looked).text
    asked = propose(looked, fields=["clinic", "surname", "clinic"])
    assert [field.name for field in loaded(asked, tmp_path).fields] == ["clinic", "surname"]
    assert asked.left_out == {}


def test_columns_of_the_same_name_are_left_out(tmp_path):
    (tmp_path / "x.csv").write_text("id,surname,note,note\n1,MILLER,a,b\n2,SMITH,c,d\n")
    looked = read_sample(tmp_path / "x.csv")
    assert propose(looked).left_out == {"note": TWICE}
    with pytest.raises(InvalidRecords, match=f"'note' cannot be used: {TWICE}"):
        propose(looked, fields=["note"])
    (tmp_path / "x.csv").write_text("note,note\na,b\n")
    with pytest.raises(InvalidRecords, match="2 columns named note"):
        read_sample(tmp_path / "x.csv")


def test_columns_that_are_not_text_spoil_no_other(tmp_path):
    frame = pl.DataFrame(
        {
            "id": [1, 2],
            "surname": ["MILLER", "SMITH"],
            "weight": [70.5, 81.0],
            "well": [True, False],
        }
    )
    frame.write_parquet(tmp_path / "x.parquet")
    proposal = propose(read_sample(tmp_path / "x.parquet"))
    assert kinds(proposal) == {"surname": "text"}
    assert proposal.left_out == {"weight": UNREADABLE, "well": UNREADABLE}
    long = "very " * 1000
    (tmp_path / "x.csv").write_text(f"id,surname,story\n1,MILLER,{long}\n2,SMITH,\n")
    assert propose(read_sample(tmp_path / "x.csv")).left_out == {"story": UNREADABLE}
    (tmp_path / "x.csv").write_text("id,surname\n1,MILLER\n2\n")
    with pytest.raises(InvalidRecords, match="row 3: 1 instead of 2 cells"):
        read_sample(tmp_path / "x.csv")


def test_a_schema_has_no_more_fields_than_it_can(tmp_path):
    others = {
        f"name {n}": [f"{name[:2]}{n}x{i * n % 97}" for i, name in enumerate(MANY)]
        for n in range(60)
    }
    proposal = propose(with_ids(others))
    assert len(loaded(proposal, tmp_path).fields) == 50
    assert set(proposal.left_out.values()) == {TOO_MANY}
    assert len(proposal.left_out) == 10


# placeholders


def test_usual_placeholders_are_missing_values(tmp_path):
    columns = {
        "surname": ["MILLER", "Unknown", "n/a", " - ", "SMITH"],
        "sex": ["M", "U", "F", "M", "unknown"],
        "phone": ["5551234", "", "5553456", "5554567", "5555678"],
    }
    proposal = propose(with_ids(columns))
    schema = loaded(proposal, tmp_path)
    assert schema["surname"].missing == ("N/A", "UNKNOWN", "-")
    assert schema["sex"].missing == ("UNKNOWN", "U")
    assert schema["phone"].missing == ()
    assert f"# check: {PLACEHOLDERS}\n[fields.surname]" in proposal.text
    ids = list(with_ids(columns).columns["id"])
    records = read_records(pl.DataFrame({"id": ids, **columns}), schema)
    assert records["surname"].missing.tolist() == [False, True, True, True, False]


def test_a_name_that_is_a_word_for_nothing_is_one_only_where_it_is_frequent():
    assert guessed("surname", [*MANY, "Null", "Na"]).missing == ()
    assert guessed("surname", [*MANY, *["NULL"] * 10]).missing == ("NULL",)
    assert guessed("phone", ["5551234", "NA"]).missing == ("NA",)
    assert guessed("x", ["NULL"] * 10).unfit == EMPTY


def test_a_number_or_a_day_is_a_placeholder_only_where_it_is_frequent():
    postcodes = [f"{number}" for number in range(1000, 1100)]
    assert guessed("postcode", [*postcodes, "9999"]).missing == ()
    assert guessed("postcode", [*postcodes, *["9999"] * 10]).missing == ("9999",)
    days = [f"{1950 + number % 50}-0{1 + number % 9}-{10 + number % 17}" for number in range(200)]
    assert guessed("dob", [*days, "1900-01-01"]).missing == ()
    found = guessed("dob", [*days, *["1900-01-01"] * 20])
    assert (found.kind, found.missing) == ("date", ("1900-01-01",))


# names


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        (
            "given_name",
            ["given_name", "First Name", "FIRSTNAME", "forename", "firstName", "Vorname"],
        ),
        ("surname", ["surname", "last_name", "LastName", "family name", "FAMILY_NAME"]),
        (
            "date_of_birth",
            ["dob", "DOB", "birth_date", "birthdate", "Date of Birth", "DateOfBirth"],
        ),
        ("sex", ["sex", "gender", "Gender"]),
        ("postcode", ["zip", "ZIP code", "postal-code", "postcode", "PLZ"]),
        ("city", ["city", "town"]),
        ("suburb", ["suburb", "Suburb"]),
        ("address_1", ["address_1", "Address 1"]),
        ("naïve_name", ["naïve name"]),
        ("фамилия", ["Фамилия"]),
        ("field", ["😀", "?"]),
    ],
)
def test_the_same_thing_has_the_same_name_whatever_it_is_called(name, columns):
    for column in columns:
        assert unique_names([heading_of(column)]) == [name]


def test_a_meaning_that_two_columns_have_names_neither():
    names = unique_names(map(heading_of, ["first_name", "forename", "zip"]))
    assert names == ["first_name", "forename", "postcode"]


USUAL = [
    "dob",
    "sex",
    "gender",
    "Sex",
    "given_name",
    "first_name",
    "sex_2",
    "city",
    "town",
    "?",
    "!",
]


@given(st.lists(st.sampled_from(USUAL), unique=True))
def test_no_name_is_given_twice(columns):
    names = unique_names(map(heading_of, columns))
    assert len(set(names)) == len(names) == len(columns)


# ids


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        ({"surname": "ab", "rec_id": "xy", "x": "12"}, "rec_id"),
        ({"surname": "ab", "patient_id": "xy", "id": "12"}, "id"),
        ({"surname": "ab", "id": "xx", "record id": "12"}, "record id"),
        ({"surname": "ab", "visit_id": "xy", "x": "12"}, "visit_id"),
        ({"surname": "ab", "x": "12"}, "x"),
        ({"surname": "ab", "key": ["x", ""], "x": "12"}, "x"),
        ({"name of cat": "ab", "number": ["11", "12", "13"]}, "number"),
    ],
)
def test_the_column_of_ids(columns, chosen):
    assert choose_id(sample({name: list(cells) for name, cells in columns.items()})) == chosen


def test_without_ids_somebody_has_to_name_them():
    looked = sample({"surname": ["A", "B"], "id": ["1", "1"], "city": ["C", "D"]})
    with pytest.raises(InvalidRecords, match=r"no column of a.csv looks like ids") as caught:
        propose(looked)
    assert "--id: surname, id, city" in caught.value.hint
    assert propose(looked, id_column="surname").id == "surname"


def test_a_file_without_names_of_columns_is_refused():
    with pytest.raises(InvalidRecords, match=r"the first row of a.csv looks like a record"):
        propose(sample({"17": ["18", "19"], "MILLER": ["SMITH", "JONES"]}))
    assert propose(sample({"17": ["18", "19"], "MILLER": ["SMITH", "JONES"]}), id_column="17").id


# two files


def test_what_both_files_have_is_proposed_for_both(tmp_path):
    left = sample(
        {
            "id": ["1", "2", "3"],
            "first_name": ["ANN", "BOB", "EVE"],
            "dob": ["31/12/1980", "01/02/1990", "14/07/1975"],
            "phone": ["5551234", "5552345", "5553456"],
            "shoe": ["left", "right", "both"],
        }
    )
    right = sample(
        {
            "pid": ["x", "y", "z"],
            "PHONE": ["5551234", "unknown", "5553456"],
            "birth year": ["1980", "1990", "1975"],
            "birth month": ["12", "2", "7"],
            "birth day": ["31", "1", "14"],
            "Forename": ["ANN", "BOB", "EVE"],
            "hat": ["red", "green", "blue"],
        },
        "b.csv",
    )
    proposals = propose_both(left, right)
    ours, theirs = (loaded(one, tmp_path) for one in proposals)
    assert ours.agreed == theirs.agreed
    assert [f.name for f in theirs.fields] == ["given_name", "date_of_birth", "phone"]
    assert (ours.id, theirs.id) == ("id", "pid")
    assert theirs["given_name"].column == "Forename"
    assert ours["date_of_birth"].format == "DD/MM/YYYY"
    assert theirs["date_of_birth"].columns == ("birth year", "birth month", "birth day")
    assert (ours["phone"].missing, theirs["phone"].missing) == ((), ("UNKNOWN",))
    assert [one.left_out for one in proposals] == [{"shoe": NOT_THERE}, {"hat": NOT_THERE}]
    assert not any(field.guess.checks for field in proposals[0].fields)


@pytest.mark.parametrize(
    ("left", "right", "kind", "says"),
    [
        (["2041", "0800"], ["SW1A 1AA", "EC1A 1BB"], "text", TWO_KINDS.format("digits", "text")),
        (["1980-12-31", "1990-02-01"], ["soon", "later"], "text", TWO_KINDS.format("date", "text")),
        (["a", "b"] * 20, ["12", "34"] * 20, "text", TWO_KINDS.format("category", "digits")),
        (["a", "b"] * 20, ["а", "б"] * 20, "category", TWO_SCRIPTS),
        (["yes", "no"] * 20, ["agreed", "refused"] * 20, "category", TWO_LENGTHS),
        (["Miller", "Smith"], ["Иванов", "Толстой"], "text", TWO_SCRIPTS),
        (["Παπάς", "Γεωργίου"], ["Иванов", "Толстой"], "text", TWO_SCRIPTS),
        (["12 High St", "1 Low Rd"], ["High St", "Low Rd"], "text", None),
    ],
)
def test_two_files_agree_whatever_they_hold(left, right, kind, says, tmp_path):
    proposals = propose_both(with_ids({"x": left}), with_ids({"x": right}))
    ours, theirs = (loaded(one, tmp_path) for one in proposals)
    assert ours.agreed == theirs.agreed
    assert ours["x"].kind == kind
    for proposal in proposals:
        checks = set(proposal.fields[0].guess.checks) - {SCRIPT}
        assert checks == ({says} if says else set())


@pytest.mark.parametrize(
    ("ours", "theirs", "paired"),
    [
        ("occupation", "ocupation", True),
        ("mother_name", "mothers_name", True),
        ("mother_name", "father_name", False),
        ("home_number", "work_number", False),
        ("address_1", "address_2", False),
        ("address_1", "Address1", True),
        ("suburb", "city", False),
    ],
)
def test_columns_of_close_names_are_paired(ours, theirs, paired):
    def both():
        return propose_both(with_ids({ours: MANY, "dob": [""]}), with_ids({theirs: MANY}))

    if not paired:
        with pytest.raises(InvalidRecords, match=f"a.csv has no column like {ours}"):
            both()
    else:
        checks = both()[0].fields[0].guess.checks
        assert (BY_SPELLING in checks) == (ours != "address_1")


def test_columns_that_two_would_do_for_are_not_paired():
    left = with_ids({"first_name": MANY, "surname": MANY})
    right = with_ids({"given_name": MANY, "forename": MANY, "surname": MANY})
    assert kinds(propose_both(left, right)[0]) == {"surname": "text"}


def test_asking_for_columns_of_two_files():
    left = with_ids({"first_name": MANY, "clinic": ["A"] * 300, "surname": MANY})
    right = with_ids({"forename": MANY, "clinic": ["B"] * 300, "surname": MANY})
    proposals = propose_both(left, right, fields=["clinic", "first_name"])
    assert [[f.columns[0] for f in one.fields] for one in proposals] == [
        ["clinic", "first_name"],
        ["clinic", "forename"],
    ]
    with pytest.raises(InvalidRecords, match="no column like clinic"):
        propose_both(left, with_ids({"surname": MANY}), fields=["clinic", "surname"])


# any table at all


SOURCE = Path(gramlink.__file__).parent / "records"
STATIC = "".join(
    path.read_text("utf-8")
    for path in (*SOURCE.glob("proposal/*.py"), SOURCE / "dates.py", SOURCE / "fields.py")
)
ANYTHING = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
NAMES = st.one_of(
    st.sampled_from(
        [
            "id",
            "rec_id",
            "surname",
            "first_name",
            "dob",
            "sex",
            "gender",
            "postcode",
            "state",
            "birth_year",
            "birth_month",
            "birth_day",
            "address_1",
            "notes",
            "exported",
            "x",
            "y",
        ]
    ),
    st.text(ANYTHING, min_size=1, max_size=12).map(str.strip).filter(bool),
)
CELLS = st.one_of(
    st.text(ANYTHING, max_size=12),
    st.text(LETTERS.lower(), min_size=4, max_size=12),
    st.text(DIGITS, max_size=9),
    st.dates().map(str),
    st.dates().map(lambda day: f"{day:%d/%m/%Y}"),
    st.sampled_from(["unknown", "NA", "n/a", "9999", "M", "F", "1", "2", "", "Иванов", "田中"]),
)


@st.composite
def tables(draw):
    """Columns of one kind of cells each, with or without ids."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    rows = draw(st.integers(1, 6))
    columns = {}
    for name in names:
        kind = draw(st.sampled_from([CELLS, *CELLS.original_strategies]))
        columns[name] = draw(st.lists(kind, min_size=rows, max_size=rows))
    if draw(st.integers(0, 9)):
        columns["key"] = [f"k{row}" for row in range(rows)]
    return columns


def leaks(table, text):
    """The cells that a text holds and that it does not have from elsewhere."""
    known = STATIC + "".join(PUBLIC) + "a.csv"
    known += "".join(name + plain(name) + json.dumps(name) + "\n" for name in table)
    cells = {cell.strip() for cells in table.values() for cell in cells}
    return [c for c in cells if len(c) > 3 and c.isalnum() and c in text and c not in known]


@settings(max_examples=40, deadline=None)
@given(table=tables())
def test_a_proposal_loads_and_holds_no_cell_or_says_what_is_wrong(table, tmp_path_factory):
    try:
        proposal = propose(sample(table))
    except GramlinkError:
        return
    schema = loaded(proposal, tmp_path_factory.getbasetemp())
    assert len(schema.fields) == len(proposal.fields)
    assert leaks(table, proposal.text) == []
    records = read_records(pl.DataFrame(table), schema)
    assert len(records) == len(next(iter(table.values())))


@settings(max_examples=40, deadline=None)
@given(left=tables(), right=tables())
def test_proposals_for_any_two_files_agree(left, right, tmp_path_factory):
    try:
        proposals = propose_both(sample(left), sample(right))
    except GramlinkError:
        return
    ours, theirs = (loaded(one, tmp_path_factory.getbasetemp()) for one in proposals)
    assert ours.agreed == theirs.agreed
    for proposal in proposals:
        assert leaks({**left, **right}, proposal.text) == []
