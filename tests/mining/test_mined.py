import json
from dataclasses import replace
from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from gramlink.errors import BudgetExceeded, InvalidFile
from gramlink.mining.estimates import GRID, Estimates
from gramlink.mining.limits import MOST
from gramlink.mining.mined import Mined, mine
from gramlink.mining.miners import mine_field
from gramlink.mining.prefixes import Tree
from gramlink.privacy.budget import Budget
from gramlink.records.choices import MINERS
from gramlink.records.fields import CATCH_ALL, Field
from gramlink.records.reading import Records
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings
from noise import seeded, silent

FIELD = Field(name="name", miner="tree-linear", alphabet='AB"É')
SCHEMA = Schema(fields=(FIELD,))
EXAMPLE = Mined(
    owner="hospital",
    settings=SCHEMA.agreed,
    epsilon=Fraction(1, 3),
    fields={
        "name": Estimates(
            ("A", 'É"', f"A{CATCH_ALL}"),
            (Fraction(2047, 1024), Fraction(1), Fraction(1, 1024)),
            Tree({"A": 9, "B": 2, "AB": 8}),
        )
    },
)
GRAMS = st.dictionaries(
    st.text(FIELD.symbols, min_size=1, max_size=3),
    st.integers(1, MOST * GRID).map(lambda count: Fraction(count, GRID)),
    max_size=6,
)
TREES = st.sampled_from([Tree({}), Tree({"A": 3, "AA": 2, "AB": MOST})])
OWNERS = st.sampled_from(["hospital", "病院", "St. Mary's"])
EPSILONS = st.fractions(0, 10).filter(bool)


def document(**changes):
    return json.dumps(json.loads(EXAMPLE.to_json()) | changes).encode()


def read(data):
    return Mined.from_json(data, "them.mined.json")


@given(
    owner=st.sampled_from(["hospital", "病院", "St. Mary's"]),
    epsilon=EPSILONS,
    grams=GRAMS,
    tree=TREES,
)
def test_what_is_written_is_what_is_read(owner, epsilon, grams, tree):
    found = Estimates(tuple(grams), tuple(grams.values()), tree)
    mined = Mined(owner, SCHEMA.agreed, epsilon, {"name": found})
    again = read(mined.to_json())
    assert again == mined
    assert again.to_json() == mined.to_json()
    assert again.digest == mined.digest


@pytest.mark.parametrize("miner", sorted(set(MINERS) - {"public"}))
def test_what_any_miner_finds_survives_the_file(miner):
    field = Field(name="name", miner=miner, q_max=2, height=4)
    schema = Schema(fields=(field,), epsilon=Fraction(10, 3))
    names = Strings.of(["MARY ANN", "MARIA", "ÅSA", ""] * 100, field.spelling)
    records = Records("names.csv", tuple(map(str, range(400))), {"name": names}, ())
    mined = mine(records, schema, Budget(schema.epsilon, draw=seeded(1)), owner="hospital")
    assert mined.fields["name"] == mine_field(names, field, Budget("10/3", draw=seeded(1)))
    assert len(mined.fields["name"].grams) > 5
    assert (mined.owner, mined.settings) == ("hospital", schema.agreed)
    assert mined.epsilon == {"exact": None, "random": 0}.get(miner, schema.epsilon)
    assert (mined.fields["name"].tree is not None) is miner.startswith("tree")
    assert read(mined.to_json()) == mined


SEVERAL = Schema(
    fields=(
        Field(name="given", share=2, q_max=2),
        Field(name="surname", miner="tree-linear", q_max=2, height=4),
        Field(name="city", miner="public", grams=("A", "B")),
        Field(name="born", kind="date"),
        Field(name="sex", kind="category"),
        Field(name="phone", kind="digits"),
    ),
    epsilon=Fraction(10, 3),
)


def several(schema=SEVERAL):
    """The same 400 short names in every field."""
    texts = ["MARY ANN", "MARIA", "ÅSA", ""] * 100
    columns = {f.name: Strings.of(texts, f.spelling) for f in schema.fields}
    return Records("names.csv", tuple(map(str, range(400))), columns, ())


def test_only_fields_of_text_are_mined_each_for_its_share():
    budget = Budget(SEVERAL.epsilon, draw=silent)
    mined = mine(several(), SEVERAL, budget, owner="hospital")
    assert list(mined.fields) == ["given", "surname"]
    assert budget.left == 0
    assert mined.epsilon == SEVERAL.epsilon
    shares = {"given": Fraction(20, 9), "surname": Fraction(10, 9)}
    for name, share in shares.items():
        alone = mine_field(several()[name], SEVERAL[name], Budget(share, draw=silent))
        assert mined.fields[name] == alone
    assert mined.settings == SEVERAL.agreed
    assert read(mined.to_json()) == mined


@pytest.mark.parametrize("missing", [Fraction(1, 10**6), Fraction(1)])
def test_a_budget_below_the_sum_of_the_shares_does_not_pay_for_the_last_field(missing):
    budget = Budget(SEVERAL.epsilon - missing, draw=silent)
    with pytest.raises(BudgetExceeded):
        mine(several(), SEVERAL, budget, owner="hospital")


def test_a_schema_without_a_mined_field_mines_nothing_and_is_free():
    public = tuple(field for field in SEVERAL.fields if not field.mined)
    schema = Schema(fields=public)
    mined = mine(several(schema), schema, Budget(Fraction(0), draw=silent), owner="hospital")
    assert (mined.fields, mined.epsilon) == ({}, 0)
    assert read(mined.to_json()) == mined


