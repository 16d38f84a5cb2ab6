"""What an owner has at hand is enough to be attacked: the rest is made up, alike each time."""

import numpy as np
import pytest

from audit.worlds import SCHEMA, case, registered
from gramlink.audit.advice import advice
from gramlink.audit.audit import Audit, Driver, Outcome, audit, named
from gramlink.audit.claims import Claims
from gramlink.audit.made_up import partner, strangers
from gramlink.audit.situation import situation
from gramlink.errors import InvalidParameter
from gramlink.lab.rivals.filtered import filtered

COUNT = 300


def rows(records):
    return list(zip(*records.columns.values(), strict=True))


def test_a_partner_has_half_of_the_persons_with_some_errors():
    ours = case(COUNT).ours
    theirs, of = partner(ours, SCHEMA, np.random.default_rng(1))
    assert len(theirs) == COUNT
    assert (of >= 0).sum() == COUNT // 2
    values, others = rows(ours), rows(theirs)
    same = [
        np.mean([one == other for one, other in zip(others[row], values[whose], strict=True)])
        for row, whose in enumerate(of.tolist())
        if whose >= 0
    ]
    assert 0.75 < np.mean(same) < 0.95
    assert np.mean(np.array(same) == 1) < 0.6


def test_strangers_have_values_that_somebody_has():
    ours = case(COUNT).ours
    some = strangers(ours, SCHEMA, 100, np.random.default_rng(1))
    for field in SCHEMA.fields:
        assert set(some[field.name]) <= set(ours[field.name])
    assert not set(rows(some)) & set(rows(ours))


def test_a_register_that_is_made_up_has_the_persons_as_they_are():
    ours = case(COUNT).ours
    found = situation(ours, SCHEMA, coverages=(1.0, 0.5))
    for register, share in zip(found.registers, (1.0, 0.5), strict=True):
        assert abs(register.coverage - share) < 0.06
        assert len(register.records) == COUNT * 3 // 2
        listed, own = rows(register.records), rows(ours)
        covered = np.flatnonzero(register.truth >= 0)
        assert all(listed[register.truth[row]] == own[row] for row in covered.tolist())
    again = situation(ours, SCHEMA, coverages=(1.0, 0.5))
    assert rows(again.case.theirs) == rows(found.case.theirs)


def test_who_is_in_a_register_is_found_by_linking():
    one = case(COUNT)
    right = registered(COUNT)
    found = situation(one.ours, SCHEMA, one.theirs, right.records)
    [register] = found.registers
    assert (register.truth == right.truth).mean() > 0.95
    assert not found.said


def test_a_register_of_nobody_is_refused():
    ours = case(COUNT).ours
    listed = strangers(ours, SCHEMA, 2, np.random.default_rng(1))
    with pytest.raises(InvalidParameter, match="none of these persons"):
        situation(ours, SCHEMA, ours, listed)


def test_records_of_one_field_are_refused():
    schema = SCHEMA.model_copy(update={"fields": SCHEMA.fields[:1]})
    with pytest.raises(InvalidParameter, match="several fields"):
        situation(case(COUNT).ours, schema)


def test_an_audit_has_a_row_for_each_encoding_attack_and_register():
    one, steps = case(COUNT), []
    found = audit(
        one,
        (registered(COUNT), registered(COUNT, 0.5)),
        {"Bloom filters": filtered(one.ours, b"secret")},
        exchanges=2,
        progress=lambda done, of: steps.append(done / of),
    )
    kinds = {(row.encoding, row.attack) for row in found.outcomes}
    assert len(kinds) == 4 + 3 + 2 + 2
    assert len(found.outcomes) == 4 * 2 + 3 + 2 + 2 + 1 + 2
    assert steps == sorted(steps)
    assert steps[-1] == 1
    assert found.worst("vectors").claims.named >= 0.9
    assert found.worst("veiled").claims.named <= 0.02
    assert found.worst("nothing") is None
    assert {row.control for row in found.outcomes} == {True, False}
    assert found.outcomes[0].facts["in_register"] == COUNT


def test_the_demo_gets_two_shares():
    shares = named(case(COUNT), registered(COUNT))
    assert list(shares) == ["veiled", "vectors"]
    assert shares["veiled"] <= 0.02
    assert shares["vectors"] >= 0.9


def test_advice_says_what_to_change():
    chances = [np.array([1.0, 0.0])] * 2
    claims = Claims.of(iter(chances), np.arange(2), np.array([0, 0]))
    outcomes = tuple(Outcome(name, "any", 1.0, claims) for name in ("veiled", "vectors"))
    found = Audit(2, outcomes, (Driver("key: surname", 0, 2),))
    said = advice(found, "vectors")
    assert len(said) == 3
    assert 'encoding = "veiled"' in said[0]
    assert "key: surname" in said[1]
    assert len(advice(found, "veiled")) == 2
