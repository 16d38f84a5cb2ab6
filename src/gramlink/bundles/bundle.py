"""Bundle: what an owner sends to the linkage unit.

An archive with one part, `records.parquet`: a row for each different record, with its pseudonym
and, for each field, its gram counts (null if the value is missing) and, from the left owner,
its thresholds. Rows are ordered by pseudonym, which says nothing of the order in the owner's
file.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from gramlink.bundles.archive import Archive, pack, unpack
from gramlink.bundles.pseudonyms import PSEUDONYM
from gramlink.bundles.sealing import Recipient
from gramlink.bundles.secrecy import check_secrecy
from gramlink.embedding.thresholds import highest
from gramlink.embedding.vectors import Encoded, Vectors
from gramlink.errors import GramlinkError, InvalidFile, InvalidParameter, InvalidSchema
from gramlink.io.files import DAMAGE, digest, exchange_name, owner_name, settings_in
from gramlink.privacy.numbers import spent_epsilon
from gramlink.records.schema import Schema, schema_from

RECORDS = "records.parquet"
MOST_FIELDS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """An owner's vectors under pseudonyms, with the digests that show what they go with.

    Privacy: for the linkage unit only. Holds no base, no gram and no id of the owner.
    """

    owner: str
    settings: dict[str, Any]
    projection: str
    ids: tuple[str, ...]
    fields: dict[str, Encoded]
    unique: bool = True  # whether the owner says that nobody is in it twice
    owners: tuple[str, ...] = ()  # all owners of the projection
    epsilon: Fraction | None = None  # what the owner spent on its part of the projection
    exchange: str = ""  # the one it is for, if the exchange has a name
    reply: Recipient | None = None  # whom to seal the results to
    created: str = ""

    @property
    def has_thresholds(self) -> bool:
        """Whether it is of the left owner."""
        return all(encoded.thresholds is not None for encoded in self.fields.values())

    @property
    def manifest(self) -> dict[str, Any]:
        """What the bundle says of itself."""
        lengths = {name: list(field.vectors.lengths) for name, field in self.fields.items()}
        return {
            "encoding": "vectors",
            "exchange": self.exchange,
            "owner": self.owner,
            "owners": list(self.owners),
            "created": self.created,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "schema": digest(self.settings),
            "projection": self.projection,
            "reply": self.reply.key if self.reply else None,
            "rows": len(self.ids),
            "unique": self.unique,
            "gram lengths": lengths,
            "settings": self.settings,
        }

    def rows(self) -> pl.DataFrame:
        """The rows exactly as they are sent."""
        columns = {"id": pl.Series(self.ids, dtype=pl.String)}
        for name, field in self.fields.items():
            vectors, limits = field.vectors, field.thresholds
            counts = pl.Series(vectors.counts, dtype=pl.Array(pl.UInt8, len(vectors.lengths)))
            known = pl.Series(~vectors.missing)
            columns[f"{name}.counts"] = pl.select(pl.when(known).then(counts)).to_series()
            if limits is not None:
                kind = pl.Array(pl.Int64, limits.shape[1])
                columns[f"{name}.thresholds"] = pl.Series(limits, dtype=kind)
        return pl.DataFrame(columns).sort("id")

    def to_bytes(self) -> bytes:
        """The file, unless the linkage unit could know the grams that it counts."""
        check_secrecy(self.settings)
        return pack("bundle", self.manifest, {RECORDS: self.rows()})

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> "Bundle":
        """What `to_bytes` wrote, after checking that all of it is there and unchanged."""
        archive = unpack("bundle", data, name)
        try:
            return _read(archive)
        except (*DAMAGE, OverflowError) as error:
            if isinstance(error, GramlinkError) and not isinstance(error, InvalidParameter):
                raise
            raise archive.damaged(str(error)) from error


def _read(archive: Archive) -> Bundle:
    manifest = archive.manifest
    if manifest["encoding"] != "vectors":
        raise archive.damaged(f"its encoding is {str(manifest['encoding'])[:100]!r}, not 'vectors'")
    settings, lengths = settings_in(manifest), _lengths(archive)
    if manifest["schema"] != digest(settings):
        raise archive.damaged("its settings are not those of its schema's digest")
    schema = _schema(archive, settings)
    check_secrecy(settings)
    rows = _rows(archive, schema, lengths)
    if archive.parts.keys() != {RECORDS}:
        raise archive.damaged(f"it has parts besides {RECORDS}")
    return Bundle(
        owner=owner_name(manifest["owner"]),
        settings=settings,
        projection=_text(manifest["projection"]),
        ids=tuple(rows["id"]),
        fields={field: _encoded(archive, rows, field, lengths[field]) for field in lengths},
        unique=_flag(manifest["unique"]),
        owners=tuple(map(owner_name, manifest["owners"])),
        epsilon=spent_epsilon(manifest["epsilon"]),
        exchange="" if manifest["exchange"] == "" else exchange_name(manifest["exchange"]),
        reply=_reply(archive),
        created=_text(manifest["created"]),
    )


def _reply(archive: Archive) -> Recipient | None:
    key = archive.manifest["reply"]
    try:
        return None if key is None else Recipient(_text(key))
    except InvalidFile as error:
        raise archive.damaged("the key to reply to is none") from error


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
        raise ValueError("a text in its manifest is none, or too long")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("it does not say whether its records are unique")
    return value


def _lengths(archive: Archive) -> dict[str, tuple[int, ...]]:
    lengths = archive.manifest["gram lengths"]
    names = settings_in(archive.manifest)["fields"].keys()
    if lengths.keys() != names or not 1 <= len(lengths) <= MOST_FIELDS:
        raise archive.damaged("its fields are not those of its settings")
    for numbers in lengths.values():
        if not 1 <= len(numbers) <= 1000 or not all(
            isinstance(q, int) and 1 <= q <= 6 for q in numbers
        ):
            raise archive.damaged("its gram lengths are not up to 1,000 numbers from 1 to 6")
    return {field: tuple(numbers) for field, numbers in lengths.items()}


def _rows(archive: Archive, schema: Schema, lengths: dict[str, tuple[int, ...]]) -> pl.DataFrame:
    """The rows, none of which is read before it is known that there can be so many."""
    count = archive.manifest["rows"]
    # pseudonyms are random, so each row takes its 16 bytes, however well the rest is packed
    if not isinstance(count, int) or count * 16 > len(archive.parts[RECORDS]) + 2**20:
        raise archive.damaged("it claims more rows than there is room for")
    left = f"{next(iter(lengths))}.thresholds" in archive.columns(RECORDS)
    expected: dict[str, Any] = {"id": pl.String}
    for field, numbers in lengths.items():
        expected[f"{field}.counts"] = pl.Array(pl.UInt8, len(numbers))
        if left:
            edits = schema.edits_of(schema[field])
            expected[f"{field}.thresholds"] = pl.Array(pl.Int64, edits + 1)
    rows = archive.frame(RECORDS, expected, count)
    ids = rows["id"]
    if not ids.str.contains(PSEUDONYM).all(ignore_nulls=False) or not ids.is_unique().all():
        raise archive.damaged("its ids are not different pseudonyms, one for each row")
    return rows


def _schema(archive: Archive, settings: dict[str, Any]) -> Schema:
    """What the linkage unit needs of the settings, checked; it gets no gram of a public base."""
    fields = {field: {"edits": one["edits"]} for field, one in settings["fields"].items()}
    for setting in ("edits", "passes", "decide", "accept", "review"):
        if setting not in settings:
            raise archive.damaged(f"its settings do not say how to decide: no {setting}")
    try:
        return schema_from({**settings, "fields": fields}, "settings")
    except InvalidSchema as error:
        raise archive.damaged(f"its settings do not say how to decide: {error}") from error


def _encoded(archive: Archive, rows: pl.DataFrame, field: str, lengths: tuple[int, ...]) -> Encoded:
    sent = rows[f"{field}.counts"]
    if sent.drop_nulls().explode().null_count():
        raise archive.damaged("a count is missing within a row")
    zeros = pl.lit([0] * len(lengths), dtype=sent.dtype)
    counts = pl.select(pl.lit(sent).fill_null(zeros)).to_series().to_numpy()
    vectors = Vectors(counts.reshape(len(rows), len(lengths)), lengths, sent.is_null().to_numpy())
    if f"{field}.thresholds" not in rows.columns:
        return Encoded(vectors)
    limits = rows[f"{field}.thresholds"]
    if limits.null_count() or limits.explode().null_count():
        raise archive.damaged("a threshold is missing")
    thresholds = limits.to_numpy().reshape(len(rows), limits.dtype.shape[0])  # type: ignore[attr-defined]
    if thresholds[:, 0].any() or (np.diff(thresholds, axis=1) < 0).any():
        raise archive.damaged("a threshold is not 0 for no edits, or falls")
    for edits, most in enumerate(thresholds.max(axis=0, initial=0).tolist()):
        if most > highest(edits, lengths):
            raise archive.damaged(f"a threshold of {field} is above what {edits} edits can make")
    return Encoded(vectors, thresholds)
