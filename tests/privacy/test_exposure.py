from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from gramlink.errors import GramlinkError
from gramlink.privacy.entries import State
from gramlink.privacy.exposure import (
    MOST,
    UNSEALED,
    Disclosure,
    Exposure,
    counted,
    reader,
    totals,
)

EVERYTHING = Disclosure(rows=1, draws=None)
DRAWN = Disclosure(rows=16, draws={"surname": 672, "sex": 896})
ONE = Exposure("stroke", "age1unit", "veiled", 1000, DRAWN, "0f3e", "8a5c", "2026-03-14T15:09:26Z")

DISCLOSURES = st.one_of(
    st.just(EVERYTHING),
    st.builds(
        Disclosure,
        rows=st.integers(1, 16),
        draws=st.dictionaries(st.sampled_from(["surname", "sex", "born"]), st.integers(0, 900)),
    ),
)
EXPOSURES = st.builds(
    Exposure,
    exchange=st.sampled_from(["", "stroke", "heart"]),
    unit=st.sampled_from(["age1unit", "age1other", UNSEALED]),
    encoding=st.sampled_from(["veiled", "vectors"]),
    records=st.integers(0, 10**6),
    shown=DISCLOSURES,
    key=st.sampled_from(["0f3e", "77aa"]),
    digest=st.text("0123456789abcdef", min_size=1, max_size=3),
    time=st.just("2026-03-14T15:09:26Z"),
)
MANY = st.lists(EXPOSURES, max_size=12)


def summed(exposures):
    """What there is to say of each unit, without the order in which it was shown things."""
    return [
        (
            total.unit,
            total.records,
            total.rows,
            total.draws,
            sorted(map(repr, total.everything)),
            sorted(sorted(map(repr, group)) for group in total.joined),
            counted(exposures, total.unit),
        )
        for total in totals(exposures)
    ]


@given(exposures=MANY, chance=st.randoms())
def test_what_adds_up_does_not_depend_on_the_order(exposures, chance):
    before = summed(exposures)
    chance.shuffle(exposures)
    assert summed(exposures) == before


@given(exposures=MANY)
def test_every_exposure_is_in_the_total_of_its_unit_and_in_no_other(exposures):
    found = totals(exposures)
    assert [one for total in found for one in total.exposures] == sorted(
        exposures, key=lambda one: one.unit
    )
    for total in found:
        assert {one.unit for one in total.exposures} == {total.unit}


@given(one=EXPOSURES)
def test_an_exposure_is_read_as_it_was_recorded(one):
    assert Exposure.read({"time": one.time, **one.content}) == one


def test_draws_and_rows_add_up_and_records_do_not():
    [total] = totals([ONE, replace(ONE, exchange="heart", digest="77", records=1200)])
    assert (total.records, total.rows) == (1200, 32)
    assert total.draws == {"sex": 2 * 896, "surname": 2 * 672}
    assert total.everything == ()


def test_what_shows_everything_adds_no_draws_and_counts_for_no_limit():
    shown = replace(ONE, encoding="vectors", shown=EVERYTHING, digest="77")
    [total] = totals([shown, ONE])
    assert total.everything == (shown,)
    assert total.draws == DRAWN.draws
    assert counted([shown, ONE], ONE.unit) == 1


def test_records_can_be_joined_where_the_key_of_the_pseudonyms_is_the_same():
    again = replace(ONE, exchange="heart", digest="77")
    other = replace(ONE, exchange="lung", digest="78", key="ffff")
    [total] = totals([ONE, other, again])
    assert total.joined == ((ONE, again),)


def test_what_is_not_sealed_counts_for_every_unit():
    open_to_all = replace(ONE, unit=UNSEALED, digest="77")
    other = replace(ONE, unit="age1other", digest="78")
    exposures = [ONE, replace(ONE, digest="79"), open_to_all, other]
    assert counted(exposures, "age1unit") == 3
    assert counted(exposures, "age1other") == 2
    assert counted(exposures, "age1new") == 1
    assert counted(exposures, UNSEALED) == 3  # the unit that knows most may read the next one too


def test_only_the_same_bundle_for_the_same_unit_and_exchange_is_shown_again():
    assert ONE.repeats(replace(ONE, time="2027-01-01T00:00:00Z"))
    for other in ({"exchange": "heart"}, {"unit": UNSEALED}, {"digest": "77"}):
        assert not ONE.repeats(replace(ONE, **other))


def test_before_it_is_encoded_a_bundle_may_be_one_that_was_shown_before():
    planned = replace(ONE, digest="")
    assert planned.repeats(ONE)
    for other in ({"exchange": "heart"}, {"key": "ffff"}, {"records": 999}, {"unit": UNSEALED}):
        assert not replace(planned, **other).repeats(ONE)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"digest": ""},
        {"digest": None},
        {"unit": 7},
        {"key": None},
        {"records": -1},
        {"records": True},
        {"rows": "16"},
        {"draws": {"surname": 1.5}},
        {"draws": {"surname": None}},
        {"draws": [1]},
        {"draws": 56},
    ],
)
def test_what_cannot_be_an_exposure_is_not_read(spoilt):
    with pytest.raises((GramlinkError, ValueError, TypeError)):
        Exposure.read({"time": "", **ONE.content, **spoilt})


def test_a_new_data_set_permits_ten_to_each_unit():
    assert MOST == 10
    state = State("hospital", 1, exposures=(ONE,))
    assert state.exposures_left(ONE.unit) == 9
    assert state.exposures_left("age1new") == 10


def test_readers_are_named_by_the_fingerprint_of_their_key():
    from gramlink.bundles.sealing import new_identity

    recipient = new_identity().recipient
    assert reader(recipient.key).endswith(recipient.fingerprint)
    assert "not sealed" in reader(UNSEALED)
