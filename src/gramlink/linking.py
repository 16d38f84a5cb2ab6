"""All three parties in one process, for trying out."""

from pathlib import Path
from typing import Any

from gramlink.links import Links
from gramlink.projection import agree
from gramlink.records import read_records
from gramlink.roles import LinkageUnit, Owner
from gramlink.schema import Schema, load_schema


def link(left: Any, right: Any, schema: Schema | Path | str) -> Links:
    """The links between two files or frames, with everybody's own ids.

    >>> import polars as pl
    >>> ones = pl.DataFrame({"id": ["1", "2"], "surname": ["Miller", "Nakamura"]})
    >>> others = pl.DataFrame({"id": ["x", "y"], "surname": ["Nakamura", "Miler"]})
    >>> from gramlink.schema import checked_schema
    >>> field = {"name": "surname", "miner": "public", "grams": ("A", "E", "I", "R", "ER", "MI")}
    >>> link(ones, others, checked_schema(fields=(field,))).to_polars().rows()
    [('1', 'y'), ('2', 'x')]

    Privacy: none towards whoever runs it, who holds both sides' records. Mining adds the
    noise of the schema's epsilon, so that the links are those of the real protocol; it is
    not charged to a ledger. Between organisations use the roles or the command line.
    """
    if not isinstance(schema, Schema):
        schema = load_schema(Path(schema))
    one = Owner("left", read_records(left, schema), schema, key=b"left")
    other = Owner("right", read_records(right, schema), schema, key=b"right")
    projection = agree(one.mine(None), other.mine(None))
    unit = LinkageUnit.of(one.embed(projection), other.embed(projection))
    return one.translate(other.translate(unit.link()))
