"""Attacks name nearly everybody where they apply, hardly anybody under the veil."""

from dataclasses import replace

import numpy as np
import pytest

from audit.worlds import case, foreign, registered
from gramlink.audit.audit import (
    ALIGNMENT,
    ATTACKS,
    COMPONENTS,
    FREQUENCIES,
    NEAREST,
    TAGS,
    driving,
    repeated,
    some_of,
)
from gramlink.audit.claims import Claims
from gramlink.lab.rivals.filtered import filtered

COUNT = 1200


def claims(attack, seen, register, count=COUNT):
    one = case(count)
    victims = some_of(one, seen)
    return Claims.of(attack.chances(seen, one.known(register), victims), victims, register.truth)


def filters(count):
    return filtered(case(count).ours, b"secret")


@pytest.mark.parametrize("coverage", [0.5, 0.9, 1.0])
def test_vectors_are_named_by_their_nearest_neighbours(coverage):
    found = claims(NEAREST, case(COUNT).vectors, registered(COUNT, coverage))
    assert found.named >= 0.95
    assert found.crowds[0] >= 0.9 * found.covered


@pytest.mark.parametrize("show", [lambda: case(600).vectors, lambda: filters(600)])
def test_neither_a_secret_base_nor_a_secret_key_hides_them(show):
    found = claims(ALIGNMENT, show(), registered(600), 600)
    assert found.named >= 0.95
    assert found.sure_precision >= 0.95


def test_frequencies_alone_name_some():
    assert claims(FREQUENCIES, case(COUNT).vectors, registered(COUNT)).named >= 0.1


def test_a_veil_of_households_with_exact_distances_is_seen_through():
    found = claims(COMPONENTS, case(COUNT).households, registered(COUNT))
    assert found.named >= 0.4
    assert found.sure_precision >= 0.9
    assert claims(COMPONENTS, case(COUNT).households, registered(COUNT, 0.5)).named >= 0.2


def test_of_its_parts_the_distances_tell_most():
    found = claims(ALIGNMENT, case(COUNT).households, registered(COUNT))
    assert found.named <= 0.05


def test_exact_distances_alone_name_one_in_a_hundred_at_most():
    found = claims(COMPONENTS, case(COUNT).exact, registered(COUNT))
    assert 0.002 <= found.named <= 0.02


@pytest.mark.parametrize("attack", [ALIGNMENT, COMPONENTS, TAGS], ids=lambda one: one.name)
@pytest.mark.parametrize("coverage", [0.5, 0.9, 1.0])
def test_the_veil_hides_nearly_everybody(attack, coverage):
    found = claims(attack, case(COUNT).veiled(), registered(COUNT, coverage))
    assert found.named <= 0.01
    assert found.sure <= 3


@pytest.mark.parametrize("attack", [NEAREST, FREQUENCIES], ids=lambda one: one.name)
def test_attacks_on_values_find_no_value_under_the_veil(attack):
    one = case(COUNT)
    known = one.known(registered(COUNT))
    assert attack.chances(one.veiled(), known, np.arange(3)) is None


@pytest.mark.parametrize("what", ["veiled", "exact", "households", "vectors"])
def test_a_foreign_register_names_nobody(what):
    one = case(COUNT)
    seen = one.veiled() if what == "veiled" else getattr(one, what)
    for attack in ATTACKS:
        known, victims = one.known(foreign(COUNT)), some_of(one, seen)
        chances = attack.chances(seen, known, victims)
        if chances is not None and (attack, what) != (ALIGNMENT, "vectors"):  # as slow as certain
            found = Claims.of(chances, victims, foreign(COUNT).truth)
            assert found.right.sum() <= 3


def test_several_exchanges_tell_more_of_the_same_persons():
    one, register = case(COUNT), registered(COUNT)
    alone = claims(COMPONENTS, one.veiled(), register)
    often = claims(repeated(one, 6), one.veiled(), register)
    assert often.named >= alone.named
    some = (alone.alike > 0) & (alone.alike < 100) & (often.alike > 0)
    assert np.median(often.alike[some]) <= np.median(alone.alike[some])


def test_a_field_that_is_not_shown_and_a_key_that_is_not_sent_tell_nothing():
    seen = case(COUNT).veiled()
    without = seen.without_field(3)
    assert without.missing[:, 3].all()
    assert not without.equal[:, 3].any()
    fewer = seen.without_key(0)
    assert len(fewer.layout) == len(seen.layout) - 1
    assert len(fewer.left) < len(seen.left) or fewer.keys.any(axis=1).all()
    alone = seen.keys.sum(axis=1) == seen.keys[:, 0]
    assert len(fewer.left) == len(seen.left) - alone.sum()


def test_what_drives_the_naming_is_told_key_by_key_and_field_by_field():
    one, register = case(COUNT), registered(COUNT)
    found = driving(one, register, one.known(register))
    assert len(found) == len(one.veiled().layout) + len(one.veiled().names)
    assert found[0].left < found[0].of
    assert [driver.left for driver in found] == sorted(driver.left for driver in found)


def test_the_attacker_need_not_know_the_parities():
    one, register = case(COUNT), registered(COUNT)
    known = replace(one.known(register), secrets=())
    victims = np.arange(COUNT)
    found = Claims.of(COMPONENTS.chances(one.veiled(), known, victims), victims, register.truth)
    assert 0 < found.named <= 0.01


def test_claims_are_counted_as_they_say():
    chances = [
        np.array([0.6, 0.3, 0.1]),
        None,
        np.array([0.2, 0.2, 0.6]),
        np.array([0.3, 0.6, 0.1]),
    ]
    found = Claims.of(iter(chances), np.array([0, 1, 2, 3]), np.array([0, 1, 1, -1]))
    assert found.persons.tolist() == [0, -1, 0, 1]
    assert found.alike.tolist() == [1, 0, 2, 0]
    assert found.right.tolist() == [True, False, False, False]
    assert (found.covered, found.named, found.precision) == (3, 1 / 3, 1 / 3)
    assert (found.sure, found.sure_precision) == (2, 0.5)
    assert found.crowds == (1, 1, 0, 0, 0, 1)
