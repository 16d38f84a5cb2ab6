from decimal import Decimal
from fractions import Fraction

import pytest

from gramlink.errors import InvalidParameter, InvalidSchema
from gramlink.schema import (
    CATCH_ALL,
    Field,
    Schema,
    checked_schema,
    differences,
    fraction,
    load_schema,
    positive_epsilon,
    schema_from,
)
from strategies import WIDE

FULL = """
id = "patient"
epsilon = 0.1
edits = 2
threshold = "worst-case"
recall = 0.95
errors = "keyboard"
decide = "best-per-left"

[fields.surname]
kind = "text"
column = "Nachname"
alphabet = "abcäöü"
length = 20
case = "lower"
accents = "keep"
punctuation = "space"
whitespace = "strip"
miner = "tree-hybrid"
size = 50
q_min = 2
q_max = 4
height = 6
"""


@pytest.fixture
def load(tmp_path):
    """Load a schema from the text, or the bytes, of a file."""

    def load(content):
        path = tmp_path / "linkage.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_schema(path)

    return load


def one_field(**settings):
    return {"fields": ({"name": "surname", **settings},)}


def test_every_setting_is_read_from_toml(load):
    field = Field(
        name="surname",
        column="Nachname",
        alphabet="abcäöü",
        length=20,
        case="lower",
        accents="keep",
        punctuation="space",
        whitespace="strip",
        miner="tree-hybrid",
        size=50,
        q_min=2,
        q_max=4,
        height=6,
    )
    schema = load(FULL)
    assert schema == Schema(
        fields=(field,),
        id="patient",
        epsilon=Fraction(1, 10),
        edits=2,
        threshold="worst-case",
        recall=0.95,
        errors="keyboard",
        decide="best-per-left",
    )
    assert schema.field == field
    assert field.symbols == "abcäöü" + CATCH_ALL
    assert field.source == "Nachname"


def test_a_field_needs_no_setting_but_its_name(load):
    schema = load("[fields.surname]")
    assert schema == Schema(fields=(Field(name="surname"),))
    assert schema.field.source == "surname"
    assert (schema.field.size, schema.field.q_min, schema.field.q_max) == (75, 1, 3)
    assert (schema.epsilon, schema.edits, schema.threshold) == (1, 1, "calibrated")


def test_public_grams_are_read_from_toml(load):
    schema = load('[fields.code]\nminer = "public"\ngrams = ["A", "AB"]')
    assert schema.field.grams == ("A", "AB")


def test_a_mark_at_the_start_of_the_file_is_skipped(load):
    assert load(b"\xef\xbb\xbf" + FULL.encode()) == load(FULL)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ("0.30000000000000004", Fraction(30000000000000004, 10**17)),
        ("0.10000000000000000001", Fraction(10**19 + 1, 10**20)),  # 0.1 to a float
        ("1e-3", Fraction(1, 1000)),
        ("2", Fraction(2)),
        ('"1/3"', Fraction(1, 3)),
        ('"0.7"', Fraction(7, 10)),
    ],
)
def test_an_epsilon_is_the_fraction_that_was_written(load, text, value):
    assert load(f"epsilon = {text}\n[fields.surname]").epsilon == value


@pytest.mark.parametrize("text", ["0", "-0.1", '"1/0"', '"much"', "true", "nan", "inf", "[1]"])
def test_an_epsilon_that_is_no_number_above_0_is_refused(load, text):
    with pytest.raises(InvalidSchema, match=r"linkage\.toml: .*") as caught:
        load(f"epsilon = {text}\n[fields.surname]")
    assert caught.value.hint


@pytest.mark.parametrize("value", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10)])
def test_a_tenth_is_a_tenth_however_it_is_given(value):
    assert fraction(value) == positive_epsilon(value) == Fraction(1, 10)


@pytest.mark.parametrize("value", ["", "a", None, "1/0", float("nan")])
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises(InvalidParameter, match="is not a number"):
        fraction(value)


