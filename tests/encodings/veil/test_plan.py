"""The plan's promises; which keys it chooses is tuned elsewhere."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.encodings.veil import plan
from gramlink.encodings.veil.keys import Component, Key, read_keys
from gramlink.encodings.veil.layout import spelt
from gramlink.encodings.veil.plan import check_plan, planned
from gramlink.encodings.veil.relatives import SELDOM, together
from gramlink.encodings.veil.veiled import VeiledRecords
from gramlink.errors import InvalidSchema
from gramlink.records.fields import Field
from gramlink.records.schema import Schema

KINDS = {
    "given_name": "text",
    "surname": "text",
    "date_of_birth": "date",
    "sex": "category",
    "street": "text",
    "city": "text",
    "postcode": "digits",
    "phone": "digits",
    "colour": "text",
    "case_number": "digits",
}
PERSON = ("given_name", "surname", "date_of_birth", "sex", "postcode")


def schema(*names, **settings):
    fields = tuple(Field(name=name, kind=KINDS[name]) for name in names)
    return Schema(fields=fields, encoding="veiled", **settings)


def household(keys, names):
    return max(together(key, {name: KINDS[name] for name in names}) for key in keys)


NAMES = st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5, unique=True)


@settings(max_examples=12)
@given(names=NAMES)
def test_no_key_is_one_that_members_of_a_household_often_share(names):
    names = ["date_of_birth", *(name for name in names if name != "date_of_birth")]
    of = schema(*names)
    keys = planned(of)
    assert 1 <= len(keys) <= of.rows
    assert household(keys, names) <= SELDOM
    assert read_keys(spelt(keys), of.fields) == keys  # the unit would take them


def test_the_plan_is_the_same_each_time():
    of = schema(*PERSON)
    first = planned(of)
    plan._chosen.cache_clear()
    assert planned(of) == first
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("most", [1, 3, 24])
def test_there_are_at_most_as_many_keys_as_asked_for(most):
    keys = planned(schema(*PERSON, rows=most))
    assert 1 <= len(keys) <= most
    assert planned(schema(*PERSON, rows=1))[0] == keys[0]


def test_stated_passes_become_keys():
    stated = ({"surname": 0, "date_of_birth": 0}, {"given_name": 0})
    found = planned(schema(*PERSON, passes=stated))
    assert found == (
        Key((Component(("surname",)), Component(("date_of_birth",)))),
        Key((Component(("given_name",)),)),
    )


def test_the_order_of_the_fields_in_a_pass_makes_no_other_key():
    one, other = (
        planned(schema(*PERSON, passes=({first: 0, second: 0},)))
        for first, second in (("sex", "surname"), ("surname", "sex"))
    )
    assert one == other


@pytest.mark.parametrize(
    "passes",
    [
        ({"surname": 0, "sex": 0}, {"sex": 0, "surname": 0}),
        tuple({"surname": 0} for _ in range(65)),
    ],
    ids=["twice", "too many"],
)
def test_passes_that_the_unit_would_refuse_are_refused_before_anything_is_spent(passes):
    with pytest.raises(InvalidSchema, match="different passes, at most 64"):
        check_plan(schema(*PERSON, passes=passes))


def test_a_stated_pass_within_edits_is_refused():
    with pytest.raises(InvalidSchema, match="cannot compare within edits"):
        planned(schema(*PERSON, passes=({"surname": 1, "date_of_birth": 0},)))


def test_fields_that_a_household_has_in_common_make_no_key():
    with pytest.raises(InvalidSchema, match="tells the members of a household apart"):
        planned(schema("street", "city", "postcode"))


def test_stated_passes_of_households_are_warned_of_and_planned_ones_are_none():
    address = ({"surname": 0, "postcode": 0}, {"given_name": 0, "surname": 0})
    (warning,) = VeiledRecords.warnings(schema(*PERSON, passes=address))
    assert warning.startswith("the pass surname, postcode is shared by members of a household")
    assert VeiledRecords.warnings(schema(*PERSON)) == ()
