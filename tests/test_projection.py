import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlink.base import Base
from gramlink.errors import GramlinkError, InvalidBase, InvalidFile, Mismatch
from gramlink.mined import Mined
from gramlink.mining import Estimates, mine_field
from gramlink.privacy import Budget
from gramlink.projection import Projection, agree
from gramlink.schema import Field, Schema
from gramlink.strings import Strings

SCHEMA = Schema(fields=(Field(name="surname", size=3),))
COUNTS = st.dictionaries(
    st.text("AB", min_size=1, max_size=3), st.integers(1, 9).map(lambda n: Fraction(n, 1024))
)


def mined(owner, counts=None, schema=SCHEMA, epsilon=Fraction(1, 3)):
    counts = {"A": Fraction(5), "AB": Fraction(5, 1024)} if counts is None else counts
    found = Estimates(tuple(counts), tuple(counts.values()))
    return Mined(owner, schema.agreed, epsilon, {"surname": found})


def changed(file, **content):
    """A JSON file with some of its content changed; None takes it away."""
    document = json.loads(file.to_json()) | content
    kept = {key: value for key, value in document.items() if value != "(none)"}
    return json.dumps(kept).encode()


@given(one=COUNTS, other=COUNTS.filter(bool))
def test_both_owners_reach_the_same_projection_in_whichever_order(one, other):
    left, right = mined("a", one), mined("b", other)
    ours, theirs = agree(left, right), agree(right, left)
    assert ours == theirs
    assert ours.digest == theirs.digest
    assert ours.to_json() == theirs.to_json()
    assert ours.owners == ("a", "b")
    assert len(ours.bases["surname"].grams) <= 3


@given(one=COUNTS, other=COUNTS.filter(bool))
def test_what_was_sent_as_a_file_makes_the_same_projection(one, other):
    left, right = mined("a", one), mined("b", other)
    sent = Mined.from_json(right.to_json(), "b.json")
    assert sent == right
    assert sent.digest == right.digest
    assert agree(left, sent).digest == agree(left, right).digest


def test_the_owner_whose_name_sorts_first_is_the_left_one():
    assert agree(mined("zoo"), mined("Hospital")).left == "Hospital"
    assert agree(mined("b"), mined("a")).left == "a"


def test_each_owner_keeps_its_own_price():
    projection = agree(mined("b", epsilon=None), mined("a"))
    assert projection.epsilon == {"a": Fraction(1, 3), "b": None}
    assert Projection.from_json(projection.to_json(), "p.json") == projection


def test_a_projection_comes_back_from_its_file():
    projection = agree(mined("a"), mined("b"))
    again = Projection.from_json(projection.to_json(), "p.json")
    assert again == projection
    assert again.digest == projection.digest
    assert again.settings == SCHEMA.agreed


@pytest.mark.parametrize(
    "other",
    [
        agree(mined("a"), mined("c")),
        agree(mined("a", epsilon=Fraction(1)), mined("b")),
        agree(mined("a", {"B": Fraction(1)}), mined("b")),
        Projection(("a", "b"), {}, {}, {"surname": Base(("A", "AB"))}),
    ],
    ids=["owner", "epsilon", "base", "settings"],
)
def test_whatever_differs_changes_the_digest(other):
    assert other.digest != agree(mined("a"), mined("b")).digest


def test_the_fingerprint_is_the_start_of_the_digest_in_groups():
    projection = agree(mined("a"), mined("b"))
    assert projection.fingerprint.replace(" ", "") == projection.digest[:20]
    assert [len(group) for group in projection.fingerprint.split(" ")] == [4] * 5


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (
            Schema(fields=(Field(name="surname", size=4),)),
            r"differ in fields\.surname\.size: 3 and 4",
        ),
        (Schema(fields=SCHEMA.fields, edits=2), "a and b differ in edits: 1 and 2"),
        (Schema(fields=(Field(name="city", size=3),)), r"fields\.city: .*fields\.surname: "),
    ],
)
def test_settings_that_differ_are_named(other, named):
    with pytest.raises(Mismatch, match=named):
        agree(mined("a"), mined("b", schema=other))