@pytest.mark.parametrize("value", [0, -1, "-1/3"])
def test_an_epsilon_of_0_or_less_is_refused(value):
    with pytest.raises(InvalidParameter, match="epsilon must be above 0"):
        positive_epsilon(value)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (one_field(q_min=3, q_max=2), "q_min = 3 is above q_max = 2"),
        (one_field(alphabet="ABA"), "a symbol twice"),
        (one_field(alphabet="A" + CATCH_ALL), "stands for symbols outside"),
        (one_field(alphabet=""), "alphabet"),
        (one_field(alphabet=WIDE[:-1] + "A"), "alphabet"),
        (one_field(length=0), "length"),
        (one_field(length=256), "length"),
        (one_field(size=0), "size"),
        (one_field(size=1001), "size"),
        (one_field(q_min=0), "q_min"),
        (one_field(q_max=7), "q_max"),
        (one_field(height=0), "height"),
        (one_field(height=33), "height"),
        (one_field(miner="tree-hybrid", height=3), "height above q_max"),
        (one_field(miner="public"), "grams are given"),
        (one_field(grams=("A",)), "grams are given"),
        (one_field(miner="magic"), "miner"),
        (one_field(kind="date"), "kind"),
        (one_field(case="title"), "case"),
        (one_field(accents="drop"), "accents"),
        (one_field(punctuation="drop"), "punctuation"),
        (one_field(whitespace="drop"), "whitespace"),
        (one_field(size="75"), "size"),
        (one_field(size=75.5), "size"),
        (one_field(colour="red"), "colour"),
        (one_field(name=""), "name"),
        ({"fields": ()}, "exactly one field"),
        ({"fields": ({"name": "a"}, {"name": "b"})}, "exactly one field"),
        ({}, "fields"),
        ({**one_field(), "edits": -1}, "edits"),
        ({**one_field(), "edits": 6}, "edits"),
        ({**one_field(), "edits": True}, "edits"),
        ({**one_field(), "threshold": "tight"}, "threshold"),
        ({**one_field(), "recall": 0.0}, "recall"),
        ({**one_field(), "recall": 1.0}, "recall"),
        ({**one_field(), "errors": "ocr"}, "errors"),
        ({**one_field(), "decide": "dice"}, "decide"),
        ({**one_field(), "id": 1}, "id"),
        ({**one_field(), "speed": 1}, "speed"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_and_named(settings, complaint):
    with pytest.raises(InvalidSchema, match=complaint) as caught:
        checked_schema(**settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        one_field(q_min=3, q_max=3),
        one_field(alphabet=WIDE[:-1]),
        one_field(length=255, size=1000, q_max=6),
        one_field(alphabet=WIDE[:-1], q_max=6),
        one_field(miner="tree-hybrid", height=4),
        one_field(miner="public", grams=("A",)),
        {**one_field(), "edits": 0},
        {**one_field(), "edits": 5},
    ],
)
def test_the_largest_and_smallest_settings_are_accepted(settings):
    assert checked_schema(**settings).field.name == "surname"


@pytest.mark.parametrize(
    "content",
    [
        'recall = "high"\n[fields.surname]',
        "recall = [1]\n[fields.surname]",
        "recall = 2\n[fields.surname]",
        "edits = 1.0\n[fields.surname]",
        '[fields.surname]\nminer = "public"\ngrams = 5',
        '[fields.surname]\nminer = "public"\ngrams = [5]',
        "[fields.surname]\nsize = 7.5",
        "[fields.surname]\ncolour = 1",
        "colour = 1\n[fields.surname]",
        "[fields.surname]\n[fields.city]",
        "[fields]",
    ],
)
def test_a_toml_file_with_a_wrong_setting_is_refused_by_name(load, content):
    with pytest.raises(InvalidSchema, match=r"linkage\.toml: "):
        load(content)


