"""Handover: what one owner hands another before they embed."""

import json
from dataclasses import dataclass

from gramlink.io.files import DAMAGE, damaged, from_json, plain_json, to_json
from gramlink.mining.mined import Mined
from gramlink.parties.contribution import Contribution

KIND = "handover"


@dataclass(frozen=True, slots=True)
class Handover:
    """What an owner mined and, if their encoding needs a secret, its contribution to it.

    The contribution travels beside what was mined and never in it, as what was mined may be used
    again and a contribution may not.

    Privacy: for one other owner only, so it travels sealed to it.
    """

    mined: Mined
    contribution: Contribution | None = None

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
