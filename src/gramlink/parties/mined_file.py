"""The file that an owner mines to, and its charge, wherever an earlier run was stopped.

What was drawn is recorded in the ledger as released before its file has a name, so each charge
pays for one release at most:

    charged    noise may have been drawn, but nobody can have seen it: it is drawn again
    released   it is in a part beside the file's place: the part gets the name
    named      done
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from gramlink.errors import GramlinkError, InvalidFile
from gramlink.io.files import read_bytes, written_whole
from gramlink.io.parts import is_being_written, left_behind
from gramlink.mining.mined import Mined
from gramlink.privacy.budget import Budget
from gramlink.privacy.ledger import Charge, Ledger

ROOM = 2**20  # bytes for what is mined, taken before it is paid for


@dataclass(frozen=True, slots=True)
class MinedFile:
    """Where something is mined to, what it costs, and what the ledger records of it."""

    path: Path
    ledger: Ledger
    cost: Fraction
    what: str
    parameters: Mapping[str, Any]
    purpose: Mapping[str, str]

    @property
    def noted(self) -> dict[str, Any]:
        """What the ledger records of the charge."""
        return {**self.parameters, **self.purpose}

    def there(self) -> Mined:
        """What the file has; its release is recorded, if the ledger lacks that."""
        mined = Mined.from_json(read_bytes(self.path), self.path.name)
        charge = self.ledger.unreleased(self.noted)
        if charge and charge.stamp == mined.stamp:
            self.ledger.released(charge, mined.digest)
        return mined

    def finished(self) -> Mined | None:
        """What was released before the file had its name, which it gets now."""
        digests = {
            release.digest
            for release in self.ledger.state.releases
            if release.digest and release.parameters == self.noted
        }
        target = Path(os.path.realpath(self.path))
        if is_being_written(target):
            raise InvalidFile(
                f"another process is writing {self.path}", hint="wait for it, or end it"
            )
        for part in left_behind(target) if digests else ():
            with suppress(GramlinkError):  # it is another run's, and not whole
                mined = Mined.from_json(read_bytes(part), part.name)
                if mined.digest in digests:
                    _name(part, target)
                    return mined
        return None

    def check_not_lost(self) -> None:
        """Refuse to pay again for what was released, and is no longer there."""
        for release in self.ledger.state.releases:
            fits = all(release.parameters.get(key) == of for key, of in self.purpose.items())
            if fits and (release.digest or release.lost):
                raise InvalidFile(
                    f"{self.path} is missing, though it is paid for",
                    hint="restore it: mining again would cost epsilon again",
                )

    def write(self, mine: Callable[[Budget], Mined]) -> Mined:
        """What `mine` draws, after its charge, or that of a run that released nothing.

        Privacy: the charge is on disk before anything is drawn, and the release before the file
        has a name.
        """
        charge: Charge | None = None
        mined: Mined | None = None

        def release() -> None:
            if charge and mined:
                self.ledger.released(charge, mined.digest)

        # the file has its room on disk before the ledger is charged: a full disk costs nothing
        with written_whole(self.path, room=ROOM, mode=0o600, before=release) as file:
            charge = self.ledger.unreleased(self.noted)
            if charge is None and self.cost:
                charge = self.ledger.charge(self.cost, self.what, self.noted)
            mined = mine(charge.budget if charge else Budget(self.cost))
            mined = replace(mined, stamp=charge.stamp if charge else None)
            file.write(mined.to_json())
        return mined


def _name(part: Path, target: Path) -> None:
    try:
        part.replace(target)
    except OSError as error:
        raise InvalidFile(
            f"{target} cannot be written: {error.strerror or error}",
            hint="name a folder that exists, has room and that you may write to",
        ) from error
