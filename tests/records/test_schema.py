import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.errors import InvalidParameter, InvalidSchema
from gramlink.privacy.numbers import fraction, positive_epsilon
from gramlink.records.fields import CATCH_ALL, Field
from gramlink.records.schema import Schema, checked_schema, differences, load_schema, schema_from
from strategies import WIDE, WIDE_TEXT

FULL = """
id = "patient"
unique = false
epsilon = 0.1
edits = 2
threshold = "worst-case"
recall = 0.95
errors = "keyboard"
decide = "best-per-right"
accept = 0.75
review = 0.25
passes = [{ surname = 2, born = 0 }, { phone = 1 }]

[fields.surname]
kind = "text"
column = "Nachname"
missing = ["unbekannt", "-"]
edits = 3
alphabet = "abcäöü"
length = 20
case = "lower"
accents = "keep"
punctuation = "space"
whitespace = "strip"
miner = "tree-hybrid"
share = 0.3
size = 50
q_min = 2
q_max = 4
height = 6

[fields.born]
kind = "date"
column = ["Jahr", "Monat", "Tag"]
format = "YYYY MM DD"

[fields.sex]
kind = "category"
codes = { maennlich = "M", weiblich = "F" }
alphabet = "MFX"
length = 1

[fields.phone]
kind = "digits"
length = 12
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


TWO = {"fields": ({"name": "a"}, {"name": "b", "kind": "category"})}


def test_every_setting_is_read_from_toml(load):
    surname = Field(
        name="surname",
        column="Nachname",
        missing=("unbekannt", "-"),
        edits=3,
        alphabet="abcäöü",
        length=20,
        case="lower",
        accents="keep",
        punctuation="space",
        whitespace="strip",
        miner="tree-hybrid",
        share=Fraction(3, 10),
        size=50,
        q_min=2,
        q_max=4,
        height=6,
    )
    born = Field(name="born", kind="date", column=("Jahr", "Monat", "Tag"), format="YYYY MM DD")
    codes = {"maennlich": "M", "weiblich": "F"}
    sex = Field(name="sex", kind="category", codes=codes, alphabet="MFX", length=1)
    phone = Field(name="phone", kind="digits", length=12)
    schema = load(FULL)
    assert schema == Schema(
        fields=(surname, born, sex, phone),
        id="patient",
        unique=False,
        epsilon=Fraction(1, 10),
        edits=2,
        threshold="worst-case",
        recall=0.95,
        errors="keyboard",
        decide="best-per-right",
        accept=0.75,
        review=0.25,
        passes=({"surname": 2, "born": 0}, {"phone": 1}),
    )
    assert schema.fields[0] == schema["surname"] == surname
    assert surname.symbols == "abcäöü" + CATCH_ALL
    assert surname.source == "Nachname"
    assert schema["born"].source == "Jahr+Monat+Tag"
    assert [schema.edits_of(field) for field in schema.fields] == [3, 2, 0, 2]


def test_a_field_needs_no_setting_but_its_name(load):
    schema = load("[fields.surname]")
    assert schema == Schema(fields=(Field(name="surname"),))
    field = schema["surname"]
    assert field.source == "surname"
    assert (field.kind, field.size, field.q_min, field.q_max, field.share) == ("text", 75, 1, 3, 1)
    assert (schema.epsilon, schema.edits, schema.threshold) == (1, 1, "calibrated")
    assert (schema.decide, schema.accept, schema.review) == ("one-to-one", 0.5, 0.1)
    assert (schema.unique, schema.passes) == (True, ())


def test_public_grams_are_read_from_toml(load):
    schema = load('[fields.code]\nminer = "public"\ngrams = ["A", "AB"]')
    assert schema["code"].grams == ("A", "AB")


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
        (one_field(miner="public"), "`grams` must be given"),
        (one_field(grams=("A",)), "`grams` must be given"),
        (one_field(miner="magic"), "miner"),
        (one_field(kind="colour"), "kind"),
        (one_field(kind=1), "kind"),
        (one_field(kind=None), "kind"),
        (one_field(kind={"text": 1}), "kind"),
        (one_field(column=()), "column"),
        (one_field(column=("a", 1)), "column"),
        (one_field(missing="?"), "missing"),
        (one_field(missing=(1,)), "missing"),
        (one_field(edits=-1), "edits"),
        (one_field(edits=6), "edits"),
        (one_field(case="title"), "case"),
        (one_field(accents="drop"), "accents"),
        (one_field(punctuation="drop"), "punctuation"),
        (one_field(whitespace="drop"), "whitespace"),
        (one_field(size="75"), "size"),
        (one_field(size=75.5), "size"),
        (one_field(colour="red"), "colour"),
        (one_field(name=""), "name"),
        (one_field(name="x" * 101), "name"),
        ({"fields": ()}, "fields: .*at least 1"),
        ({"fields": tuple({"name": f"f{n}"} for n in range(51))}, "fields: .*at most 50"),
        ({"fields": ({"name": "a"}, {"name": "b"}, {"name": "a"})}, "two fields .* same name"),
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
        ({**one_field(), "unique": 1}, "unique"),
        ({**one_field(), "accept": 1.01}, "accept"),
        ({**one_field(), "accept": -0.01}, "accept"),
        ({**one_field(), "accept": float("nan")}, "accept"),
        ({**one_field(), "review": 1.01}, "review"),
        ({**one_field(), "review": 0.6}, "review = 0.6 is above accept = 0.5"),
        ({**one_field(), "passes": ({"surname": 1},)}, "passes need records with several fields"),
        ({**TWO, "passes": ({"a": 1}, {})}, "pass 2 names no field"),
        ({**TWO, "passes": ({"a": 1}, {"a": 0, "c": 1})}, "pass 2: there is no field c"),
        ({**TWO, "passes": ({"a": 2},)}, "pass 1: a can have 0 to 1 edits, not 2"),
        ({**TWO, "passes": ({"a": -1},)}, "pass 1: a can have 0 to 1 edits, not -1"),
        ({**TWO, "passes": ({"b": 1},)}, "pass 1: b can have 0 to 0 edits, not 1"),
        ({**TWO, "passes": ({"a": "1"},)}, "passes"),
        ({**TWO, "passes": ({"a": True},)}, "passes"),
        ({**TWO, "passes": ("a",)}, "passes"),
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
        one_field(alphabet=WIDE_TEXT[:-1]),
        one_field(length=253, size=1000, q_max=6),
        one_field(alphabet=WIDE_TEXT[:-1], q_max=6),
        one_field(miner="tree-hybrid", height=4),
        one_field(miner="public", grams=("A",)),
        {**one_field(), "edits": 0},
        {**one_field(), "edits": 5},
        one_field(edits=0),
        one_field(edits=5),
        one_field(column=("a",)),
        one_field(share="1/1000000"),
        {**one_field(), "accept": 0.0, "review": 0.0},
        {**one_field(), "accept": 1.0, "review": 1.0},
    ],
)
def test_the_largest_and_smallest_settings_are_accepted(settings):
    assert checked_schema(**settings).fields[0].name == "surname"


def test_there_may_be_50_fields_and_passes_over_all_of_them():
    fields = tuple(Field(name=f"f{n}", edits=n % 6) for n in range(50))
    passes = ({field.name: field.edits for field in fields}, {"f1": 0})
    schema = checked_schema(fields=fields, passes=passes)
    assert len(schema.fields) == 50
    assert schema["f49"] is schema.fields[49]
    assert schema.passes == passes


def test_a_field_that_there_is_not_is_a_key_error():
    with pytest.raises(KeyError):
        BASE["city"]


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ({"size": 0}, "size"),
        ({"kind": "date", "size": 75}, "a date field has no setting size"),
        ({"alphabet": "AA"}, "a symbol twice"),
    ],
)
def test_of_several_fields_the_wrong_one_is_named(setting, complaint):
    fields = ({"name": "given"}, {"name": "surname", **setting}, {"name": "city"})
    with pytest.raises(InvalidSchema, match=complaint) as caught:
        checked_schema(fields=fields)
    assert "surname" in str(caught.value)
    assert "given" not in str(caught.value)


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
        "[fields.surname]\nkind = { text = 1 }",
        "[fields.surname]\ncolumn = []",
        "[fields.surname]\ncolumn = 5",
        "[fields.surname]\nmissing = 'x'",
        "[fields.surname]\nshare = 0",
        "[fields.surname]\nshare = -1",
        "[fields.surname]\nshare = nan",
        "[fields.surname]\nshare = true",
        "[fields.surname]\nshare = [1]",
        "[fields.born]\nkind = 'date'\nformat = 'DD/MM'",
        "[fields.sex]\nkind = 'category'\ncodes = ['M']",
        "[fields.sex]\nkind = 'category'\ncodes = { m = 1 }",
        "accept = 2\n[fields.surname]",
        "accept = 'high'\n[fields.surname]",
        "review = 1\n[fields.surname]",
        "unique = 'yes'\n[fields.surname]",
        "passes = 1\n[fields.surname]\n[fields.city]",
        "passes = [1]\n[fields.surname]\n[fields.city]",
        "passes = [{ name = 1 }]\n[fields.surname]\n[fields.city]",
        "[fields]",
    ],
)
def test_a_toml_file_with_a_wrong_setting_is_refused_by_name(load, content):
    with pytest.raises(InvalidSchema, match=r"linkage\.toml: "):
        load(content)


@pytest.mark.parametrize("content", ["", "id = 'x'", "fields = 5", "[[fields]]", "fields.a = 1"])
def test_a_toml_file_without_a_field_is_refused(load, content):
    with pytest.raises(InvalidSchema, match=r"linkage\.toml has no fields") as caught:
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
        {"fields": (Field(name="surname", column=("van", "Nachname")),)},
        {"fields": (Field(name="surname", missing=("?", "unknown")),)},
        {"id": "patient"},
        {"unique": False},
        {"epsilon": Fraction(1, 7)},
    ],
)
def test_owners_may_differ_in_how_their_files_are_written_and_in_epsilon(same):
    other = Schema(**({"fields": BASE.fields} | same))
    assert other.digest == BASE.digest
    assert differences(BASE.agreed, other.agreed) == []


@pytest.mark.parametrize(
    ("kind", "own"),
    [
        ("date", {"format": "DD.MM.YYYY", "column": ("d", "m", "y")}),
        ("category", {"codes": {"1": "M", "2": "F"}, "missing": ("9",)}),
        ("digits", {"column": "tel", "missing": ("000",)}),
    ],
)
def test_owners_may_write_a_field_of_any_kind_in_their_own_way(kind, own):
    one, other = (Schema(fields=(Field(name="x", kind=kind, **more),)) for more in ({}, own))
    assert one.digest == other.digest


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
        ({"fields": (Field(name="surname", edits=0),)}, "fields.surname.edits: None and 0"),
        ({"fields": (Field(name="surname", share="1/2"),)}, "fields.surname.share: 1 and 1/2"),
        ({"accept": 0.9}, "accept: 0.5 and 0.9"),
        ({"review": 0.2}, "review: 0.1 and 0.2"),
    ],
)
def test_a_setting_that_must_be_agreed_on_changes_the_digest_and_is_named(changed, named):
    other = Schema(**({"fields": BASE.fields} | changed))
    assert other.digest != BASE.digest
    assert differences(BASE.agreed, other.agreed) == [named]


def test_fields_and_passes_must_be_agreed_on_too():
    more = Schema(fields=(*BASE.fields, Field(name="born", kind="date")))
    (named,) = differences(BASE.agreed, more.agreed)
    assert named.startswith("fields.born: None and {'kind': 'date'")
    passes = Schema(fields=more.fields, passes=({"born": 0},))
    assert differences(more.agreed, passes.agreed) == ["passes: [] and [{'born': 0}]"]


def test_a_field_of_another_kind_is_named():
    ours, theirs = (
        Schema(fields=(Field(name="zip", kind=kind),)).agreed for kind in ("digits", "category")
    )
    assert "fields.zip.kind: digits and category" in differences(ours, theirs)


def test_every_other_setting_is_agreed_on():
    left_out = {"id", "unique", "epsilon"}
    assert BASE.agreed.keys() == Schema.model_fields.keys() - left_out - {"rows", "swaps"}
    several = Schema(fields=PAIR, swaps=(("given", "surname"),), encoding="veiled")
    assert several.agreed.keys() == Schema.model_fields.keys() - left_out
    own = {"name", "column", "missing", "format", "codes"}
    without_effect = {"grams", "nicknames"}
    assert (
        BASE.agreed["fields"]["surname"].keys() == Field.model_fields.keys() - own - without_effect
    )


PAIR = (Field(name="given"), Field(name="surname"), Field(name="born", kind="date", edits=2))


def test_fields_that_people_swap_are_stated_and_have_a_level_for_it(tmp_path):
    path = tmp_path / "linkage.toml"
    path.write_text(
        'swaps = [["given", "surname"]]\n[fields.surname]\n[fields.given]\n[fields.x]\n'
    )
    schema = load_schema(path)
    assert schema.swaps == (("given", "surname"),)
    one, other, plain = (schema.levels_of(schema[name]) for name in ("given", "surname", "x"))
    assert (one.partner, one.leads) == ("surname", True)
    assert (other.partner, other.leads) == ("given", False)
    assert "swapped" not in plain.names
    assert schema_from(json.loads(json.dumps(schema.agreed)), "x").agreed == schema.agreed
    assert differences(Schema(fields=PAIR).agreed, Schema(fields=PAIR, swaps=schema.swaps).agreed)


@pytest.mark.parametrize(
    ("swaps", "said"),
    [
        ([["given", "x"]], "there is no field x"),
        ([["given", "given"]], "given is there twice"),
        ([["given", "surname"], ["surname", "born"]], "surname is there twice"),
        ([["given", "born"]], "given is text and born is date"),
        ([["given"]], "swaps"),
        (["given", "surname"], "swaps"),
        ("given", "swaps"),
    ],
)
def test_swaps_that_cannot_be_are_refused(swaps, said):
    fields = {one.name: {"kind": one.kind} for one in PAIR}
    with pytest.raises(InvalidSchema, match=said):
        schema_from({"fields": fields, "swaps": swaps}, "x")


def test_nicknames_are_agreed_on_if_they_are_known():
    ours, theirs = (Schema(fields=(Field(name="name", nicknames=of),)).agreed for of in ("", "de"))
    assert differences(ours, theirs) == ["fields.name.nicknames: None and de"]


EVERY_KIND = (
    Field(name="text", size=20, nicknames="en", share="2/3", miner="tree-adaptive", column="x"),
    Field(name="public", miner="public", grams=("A", "B")),
    Field(name="random", miner="random"),
    Field(name="date", kind="date", format="DD/MM/YYYY"),
    Field(name="category", kind="category", codes={"a": "B"}, edits=1),
    Field(name="digits", kind="digits", length=5, edits=2),
)


def test_what_is_agreed_is_a_schema_again_even_by_way_of_a_file():
    schema = Schema(fields=EVERY_KIND, edits=2, passes=({"text": 1, "date": 0},), id="nr")
    sent = json.loads(json.dumps(schema.agreed))
    assert sent == schema.agreed
    again = schema_from(sent, "x")
    assert again.agreed == schema.agreed
    assert again.digest == schema.digest
    assert [field.name for field in again.fields] == [field.name for field in EVERY_KIND]


# what each field costs

SHARES = st.builds(Fraction, st.integers(1, 1000), st.integers(1, 1000))
FREE_FIELDS = (
    {"kind": "date"},
    {"kind": "category"},
    {"kind": "digits"},
    {"miner": "public", "grams": ("A",)},
    {"miner": "random"},
)
PAID_MINERS = ("levelgram", "tree-linear", "tree-hybrid", "fpm")


@settings(deadline=None)
@given(
    epsilon=SHARES,
    shares=st.lists(SHARES, max_size=10),
    free=st.lists(st.sampled_from(FREE_FIELDS), max_size=5),
    data=st.data(),
)
def test_epsilon_is_split_by_the_shares_exactly(epsilon, shares, free, data):
    miners = data.draw(st.lists(st.sampled_from(PAID_MINERS), min_size=10, max_size=10))
    mined = [{"share": share, "miner": miner} for share, miner in zip(shares, miners, strict=False)]
    listed = data.draw(st.permutations([*mined, *free]))
    if not listed:
        return
    fields = tuple(Field(name=f"f{n}", **one) for n, one in enumerate(listed))
    costs = Schema(fields=fields, epsilon=epsilon).costs
    assert list(costs) == [field.name for field in fields]
    assert sum(costs.values()) == (epsilon if mined else 0)
    for field in fields:
        paid = field.mined and field.miner != "random"
        assert costs[field.name] == (epsilon * field.share / sum(shares) if paid else 0)
        assert (costs[field.name] > 0) == paid


def test_equal_shares_are_the_default():
    fields = (Field(name="a"), Field(name="b"), Field(name="c"), Field(name="d", kind="date"))
    third = Fraction(1, 3)
    assert Schema(fields=fields).costs == {"a": third, "b": third, "c": third, "d": 0}


def test_shares_need_not_sum_to_1():
    fields = (Field(name="a", share=3), Field(name="b", share="0.5"), Field(name="c", share=0.5))
    costs = Schema(fields=fields, epsilon=Fraction(2)).costs
    assert costs == {"a": Fraction(3, 2), "b": Fraction(1, 4), "c": Fraction(1, 4)}


@pytest.mark.parametrize("share", [0, -1, "-1/3", 0.0])
def test_a_share_of_0_or_less_is_refused(share):
    with pytest.raises(InvalidParameter, match="a share must be above 0"):
        Field(name="a", share=share)


@pytest.mark.parametrize("share", ["1/0", "much", None, float("nan"), "1e999"])
def test_a_share_that_is_no_number_is_refused(share):
    with pytest.raises(InvalidParameter, match="is not a number"):
        Field(name="a", share=share)


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
