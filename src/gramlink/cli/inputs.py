"""How commands read files that other commands wrote: sealed ones, links and clusters."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from gramlink.bundles.sealing import Recipient
    from gramlink.deciding.links import Links

LINK_COLUMNS = ("id_left", "id_right", "unique_id_l", "unique_id_r")  # ours, and Splink's


@dataclass(frozen=True, slots=True)
class Opened:
    """What a file holds, whether it was sealed, and who signed it, if anybody did."""

    name: str
    data: bytes
    sealed: bool
    sender: "Recipient | None"


def read_opened(path: Path, identity_file: Path | None) -> Opened:
    """A file, opened if it is sealed, with its signature checked if it has one."""
    from gramlink.bundles.sealing import is_sealed, read_identity, unseal_from, verified
    from gramlink.errors import InvalidParameter
    from gramlink.io.files import read_bytes

    data = read_bytes(path)
    identity = read_identity(identity_file) if identity_file else None
    if not is_sealed(data):
        content, sender = verified(data, path.name, identity.recipient if identity else None)
        return Opened(path.name, content, sealed=False, sender=sender)
    if identity is None:
        raise InvalidParameter(
            f"{path} is sealed", hint="use --identity to name the identity file that opens it"
        )
    content, sender = unseal_from(data, identity, path.name)
    return Opened(path.name, content, sealed=True, sender=sender)


def read_links(path: Path) -> "Links":
    """Pairs of ids from a CSV file, under our column names or Splink's."""
    from gramlink.deciding.links import Links

    pairs = read_pairs(path)
    return Links(tuple(pairs["id_left"]), tuple(pairs["id_right"]))


def read_pairs(path: Path) -> "pl.DataFrame":
    """A file of links or clusters, read as text, with its id columns renamed to ours."""
    import polars as pl

    from gramlink.records.tables import header, read_table

    found = header(path)
    ids = ["id"] if "cluster" in found else list(LINK_COLUMNS[:2])
    theirs = list(LINK_COLUMNS[2:]) if set(LINK_COLUMNS[2:]) <= set(found) else ids
    others = [name for name in found if name not in (*theirs, *LINK_COLUMNS, "id")]
    names = [*others, *ids] if "cluster" in found else [*ids, *others]
    if set(theirs) <= set(found) and _is_header_only(path):
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))  # no link is a result too
    columns = read_table(path, columns=[*theirs, *others]).columns
    known = {name: columns[old].fill_null("") for name, old in zip(ids, theirs, strict=True)}
    return pl.DataFrame({name: known.get(name, columns.get(name)) for name in names})


def _is_header_only(path: Path) -> bool:
    data = path.read_bytes()
    lines = sum(1 for line in data.splitlines() if line.strip())
    return lines == 1 and not data.startswith(b"PAR1")  # Parquet's first bytes
