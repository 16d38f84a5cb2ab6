"""Audited: what an owner's last audit of its file found, for when it is asked to agree."""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

from gramlink.errors import GramlinkError
from gramlink.io.files import DAMAGE, from_json, moment, read_bytes, to_json, written_whole
from gramlink.records.schema import Schema

KIND = "audited"


@dataclass(frozen=True, slots=True)
class Audited:
    """The share of the records that the strongest attack named, as one encoding shows them.

    Privacy: shares of an owner's own records, for this owner; it is not sent.
    """

    data: str  # digest of the data file
    encoding: str
    records: int
    named: float
    created: str

    @classmethod
    def of(cls, data: Path, encoding: str, records: int, named: float) -> "Audited":
        """What an audit of this file found now."""
        return cls(_digest(data), encoding, records, named, moment())

    def keep(self, data: Path) -> Path:
        """Keep it beside the data, in the place of an earlier one."""
        path = audit_file(data)
        with written_whole(path, mode=0o600) as file:
            file.write(to_json(KIND, asdict(self)))
        return path


def audit_file(data: Path) -> Path:
    """Where the outcome of the last audit of a file is kept.

    >>> audit_file(Path("hospital.csv")).name
    'hospital.audit.json'
    """
    return data.with_name(f"{data.stem}.audit.json")


def audited(data: Path, schema: Schema) -> str:
    """What the last audit of this very file said, in a line; else how to get one."""
    try:
        content = from_json(KIND, read_bytes(audit_file(data)), audit_file(data).name)
        found = Audited(**content)
        known = found.data == _digest(data) and found.encoding == schema.encoding
        named = f"{float(found.named):.2%} of {int(found.records):,} records"
    except (GramlinkError, *DAMAGE):
        known = False
    if not known:
        return f"`gramlink audit {data.name}` says what a curious unit could name of it"
    return f"a curious unit could name {named}, says your audit of {found.created}"


def _digest(data: Path) -> str:
    return hashlib.sha256(read_bytes(data)).hexdigest()
