"""How persons are recorded: what has changed since, what was misheard, mistyped or left out.

All rates are for one file at `errors` = 1, and are shares of the values that can go wrong in
that way: of the names that have a nickname, of the women who are of age, and so on.
"""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl

from gramlink.lab.datasets.frequencies import Ints, bundled
from gramlink.lab.datasets.given_names import NICKNAMES
from gramlink.lab.datasets.households import OF_AGE, TODAY
from gramlink.lab.datasets.places import homes, phones
from gramlink.lab.datasets.typing_errors import misdate, mistype

COLUMNS = (
    "given_name",
    "surname",
    "sex",
    "date_of_birth",
    "street",
    "city",
    "postcode",
    "phone",
)
TYPOS = {
    "given_name": 0.03,
    "surname": 0.03,
    "street": 0.04,
    "city": 0.02,
    "postcode": 0.02,
    "phone": 0.02,
}
MISSING = {
    "given_name": 0.005,
    "surname": 0.002,
    "sex": 0.005,
    "date_of_birth": 0.01,
    "street": 0.03,
    "city": 0.01,
    "postcode": 0.02,
    "phone": 0.12,
}
SECOND_TYPO = 0.15  # of the typos; the only rate that `errors` leaves alone
MOVED = 0.06  # whole households; the phone changes with the house, a mobile does not
NEW_PHONE = 0.05
MARRIED = 0.02  # women of age whose surname has changed
NICKNAMED = 0.03
WRONG_SEX = 0.003
WRONG_DIGIT = 0.015  # of a date
DAY_FOR_MONTH = 0.008  # where both are at most 12 and differ

_EARLIEST, _LATEST = date(1900, 1, 1), TODAY - timedelta(days=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Clerk:
    """Whoever records the persons of a file, more or less carefully."""

    errors: float
    random: np.random.Generator

    def slips(self, rows: Ints | int, rate: float) -> Ints:
        """Which of these rows, or of this many, go wrong."""
        rows = np.arange(rows) if isinstance(rows, int) else rows
        return rows[self.random.random(len(rows)) < rate * self.errors]


def misrecord(people: pl.DataFrame, errors: float, random: np.random.Generator) -> pl.DataFrame:
    """The persons of a population as one file records them; missing values are null.

    >>> from gramlink.lab.datasets.households import population
    >>> people = population(1000, np.random.default_rng(1))
    >>> recorded = misrecord(people, 1.0, np.random.default_rng(2))
    >>> int((recorded["surname"] == people["surname"]).sum())
    961
    """
    clerk = _Clerk(errors, random)
    for step in (_move, _change_phones, _marry, _call_by_nickname, _mistake_sex, _mistake_dates):
        people = step(people, clerk)
    for column, rate in TYPOS.items():
        rows = clerk.slips(len(people), rate)
        typed = mistype(people[column][rows], random)
        twice = np.flatnonzero(random.random(len(rows)) < SECOND_TYPO)
        people = _put(people, column, rows, _at(typed, twice, mistype(typed[twice], random)))
    for column, rate in MISSING.items():
        people = _put(people, column, clerk.slips(len(people), rate), None)
    return people.select(COLUMNS)


def _move(people: pl.DataFrame, clerk: _Clerk) -> pl.DataFrame:
    household = people["household"].to_numpy()
    movers = clerk.slips(1 + int(household.max()), MOVED)
    rows = np.flatnonzero(np.isin(household, movers))
    new = homes(len(movers), clerk.random)[np.searchsorted(movers, household[rows])]
    for column in ("street", "city", "postcode"):
        people = _put(people, column, rows, new[column])
    shared = np.flatnonzero(~people["mobile"].to_numpy()[rows])
    return _put(people, "phone", rows[shared], new["phone"][shared])


def _change_phones(people: pl.DataFrame, clerk: _Clerk) -> pl.DataFrame:
    rows = clerk.slips(len(people), NEW_PHONE)
    area_codes = people["phone"][rows].str.slice(0, 3)
    return _put(people, "phone", rows, phones(area_codes, clerk.random))


def _marry(people: pl.DataFrame, clerk: _Clerk) -> pl.DataFrame:
    women = (people["sex"] == "F") & (people["date_of_birth"] <= OF_AGE.isoformat())
    rows = clerk.slips(_true(women), MARRIED)
    surnames = bundled("surnames.csv.gz")
    drawn = surnames.draw(len(rows), clerk.random)
    same = (surnames.names[drawn] == people["surname"][rows]).to_numpy()
    return _put(people, "surname", rows, surnames.names[(drawn + same) % len(surnames.names)])


def _call_by_nickname(people: pl.DataFrame, clerk: _Clerk) -> pl.DataFrame:
    rows = clerk.slips(_true(people["given_name"].is_in(list(NICKNAMES))), NICKNAMED)
    choices = [NICKNAMES[name] for name in people["given_name"][rows]]
    chosen = clerk.random.integers(0, np.array([len(names) for names in choices], np.int64))
    nicknames = [names[number] for names, number in zip(choices, chosen, strict=True)]
    return _put(people, "given_name", rows, pl.Series(nicknames, dtype=pl.String))


def _mistake_sex(people: pl.DataFrame, clerk: _Clerk) -> pl.DataFrame:
    rows = clerk.slips(len(people), WRONG_SEX)
    return _put(people, "sex", rows, people["sex"][rows].replace_strict({"F": "M", "M": "F"}))


def _mistake_dates(people: pl.DataFrame, clerk: _Clerk) -> pl.DataFrame:
    dates = people["date_of_birth"]
    day, month = dates.str.slice(8, 2), dates.str.slice(5, 2)
    rows = clerk.slips(_true((day <= "12") & (day != month)), DAY_FOR_MONTH)
    swapped = dates[rows].str.slice(0, 5) + day[rows] + "-" + month[rows]
    people = _put(people, "date_of_birth", rows, swapped)
    rows = clerk.slips(len(people), WRONG_DIGIT)
    wrong = misdate(people["date_of_birth"][rows], _EARLIEST, _LATEST, clerk.random)
    return _put(people, "date_of_birth", rows, wrong)


def _true(mask: pl.Series) -> Ints:
    return np.flatnonzero(mask.to_numpy())


def _put(people: pl.DataFrame, column: str, rows: Ints, values: pl.Series | None) -> pl.DataFrame:
    return people.with_columns(_at(people[column], rows, values))


def _at(series: pl.Series, rows: Ints, values: pl.Series | None) -> pl.Series:
    """A copy with other values in these rows."""
    return series.clone().scatter(pl.Series(rows), values)