@pytest.mark.parametrize("content", ["", "id = 'x'", "fields = 5", "[[fields]]", "fields.a = 1"])
def test_a_toml_file_without_a_field_is_refused(load, content):
    with pytest.raises(InvalidSchema, match=r"linkage\.toml has no field") as caught:
        load(content)
    assert "[fields.surname]" in caught.value.hint


@pytest.mark.parametrize("content", ["epsilon = ", "a = 1\na = 2", b"\xff", "<xml>"])
def test_what_is_not_toml_is_refused(load, content):
    with pytest.raises(InvalidSchema, match=r"linkage\.toml is not TOML"):
        load(content)


def test_a_file_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(InvalidSchema, match="cannot be read: No such file") as caught:
        load_schema(tmp_path / "linkage.toml")
    assert "gramlink init" in caught.value.hint
    with pytest.raises(InvalidSchema, match="cannot be read"):
        load_schema(tmp_path)


def test_a_schema_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        Schema(fields=(Field(name="surname"),)).edits = 2


BASE = Schema(fields=(Field(name="surname"),))


@pytest.mark.parametrize(
    "same",
    [
        {"fields": (Field(name="surname", column="Nachname"),)},
        {"id": "patient"},
        {"epsilon": Fraction(1, 7)},
    ],
)
def test_owners_may_differ_in_their_columns_and_in_epsilon(same):
    other = Schema(**({"fields": BASE.fields} | same))
    assert other.digest == BASE.digest
    assert differences(BASE.agreed, other.agreed) == []


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"edits": 2}, "edits: 1 and 2"),
        ({"threshold": "paper"}, "threshold: calibrated and paper"),
        ({"recall": 0.9}, "recall: 0.99 and 0.9"),
        ({"errors": "keyboard"}, "errors: uniform and keyboard"),
        ({"decide": "all"}, "decide: one-to-one and all"),
        ({"fields": (Field(name="surname", size=50),)}, "fields.surname.size: 75 and 50"),
        ({"fields": (Field(name="surname", case="keep"),)}, "fields.surname.case: upper and keep"),
    ],
)
def test_a_setting_that_must_be_agreed_on_changes_the_digest_and_is_named(changed, named):
    other = Schema(**({"fields": BASE.fields} | changed))
    assert other.digest != BASE.digest
    assert differences(BASE.agreed, other.agreed) == [named]


def test_every_other_setting_is_agreed_on():
    left_out = {"id", "epsilon"}
    assert BASE.agreed.keys() == Schema.model_fields.keys() - left_out
    assert BASE.agreed["fields"]["surname"].keys() == Field.model_fields.keys() - {"name", "column"}


def test_differences_name_what_only_one_side_has():
    assert differences({"a": 1}, {}) == ["a: 1 and None"]
    assert differences({}, {"a": {"b": 1}}) == ["a: None and {'b': 1}"]
    assert differences({"a": {"x": 1, "y": 2}}, {"a": {"x": 2, "y": 3}}) == [
        "a.x: 1 and 2",
        "a.y: 2 and 3",
    ]
    assert differences({"a": {"x": 1}}, {"a": {"x": 1}}) == []


@pytest.mark.parametrize("value", ["1e999999999", "1e-999999999", "9" * 200, "1/0", "nan", "inf"])
def test_a_number_of_no_sensible_size_is_refused_at_once(value):
    with pytest.raises(InvalidParameter, match="sensible size"):
        fraction(value)


@pytest.mark.parametrize("grams", [("",), ("A", "A"), ("é",), ("ABCDEFG",)])
def test_public_grams_must_be_of_the_alphabet_and_differ(grams):
    with pytest.raises(InvalidSchema, match="gram"):
        checked_schema(fields=({"name": "x", "miner": "public", "grams": grams},))


def test_a_field_that_names_itself_twice_is_refused():
    with pytest.raises(InvalidSchema, match="named twice"):
        schema_from({"fields": {"a": {"name": "b"}}}, "x")
