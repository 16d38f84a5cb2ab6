import pytest

from gramlink.encodings.veil.population import known_of

KINDS = ("text", "digits", "date", "category")
NAMES = ("given_name", "last_name", "dob", "sex", "street", "city", "zip", "phone", "colour")


def test_a_field_is_known_by_its_name_whatever_it_is_called():
    assert known_of("surname", "text") == known_of("last_name", "text")
    assert known_of("date_of_birth", "date") == known_of("dob", "date")
    assert known_of("surname", "text") != known_of("given_name", "text")


def test_a_field_of_which_nothing_is_known_is_known_by_its_kind():
    for kind in KINDS:
        assert known_of("colour", kind) == known_of("taste", kind)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_known_are_shares_and_bits(name, kind):
    known = known_of(name, kind)
    shares = [known.typos, known.changes, known.household]
    shares += [] if known.neighbours is None else [known.neighbours]
    assert all(0 <= share <= 1 for share in shares)
    assert known.bits > 0
    assert known.spread > 0
    assert known.length >= 1
    assert sum(2.0**-bits for bits in known.chance) <= 1
