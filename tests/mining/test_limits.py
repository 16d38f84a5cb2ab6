"""What another owner cannot have mined is refused, and the error names that owner."""

import json
from fractions import Fraction

import pytest

from gramlink.embedding.projection import Projection, agree
from gramlink.errors import GramlinkError, InvalidFile, InvalidParameter, Mismatch
from gramlink.mining.estimates import Estimates
from gramlink.mining.limits import MOST, epsilon_fault, mined_fault
from gramlink.mining.mined import Mined, mine
from gramlink.mining.prefixes import Tree
from gramlink.privacy.budget import Budget
from gramlink.records.choices import MINERS
from gramlink.records.fields import CATCH_ALL, MARKS, Field
from gramlink.records.reading import Records
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings
from noise import seeded

START, END = MARKS
SCHEMA = Schema(fields=(Field(name="surname", size=4), Field(name="born", kind="date")))
TREES = Schema(fields=(Field(name="surname", miner="tree-linear", size=4, height=4),))
GOOD = {"A": 3, "MA": 2.5, f"{START}M": 1, f"A{CATCH_ALL}": 0.0009765625}
NODES = {"A": 3, "AB": 2}


def document(schema=SCHEMA, owner="registry", epsilon="1", tree=None, grams=GOOD, **fields):
    found = {"surname": {"grams": grams, **({} if tree is None else {"tree": tree})}}
    content = {"gramlink": "mined", "version": 1, "owner": owner, "epsilon": epsilon}
    fields = {**found, **{name: {"grams": one} for name, one in fields.items()}}
    settings = json.loads(json.dumps(schema.agreed))
    return json.dumps({**content, "fields": fields, "settings": settings}).encode()


def test_what_can_have_been_mined_is_read():
    assert Mined.from_json(document(), "them").fields["surname"].grams == tuple(GOOD)
    plain = {"A": 3, "AB": 2}
    found = Mined.from_json(document(TREES, tree=NODES, grams=plain), "them")
    assert found.fields["surname"].tree == Tree(NODES)


BAD = {
    "another script": ({"grams": {"АБ": 3}}, "surname: the gram 'АБ' has a symbol that is not in"),
    "lower case": ({"grams": {"ma": 3}}, "has a symbol that is not in the alphabet"),
    "a control character": ({"grams": {"A\x1b": 3}}, r"the gram 'A\x1b' has a symbol"),
    "six symbols of three": ({"grams": {"MILLER": 3}}, "the gram 'MILLER' has 6 symbols, not 1 to"),
    "no symbol": ({"grams": {"": 3}}, "the gram '' has 0 symbols, not 1 to 3"),
    "too many": (
        {"grams": {f"{a}{b}": 1 for a in "ABCD" for b in "EF"}},
        "surname: it has 8 grams, and at most 4 are mined",
    ),
    "a mark in the middle": ({"grams": {f"A{START}B": 3}}, "a mark where no text starts or ends"),
    "nothing but marks": ({"grams": {f"{START}{END}": 3}}, "a mark where no text starts or ends"),
    "a mark turned round": ({"grams": {f"{END}A": 3}}, "a mark where no text starts or ends"),
    "true": ({"grams": {"A": True}}, "the count of a gram is not a number"),
    "a count of nothing": ({"grams": {"A": 0}}, "the gram 'A' cannot have the count 0"),
    "less than nothing": ({"grams": {"A": -1}}, "the gram 'A' cannot have the count -1"),
    "more than there are": ({"grams": {"A": 10**13}}, "the gram 'A' cannot have the count 1e+13"),
    "between the counts": ({"grams": {"A": 0.1}}, "the gram 'A' cannot have the count 0.1"),
    "a path": ({"owner": "../../x"}, "'../../x' cannot be the name of an owner"),
    "a lookalike": ({"owner": "r\N{CYRILLIC SMALL LETTER IE}gistry"}, "mixes CYRILLIC and LATIN"),
    "a name that is none": ({"owner": True}, "cannot be the name of an owner: it is not text"),
    "no epsilon": ({"epsilon": None}, "it does not state its epsilon"),
    "nothing spent": ({"epsilon": "0"}, "mining cannot have cost epsilon 0"),
    "a public field": ({"born": {"1": 2}}, "its fields are born, surname, not surname"),
    "a tree of another miner": ({"tree": NODES}, "levelgram does not give a prefix tree"),
    "no tree": ({"schema": TREES, "grams": {"A": 1}}, "tree-linear gives a prefix tree"),
    "marks of another miner": (
        {"schema": TREES, "tree": NODES, "grams": {f"{START}A": 1}},
        "has a symbol that is not in the alphabet",
    ),
    "a tree that is too high": (
        {"schema": TREES, "tree": {"A" * n: 1 for n in range(1, 6)}, "grams": {"A": 1}},
        "its prefix tree is more than 4 levels high",
    ),
    "a tree of another script": (
        {"schema": TREES, "tree": {"Б": 1}, "grams": {"A": 1}},
        "its prefix 'Б' has a symbol that is not in the alphabet",
    ),
    "a tree that counts true": (
        {"schema": TREES, "tree": {"A": True}, "grams": {"A": 1}},
        "a count of its prefix tree is not a whole number",
    ),
    "a tree that counts less than nothing": (
        {"schema": TREES, "tree": {"A": -1}, "grams": {"A": 1}},
        "its prefix 'A' cannot have the count -1",
    ),
}


