"""Bundle: what an owner sends to the linkage unit.

A zip file of two parts: `manifest.json`, which a person can read, and `records.parquet`
with one row for each record: its pseudonym, its gram counts (null if the value is
missing) and, from the left owner, its threshold. Rows are ordered by pseudonym, which
says nothing of the order in the owner's file.
"""

import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.embedding import Vectors
from gramlink.errors import InvalidFile
from gramlink.files import from_json, settings_in, to_json
from gramlink.links import RULES

MANIFEST, RECORDS = "manifest.json", "records.parquet"
MANIFEST_LIMIT = 2**20
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
    vectors: Vectors
    thresholds: npt.NDArray[np.int64] | None = None

    @property
    def manifest(self) -> dict[str, Any]:
        """What the bundle says of itself."""
        return {
            "encoding": "vectors",
            "owner": self.owner,
            "projection": self.projection,
            "rows": len(self.ids),
            "gram lengths": list(self.vectors.lengths),
            "settings": self.settings,
        }

    def rows(self) -> pl.DataFrame:
        """The rows exactly as they are sent."""
        counts = pl.Series(
            "counts", self.vectors.counts, pl.Array(pl.UInt8, len(self.vectors.lengths))
        )
        ids = pl.Series(self.ids, dtype=pl.String)
        frame = pl.DataFrame({"id": ids, "counts": counts}).with_columns(
            pl.when(pl.Series(~self.vectors.missing)).then("counts").alias("counts")
        )
        if self.thresholds is not None:
            frame = frame.with_columns(threshold=pl.Series(self.thresholds))
        return frame.sort("id")

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
        except _UNREADABLE as error:
            raise _damaged(name, str(error)) from error


def _checked(manifest: dict[str, Any], rows: pl.DataFrame, name: str) -> Bundle:
    lengths = tuple(manifest["gram lengths"])
    if not 1 <= len(lengths) <= 1000 or not all(
        isinstance(q, int) and 1 <= q <= 6 for q in lengths
    ):
        raise _damaged(name, "its gram lengths are not up to 1,000 numbers from 1 to 6")
    if len(rows) != manifest["rows"] or rows["id"].null_count() or not rows["id"].is_unique().all():
        raise _damaged(name, "its ids are not one for each row")
    if settings_in(manifest).get("decide") not in RULES:
        raise _damaged(name, "its settings do not say how to decide")
    expected = {"id": pl.String, "counts": pl.Array(pl.UInt8, len(lengths))}
    thresholds = None
    if "threshold" in rows.columns:
        expected["threshold"] = pl.Int64
        if rows["threshold"].null_count() or (rows["threshold"] < 0).any():
            raise _damaged(name, "a threshold is missing or negative")
        thresholds = rows["threshold"].to_numpy()
    if dict(rows.schema) != expected:
        raise _damaged(name, "its columns are not those of a bundle")
    if rows["counts"].drop_nulls().explode().null_count():
        raise _damaged(name, "a count is missing within a row")
    missing = rows["counts"].is_null().to_numpy()
    zeros = pl.lit([0] * len(lengths), dtype=rows["counts"].dtype)
    counts = rows.select(pl.col("counts").fill_null(zeros))["counts"].to_numpy()
    return Bundle(
        owner=str(manifest["owner"]),
        settings=settings_in(manifest),
        projection=str(manifest["projection"]),
        ids=tuple(rows["id"]),
        vectors=Vectors(counts.reshape(len(rows), len(lengths)), lengths, missing),
        thresholds=thresholds,
    )


def _damaged(name: str, why: str) -> InvalidFile:
    return InvalidFile(
        f"{name} is damaged or not a bundle: {why}", hint="ask its sender for it again"
    )
