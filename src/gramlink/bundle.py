"""Bundle: what an owner sends to the linkage unit.

A zip file of two parts: `manifest.json`, which a person can read, and `records.parquet`
with one row for each record: its pseudonym and, for each field, its gram counts (null if
the value is missing) and, from the left owner, its thresholds. Rows are ordered by
pseudonym, which says nothing of the order in the owner's file.
"""

import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gramlink.embedding import Encoded, Vectors
from gramlink.errors import InvalidFile, InvalidParameter, InvalidSchema
from gramlink.files import from_json, owner_name, settings_in, to_json
from gramlink.schema import Schema, schema_from

MANIFEST, RECORDS = "manifest.json", "records.parquet"
MANIFEST_LIMIT = 2**20
MOST_FIELDS = 50
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,  # zipfile's, of a part that is encrypted
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    OverflowError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)
_MOMENT = (1980, 1, 1, 0, 0, 0)  # the same bundle is the same file


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
            "owner": self.owner,
            "projection": self.projection,
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
        """The file."""
        rows = io.BytesIO()
        self.rows().write_parquet(rows, statistics=False)
        digest = hashlib.sha256(rows.getvalue()).hexdigest()
        manifest = to_json("bundle", {**self.manifest, "parts": {RECORDS: digest}})
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo(MANIFEST, _MOMENT), manifest)
            archive.writestr(zipfile.ZipInfo(RECORDS, _MOMENT), rows.getvalue())
        return packed.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> "Bundle":
        """What `to_bytes` wrote, after checking that all of it is there and unchanged."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                if archive.getinfo(MANIFEST).file_size > MANIFEST_LIMIT:
                    raise _damaged(name, "its manifest is too large")
                if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                    raise _damaged(name, "a part is compressed")
                manifest = from_json("bundle", archive.read(MANIFEST), name)
                packed = archive.read(RECORDS)
            if hashlib.sha256(packed).hexdigest() != manifest["parts"][RECORDS]:
                raise _damaged(name, "its records were changed")
            if manifest["encoding"] != "vectors":
                raise _damaged(name, f"its encoding is {manifest['encoding']!r}, not 'vectors'")
            return _checked(manifest, pl.read_parquet(io.BytesIO(packed)), name)
        except (*_UNREADABLE, InvalidParameter) as error:
            raise _damaged(name, str(error)) from error


def _checked(manifest: dict[str, Any], rows: pl.DataFrame, name: str) -> Bundle:
    settings, lengths = settings_in(manifest), manifest["gram lengths"]
    if not isinstance(manifest["unique"], bool):
        raise _damaged(name, "it does not say whether its records are unique")
    if lengths.keys() != settings["fields"].keys() or not 1 <= len(lengths) <= MOST_FIELDS:
        raise _damaged(name, "its fields are not those of its settings")
    schema = _schema(settings, name)
    if len(rows) != manifest["rows"] or rows["id"].null_count() or not rows["id"].is_unique().all():
        raise _damaged(name, "its ids are not one for each row")
    left = any(column.endswith(".thresholds") for column in rows.columns)
    expected: dict[str, Any] = {"id": pl.String}
    for field, numbers in lengths.items():
        if not 1 <= len(numbers) <= 1000 or not all(
            isinstance(q, int) and 1 <= q <= 6 for q in numbers
        ):
            raise _damaged(name, "its gram lengths are not up to 1,000 numbers from 1 to 6")
        expected[f"{field}.counts"] = pl.Array(pl.UInt8, len(numbers))
        if left:
            edits = schema.edits_of(schema[field])
            expected[f"{field}.thresholds"] = pl.Array(pl.Int64, edits + 1)
    if dict(rows.schema) != expected:
        raise _damaged(name, "its columns are not those of a bundle")
    return Bundle(
        owner=owner_name(manifest["owner"]),
        settings=settings,
        projection=str(manifest["projection"]),
        ids=tuple(rows["id"]),
        fields={field: _encoded(rows, field, tuple(lengths[field]), name) for field in lengths},
        unique=manifest["unique"],
    )


def _schema(settings: dict[str, Any], name: str) -> Schema:
    """What the linkage unit needs of the settings, checked; it gets no gram of a public base."""
    fields = {field: {"edits": one["edits"]} for field, one in settings["fields"].items()}
    for setting in ("edits", "passes", "decide", "accept", "review"):
        if setting not in settings:
            raise _damaged(name, f"its settings do not say how to decide: no {setting}")
    try:
        return schema_from({**settings, "fields": fields}, "settings")
    except InvalidSchema as error:
        raise _damaged(name, f"its settings do not say how to decide: {error}") from error


def _encoded(rows: pl.DataFrame, field: str, lengths: tuple[int, ...], name: str) -> Encoded:
    sent = rows[f"{field}.counts"]
    if sent.drop_nulls().explode().null_count():
        raise _damaged(name, "a count is missing within a row")
    zeros = pl.lit([0] * len(lengths), dtype=sent.dtype)
    counts = pl.select(pl.lit(sent).fill_null(zeros)).to_series().to_numpy()
    vectors = Vectors(counts.reshape(len(rows), len(lengths)), lengths, sent.is_null().to_numpy())
    if f"{field}.thresholds" not in rows.columns:
        return Encoded(vectors)
    limits = rows[f"{field}.thresholds"]
    if limits.null_count() or limits.explode().null_count():
        raise _damaged(name, "a threshold is missing")
    thresholds = limits.to_numpy().reshape(len(rows), limits.dtype.shape[0])  # type: ignore[attr-defined]
    if thresholds[:, 0].any() or (np.diff(thresholds, axis=1) < 0).any():
        raise _damaged(name, "a threshold is not 0 for no edits, or falls")
    return Encoded(vectors, thresholds)


def _damaged(name: str, why: str) -> InvalidFile:
    return InvalidFile(
        f"{name} is damaged or not a bundle: {why}", hint="ask its sender for it again"
    )
