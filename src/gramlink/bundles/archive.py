"""Archives: a manifest and Parquet parts in one file, which is what the unit receives and sends.

A zip file whose members are stored, not compressed: `manifest.json` first, which a person can
read and which has the SHA-256 of each part, and then the parts. A reader takes no member that
the manifest does not name, and none by a path.
"""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from gramlink.errors import Ended, InvalidFile
from gramlink.io.files import from_json, table_in, to_json
from gramlink.io.parquet import READER, Footer, check_text, footer_of, from_bytes, to_bytes

MANIFEST = "manifest.json"
MANIFEST_LIMIT = 2**20
MOST_PARTS = 16
_EXPANSION = 1024  # a row of which only its pseudonym takes room has up to 15,000 bytes
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

    def columns(self, part: str) -> tuple[str, ...]:
        """The names of a part's columns."""
        return self._footer(part).names

    def frame(self, part: str, columns: Mapping[str, Any], rows: int) -> pl.DataFrame:
        """A part with this many rows and these columns, which are checked before it is read.

        A malicious Parquet file can crash its reader, so another process reads it.
        """
        footer = self._footer(part)
        if sorted(footer.names) != sorted(columns):
            raise self.damaged(f"its columns are not those of a {self.kind}")
        if type(rows) is not int or footer.rows != rows:
            raise self.damaged(f"it has {footer.rows:,} rows, not {str(rows)[:100]}")
        order = {"kind": self.kind, "name": self.name, "rows": rows, "room": footer.room()}
        expected = to_bytes(pl.DataFrame(schema=dict(columns)))
        with self._reading():
            limits = footer.limits(range(len(footer.names)), _EXPANSION)
            (found,) = READER.call(_read_here, order, [expected, self.parts[part]], limits=limits)
        return from_bytes(found)

    def _footer(self, part: str) -> Footer:
        with self._reading():
            return footer_of(self.parts[part])

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (Ended, pl.exceptions.PolarsError) as error:
            raise self.damaged(str(error)) from error
        except pl.exceptions.PanicException:
            raise self.damaged("a library broke off") from None
        except _UNREADABLE as error:
            raise self.damaged(_why(error)) from error

    def damaged(self, why: str) -> InvalidFile:
        """What to raise when the archive is not as we write it."""
        return _damaged(self.kind, self.name, why)


def _read_here(order: Mapping[str, Any], pieces: Sequence[bytes], *_: object) -> list[bytes]:
    """What `Archive.frame` does in another process."""
    expected, data = pieces
    archive = Archive(order["kind"], order["name"], {}, {})
    columns = from_bytes(expected).schema
    with archive._reading():
        if dict(pl.read_parquet_schema(io.BytesIO(data))) != dict(columns):
            raise archive.damaged(f"its columns are not those of a {archive.kind}")
        frame = pl.read_parquet(io.BytesIO(data))
        check_text(frame, order["room"])
    if len(frame) != order["rows"]:
        raise archive.damaged(f"it has {len(frame):,} rows, not {order['rows']:,}")
    return [to_bytes(frame.select(columns.keys()))]


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
            digests = table_in(manifest, "parts")
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
