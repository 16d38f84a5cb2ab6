"""Clusters: records of several owners, or of one, that belong to one person."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

Record = tuple[str, str]  # owner, id
Pair = tuple[Record, Record, float]


@dataclass(frozen=True, slots=True)
class Clusters:
    """Groups of records, each of two or more; a record is in one at most."""

    members: tuple[tuple[Record, ...], ...]

    def __len__(self) -> int:
        return len(self.members)

    def to_polars(self) -> pl.DataFrame:
        """A frame with columns cluster, owner and id."""
        rows = [(n, *record) for n, group in enumerate(self.members, 1) for record in group]
        columns = {"cluster": pl.Int64, "owner": pl.String, "id": pl.String}
        return pl.DataFrame(rows, schema=columns, orient="row")


def cluster(pairs: Iterable[Pair], unique: Collection[str] = (), apart: float = 0.0) -> Clusters:
    """Group records that belong to one person: the likeliest pairs first, groups as a whole.

    A pair is two records and how much speaks for their being one person, as log odds. Two groups
    become one if more speaks for it than against it, summed over all their pairs: a chain of good
    pairs does not join records that look like two persons. For two records that are no pair
    `apart` is taken, since they were too unlikely to be listed.

    Two groups with records of the same `unique` owner, who says that nobody is in its file
    twice, stay apart. Ties go by owner and id.

    >>> one, two, three = ("a", "1"), ("b", "1"), ("a", "2")
    >>> cluster([(one, two, 9.0), (three, two, 5.0)], unique={"a"}).members
    ((('a', '1'), ('b', '1')),)
    >>> cluster([(one, two, 9.0), (three, two, 5.0)], apart=-7.0).members
    ((('a', '1'), ('b', '1')),)
    """
    known: dict[Record, dict[Record, float]] = {}
    ordered = sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))
    for one, other, odds in ordered:
        if one != other:
            known.setdefault(one, {})[other] = known.setdefault(other, {})[one] = odds
    group = {record: [record] for record in known}
    owners = {id(members): {members[0][0]}.intersection(unique) for members in group.values()}
    for one, other, odds in ordered:
        if odds <= 0:
            break
        if one == other or group[one] is group[other]:
            continue
        large, small = sorted((group[one], group[other]), key=len, reverse=True)
        if owners[id(large)] & owners[id(small)] or _for(large, small, known, apart) <= 0:
            continue
        large += small
        owners[id(large)] |= owners[id(small)]
        group.update(dict.fromkeys(small, large))
    found = {id(members): tuple(sorted(members)) for members in group.values() if len(members) > 1}
    return Clusters(tuple(sorted(found.values())))


def _for(
    large: Sequence[Record],
    small: Sequence[Record],
    known: Mapping[Record, Mapping[Record, float]],
    apart: float,
) -> float:
    """What speaks for two groups being one person."""
    members = set(large)
    listed = [odds for record in small for other, odds in known[record].items() if other in members]
    return math.fsum(listed) + apart * (len(large) * len(small) - len(listed))
