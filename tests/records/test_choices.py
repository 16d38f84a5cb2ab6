import inspect
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import gramlink as gl
from gramlink.deciding.rules import BEST_PER_LEFT, keep_best_per_left, rule_named
from gramlink.errors import InvalidSchema
from gramlink.mining.estimates import top
from gramlink.mining.miners import EXPERIMENTAL, FREE, price
from gramlink.records.choices import MINERS, POLICIES, RULES, Choice, Miner, listed
from gramlink.records.fields import Field
from gramlink.records.schema import Schema, checked_schema, schema_from

ARGUMENTS = [
    *[(choice, ["strings", "field", "budget"]) for choice in MINERS.values()],
    *[(choice, ["case"]) for choice in POLICIES.values()],
]


@pytest.mark.parametrize(("choice", "arguments"), ARGUMENTS, ids=lambda one: str(one))
def test_every_choice_leads_to_a_function_that_can_be_called(choice, arguments):
    needed = [
        name
        for name, one in inspect.signature(choice.value).parameters.items()
        if one.default is one.empty
    ]
    assert needed == arguments


@pytest.mark.parametrize("name", RULES)
def test_every_rule_has_the_name_that_it_is_chosen_by(name):
    assert rule_named(name) is RULES[name].value
    assert rule_named(name).name == name


def test_what_a_miner_costs_follows_from_what_is_said_of_it():
    assert EXPERIMENTAL == ("random", "exact")
    assert FREE == ("public", "random", "exact")
    paid = {name for name in MINERS if price(Schema(fields=(of(name),)))}
    assert paid == MINERS.keys() - set(FREE)
    assert price(Schema(fields=(of("exact"),))) is None
    assert price(Schema(fields=(of("random"),))) == price(Schema(fields=(of("public"),))) == 0


def of(miner):
    return Field(name="x", miner=miner, grams=("A",) if miner == "public" else ())


@pytest.mark.parametrize("wrong", ["magic", "", "Levelgram", None, 1, ["fpm"], {"fpm": 1}])
def test_a_name_that_is_no_choice_is_refused_with_those_that_are(wrong):
    with pytest.raises(InvalidSchema) as caught:
        schema_from({"fields": {"surname": {"miner": wrong}}}, "linkage.toml")
    assert str(caught.value) == (
        f"linkage.toml: fields.surname.miner: Input should be {listed(map(repr, MINERS))}"
    )
    with pytest.raises(InvalidSchema) as caught:
        checked_schema(fields=({"name": "x"},), threshold=wrong)
    assert str(caught.value) == f"threshold: Input should be {listed(map(repr, POLICIES))}"


OURS = replace(BEST_PER_LEFT, name="ours", keep=lambda contest: keep_best_per_left(contest)[:1])


def letters(strings, field, budget):
    """A miner as somebody may add one."""
    counts = np.bincount(strings.codes, minlength=len(field.symbols))
    noisy = budget.laplace(counts, sensitivity=field.length, epsilon=budget.left)
    return top(zip(field.symbols, map(Fraction, noisy.tolist()), strict=True), field.size)


def nothing_farther(case):
    """A policy as somebody may add one."""
    return case.same_for_all(0)


def test_a_rule_and_a_line_can_be_chosen(monkeypatch):
    monkeypatch.setitem(RULES, "ours", Choice(f"{__name__}:OURS"))
    schema = checked_schema(fields=({"name": "x"},), decide="ours")
    assert rule_named(schema.decide) is OURS
    with pytest.raises(InvalidSchema, match=r"^decide: Input should be 'one-to-one', .* or 'ours'"):
        checked_schema(fields=({"name": "x"},), decide="magic")


def test_a_function_and_a_line_make_a_choice_that_links(monkeypatch):
    monkeypatch.setitem(MINERS, "letters", Miner(f"{__name__}:letters"))
    monkeypatch.setitem(POLICIES, "nothing-farther", Choice(f"{__name__}:nothing_farther"))
    field = {"name": "surname", "miner": "letters", "alphabet": "ABC", "q_max": 1}
    schema = checked_schema(fields=(field,), threshold="nothing-farther", epsilon=2000)
    assert price(schema) == 2000
    left, right = (
        pl.DataFrame({"id": [f"{side}{n}" for n in range(3)], "surname": names})
        for side, names in (("l", ["ABBA", "CAB", "BCC"]), ("r", ["CCB", "AABB", "CABB"]))
    )
    pairs = gl.link(left, right, schema).to_polars()
    assert sorted(pairs.select("id_left", "id_right").rows()) == [("l0", "r1"), ("l2", "r0")]
    with pytest.raises(InvalidSchema, match=r"'exact' or 'letters'$"):
        checked_schema(fields=({"name": "x", "miner": "magic"},))
