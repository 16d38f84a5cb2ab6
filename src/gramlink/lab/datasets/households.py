"""A population of households: who lives together, how old they are and what they are called."""

from dataclasses import dataclass
from datetime import date

import numpy as np
import polars as pl

from gramlink.lab.datasets.frequencies import Bools, Frequencies, Ints, bundled
from gramlink.lab.datasets.given_names import NAMES, draw_given_names
from gramlink.lab.datasets.places import homes, phones

TODAY = date(2025, 1, 1)  # nobody is born later, whatever the clock says
OF_AGE = TODAY.replace(year=TODAY.year - 18)  # whoever was born by then
YEAR = 366  # days: whoever is 18 such years old is of age

_SIZES = Frequencies.of(["1", "2", "3", "4", "5", "6"], [28, 35, 15, 13, 6, 3])
# Adults without children at home, by the decade of their lives that begins at this age.
_DECADES = Frequencies.of(
    ["18", "28", "38", "48", "58", "68", "78", "88"], [16, 15, 5, 8, 20, 21, 12, 3]
)
_COUPLES = 0.8  # of the households of two or more
_SAME_SEX = 0.02
_HER_SURNAME = 0.05  # couples whose children bear the woman's
_OWN_SURNAME = 0.2  # partners who kept theirs
_LONE_MOTHERS = 0.8
_WOMEN_ALONE = 0.54
_GIRLS = 0.49
_TWINS = 0.03  # of the children who have a younger sibling
_MOBILES = 0.5  # of the adults


@dataclass(frozen=True, slots=True, eq=False)
class _Members:
    """The household of each person, and the place in it; the size of each household.

    A household lists first the person whose surname it bears, then the partner, if there is
    one, then the children, the oldest first.
    """

    household: Ints
    place: Ints
    sizes: Ints
    couple: Bools

    @property
    def children(self) -> Ints:
        """The number of children of each household."""
        return self.sizes - 1 - self.couple

    @property
    def child(self) -> Bools:
        """Whether a person is a child of the household, of whatever age."""
        after_the_parents: Bools = self.place > self.couple[self.household]
        return after_the_parents

    @property
    def partner(self) -> Bools:
        """Whether a person is the second of a couple."""
        beside_another: Bools = (self.place == 1) & self.couple[self.household]
        return beside_another


def population(count: int, random: np.random.Generator) -> pl.DataFrame:
    """`count` persons, household by household, as they are: nothing is wrong or missing.

    `household` numbers the households; `mobile` says whether a phone is the person's own.

    >>> people = population(1000, np.random.default_rng(1))
    >>> people["household"].n_unique(), people["surname"].n_unique()
    (397, 401)
    """
    members = _members(count, random)
    age = _ages(members, random)
    born = pl.Series((TODAY - date(1970, 1, 1)).days - 1 - age).cast(pl.Int32).cast(pl.Date)
    man = _men(members, random)
    surname = _surnames(members, random)
    given_name = _given_names(members, man, born.dt.year().to_numpy(), random)
    home = homes(len(members.sizes), random)[members.household]
    mobile = (born <= OF_AGE) & pl.Series(random.random(count) < _MOBILES)
    own_phone = phones(home["phone"].str.slice(0, 3), random)
    return home.select(
        household=pl.Series(members.household),
        given_name=given_name,
        surname=surname,
        sex=pl.when(pl.Series(man)).then(pl.lit("M")).otherwise(pl.lit("F")),
        date_of_birth=born.dt.to_string("%Y-%m-%d"),
        street="street",
        city="city",
        postcode="postcode",
        phone=pl.when(mobile).then(own_phone).otherwise("phone"),
        mobile=mobile,
    )


def _members(count: int, random: np.random.Generator) -> _Members:
    sizes = 1 + _SIZES.draw(count, random)
    ends = np.cumsum(sizes)
    households = int(np.searchsorted(ends, count)) + 1
    sizes = sizes[:households]
    sizes[-1] -= ends[households - 1] - count  # the last household takes those who are left
    household = np.repeat(np.arange(households), sizes)
    place = np.arange(count) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    couple = (sizes > 1) & (random.random(households) < _COUPLES)
    return _Members(household, place, sizes, couple)


def _ages(members: _Members, random: np.random.Generator) -> Ints:
    """The age of each person in days; no parent was younger than 18 when a child was born."""
    households, count = len(members.sizes), len(members.household)
    last = np.cumsum(members.sizes) - 1

    older = random.integers(YEAR, 4 * YEAR, count)  # than the next child of the household
    older[random.random(count) < _TWINS] = 0
    older[~members.child] = 0
    older[last] = 0
    sums = np.cumsum(older)
    span = np.diff(sums[last], prepend=0)
    youngest = random.integers(0, 24 * YEAR, households)  # some stay after coming of age
    child = (youngest + sums[last])[members.household] - sums + older
    oldest = np.where(members.children > 0, youngest + span, 0)

    first_birth = 18 * YEAR + _middling(24 * YEAR - span, random)
    childless = (18 + 10 * _DECADES.draw(households, random)) * YEAR
    childless += random.integers(0, 10 * YEAR, households)
    head = np.where(members.children > 0, oldest + first_birth, childless)
    partner = head + _middling(np.full(households, 12 * YEAR), random) - 6 * YEAR
    partner = np.maximum(partner, oldest + 18 * YEAR)

    parent = np.where(members.place == 0, head[members.household], partner[members.household])
    return np.where(members.child, child, parent)


def _middling(limits: Ints, random: np.random.Generator) -> Ints:
    """Numbers below the limits, the middle ones most likely."""
    return (random.integers(0, limits) + random.integers(0, limits)) // 2


def _men(members: _Members, random: np.random.Generator) -> Bools:
    """Whether each person is a man or a boy."""
    women = np.where(members.sizes == 1, _WOMEN_ALONE, _LONE_MOTHERS)
    women[members.couple] = _HER_SURNAME
    man = random.random(len(women)) >= women
    same = random.random(len(women)) < _SAME_SEX
    boy: Bools = random.random(len(members.household)) >= _GIRLS
    first, second = man[members.household], (man == same)[members.household]
    return np.where(members.child, boy, np.where(members.partner, second, first))


def _surnames(members: _Members, random: np.random.Generator) -> pl.Series:
    """The household's surname, or the one that a partner kept."""
    frequencies = bundled("surnames.csv.gz")
    drawn = frequencies.draw(len(members.sizes), random)[members.household]
    kept = np.flatnonzero(members.partner)
    kept = kept[random.random(len(kept)) < _OWN_SURNAME]
    drawn[kept] = frequencies.draw(len(kept), random)
    return frequencies.names[drawn]


def _given_names(
    members: _Members, man: Bools, year: Ints, random: np.random.Generator
) -> pl.Series:
    """Names by sex and year of birth; no two children of a household have the same."""
    names = draw_given_names(man, year, random)
    children = np.flatnonzero(members.child)
    while True:
        both = members.household[children] * len(NAMES) + names[children]
        _, first = np.unique(both, return_index=True)
        again = np.delete(children, first)
        if not len(again):
            return NAMES[names]
        names[again] = draw_given_names(man[again], year[again], random)
