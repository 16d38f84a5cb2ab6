"""Populations: pairs of files in which one thing at a time differs from the usual.

A linkage that is tuned on one population learns its habits. Here are files of few matches and of
many, with fields that are missing together, movers, nicknames, swapped names, namesakes, and
records that are in a file twice.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from gramlink.lab.datasets.frequencies import Ints, bundled
from gramlink.lab.datasets.given_names import NICKNAMES
from gramlink.lab.datasets.households import population
from gramlink.lab.datasets.persons import Persons
from gramlink.lab.datasets.places import homes
from gramlink.lab.datasets.recording_errors import COLUMNS, misrecord

ADDRESS = ("street", "city", "postcode")
NAMES_AND_BIRTH = ("given_name", "surname", "date_of_birth", "sex")
NAMES_AND_ADDRESS = ("given_name", "surname", "street", "city", "postcode")
NAMESAKES = 0.5  # of the persons made like another: as many have the same name as are twins


@dataclass(frozen=True, slots=True)
class Population:
    """What two files are like; as it stands, they are those of `persons`.

    Shares are of the records of a file, those of `moved` and `alike` of the persons.
    """

    count: int = 10_000
    overlap: float = 0.5
    errors: float = 1.0
    columns: tuple[str, ...] = COLUMNS
    addressless: float = 0.0  # street, city and postcode are missing together
    moved: float = 0.0  # another address in the right file
    called: float = 0.0  # a nickname or an initial instead of the given name
    swapped: float = 0.0  # surname in place of the given name, and the other way round
    alike: float = 0.0  # twins of another person, or of the same name
    surnames: int = 0  # how many surnames there are, 0 for as many as usual
    twice: tuple[float, float] = (0.0, 0.0)  # records of the left and right file that have a copy

    def draw(self, seed: int) -> Persons:
        """Two files. The truth has all pairs of records of one person.

        >>> files = Population(count=100, overlap=0.2, twice=(0.1, 0.0)).draw(seed=1)
        >>> len(files.left), len(files.right), len(files.truth)
        (110, 100, 22)

        Privacy: nobody's data.
        """
        both = round(self.count * self.overlap)
        source = np.random.default_rng([2013, seed])
        people = self._people(2 * self.count - both, source)
        lot = source.permutation(len(people))
        rows = [lot[: self.count], lot[self.count - both :]]
        sides = [people[chosen] for chosen in rows]
        sides[1] = _moved(sides[1], self.moved, source)
        files, persons = [], []
        for letter, side, chosen, twice in zip("AB", sides, rows, self.twice, strict=True):
            again = source.choice(len(side), round(twice * len(side)), replace=False)
            every = np.concatenate([np.arange(len(side)), again])
            file = self._recorded(side[every], source)
            order = source.permutation(len(file))
            ids = letter + pl.Series(np.arange(1, len(file) + 1)).cast(pl.String).str.zfill(7)
            files.append(file[order].select(ids.alias("id"), *self.columns))
            persons.append(pl.DataFrame({"person": chosen[every][order], "id": ids}))
        truth = persons[0].join(persons[1], on="person", suffix="_right", maintain_order="left")
        return Persons(files[0], files[1], truth.select(id_left="id", id_right="id_right"))

    def _people(self, count: int, source: np.random.Generator) -> pl.DataFrame:
        people = population(count, source)
        if self.surnames:
            common = bundled("surnames.csv.gz").names[: self.surnames]
            household = people["household"].to_numpy()
            drawn = source.integers(0, len(common), 1 + int(household.max()))
            people = people.with_columns(surname=common[drawn[household]])
        return _alike(people, self.alike, source)

    def _recorded(self, side: pl.DataFrame, source: np.random.Generator) -> pl.DataFrame:
        file = misrecord(side, self.errors, source)
        file = _called(file, self.called, source)
        given, last = pl.col("given_name"), pl.col("surname")
        swap = _some(len(file), self.swapped, source)
        file = file.with_columns(
            given_name=pl.when(swap).then(last).otherwise(given),
            surname=pl.when(swap).then(given).otherwise(last),
        )
        lost = _some(len(file), self.addressless, source)
        return file.with_columns(pl.when(~lost).then(pl.col(name)).alias(name) for name in ADDRESS)


def _some(count: int, share: float, source: np.random.Generator) -> pl.Series:
    return pl.Series(source.random(count) < share)


def _moved(people: pl.DataFrame, share: float, source: np.random.Generator) -> pl.DataFrame:
    """The persons, some of them with another address."""
    new, moves = homes(len(people), source), _some(len(people), share, source)
    return people.with_columns(
        pl.when(moves).then(new[name]).otherwise(pl.col(name)).alias(name) for name in ADDRESS
    )


def _called(file: pl.DataFrame, share: float, source: np.random.Generator) -> pl.DataFrame:
    """The records, some of them with a nickname or an initial."""
    names = file["given_name"].to_list()
    for row in np.flatnonzero(source.random(len(names)) < share).tolist():
        name = names[row]
        if name is None:
            continue
        nicknames = NICKNAMES.get(name)
        if nicknames and source.random() < 0.5:
            names[row] = nicknames[int(source.integers(len(nicknames)))]
        else:
            names[row] = name[0]
    return file.with_columns(given_name=pl.Series(names, dtype=pl.String))


def _alike(people: pl.DataFrame, share: float, source: np.random.Generator) -> pl.DataFrame:
    """The persons, some of whom are the twin of another, or have another's name."""
    count = round(share * len(people) / 2)
    rows: Ints = source.choice(len(people), 2 * count, replace=False)
    like, of = rows[:count], rows[count:]
    names = source.random(count) < NAMESAKES
    for chosen, columns in (
        (names, ("given_name", "surname", "sex")),
        (~names, ("household", "surname", "date_of_birth", "phone", "mobile", *ADDRESS)),
    ):
        there, here = pl.Series(like[chosen]), people[of[chosen]]
        people = people.with_columns(
            people[name].clone().scatter(there, here[name]) for name in columns
        )
    return people
