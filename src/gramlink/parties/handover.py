"""Handover: what one owner hands another before they embed."""

import json
from dataclasses import dataclass

from gramlink.errors import InvalidFile, Mismatch
from gramlink.io.files import (
    DAMAGE,
    damaged,
    digest,
    from_json,
    is_kind,
    plain_json,
    to_json,
)
from gramlink.mining.mined import Mined
from gramlink.parties.contribution import Contribution

KIND, MINED = "handover", "mined"  # of file


@dataclass(frozen=True, slots=True)
class Handover:
    """What an owner mined and, if their encoding needs a secret, its contribution to it.

    The contribution travels beside what was mined and never in it, as what was mined may be used
    again and a contribution may not.

    Privacy: for one other owner only, so it travels sealed to it.
    """

    mined: Mined
    contribution: Contribution | None = None

    @classmethod
    def of(cls, mined: Mined, contribution: Contribution) -> "Handover":
        """What an owner mined with its own contribution, made with the same settings."""
        if contribution.owner != mined.owner or contribution.schema != digest(mined.settings):
            raise Mismatch(
                f"the contribution of {contribution.owner} does not go with what {mined.owner} "
                "mined, or was made with other settings",
                hint="hand over what you mined with your own contribution to this exchange",
            )
        return cls(mined, contribution)

    def to_json(self) -> bytes:
        """What was mined, as its own file has it, or both."""
        if self.contribution is None:
            return self.mined.to_json()
        mined = plain_json(self.mined.to_json())
        return to_json(KIND, {"mined": mined, "contribution": self.contribution.told})

    @classmethod
    def from_json(cls, data: bytes, name: str, *, with_secret: bool) -> "Handover":
        """What `to_json` wrote, of an encoding with a secret or without one."""
        if not with_secret:
            return cls(Mined.from_json(data, name))
        content = from_json(KIND, data, name)
        try:
            mined = json.dumps(content["mined"]).encode()
            contribution = content["contribution"]
        except DAMAGE as error:
            raise damaged(name, error, "ask its sender for it again") from error
        return cls(Mined.from_json(mined, name), Contribution.told_by(contribution, name))


def mined_in(data: bytes, name: str) -> Mined:
    """What an owner mined, from its file or from what it handed over."""
    handed = is_kind(KIND, data)
    return Handover.from_json(data, name, with_secret=handed).mined


def contribution_in(data: bytes, name: str) -> Contribution:
    """An owner's contribution, from its file or from what it handed over."""
    if is_kind(MINED, data):
        raise InvalidFile(
            f"{name} has no contribution beside what was mined",
            hint="ask its sender to seal it again, with --contribution",
        )
    if not is_kind(KIND, data):
        return Contribution.from_json(data, name)
    found = Handover.from_json(data, name, with_secret=True).contribution
    assert found is not None  # noqa: S101  # it has one if it is read so
    return found