def test_two_files_of_the_same_owner_are_refused():
    with pytest.raises(Mismatch, match="both files were mined by 'a'"):
        agree(mined("a"), mined("a", {"B": Fraction(1)}))


def test_owners_who_found_nothing_have_no_projection():
    with pytest.raises(InvalidBase, match="none was found frequent"):
        agree(mined("a", {}), mined("b", {}))


def test_a_public_base_is_used_whole_whatever_the_size():
    grams = tuple(a + b for a in "ABCDEFGHIJ" for b in "ABCDEFGHIJ")
    field = Field(name="surname", miner="public", grams=grams)
    schema = Schema(fields=(field,))
    found = mine_field(Strings.of(["A"], field.symbols), field, Budget(Fraction(0)))
    sides = [Mined(owner, schema.agreed, Fraction(0), {"surname": found}) for owner in ("a", "b")]
    assert set(agree(*sides).bases["surname"].grams) == set(grams)


@pytest.mark.parametrize(
    "content",
    [
        {"owner": "(none)"},
        {"settings": "(none)"},
        {"settings": []},
        {"epsilon": "(none)"},
        {"epsilon": "much"},
        {"epsilon": "1/0"},
        {"epsilon": [1]},
        {"epsilon": float("inf")},
        {"fields": "(none)"},
        {"fields": []},
        {"fields": {"surname": {}}},
        {"fields": {"surname": {"grams": ["A"]}}},
        {"fields": {"surname": {"grams": {"A": "many"}}}},
        {"fields": {"surname": {"grams": {"A": None}}}},
        {"fields": {"surname": {"grams": {"A": float("nan")}}}},
        {"fields": {"surname": {"grams": {"A": float("inf")}}}},
    ],
    ids=str,
)
def test_a_damaged_mined_file_is_refused(content):
    with pytest.raises(InvalidFile, match=r"^a\.json"):
        Mined.from_json(changed(mined("a"), **content), "a.json")


@pytest.mark.parametrize(
    "content",
    [
        {"fields": {}},
        {"fields": {"city": {"grams": {"A": 1.0}}}},
        {"settings": {}},
        {"settings": {"fields": {"surname": {"size": "many"}}}},
        {"settings": {"fields": {"surname": {"size": -1}}}},
        {"settings": {"fields": 5}},
    ],
    ids=str,
)
def test_a_mined_file_that_contradicts_itself_ends_in_an_error_of_ours(content):
    with pytest.raises(GramlinkError):
        agree(*(Mined.from_json(changed(mined(name), **content), name) for name in "ab"))


@pytest.mark.parametrize(
    "content",
    [
        {"owners": "(none)"},
        {"owners": ["a"]},
        {"owners": ["a", "b", "c"]},
        {"owners": 5},
        {"settings": "(none)"},
        {"settings": None},
        {"epsilon": "(none)"},
        {"epsilon": []},
        {"epsilon": {"a": "1/0"}},
        {"epsilon": {"a": "much"}},
        {"bases": "(none)"},
        {"bases": {}},
        {"bases": []},
        {"bases": {"surname": 5}},
        {"bases": {"surname": [5]}},
    ],
    ids=str,
)
def test_a_damaged_projection_is_refused(content):
    with pytest.raises(InvalidFile, match=r"^p\.json"):
        Projection.from_json(changed(agree(mined("a"), mined("b")), **content), "p.json")


@pytest.mark.parametrize("grams", [[], ["A", "A"], ["ABABABA"], [""]])
def test_a_projection_whose_base_is_none_is_refused(grams):
    projection = agree(mined("a"), mined("b"))
    with pytest.raises(InvalidFile, match=r"^p\.json is damaged"):
        Projection.from_json(changed(projection, bases={"surname": grams}), "p.json")


def test_a_mined_file_is_not_a_projection():
    with pytest.raises(InvalidFile, match="not a projection file but a mined file"):
        Projection.from_json(mined("a").to_json(), "p.json")