def test_one_exact_field_takes_all_privacy_away():
    fields = (Field(name="given", q_max=2), Field(name="surname", miner="exact"))
    schema = Schema(fields=fields)
    mined = mine(several(schema), schema, Budget(Fraction(1), draw=silent), owner="hospital")
    assert mined.epsilon is None
    assert read(mined.to_json()).epsilon is None


def test_a_file_cut_short_anywhere_is_refused_as_damaged():
    whole = EXAMPLE.to_json()
    assert read(whole[:-1]) == EXAMPLE  # all that is lost is the end of the line
    for length in range(len(whole) - 1):
        with pytest.raises(InvalidFile, match=r"^them"):
            read(whole[:length])


@given(place=st.integers(0, len(EXAMPLE.to_json()) - 1), byte=st.integers(0, 255))
def test_a_wrong_byte_gives_another_content_or_an_invalid_file(place, byte):
    data = bytearray(EXAMPLE.to_json())
    data[place] = byte
    try:
        again = read(bytes(data))
    except InvalidFile:
        return
    assert isinstance(again.digest, str)


@pytest.mark.parametrize("data", [b"", b"[]", b"3", b'"mined"', b"{}", b"\xff\xfe", b"[" * 10**5])
def test_what_is_no_file_of_ours_is_refused(data):
    with pytest.raises(InvalidFile, match=r"^them"):
        read(data)


def test_a_file_of_another_kind_is_refused_by_its_name():
    with pytest.raises(InvalidFile, match="not a mined file but a vectors file"):
        read(document(gramlink="vectors"))


@pytest.mark.parametrize("version", [0, 2, "1", None, [1]])
def test_a_file_of_another_version_is_refused(version):
    with pytest.raises(InvalidFile, match="version"):
        read(document(version=version))


@pytest.mark.parametrize("missing", ["owner", "settings", "epsilon", "fields"])
def test_a_file_that_lacks_something_is_refused(missing):
    content = json.loads(EXAMPLE.to_json())
    del content[missing]
    with pytest.raises(InvalidFile, match=missing):
        read(json.dumps(content).encode())


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": "1/0"},
        {"epsilon": "a third"},
        {"epsilon": float("inf")},
        {"epsilon": {}},
        {"settings": []},
        {"fields": []},
        {"fields": {"name": {}}},
        {"fields": {"name": []}},
        {"fields": {"name": {"grams": ["A"]}}},
        {"fields": {"name": {"grams": {"A": None}}}},
        {"fields": {"name": {"grams": {"A": "many"}}}},
        {"fields": {"name": {"grams": {"A": "1/0"}}}},
        {"fields": {"name": {"grams": {"A": float("inf")}}}},
        {"fields": {"name": {"grams": {"A": float("nan")}}}},
        {"fields": {"name": {"grams": {}, "tree": None}}},
        {"fields": {"name": {"grams": {}, "tree": ["A"]}}},
        {"fields": {"name": {"grams": {}, "tree": {"A": "many"}}}},
        {"fields": {"name": {"grams": {}, "tree": {"A": None}}}},
        {"fields": {"name": {"grams": {}, "tree": {"A": float("inf")}}}},
    ],
    ids=str,
)
def test_a_damaged_value_is_refused(changes):
    with pytest.raises(InvalidFile):
        read(document(**changes))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("A1/.-", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("AB"), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(
    path=st.sampled_from(
        [
            ("owner",),
            ("epsilon",),
            ("settings",),
            ("fields",),
            ("fields", "name"),
            ("fields", "name", "grams"),
            ("fields", "name", "grams", "A"),
            ("fields", "name", "tree"),
            ("fields", "name", "tree", "AB"),
        ]
    ),
    value=JSON,
)
def test_whatever_stands_in_a_file_no_other_error_comes_of_it(path, value):
    content = json.loads(EXAMPLE.to_json())
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    try:
        again = read(json.dumps(content).encode())
        assert read(again.to_json()) == again
    except InvalidFile:
        pass


@pytest.mark.parametrize(
    "prefixes",
    [
        ["AA", "A"],
        ["A", "AA", "B"],
        ["A", "B", "BA", "AA"],
        ["A", "B", "AA", "BA", "AB"],
        [""],
        ["A", "BB"],
        ["A", "ABC"],
    ],
)
def test_a_tree_out_of_order_or_without_a_parent_is_refused(prefixes):
    tree = dict.fromkeys(prefixes, 1)
    with pytest.raises(InvalidFile, match="prefix tree"):
        read(document(fields={"name": {"grams": {"A": 1}, "tree": tree}}))


def test_a_tree_deeper_than_kernels_have_room_for_is_refused():
    tree = {"A" * depth: 1 for depth in range(1, 301)}
    with pytest.raises(InvalidFile, match="prefix tree"):
        read(document(fields={"name": {"grams": {"A": 1}, "tree": tree}}))


def test_the_digest_changes_with_every_part_of_the_content():
    found = EXAMPLE.fields["name"]
    changed = [
        replace(EXAMPLE, owner="registry"),
        replace(EXAMPLE, epsilon=None),
        replace(EXAMPLE, epsilon=Fraction(1, 4)),
        replace(EXAMPLE, settings={"edits": 2}),
        replace(EXAMPLE, fields={"surname": found}),
        replace(EXAMPLE, fields={"name": replace(found, tree=None)}),
        replace(EXAMPLE, fields={"name": replace(found, tree=Tree({"A": 9}))}),
        replace(EXAMPLE, fields={"name": replace(found, grams=("A", "B", "C"))}),
        replace(EXAMPLE, fields={"name": replace(found, counts=(Fraction(2),) * 3)}),
    ]
    assert len({mined.digest for mined in [EXAMPLE, *changed]}) == 1 + len(changed)
    assert replace(EXAMPLE).digest == EXAMPLE.digest
