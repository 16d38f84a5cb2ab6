"""An owner's part in one exchange, and how it waits for the others."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from gramlink.bundles.sealing import Identity
from gramlink.errors import GramlinkError
from gramlink.exchange.client import Client
from gramlink.exchange.folder import Folder
from gramlink.exchange.status import Place, status_of
from gramlink.exchange.wire import ExchangeInfo
from gramlink.matching.pairs import Progress
from gramlink.parties.owner import Owner

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0


@dataclass(frozen=True, slots=True)
class Voice:
    """How a part speaks: a line, a progress bar, a question, and a warning.

    `read` asks for a text; it is empty if nobody is there to give one.
    """

    say: Callable[[str], None]
    bar: Callable[[str], AbstractContextManager[Progress | None]]
    ask: Callable[[str], bool]
    warn: Callable[[str], None]
    read: Callable[[str], str] = lambda _: ""


@dataclass(frozen=True, slots=True)
class Part:
    """One owner in one exchange, with its keys and its folder."""

    client: Client
    place: Place
    folder: Folder
    voice: Voice
    owner: Owner
    identity: Identity

    def status(self) -> ExchangeInfo:
        """How far the exchange has come; raises if it has failed."""
        status = status_of(self.client, self.place)
        if status.stage == "failed":
            raise GramlinkError(
                f"the linkage unit could not link: {status.reason or 'it gives no reason'}",
                hint="ask its operator; what you mined is paid for, and kept in the folder",
            )
        return status

    def others(self, status: ExchangeInfo) -> dict[str, int]:
        """The other owners, each with its number among all owners."""
        numbered = enumerate(status.names, 1)
        return {name: number for number, name in numbered if name != self.owner.name}

    def until(self, awaited: Callable[[ExchangeInfo], str]) -> ExchangeInfo:
        """Wait until nothing is missing; say what is missing whenever that changes."""
        said = ""
        for status in self.polled():
            waiting = awaited(status)
            if not waiting:
                return status
            if waiting != said:
                self.voice.say(f"waiting {waiting}")
                said = waiting
        raise AssertionError  # there is always another status

    def polled(self) -> Iterator[ExchangeInfo]:
        """The status again and again, less often while it stays the same."""
        delay, before = FIRST_PAUSE, self.status()
        while True:
            yield before
            self.client.pause(delay)
            status = self.status()
            delay = FIRST_PAUSE if status != before else min(2 * delay, LONGEST_PAUSE)
            before = status
