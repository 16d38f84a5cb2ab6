"""What everybody knows about fields such as surnames, and of people who share an address.

The veil chooses its keys, and tells what chance makes of a field, from this and never from an
owner's records. Fields are known by their names, as `gramlink init` gives them, and otherwise by
their kinds. The numbers are those of the generated population (`lab/datasets`) and of FEBRL's,
rounded; where neither has a field, they are a guess. Wrong numbers cost recall, or confidence,
and no privacy.
"""

from dataclasses import dataclass
from functools import lru_cache

from gramlink.records.proposal.headings import heading_of


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a field.

    `bits` is the logarithm of how rare a person's value is, on average, and `spread` its standard
    deviation. `length` is the number of symbols. Of matches, the shares `typos` and `changes` have
    a typo and another value; who `moves` changes all such fields at once. The share `household` of
    two members of a household have the same value. `chance` is how rare values that are equal,
    within one edit and within two are by chance, in bits. Of two people who live in the same place,
    the share `neighbours` have the same value, if it says something of the place.
    """

    bits: float
    spread: float
    length: int
    typos: float
    changes: float
    household: float
    chance: tuple[float, float, float]
    moves: bool = False
    neighbours: float | None = None


_TEXT = Known(9.0, 2.5, 9, 0.08, 0.05, 0.3, (8.0, 10.0, 6.0))
_GIVEN = Known(8.4, 1.2, 6, 0.1, 0.05, 0.003, (8.2, 8.0, 3.6))
_ADDRESS = Known(15.0, 2.0, 14, 0.15, 0.03, 0.94, (12.0, 12.0, 8.0), True, 0.02)
_PLACE = Known(9.5, 2.6, 9, 0.08, 0.03, 0.95, (8.2, 11.0, 6.4), True, 0.95)
_NUMBER = Known(19.0, 1.0, 8, 0.05, 0.02, 0.01, (16.0, 11.0, 4.0))
_PHONE = Known(17.0, 1.0, 10, 0.04, 0.1, 0.45, (13.5, 14.0, 5.7))
_BIRTH = Known(14.8, 0.8, 8, 0.04, 0.01, 0.01, (13.7, 9.9, 6.4))
_GROUP = Known(2.0, 0.7, 2, 0.0, 0.02, 0.6, (2.0, 3.0, 2.0))

_BY_MEANING = {
    "given_name": _GIVEN,
    "middle_name": _GIVEN,
    "surname": Known(11.5, 3.0, 7, 0.1, 0.03, 0.86, (9.5, 9.2, 4.5)),
    "name": Known(18.0, 2.0, 13, 0.15, 0.06, 0.03, (17.0, 15.0, 9.0)),
    "date_of_birth": _BIRTH,
    "sex": Known(1.0, 0.1, 1, 0.0, 0.005, 0.42, (1.0, 3.0, 2.0)),
    "street": _ADDRESS,
    "address": _ADDRESS,
    "street_number": Known(6.5, 1.0, 3, 0.05, 0.03, 0.94, (6.1, 1.8, 0.7), moves=True),
    "city": _PLACE,
    "place": _PLACE,
    "postcode": Known(11.0, 1.5, 5, 0.06, 0.02, 0.96, (11.5, 6.0, 1.5), True, 0.98),
    "state": Known(2.5, 0.8, 3, 0.0, 0.01, 0.98, (2.1, 3.0, 2.0), True, 0.99),
    "country": Known(2.0, 2.0, 3, 0.0, 0.01, 0.98, (1.5, 3.0, 2.0), neighbours=1.0),
    "phone": _PHONE,
    "number": _NUMBER,
    "email": Known(18.0, 1.0, 18, 0.04, 0.15, 0.05, (17.0, 16.0, 13.0)),
    "group": _GROUP,
    "marital_status": _GROUP,
}
_BY_KIND = {
    "text": _TEXT,
    "digits": Known(12.0, 2.0, 6, 0.05, 0.05, 0.3, (10.0, 7.0, 2.5)),
    "date": Known(13.0, 1.5, 8, 0.04, 0.03, 0.1, (12.0, 9.5, 6.4)),
    "category": _GROUP,
}


@lru_cache(maxsize=1024)
def known_of(name: str, kind: str) -> Known:
    """What is known of a field by its name, or else by its kind.

    >>> known_of("last_name", "text").bits, known_of("colour", "text").bits
    (11.5, 9.0)
    """
    return _BY_MEANING.get(heading_of(name).meaning, _BY_KIND[kind])
