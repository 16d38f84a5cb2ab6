"""Surnames and cities; their terms are in data/README.md."""

import csv
import gzip
import io
import random
from functools import cache
from importlib import resources

from gramlink.errors import InvalidParameter


def surnames(shortest: int = 4) -> tuple[str, ...]:
    """The surnames of the United States Census of 2000, the most frequent first.

    Those of four letters or more, 149,910, are the paper's NAMES.

    >>> surnames()[:3], len(surnames())
    (('SMITH', 'JOHNSON', 'WILLIAMS'), 149910)
    """
    return tuple(name for name in _names("surnames.csv.gz") if len(name) >= shortest)


def cities() -> tuple[str, ...]:
    """The 5,000 most populous place names of the United States, from GeoNames (CC BY 4.0).

    >>> cities()[0], len(cities())
    ('NEW YORK CITY', 5000)
    """
    return _names("cities.csv.gz")


@cache
def _names(file: str) -> tuple[str, ...]:
    packed = (resources.files(__package__) / "data" / file).read_bytes()
    with gzip.open(io.BytesIO(packed), "rt", encoding="utf-8", newline="") as text:
        return tuple(row["name"] for row in csv.DictReader(text))


def sample(names: tuple[str, ...], count: int, seed: int) -> tuple[str, ...]:
    """`count` of the names, at random, in random order.

    >>> len(set(sample(cities(), 100, seed=1)))
    100
    """
    if not 1 <= count <= len(names):
        raise InvalidParameter(f"there are {len(names)} names to take from, not {count}")
    return tuple(random.Random(seed).sample(names, count))  # noqa: S311