@pytest.mark.parametrize(("changes", "says"), BAD.values(), ids=BAD)
def test_what_cannot_have_been_mined_is_refused_as_soon_as_it_is_read(changes, says):
    with pytest.raises(InvalidFile) as caught:
        Mined.from_json(document(**changes), "registry.mined.json")
    assert str(caught.value).startswith("registry.mined.json is damaged: ")
    assert says in str(caught.value)
    whom = "its sender" if "owner" in changes else "registry"
    assert caught.value.hint == f"ask {whom} for it again"
    if "owner" not in changes and "count of" not in says:
        assert "registry cannot have mined this" in str(caught.value)


def test_what_python_hands_over_is_held_to_the_same():
    good = Mined.from_json(document(owner="hospital"), "ours")
    for grams, says in (("АБ", "not in the alphabet"), ("MILLER", "has 6 symbols")):
        found = Estimates((grams,), (Fraction(3),))
        bad = Mined("registry", SCHEMA.agreed, Fraction(1), {"surname": found})
        with pytest.raises(InvalidFile, match=f"^registry cannot have mined this: .*{says}"):
            agree(good, bad)
    with pytest.raises(InvalidParameter, match=r"'\.\./x' cannot be the name of an owner"):
        agree(good, Mined("../x", SCHEMA.agreed, Fraction(1), good.fields))
    twin = Mined("hospita1", SCHEMA.agreed, Fraction(1), good.fields)
    with pytest.raises(Mismatch, match="two files were mined by 'hospita1' and 'hospital'"):
        agree(good, twin)


@pytest.mark.parametrize("miner", sorted(set(MINERS) - {"public"}))
@pytest.mark.parametrize("epsilon", ["1/1000000", "1", "20"])
def test_nothing_that_a_miner_finds_is_refused(miner, epsilon):
    field = Field(name="surname", miner=miner, alphabet="ABC", size=9, height=4)
    schema = Schema(fields=(field,), epsilon=Fraction(epsilon))
    names = Strings.of(["A", "ABBA", "CAB", "Ł", ""] * 20, field.spelling)
    records = Records("names.csv", tuple(map(str, range(100))), {"surname": names}, ())
    mined = mine(records, schema, Budget(schema.epsilon, draw=seeded(1)), owner="hospital")
    assert mined_fault(schema, mined.fields, mined.epsilon) == ""


def test_an_epsilon_is_what_the_miners_ask_for():
    exact, drawn = (Schema(fields=(Field(name="a", miner=one),)) for one in ("exact", "random"))
    assert epsilon_fault(exact, None) == epsilon_fault(drawn, Fraction(0)) == ""
    assert epsilon_fault(exact, Fraction(1)) == "without privacy there is no epsilon"
    assert "cannot have cost" in epsilon_fault(drawn, Fraction(1))


def projection(**changes):
    shared = agree(*(Mined.from_json(document(owner=one), one) for one in ("hospital", "registry")))
    return json.dumps(json.loads(shared.to_json()) | changes).encode()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"bases": {"surname": ["АБ"]}}, "surname: the gram 'АБ' has a symbol that is not in"),
        ({"bases": {"surname": ["MILLER"]}}, "the gram 'MILLER' has 6 symbols"),
        ({"bases": {"surname": list("ABCDE")}}, "it has 5 grams, and at most 4 are mined"),
        ({"bases": {"surname": [True]}}, ""),
        ({"bases": {"surname": "AB"}}, "a base is not a list of grams"),
        ({"bases": {"surname": ["A"], "born": ["1"]}}, "not those of the mined fields"),
        ({"epsilon": {"hospital": "0", "registry": "1"}}, "mining cannot have cost epsilon 0"),
        ({"epsilon": {"hospital": None, "registry": "1"}}, "it does not state its epsilon"),
        ({"owners": ["../x", "registry"]}, ""),
        ({"owners": ["hospita1", "hospital"], "epsilon": {"hospita1": "1", "hospital": "1"}}, ""),
    ],
)
def test_a_projection_that_nobody_can_have_agreed_on_is_refused(changes, says):
    Projection.from_json(projection(), "p.json")
    with pytest.raises(GramlinkError, match=r"^p\.json is damaged") as caught:
        Projection.from_json(projection(**changes), "p.json")
    assert says in str(caught.value)


def test_the_largest_count_is_far_from_what_a_float_holds_exactly():
    assert MOST * 1024 < 2**53
