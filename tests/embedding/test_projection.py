import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlink.embedding.base import Base, merge
from gramlink.embedding.projection import Projection, agree
from gramlink.errors import GramlinkError, InvalidBase, InvalidFile, Mismatch
from gramlink.mining.estimates import Estimates
from gramlink.mining.mined import Mined
from gramlink.mining.miners import mine_field
from gramlink.privacy.budget import Budget
from gramlink.records.fields import Field
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings

SCHEMA = Schema(fields=(Field(name="surname", size=3),))
COUNTS = st.dictionaries(
    st.text("AB", min_size=1, max_size=3),
    st.integers(1, 9).map(lambda n: Fraction(n, 1024)),
    max_size=3,
)
EXACT = Schema(fields=(Field(name="surname", size=3, miner="exact"),))


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
    assert agree(mined("zoo"), mined("Hospital")).left == ("Hospital",)
    assert agree(mined("b"), mined("a")).left == ("a",)


def test_of_several_owners_all_but_the_last_are_left_to_another():
    projection = agree(mined("c"), mined("a"), mined("d"), mined("b"))
    assert projection.owners == ("a", "b", "c", "d")
    assert projection.left == ("a", "b", "c")


def test_a_single_owner_compares_with_itself():
    projection = agree(mined("a"))
    assert projection.owners == projection.left == ("a",)
    assert Projection.from_json(projection.to_json(), "p.json") == projection


@given(counts=st.lists(COUNTS.filter(bool), min_size=3, max_size=3), data=st.data())
def test_three_owners_reach_the_same_projection_in_whichever_order(counts, data):
    sides = [mined(name, found) for name, found in zip("abc", counts, strict=True)]
    ours, theirs = agree(*sides), agree(*data.draw(st.permutations(sides)))
    assert ours == theirs
    assert ours.to_json() == theirs.to_json()
    assert ours.bases["surname"] == merge((one.fields["surname"] for one in sides), 3)
    again = Projection.from_json(ours.to_json(), "p.json")
    assert (again, again.digest) == (ours, ours.digest)
    assert ours.epsilon == dict.fromkeys("abc", Fraction(1, 3))


def test_the_grams_of_a_third_owner_count():
    sides = [mined(name, {"A": Fraction(2), "B": Fraction(1)}) for name in "ab"]
    assert agree(*sides).bases["surname"].grams == ("A", "B")
    third = mined("c", {"B": Fraction(9)})
    assert agree(*sides, third).bases["surname"].grams == ("B", "A")


SEVERAL = Schema(
    fields=(
        Field(name="born", kind="date"),
        Field(name="surname", size=3),
        Field(name="phone", kind="digits"),
        Field(name="given", size=2, share=3),
        Field(name="city", miner="public", grams=("X", "ER")),
        Field(name="sex", kind="category"),
    )
)


PUBLIC = ("born", "phone", "city", "sex")
ESTIMATES = Estimates(("A",), (Fraction(1),))


def mined_of_several(owner, schema=SEVERAL, **fields):
    found = {"surname": {"A": Fraction(2)}, "given": {"B": Fraction(1)}} | fields
    estimates = {name: Estimates(tuple(one), tuple(one.values())) for name, one in found.items()}
    return Mined(owner, schema.agreed, Fraction(1), estimates)


def test_each_field_has_a_base_of_its_own_mined_or_public():
    more = {"C": Fraction(3), "D": Fraction(2)}
    projection = agree(mined_of_several("a"), mined_of_several("b", given=more))
    assert list(projection.bases) == [field.name for field in SEVERAL.fields]
    assert projection.mined == ("surname", "given")
    assert projection.bases["surname"].grams == ("A",)
    assert projection.bases["given"].grams == ("C", "D")
    for name in PUBLIC:
        assert sorted(projection.bases[name].grams) == sorted(SEVERAL[name].public_grams)
    assert len(projection.bases["born"].grams) == 80


def test_public_bases_have_an_order_that_follows_from_what_the_unit_does_not_know():
    """In the order of the alphabet, a date could be read off its vector."""
    ours = agree(mined_of_several("a"), mined_of_several("b"))
    theirs = agree(mined_of_several("b"), mined_of_several("a"))
    others = agree(mined_of_several("a"), mined_of_several("b", given={"C": Fraction(1)}))
    for name in ("born", "phone", "sex"):
        assert ours.bases[name] == theirs.bases[name]
        assert ours.bases[name].grams != SEVERAL[name].public_grams
        assert ours.bases[name].grams != others.bases[name].grams
    again = Projection.from_json(ours.to_json(), "p.json")
    assert again.bases == ours.bases


def test_fields_of_one_kind_have_different_orders():
    twins = (Field(name="born", kind="date"), Field(name="died", kind="date"))
    schema = Schema(fields=(*twins, *SEVERAL.fields[1:2]))
    sides = [Mined(one, schema.agreed, Fraction(1), {"surname": ESTIMATES}) for one in "ab"]
    born, died = (agree(*sides).bases[field.name].grams for field in twins)
    assert sorted(born) == sorted(died)
    assert born != died


def test_a_file_lists_the_mined_bases_alone_since_the_others_follow():
    projection = agree(mined_of_several("a"), mined_of_several("b"))
    assert json.loads(projection.to_json())["bases"] == {"surname": ["A"], "given": ["B"]}
    again = Projection.from_json(projection.to_json(), "p.json")
    assert (again, again.digest) == (projection, projection.digest)


