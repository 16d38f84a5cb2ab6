"""Clusters: records of several owners, or of one, that belong to one person."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import polars as pl

Record = tuple[str, str]  # owner, id


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


def cluster(
    links: Iterable[tuple[Record, Record, float]], unique: Collection[str] = ()
) -> Clusters:
    """Group linked records, the heaviest links first.

    A link that would put two records of a `unique` owner, who says that nobody is in its file
    twice, into one group is left out. Ties go by owner and id.

    >>> one, two, three = ("a", "1"), ("b", "1"), ("a", "2")
    >>> cluster([(one, two, 9.0), (three, two, 5.0)], unique={"a"}).members
    ((('a', '1'), ('b', '1')),)
    """
    group: dict[Record, list[Record]] = {}
    owners: dict[int, set[str]] = {}
    for one, other, _ in sorted(links, key=lambda link: (-link[2], link[0], link[1])):
        for record in (one, other):
            if record not in group:
                group[record] = [record]
                owners[id(group[record])] = {record[0]}.intersection(unique)
        large, small = sorted((group[one], group[other]), key=len, reverse=True)
        if large is small or owners[id(large)] & owners[id(small)]:
            continue
        large += small
        owners[id(large)] |= owners[id(small)]
        group.update(dict.fromkeys(small, large))
    found = {id(members): tuple(sorted(members)) for members in group.values() if len(members) > 1}
    return Clusters(tuple(sorted(found.values())))
