"""The kinds of fields: which settings each has, and what follows from them."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gramlink.embedding.base import Base
from gramlink.embedding.vectors import embed
from gramlink.records.fields import ALPHABET, CATCH_ALL, DIGITS, LETTERS, MOST_SYMBOLS, Field
from gramlink.records.strings import Strings
from strategies import WIDE, WIDE_TEXT

KINDS = ("text", "digits", "date", "category")

# a value of each setting that is not its default
OTHER = {
    "column": "x",
    "missing": ("?",),
    "edits": 2,
    "format": "DD/MM/YYYY",
    "codes": {"m": "M"},
    "alphabet": "AB",
    "length": 3,
    "case": "lower",
    "accents": "keep",
    "punctuation": "space",
    "whitespace": "keep",
    "miner": "fpm",
    "share": Fraction(1, 2),
    "size": 10,
    "q_min": 2,
    "q_max": 4,
    "height": 5,
    "grams": ("A",),
    "marks": False,
    "nicknames": "en",
}
SPELLING = {"alphabet", "length", "case", "accents", "punctuation", "whitespace"}
MINING = {"miner", "share", "size", "q_min", "q_max", "height", "grams", "marks"}
ALL_HAVE = {"column", "missing", "edits"}
HAVE = {
    "text": ALL_HAVE | SPELLING | MINING | {"nicknames"},
    "digits": ALL_HAVE | {"length"},
    "date": ALL_HAVE | {"format"},
    "category": ALL_HAVE | {"codes"} | SPELLING,
}


def refused(complaint, **given):
    with pytest.raises(ValidationError, match=complaint):
        Field(name="x", **given)


def test_the_tests_know_every_setting():
    assert OTHER.keys() == Field.model_fields.keys() - {"name", "kind"}
    assert set().union(*HAVE.values()) == OTHER.keys()


@pytest.mark.parametrize("setting", OTHER)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_its_settings_and_refuses_those_of_other_kinds(kind, setting):
    value = OTHER[setting]
    if setting not in HAVE[kind]:
        refused(f"a {kind} field has no setting {setting}", kind=kind, **{setting: value})
        return
    public = {"miner": "public"} if setting == "grams" else {}
    field = Field(name="x", kind=kind, **{setting: value}, **public)
    assert getattr(field, setting) == value
    assert getattr(Field(name="x", kind=kind), setting) != value


@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_that_a_kind_does_not_have_is_refused_even_at_its_default(kind):
    plain = Field(name="x", kind=kind)
    for setting in OTHER.keys() - HAVE[kind]:
        given = {setting: getattr(plain, setting)}
        refused(f"a {kind} field has no setting {setting}", kind=kind, **given)


@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_that_nothing_has_is_named(kind):
    refused("colour", kind=kind, colour="red")


@pytest.mark.parametrize("kind", ["number", "", "TEXT", 1, None, ("text",), ["text"], {"a": 1}])
def test_a_kind_that_there_is_not_is_refused(kind):
    refused("kind", kind=kind)


def test_a_field_is_of_text_unless_said_otherwise():
    assert Field(name="x") == Field(name="x", kind="text")


@pytest.mark.parametrize(
    ("kind", "defaults"),
    [
        (
            "text",
            {
                "alphabet": ALPHABET, "length": 32, "case": "upper", "accents": "strip",
                "punctuation": "strip", "whitespace": "collapse", "edits": None,
                "miner": "levelgram", "share": 1, "size": 75, "q_min": 1, "q_max": 3,
            },
        ),
        (
            "digits",
            {
                "alphabet": DIGITS, "length": 16, "punctuation": "strip", "whitespace": "strip",
                "edits": None, "q_min": 1, "q_max": 2,
            },
        ),
        ("date", {"alphabet": DIGITS, "length": 8, "format": "", "edits": None}),
        (
            "category",
            {
                "alphabet": LETTERS + DIGITS, "length": 4, "case": "upper", "accents": "strip",
                "whitespace": "strip", "edits": 0, "codes": {},
            },
        ),
    ],
)  # fmt: skip
def test_each_kind_has_defaults_of_its_own(kind, defaults):
    field = Field(name="x", kind=kind)
    assert {setting: getattr(field, setting) for setting in defaults} == defaults
    assert (field.column, field.missing) == ("", ())


def test_a_field_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Field(name="x").size = 3


# what follows from a kind


@pytest.mark.parametrize("miner", ["levelgram", "tree-linear", "fpm", "random", "exact"])
def test_text_is_mined(miner):
    field = Field(name="x", miner=miner)
    assert field.mined
    assert not field.placed
    assert field.public_grams == ()


def test_text_of_which_the_grams_are_given_is_not_mined():
    field = Field(name="x", miner="public", grams=("A", "ER"))
    assert not field.mined
    assert field.public_grams == ("A", "ER")


@pytest.mark.parametrize("kind", ["digits", "date", "category"])
def test_no_other_kind_is_mined(kind):
    field = Field(name="x", kind=kind)
    assert not field.mined
    assert field.placed == (kind != "digits")
    assert field.public_grams


def test_the_base_of_digits_is_all_grams_of_one_and_two():
    grams = Field(name="x", kind="digits").public_grams
    assert set(grams) == {"".join(g) for q in (1, 2) for g in product("0123456789", repeat=q)}
    assert len(grams) == 110
    assert Base(grams).scale == 2


def test_the_base_of_a_date_is_each_digit_in_each_place():
    field = Field(name="x", kind="date")
    assert len(field.public_grams) == len(set(field.public_grams)) == 80
    assert "".join(field.public_grams) + CATCH_ALL == field.symbols
    assert Base(field.public_grams).scale == 1


@settings(deadline=None)
@given(data=st.data(), size=st.integers(1, 40))
def test_the_base_of_a_category_is_each_symbol_in_each_place(data, size):
    length = data.draw(st.integers(1, MOST_SYMBOLS // size))
    field = Field(name="x", kind="category", alphabet=WIDE[:size], length=length)
    assert len(field.public_grams) == size * length
    assert len(set(field.symbols)) == len(field.symbols) == size * length + 1 <= 255
    assert field.spelling == WIDE[:size] + CATCH_ALL


@pytest.mark.parametrize("kind", KINDS)
def test_every_gram_of_a_public_base_is_counted(kind):
    """A value of each symbol in turn holds each gram of one symbol; all symbols are coded."""
    grams = {"miner": "public", "grams": ("A", "B", "AB")} if kind == "text" else {}
    field = Field(name="x", kind=kind, **grams)
    texts = [(symbol * field.length)[: field.length] for symbol in field.alphabet] + ["AB"]
    strings = Strings.of(texts, field.spelling)
    strings = strings.placed(field.symbols) if field.placed else strings
    counts = embed(strings, Base(field.public_grams)).counts
    whole = [i for i, gram in enumerate(field.public_grams) if len(set(gram)) == 1]
    assert (counts[:, whole].max(axis=0) > 0).all()
    if field.placed:
        assert (counts <= 1).all()
        assert (counts[:-1].sum(axis=1) == field.length).all()


def test_placed_symbols_are_of_no_script():
    symbols = Field(name="x", kind="category").symbols[:-1]
    assert all("\ue000" <= symbol <= "\uf8ff" for symbol in symbols)


@pytest.mark.parametrize(
    ("alphabet", "length"), [("AB", 127), (WIDE_TEXT[:-1], 1), (LETTERS + DIGITS, 7), (DIGITS, 25)]
)
def test_a_category_may_be_as_long_as_there_are_symbols_for_its_places(alphabet, length):
    field = Field(name="x", kind="category", alphabet=alphabet, length=length)
    assert len(field.symbols) <= 255
    most = f"a length of at most {length}$|a length of at most {length}[^0-9]"
    refused(most, kind="category", alphabet=alphabet, length=length + 1)


def test_text_may_be_longer_than_there_are_places():
    assert Field(name="x", length=253, alphabet=WIDE_TEXT[:-1]).spelling == WIDE_TEXT


@pytest.mark.parametrize(
    ("given", "columns", "source"),
    [
        ({}, ("x",), "x"),
        ({"column": "y"}, ("y",), "y"),
        ({"column": ("y",)}, ("y",), "y"),
        ({"column": ("y", "z", "y")}, ("y", "z", "y"), "y+z+y"),
    ],
)
def test_a_field_is_read_from_its_name_or_its_columns(given, columns, source):
    for kind in KINDS:
        field = Field(name="x", kind=kind, **given)
        assert (field.columns, field.source) == (columns, source)


def test_a_field_of_no_columns_is_refused():
    refused("column", column=())


@pytest.mark.parametrize(
    "date_format", ["YYYYMMDD", "DD.MM.YYYY", "d/m/yy", "MMM D YYYY", "YYYY-MM-DD"]
)
def test_a_date_may_have_any_format(date_format):
    assert Field(name="x", kind="date", format=date_format).format == date_format


@pytest.mark.parametrize("date_format", ["DD/MM", "YYYY", "DMYYYY", "%d/%m/%Y", "hh:mm", "x"])
def test_a_format_that_is_none_is_refused(date_format):
    refused("is not a date format", kind="date", format=date_format)


@pytest.mark.parametrize("codes", [["M"], {"m": 1}, {1: "M"}, "M", None])
def test_codes_that_are_no_table_of_texts_are_refused(codes):
    refused("codes", kind="category", codes=codes)


# what owners agree on


@pytest.mark.parametrize(
    ("given", "agreed"),
    [
        ({}, {"kind", "edits"} | SPELLING | MINING - {"grams"}),
        (
            {"miner": "public", "grams": ("A",)},
            {"kind", "edits", "miner", "grams"} | SPELLING,
        ),
        ({"kind": "digits"}, {"kind", "edits", "length"}),
        ({"kind": "date"}, {"kind", "edits"}),
        ({"kind": "category"}, {"kind", "edits"} | SPELLING),
    ],
    ids=["text", "public text", "digits", "date", "category"],
)
def test_what_has_an_effect_on_both_owners_is_agreed_on(given, agreed):
    field = Field(name="x", **given)
    assert field.agreed.keys() == agreed
    assert all(setting in ("kind", *HAVE[field.kind]) for setting in field.agreed)


@pytest.mark.parametrize("setting", sorted(OTHER))
@pytest.mark.parametrize("kind", KINDS)
def test_an_agreed_setting_changes_what_is_agreed_and_an_own_one_does_not(kind, setting):
    if setting not in HAVE[kind] or setting == "grams":
        return
    own = setting in ("column", "missing", "format", "codes")
    changed = Field(name="x", kind=kind, **{setting: OTHER[setting]})
    assert (changed.agreed == Field(name="x", kind=kind).agreed) == own


def test_what_a_public_base_does_not_use_need_not_be_agreed_on():
    one, other = (
        Field(name="x", miner="public", grams=("A",), size=size, q_max=q_max, share=size)
        for size, q_max in ((5, 2), (9, 6))
    )
    assert one.agreed == other.agreed


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_comes_back_from_what_is_agreed(kind):
    field = Field(name="x", kind=kind, edits=1)
    settings = {k: tuple(v) if isinstance(v, list) else v for k, v in field.agreed.items()}
    assert Field(name="x", **settings) == field
