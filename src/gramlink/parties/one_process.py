"""All three parties in one process, for trying out; and one owner alone with its file."""

from pathlib import Path
from typing import Any

from gramlink.deciding.linkage import Linkage, decide_scored
from gramlink.deciding.links import Links
from gramlink.embedding.projection import agree
from gramlink.errors import InvalidParameter
from gramlink.matching.comparison import Comparison
from gramlink.matching.pass_choice import chosen_passes
from gramlink.matching.passes import Pass, candidates
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.records.fields import Field
from gramlink.records.reading import Records, read_records
from gramlink.records.schema import Schema, checked_schema, load_schema
from gramlink.scoring.score import score


def link(left: Any, right: Any, schema: Schema | Path | str) -> Links:
    """The links between two files or frames, with everybody's own ids.

    >>> import polars as pl
    >>> ones = pl.DataFrame({"id": ["1", "2"], "surname": ["Miller", "Nakamura"]})
    >>> others = pl.DataFrame({"id": ["x", "y"], "surname": ["Nakamura", "Miler"]})
    >>> field = {"name": "surname", "miner": "public", "grams": ("A", "E", "I", "R", "ER", "MI")}
    >>> link(ones, others, checked_schema(fields=(field,))).bare.to_polars().rows()
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
    links = one.translate(other.translate(unit.link().links))
    return links.ordered(one.records.ids, other.records.ids)


def deduplicate(records: Records, schema: Schema) -> Linkage:
    """The pairs of records in one file that are likely of one person.

    Privacy: for the owner of the file alone. Nothing leaves it, so grams are mined as they
    are and nothing is spent; the result is as sensitive as the records.
    """
    if len(schema.fields) == 1:
        raise InvalidParameter(
            "duplicates are found in records of several fields",
            hint="add fields to linkage.toml, such as a date of birth",
        )
    plain = checked_schema(**{**dict(schema), "fields": tuple(map(_exact, schema.fields))})
    owner = Owner("owner", records, plain, key=b"owner")
    fields = owner.encode(agree(owner.mine(None)))
    comparison = Comparison.of(fields, fields).within_left
    passes = [Pass(one) for one in schema.passes] or chosen_passes(comparison)
    scored = score(comparison, candidates(comparison, passes), unique=False)
    return decide_scored(scored, records.ids, records.ids, "all", schema.accept, schema.review)


def _exact(field: Field) -> Field:
    return field.model_copy(update={"miner": "exact"}) if field.mined else field
