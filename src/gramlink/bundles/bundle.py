"""Bundle: what an owner sends to the linkage unit.

An archive with one part, `records.parquet`: a row for each different record, with its pseudonym
and what the bundle's encoding shows of it. Rows are ordered by pseudonym, which says nothing of
the order in the owner's file.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import polars as pl

from gramlink.bundles.archive import Archive, pack, unpack
from gramlink.bundles.pseudonyms import PSEUDONYM
from gramlink.bundles.sealing import Recipient
from gramlink.bundles.secrecy import check_secrecy
from gramlink.encodings.encoding import EncodedRecords, encoding_of
from gramlink.errors import GramlinkError, InvalidFile, InvalidParameter, InvalidSchema
from gramlink.io.files import DAMAGE, digest, list_in, table_in
from gramlink.io.names import exchange_name, owner_name
from gramlink.privacy.numbers import spent_epsilon
from gramlink.records.choices import ENCODINGS, listed
from gramlink.records.schema import Schema, schema_from

RECORDS = "records.parquet"


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """An owner's encoded records under pseudonyms, with digests that show what they belong with.

    Privacy: for the linkage unit only. Holds no base, no gram and no id of the owner.
    """

    owner: str
    settings: dict[str, Any]
    projection: str
    ids: tuple[str, ...]
    records: EncodedRecords
    unique: bool = True  # whether the owner says that nobody is in it twice
    owners: tuple[str, ...] = ()  # all owners of the projection
    epsilon: Fraction | None = None  # what the owner spent on its part of the projection
    exchange: str = ""  # the exchange it is meant for, if that has a name
    reply: Recipient | None = None  # whom to seal the results to
    created: str = ""
    sender: Recipient | None = None  # who signed the file it was read from

    @property
    def manifest(self) -> dict[str, Any]:
        """What the bundle says of itself."""
        return {
            "encoding": self.records.name,
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
            "shape": self.records.shape,
            "settings": self.settings,
        }

    def rows(self) -> pl.DataFrame:
        """The rows exactly as they are sent."""
        ids = pl.Series(self.ids, dtype=pl.String)
        return pl.DataFrame({"id": ids, **self.records.columns()}).sort("id")

    @property
    def digest(self) -> str:
        """The SHA-256 of what it shows of records: the same whenever the same is made again."""
        records = self.records
        return digest(
            [self.projection, records.name, records.shape, records.digest, list(self.ids)]
        )

    def to_bytes(self) -> bytes:
        """The file; refused if the linkage unit could know the grams that it counts."""
        check_secrecy(self.settings)
        return pack("bundle", self.manifest, {RECORDS: self.rows()})

    @classmethod
    def from_bytes(cls, data: bytes, name: str, sender: Recipient | None = None) -> "Bundle":
        """What `to_bytes` wrote, after checking that all of it is there and unchanged."""
        archive = unpack("bundle", data, name)
        try:
            return replace(_read(archive), sender=sender)
        except (*DAMAGE, OverflowError) as error:
            if isinstance(error, GramlinkError) and not isinstance(error, InvalidParameter):
                raise
            raise archive.damaged(str(error)) from error


def _read(archive: Archive) -> Bundle:
    manifest = archive.manifest
    encoding = _encoding(archive)
    settings = table_in(manifest, "settings")
    if manifest["schema"] != digest(settings):
        raise archive.damaged("its settings do not match its schema's digest")
    schema = _schema(archive, settings)
    if schema.encoding != encoding.name:
        raise archive.damaged(f"its settings say that it is {schema.encoding!r}")
    check_secrecy(settings)
    rows = _rows(archive, schema, encoding)
    if archive.parts.keys() != {RECORDS}:
        raise archive.damaged(f"it has parts besides {RECORDS}")
    return Bundle(
        owner=owner_name(manifest["owner"]),
        settings=settings,
        projection=_text(manifest["projection"]),
        ids=tuple(rows["id"]),
        records=encoding.read(rows, manifest["shape"], schema),
        unique=_flag(manifest["unique"]),
        owners=tuple(map(owner_name, list_in(manifest, "owners"))),
        epsilon=spent_epsilon(manifest["epsilon"]),
        exchange="" if manifest["exchange"] == "" else exchange_name(manifest["exchange"]),
        reply=_reply(archive),
        created=_text(manifest["created"]),
    )


def _encoding(archive: Archive) -> type[EncodedRecords]:
    name = str(archive.manifest["encoding"])
    if name not in ENCODINGS:
        raise archive.damaged(f"its encoding is {name[:100]!r}, not {listed(ENCODINGS)}")
    return encoding_of(name)


def _reply(archive: Archive) -> Recipient | None:
    key = archive.manifest["reply"]
    try:
        return None if key is None else Recipient(_text(key))
    except InvalidFile as error:
        raise archive.damaged("the key to reply to is not a valid key") from error


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 200 or not value.isprintable():
        raise ValueError("a value in its manifest must be text of at most 200 printable characters")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("it does not say whether its records are unique")
    return value


def _rows(archive: Archive, schema: Schema, encoding: type[EncodedRecords]) -> pl.DataFrame:
    """The rows, read only once it is known that the file has room for them."""
    count, shape = archive.manifest["rows"], archive.manifest["shape"]
    # pseudonyms are random, so each row takes their 16 bytes, however well the rest is packed
    least = 16 + encoding.least(shape, schema)
    if type(count) is not int or count * least > len(archive.parts[RECORDS]) + 2**20:
        raise archive.damaged("it claims more rows than its size allows")
    present = archive.columns(RECORDS)
    columns = encoding.columns_of(shape, schema, present)
    rows = archive.frame(RECORDS, {"id": pl.String, **columns}, count)
    ids = rows["id"]
    if not ids.str.contains(PSEUDONYM).all(ignore_nulls=False) or not ids.is_unique().all():
        raise archive.damaged("its ids are not distinct pseudonyms, one for each row")
    return rows


def _schema(archive: Archive, settings: dict[str, Any]) -> Schema:
    """The settings that the linkage unit needs, checked; they hold no gram of a public base."""
    names = {
        field: {"nicknames": one["nicknames"]}
        for field, one in settings["fields"].items()
        if "nicknames" in one
    }
    fields = {
        field: {"kind": one["kind"], "edits": one["edits"], **names.get(field, {})}
        for field, one in settings["fields"].items()
    }
    for setting in ("edits", "passes", "decide", "accept", "review"):
        if setting not in settings:
            raise archive.damaged(f"its settings do not say how to decide: no {setting}")
    try:
        return schema_from({**settings, "fields": fields}, "settings")
    except InvalidSchema as error:
        raise archive.damaged(f"its settings do not say how to decide: {error}") from error
