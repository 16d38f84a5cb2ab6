"""All three parties in one process, for trying out; and one owner alone with its file."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.deciding.linkage import Linkage, decide_scored
from gramlink.deciding.links import Links
from gramlink.embedding.projection import Projection, agree
from gramlink.encodings.secret import Secret
from gramlink.engines.local import using_threads
from gramlink.errors import GramlinkError, InvalidParameter
from gramlink.matching.passes import Pass
from gramlink.parties.contribution import Contribution, needs_secret, secret_of
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.records.choices import VECTORS
from gramlink.records.fields import Field
from gramlink.records.reading import Records, read_records
from gramlink.records.schema import Schema, checked_schema, load_schema
from gramlink.scoring.score import score

Ints = npt.NDArray[np.int64]

ENOUGH_RECORDS, SEED = 50_000, 2013  # to see about how many duplicates there are
FEW, RARE = 3, 0.002  # duplicates: fewer, or a smaller share of the records, go unmentioned


def link(
    left: Any, right: Any, schema: Schema | Path | str, *, threads: int | None = None
) -> Links:
    """The links between two files or frames, with everybody's own ids.

    `threads` is how many to use, in the place of GRAMLINK_THREADS.

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
    with using_threads(threads):
        one = Owner("left", read_records(left, schema), schema, key=b"left")
        other = Owner("right", read_records(right, schema), schema, key=b"right")
        projection = agree(one.mine(None), other.mine(None))
        secret = new_secret(projection, schema)
        unit = LinkageUnit.of(*(party.embed(projection, secret=secret) for party in (one, other)))
        links = one.translate(other.translate(unit.link().links))
        return links.ordered(one.records.ids, other.records.ids)


def new_secret(projection: Projection, schema: Schema, exchange: str = "") -> Secret | None:
    """A secret that all owners in one process share, if the schema's encoding needs one."""
    if not needs_secret(schema):
        return None
    made = (Contribution.new(owner, exchange, schema) for owner in projection.owners)
    return secret_of(made, projection, exchange, schema)


def deduplicate(records: Records, schema: Schema, *, threads: int | None = None) -> Linkage:
    """The pairs of records in one file that are likely of one person.

    The left one of two has the id that comes first.

    Privacy: for the owner of the file alone. Nothing leaves it, so grams are mined as they
    are and nothing is spent; the result is as sensitive as the records.
    """
    if len(schema.fields) == 1:
        raise InvalidParameter(
            "finding duplicates needs records with several fields",
            hint="add fields to linkage.toml, such as a date of birth",
        )
    plain = checked_schema(
        **{**dict(schema), "fields": tuple(map(_exact, schema.fields)), "encoding": VECTORS}
    )
    owner = Owner("owner", records, plain, key=b"owner")
    rows = _by_id(records)
    ids = [records.ids[row] for row in rows.tolist()]
    with using_threads(threads):
        everyone = owner.encoded(agree(owner.mine(None)), rows)
        within = everyone.compare(everyone).within_left(len(records))
        passes = [Pass(one) for one in schema.passes] or within.suited_passes()
        scored = score(within, within.candidates(passes))
    return decide_scored(scored, ids, ids, "all", schema.accept, schema.review)


def likely_duplicates(records: Records, schema: Schema) -> float:
    """About how many pairs of records in one file are of one person; 0 for records of one field.

    Of a large file, so many as a part of it lets expect.

    Privacy: for the owner of the file alone, as `deduplicate`.
    """
    if len(schema.fields) == 1 or len(records) < 2:
        return 0.0
    some = _by_id(records)
    if len(some) > ENOUGH_RECORDS:
        some = np.random.default_rng(SEED).choice(some, ENOUGH_RECORDS, replace=False)
    part = Records(
        records.name,
        tuple(records.ids[row] for row in some.tolist()),
        {name: column.take(some) for name, column in records.columns.items()},
        (),
    )
    found = deduplicate(part, schema).links.details["match_probability"]
    return float(found.sum()) * (len(records) / len(some)) ** 2


def duplicates_warning(records: Records, schema: Schema) -> tuple[str, ...]:
    """What an owner should know of the duplicates in its file, if there are any to speak of.

    Privacy: as `likely_duplicates`; it never raises, so that it can be said on the way.
    """
    try:
        pairs = likely_duplicates(records, schema)
    except (GramlinkError, MemoryError):  # the fields say too little, or the machine is too small
        return ()
    if pairs < max(FEW, RARE * len(records)):
        return ()
    though = ", though `unique` in linkage.toml says otherwise" if schema.unique else ""
    return (
        f"about {pairs:,.0f} pairs of records look like one person twice{though}; one-to-one links "
        "one of the two at most, and whoever has two records is protected at twice epsilon; "
        "`gramlink dedupe` lists them",
    )


def _by_id(records: Records) -> Ints:
    """The rows in the order of their ids, so that what is sampled does not depend on the file's."""
    return pl.Series(records.ids, dtype=pl.String).arg_sort().to_numpy().astype(np.int64)


def _exact(field: Field) -> Field:
    return field.model_copy(update={"miner": "exact"}) if field.mined else field
