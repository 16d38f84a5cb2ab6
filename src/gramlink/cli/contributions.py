"""The files with what the owners contribute to the secret of one exchange.

An owner's own contribution has a file to itself. Those of the others come beside what they mined,
sealed together, or as files of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gramlink.cli.inputs import read_opened
from gramlink.cli.senders import KnownSenders

if TYPE_CHECKING:
    from gramlink.embedding.projection import Projection
    from gramlink.encodings.secret import Secret
    from gramlink.records.schema import Schema


def contribution_file(exchange: str, owner: str) -> Path:
    """Where an owner's contribution is, unless another file is named.

    >>> contribution_file("stroke", "hospital").name
    'stroke-hospital.contribution'
    """
    return Path(f"{exchange}-{owner}.contribution" if exchange else f"{owner}.contribution")


@dataclass(frozen=True, slots=True)
class ContributionFiles:
    """Files with one contribution each: the owner's own, and the others' as they came."""

    files: tuple[Path, ...]

    @classmethod
    def of(
        cls, given: Sequence[Path] | None, exchange: str, owners: Sequence[str], schema: "Schema"
    ) -> "ContributionFiles":
        """The files that were named, or else those of all owners; none if no secret is needed."""
        from gramlink.parties.contribution import needs_secret

        if given or not needs_secret(schema):
            return cls(tuple(given or ()))
        return cls(tuple(_found(exchange, owner) for owner in owners))

    @classmethod
    def to_erase(
        cls, given: Sequence[Path] | None, exchange: str, owners: Sequence[str], schema: "Schema"
    ) -> "ContributionFiles":
        """The same, with what was opened and what is sealed, whichever of them was read."""
        from gramlink.parties.contribution import needs_secret

        if given or not needs_secret(schema):
            return cls(tuple(given or ()))
        return cls(tuple(file for owner in owners for file in _possible(exchange, owner)))

    @property
    def complete(self) -> bool:
        """Whether all of them are there."""
        return all(file.exists() for file in self.files)

    def secret(
        self,
        identity_file: Path | None,
        projection: "Projection",
        exchange: str,
        schema: "Schema",
        known: KnownSenders,
    ) -> "Secret | None":
        """The secret that all owners derive from them, if they need one."""
        from gramlink.errors import InvalidFile
        from gramlink.parties.contribution import needs_secret, secret_of
        from gramlink.parties.handover import contribution_in

        if not needs_secret(schema):
            return None
        for file in self.files:
            if not file.exists():
                raise InvalidFile(
                    f"there is no contribution {file}",
                    hint="make yours with `gramlink contribute`; the other owners send you theirs",
                )
        contributions = []
        for file in self.files:
            opened = read_opened(file, identity_file)
            contributions.append(contribution_in(opened.data, file.name))
            known.check(opened, contributions[-1].owner)
        return secret_of(contributions, projection, exchange, schema)

    def own(self, owner: str) -> Path:
        """The file with an owner's own contribution, which notes what it encoded."""
        from gramlink.errors import InvalidFile
        from gramlink.io.files import is_kind, read_bytes
        from gramlink.parties.contribution import KIND, Contribution

        for file in self.files:
            data = read_bytes(file)
            if is_kind(KIND, data) and Contribution.from_json(data, file.name).owner == owner:
                return file
        raise InvalidFile(
            f"no file has the contribution that {owner} made",
            hint="name the file that your own `gramlink contribute` wrote, unsealed",
        )

    def erase(self) -> tuple[Path, ...]:
        """Delete them, as their exchange is over; return those there were."""
        from gramlink.parties.contribution import erase

        there = tuple(file for file in self.files if file.exists())
        erase(*there)
        return there


def _found(exchange: str, owner: str) -> Path:
    """The file of an owner's contribution: opened already, or sealed as it came."""
    files = _possible(exchange, owner)
    return next((one for one in files if one.exists()), files[0])


def _possible(exchange: str, owner: str) -> tuple[Path, Path, Path]:
    """An owner's contribution may come by itself, or sealed beside what it mined."""
    plain = contribution_file(exchange, owner)
    return plain, plain.with_name(f"{plain.name}.age"), Path(f"{owner}.mined.json.age")
