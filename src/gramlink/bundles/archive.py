"""Archives: a manifest and Parquet parts in one file, which is what the unit receives and sends.

A zip file whose members are stored, not compressed: `manifest.json` first, which a person can
read and which has the SHA-256 of each part, and then the parts. A reader takes no member that
the manifest does not name, and none by a path.
"""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from gramlink.errors import InvalidFile
from gramlink.io.files import from_json, to_json

MANIFEST = "manifest.json"
MANIFEST_LIMIT = 2**20
MOST_PARTS = 16
_MOMENT = (1980, 1, 1, 0, 0, 0)  # the same content is the same file
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,  # zipfile's, of a part that is encrypted
    NotImplementedError,
    EOFError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    OverflowError,
    OSError,
)


def pack(kind: str, content: Mapping[str, Any], parts: Mapping[str, pl.DataFrame]) -> bytes:
    """The file."""
    files = {name: _parquet(frame) for name, frame in parts.items()}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    manifest = to_json(kind, {**content, "parts": digests})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, data in {MANIFEST: manifest, **files}.items():
            archive.writestr(zipfile.ZipInfo(name, _MOMENT), data)
    return packed.getvalue()


@dataclass(frozen=True, slots=True)
class Archive:
    """A manifest, and the parts as they came, checked to be all there and unchanged."""

    kind: str
    name: str
    manifest: dict[str, Any]
    parts: dict[str, bytes]

    def columns(self, part: str) -> dict[str, Any]:
        """The names and types of a part's columns."""
        with self._reading():
            return dict(pl.read_parquet_schema(io.BytesIO(self.parts[part])))

    def frame(self, part: str, columns: Mapping[str, Any], rows: int) -> pl.DataFrame:
        """A part with this many rows and these columns, which are checked before it is read.

        A malicious Parquet file can crash its reader, so a linkage unit reads strangers' archives
        in a separate process.
        """
        if self.columns(part) != dict(columns):
            raise self.damaged(f"its columns are not those of a {self.kind}")
        with self._reading():
            found = pl.scan_parquet(io.BytesIO(self.parts[part])).select(pl.len()).collect().item()
            if found != rows:
                raise self.damaged(f"it has {found:,} rows, not {rows:,}")
            return pl.read_parquet(io.BytesIO(self.parts[part]))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, *_UNREADABLE) as error:
            raise self.damaged(_why(error)) from error

    def damaged(self, why: str) -> InvalidFile:
        """What to raise when the archive is not as we write it."""
        return _damaged(self.kind, self.name, why)


def unpack(kind: str, data: bytes, name: str) -> Archive:
    """What `pack` wrote, or an error that says what is wrong with it."""
    if not data.startswith(b"PK"):  # zipfile would look for an archive behind anything
        raise _damaged(kind, name, "it is not a zip file")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {member.filename: member for member in archive.infolist()}
            if len(members) < len(archive.infolist()) or len(members) > MOST_PARTS:
                raise _damaged(kind, name, "it has the same part twice, or too many parts")
            if any(one.compress_type != zipfile.ZIP_STORED for one in members.values()):
                raise _damaged(kind, name, "a part is compressed")
            if sum(one.file_size for one in members.values()) > len(data):
                raise _damaged(kind, name, "its parts are larger than the whole file")
            if members[MANIFEST].file_size > MANIFEST_LIMIT:
                raise _damaged(kind, name, "its manifest is too large")
            manifest = from_json(kind, archive.read(MANIFEST), name)
            digests = dict(manifest["parts"])
            if members.keys() != digests.keys() | {MANIFEST}:
                raise _damaged(kind, name, "its parts are not those that its manifest lists")
            parts = {part: archive.read(part) for part in digests}
    except _UNREADABLE as error:
        raise _damaged(kind, name, _why(error)) from error
    for part, packed in parts.items():
        if hashlib.sha256(packed).hexdigest() != digests[part]:
            raise _damaged(kind, name, f"{part[:100]} was changed")
    return Archive(kind, name, manifest, parts)


def _parquet(frame: pl.DataFrame) -> bytes:
    written = io.BytesIO()
    frame.write_parquet(written, statistics=False)
    return written.getvalue()


def _why(error: BaseException) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def _damaged(kind: str, name: str, why: str) -> InvalidFile:
    return InvalidFile(
        f"{name} is damaged or not a {kind}: {why}", hint="ask its sender for it again"
    )
