"""Two data owners' files on an invented population, with the truth known."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from gramlink.errors import InvalidParameter
from gramlink.lab.datasets.frequencies import Ints
from gramlink.lab.datasets.households import population
from gramlink.lab.datasets.recording_errors import COLUMNS, MISSING, misrecord

_MOST = 9_999_999  # ids have seven digits
_MOST_ERRORS = int(1 / max(MISSING.values()))  # no rate reaches 1


@dataclass(frozen=True, slots=True, eq=False)
class Persons:
    """The files of two owners, all text, and which of their rows are the same person.

    `truth` has the columns `id_left` and `id_right`; its ids are those in the first column
    of each file.

    >>> persons(1, overlap=1, seed=1).truth.rows()
    [('A0000001', 'B0000001')]
    """

    left: pl.DataFrame
    right: pl.DataFrame
    truth: pl.DataFrame


def persons(count: int, *, overlap: float = 0.5, seed: int, errors: float = 1.0) -> Persons:
    """Two files of `count` persons each; the share `overlap` of them is in both.

    The persons are invented: they live in households that share an address, often a surname
    and a phone. Surnames are as frequent and cities as populous as in the United States.
    Each file has errors of its own, `errors` times as many as follows:

    - typos in 3 % of names, 4 % of streets, 2 % of cities, postcodes and phones;
    - dates with a wrong digit (1.5 %), or day and month swapped (0.8 % of those that can be);
    - nicknames (3 % of names that have one), other surnames (2 % of women of age);
    - households that moved (6 %), new phones (5 %), the wrong sex (0.3 %);
    - missing values: 12 % of phones, 3 % of streets, 2 % of postcodes, 1 % of cities and
      dates, 0.5 % of given names and sexes, 0.2 % of surnames.

    With `errors=0` a person's two records are the same. Neither ids nor the order of rows
    reveal who is who. The same arguments make the same files on any machine.

    >>> two = persons(1000, overlap=0.3, seed=1)
    >>> len(two.left), len(two.right), len(two.truth)
    (1000, 1000, 300)
    >>> two.left.row(0)[:3]
    ('A0000001', 'LUCY', 'DUFFEL')

    Privacy: no real person's data; a row may look like someone's only by chance.
    """
    _check(count, overlap, seed, errors)
    source = np.random.default_rng(seed)
    people, left, right = _drawn(count, overlap, source)
    left_id, right_id = _ids("A", count), _ids("B", count)
    truth = pl.DataFrame({"person": left, "id_left": left_id}).join(
        pl.DataFrame({"person": right, "id_right": right_id}), on="person", maintain_order="left"
    )
    return Persons(
        _file(people, left, left_id, errors, source),
        _file(people, right, right_id, errors, source),
        truth.select("id_left", "id_right"),
    )


def register(count: int, *, overlap: float = 0.5, seed: int, coverage: float = 1.0) -> pl.DataFrame:
    """A register with the share `coverage` of the persons in the files of `persons`, as they are.

    The others in it are strangers, so that it has as many persons whatever it covers. `id_left` is
    the id of the person's record in the left file, null if there is none.

    >>> two, everybody = persons(100, seed=1), register(100, seed=1)
    >>> len(everybody), everybody["id_left"].drop_nulls().n_unique() == len(two.left)
    (150, True)

    Privacy: as `persons`.
    """
    _check(count, overlap, seed, 1.0)
    people, left, _ = _drawn(count, overlap, np.random.default_rng(seed))
    source = np.random.default_rng([seed, 1])
    ids = np.full(len(people), None, object)
    ids[left] = _ids("A", count).to_list()
    people = people.with_columns(id_left=pl.Series(ids.tolist(), dtype=pl.String))
    listed = source.permutation(len(people))[: round(coverage * len(people))]
    others = len(people) - len(listed)
    if others:
        strangers = population(2 * others, source).with_columns(id_left=pl.lit(None, pl.String))
        some = strangers[source.permutation(len(strangers))[:others]]
        everybody = pl.concat([people[listed], some.select(people.columns)])
    else:
        everybody = people[listed]
    everybody = everybody[source.permutation(len(everybody))]
    return everybody.select(_ids("R", len(everybody)).alias("id"), *COLUMNS, "id_left")


def _drawn(
    count: int, overlap: float, source: np.random.Generator
) -> tuple[pl.DataFrame, Ints, Ints]:
    """The persons, and which of them are in the left file and in the right one."""
    both = round(count * overlap)
    people = population(2 * count - both, source)
    lot = source.permutation(len(people))
    left = source.permutation(lot[:count])
    return people, left, source.permutation(lot[count - both :])


def _file(
    people: pl.DataFrame, rows: Ints, ids: pl.Series, errors: float, source: np.random.Generator
) -> pl.DataFrame:
    recorded = misrecord(people[rows], errors, source)
    return recorded.select(ids.alias("id"), pl.all())


def _ids(letter: str, count: int) -> pl.Series:
    return letter + pl.Series(np.arange(1, count + 1)).cast(pl.String).str.zfill(7)


def _check(count: int, overlap: float, seed: int, errors: float) -> None:
    if not 1 <= count <= _MOST:
        raise InvalidParameter(
            f"there can be 1 to {_MOST} persons in a file, not {count}", hint="try 10000"
        )
    if not 0 <= overlap <= 1:
        raise InvalidParameter(
            f"the overlap must lie between 0 and 1, but is {overlap}",
            hint="0.5 puts half of each file's persons into the other file, too",
        )
    if not 0 <= errors <= _MOST_ERRORS:
        raise InvalidParameter(
            f"errors must lie between 0 and {_MOST_ERRORS}, but are {errors}",
            hint="1 makes as many errors as the documentation says, 2 twice as many",
        )
    if seed < 0:
        raise InvalidParameter(
            f"a seed must not be negative, but is {seed}", hint="any whole number from 0 on"
        )
