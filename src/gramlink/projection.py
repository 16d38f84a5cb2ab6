"""Projection: what two owners must share to be comparable."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gramlink.base import Base, merge
from gramlink.errors import InvalidFile, Mismatch
from gramlink.files import DAMAGE, damaged, digest, from_json, settings_in, to_json
from gramlink.mined import Mined
from gramlink.schema import differences, schema_from


@dataclass(frozen=True, slots=True)
class Projection:
    """The bases of all fields, and the settings that both owners use.

    The owner whose name sorts first is the left one, who sends thresholds.

    Privacy: for the two owners only. The linkage unit gets its digest, never its grams.
    """

    owners: tuple[str, str]
    settings: dict[str, Any]
    epsilon: dict[str, Fraction | None]
    bases: dict[str, Base]

    @property
    def left(self) -> str:
        """The owner who sends thresholds."""
        return self.owners[0]

    @property
    def digest(self) -> str:
        """Equal at both owners if, and only if, they hold the same projection."""
        return digest(self._content())

    @property
    def fingerprint(self) -> str:
        """The start of the digest, to be compared by telephone."""
        return " ".join(self.digest[i : i + 4] for i in range(0, 20, 4))

    def to_json(self) -> bytes:
        """A file that a person can read."""
        return to_json("projection", self._content())

    @classmethod
    def from_json(cls, data: bytes, name: str) -> "Projection":
        """What `to_json` wrote."""
        content = from_json("projection", data, name)
        try:
            left, right = map(str, content["owners"])
            settings, bases = settings_in(content), content["bases"]
            return cls(
                owners=(left, right),
                settings=settings,
                epsilon={
                    owner: None if spent is None else Fraction(spent)
                    for owner, spent in content["epsilon"].items()
                },
                bases={key: Base(tuple(bases[key])) for key in settings["fields"]},
            )
        except DAMAGE as error:
            raise damaged(name, error, "merge again") from error

    def _content(self) -> dict[str, Any]:
        return {
            "owners": list(self.owners),
            "epsilon": {
                owner: None if spent is None else str(spent)
                for owner, spent in sorted(self.epsilon.items())
            },
            "bases": {name: list(base.grams) for name, base in self.bases.items()},
            "settings": self.settings,
        }


def agree(one: Mined, other: Mined) -> Projection:
    """The projection that follows from what both owners mined; the same whoever computes it.

    Privacy: reads released counts only, so it costs nothing.
    """
    if one.owner == other.owner:
        raise Mismatch(
            f"both files were mined by {one.owner!r}",
            hint="owners need different names before they mine: `gramlink mine --owner NAME`",
        )
    different = differences(one.settings, other.settings)
    if different:
        raise Mismatch(
            f"{one.owner} and {other.owner} differ in {'; '.join(different)}",
            hint="use the same linkage.toml at both owners and mine again",
        )
    agreed = schema_from(dict(one.settings), f"what {one.owner} mined").agreed
    for mined in (one, other):
        if mined.settings != agreed or mined.fields.keys() != agreed["fields"].keys():
            raise InvalidFile(
                f"what {mined.owner} mined has not all the settings or fields it must have",
                hint="ask its sender for it again",
            )
    left, right = sorted((one, other), key=lambda mined: mined.owner)
    return Projection(
        owners=(left.owner, right.owner),
        settings=left.settings,
        epsilon={left.owner: left.epsilon, right.owner: right.epsilon},
        bases={
            name: merge(left.fields[name], right.fields[name], _size(settings))
            for name, settings in agreed["fields"].items()
        },
    )


def _size(settings: dict[str, Any]) -> int:
    """How many grams a field's base has; public grams are used whole."""
    return len(settings["grams"]) or int(settings["size"])