@pytest.mark.parametrize("left_out", ["surname", "given"])
def test_a_mined_field_that_has_no_grams_in_a_file_is_refused(left_out):
    whole = mined_of_several("a")
    fields = {name: found for name, found in whole.fields.items() if name != left_out}
    partly = Mined("b", whole.settings, whole.epsilon, fields)
    with pytest.raises(InvalidFile, match=r"^b cannot have mined this: .*not given, surname"):
        agree(whole, partly)
    projection = agree(whole, mined_of_several("b"))
    bases = {name: ["A"] for name in projection.mined if name != left_out}
    with pytest.raises(InvalidFile, match="its bases are not those of the mined fields"):
        Projection.from_json(changed(projection, bases=bases), "p.json")


def test_grams_of_a_field_that_is_not_mined_are_refused():
    nosy = mined_of_several("b", born={"A": Fraction(1)})
    with pytest.raises(InvalidFile, match=r"^b cannot have mined this: its fields are born"):
        agree(mined_of_several("a"), nosy)


def test_a_field_of_which_nobody_found_a_gram_has_no_base():
    with pytest.raises(InvalidBase, match="none was found frequent"):
        agree(mined_of_several("a", given={}), mined_of_several("b", given={}))


def test_each_owner_keeps_its_own_price():
    projection = agree(mined("b", epsilon=Fraction(2)), mined("a"))
    assert projection.epsilon == {"a": Fraction(1, 3), "b": Fraction(2)}
    assert Projection.from_json(projection.to_json(), "p.json") == projection
    projection = agree(*(mined(name, schema=EXACT, epsilon=None) for name in "ab"))
    assert projection.epsilon == {"a": None, "b": None}
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
        Projection(
            ("a", "b"),
            SCHEMA.model_copy(update={"edits": 2}).agreed,
            dict.fromkeys("ab", Fraction(1, 3)),
            {"surname": Base(("A", "AB"))},
        ),
    ],
    ids=["owner", "epsilon", "base", "settings"],
)
def test_whatever_differs_changes_the_digest(other):
    assert other.digest != agree(mined("a"), mined("b")).digest


def test_what_does_not_differ_keeps_the_digest():
    same = Projection(
        ("a", "b"),
        SCHEMA.agreed,
        dict.fromkeys("ba", Fraction(1, 3)),
        {"surname": Base(("A", "AB"))},
    )
    assert same.digest == agree(mined("a"), mined("b")).digest


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


def test_settings_in_which_a_third_owner_differs_are_named_with_two_owners():
    other = Schema(fields=SCHEMA.fields, edits=2)
    with pytest.raises(Mismatch, match=r"^b and c differ in edits: 1 and 2$"):
        agree(mined("c", schema=other), mined("a"), mined("b"))
    with pytest.raises(Mismatch, match=r"^a and b differ in edits: 2 and 1$"):
        agree(mined("c"), mined("a", schema=other), mined("b"))


def test_owners_may_differ_in_what_is_their_own():
    own = Schema(
        fields=(Field(name="surname", size=3, column=("first", "last"), missing=("?",)),),
        id="nr",
        epsilon=Fraction(1, 7),
        unique=False,
    )
    assert agree(mined("a"), mined("b", schema=own)) == agree(mined("a"), mined("b"))


def test_two_files_of_the_same_owner_are_refused():
    with pytest.raises(Mismatch, match="two files were mined by 'a'"):
        agree(mined("a"), mined("a", {"B": Fraction(1)}))
    with pytest.raises(Mismatch, match="two files were mined by 'b'"):
        agree(mined("b"), mined("a"), mined("b"), mined("c"))


def test_owners_who_found_nothing_have_no_projection():
    with pytest.raises(InvalidBase, match="none was found frequent"):
        agree(mined("a", {}), mined("b", {}))


def test_a_public_base_is_used_whole_whatever_the_size():
    grams = tuple(a + b for a in "ABCDEFGHIJ" for b in "ABCDEFGHIJ")
    field = Field(name="surname", miner="public", grams=grams)
    schema = Schema(fields=(field,))
    found = mine_field(Strings.of(["A"], field.symbols), field, Budget(Fraction(0)))
    assert set(found.grams) == set(grams)
    # it is in the settings, so there is nothing to mine and to send
    sides = [Mined(owner, schema.agreed, Fraction(0), {}) for owner in ("a", "b")]
    projection = agree(*sides)
    assert set(projection.bases["surname"].grams) == set(grams)
    assert len(projection.bases["surname"].grams) == len(grams)
    assert projection.mined == ()
    assert Projection.from_json(projection.to_json(), "p.json") == projection


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
        {"settings": {"fields": {"surname": []}}},
        {"settings": {"fields": {"surname": {"kind": {}}}}},
        {"settings": {"fields": {"surname": {"kind": "date"}}}},
        {"settings": {"fields": {"surname": {"kind": "date", "size": 3}}}},
        {"settings": {"fields": {"surname": {"share": "1/0"}}}},
        {"settings": {"fields": {"surname": {"column": []}}}},
        {"settings": {"fields": {"surname": {}, "city": {}}}},
        {"settings": {"fields": {"surname": {}}, "passes": 5}},
        {"settings": {"fields": {"surname": {}}, "accept": "much"}},
        {"settings": {"fields": {f"f{n}": {} for n in range(51)}}},
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
        {"owners": []},
        {"owners": ["a"]},  # its epsilon is of a and b
        {"owners": ["a", "b", "c"]},
        {"owners": ["b", "a"]},
        {"owners": ["a", "a"]},
        {"owners": ["a", "b", "b"]},
        {"owners": 5},
        {"settings": "(none)"},
        {"settings": None},
        {"settings": {}},
        {"settings": {"fields": {}}},
        {"settings": {"fields": {"surname": {"kind": "colour"}}}},
        {"settings": {"fields": {"surname": {"size": -1}}}},
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
