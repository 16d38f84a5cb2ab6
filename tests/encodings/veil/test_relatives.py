import pytest

from gramlink.encodings.veil.keys import PARTS, Component, Key
from gramlink.encodings.veil.plan import planned
from gramlink.encodings.veil.population import known_of
from gramlink.encodings.veil.relatives import SELDOM, kin_of, rarity, together
from gramlink.records.fields import Field
from gramlink.records.schema import Schema

KINDS = {
    "given_name": "text",
    "surname": "text",
    "date_of_birth": "date",
    "sex": "category",
    "postcode": "digits",
}
FIELDS = tuple(KINDS.items())
SCHEMA = Schema(
    fields=tuple(Field(name=name, kind=kind) for name, kind in FIELDS), encoding="veiled"
)


def test_more_of_a_key_is_shared_by_fewer_of_a_household():
    parts = [
        Component(("surname",)),
        Component(("date_of_birth",), "year and month"),
        Component(("given_name",), "first 3"),
    ]
    shares = [together(Key(tuple(parts[:count])), KINDS) for count in (1, 2, 3)]
    assert 1 >= shares[0] > shares[1] > shares[2] > 0
    surname = Key((Component(("surname",), "first 3"),))
    assert together(surname, KINDS) >= together(Key((parts[0],)), KINDS)


def test_a_part_is_no_rarer_than_the_whole():
    for name, kind in KINDS.items():
        for part, of in PARTS.items():
            if kind in of.kinds and of.symbols < known_of(name, kind).length:
                assert 0 < rarity(name, kind, part) <= 1


def test_relatives_are_as_many_as_the_smaller_file_has_and_keys_seldom_find_them():
    keys = planned(SCHEMA)
    household, *others = kin_of(FIELDS, keys, (1000, 5000))
    assert household.count == pytest.approx(kin_of(FIELDS, keys, (7000, 1000))[0].count)
    assert 0 < household.seen < min(1, SELDOM * len(keys))
    assert all(one.seen is None for one in others)
    alone = Key((Component(("surname",)),))
    assert kin_of(FIELDS, (alone,), (1000, 1000))[0].seen > household.seen
    for one in (household, *others):
        assert len(one.equal) == len(FIELDS)
        assert ((one.equal >= 0) & (one.equal <= 1)).all()


def test_neighbours_are_known_where_two_fields_say_where_somebody_lives():
    place = (*FIELDS, ("city", "text"))
    keys = (Key((Component(("surname",)), Component(("date_of_birth",)))),)
    _, neighbours = kin_of(place, keys, (1000, 5000))
    assert neighbours.seen is None
    assert 0 < neighbours.count < 1000 * 5000
    equal = dict(zip([name for name, _ in place], neighbours.equal.tolist(), strict=True))
    assert equal["city"] == known_of("city", "text").neighbours
    assert equal["surname"] == 2.0 ** -known_of("surname", "text").chance[0]
    assert len(kin_of(FIELDS, keys, (1000, 5000))) == 1  # a postcode alone
