"""The senders that a command knows: those whose recipient files were named with --from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gramlink.bundles.sealing import Recipient
    from gramlink.cli.inputs import Opened
    from gramlink.cli.speaker import Speaker


@dataclass(frozen=True, slots=True)
class KnownSenders:
    """The keys of each owner, and what is to be said of the senders of files.

    Without any key, no sender is checked, and that is said.
    """

    keys: Mapping[str, "Collection[Recipient]"]
    said: list[str] = field(default_factory=list)
    unsigned: dict[str, str] = field(default_factory=dict)  # files by owner, one of which is ours

    @classmethod
    def of(cls, files: Sequence[Path] | None) -> "KnownSenders":
        """The keys in these files, and in folders of such files."""
        from gramlink.bundles.sealing import read_senders

        return cls(read_senders(files or ()))

    def check(self, opened: "Opened", owner: str) -> None:
        """Refuse what another owner did not sign, and note what is known of its sender.

        What is neither sealed nor signed, of one owner who was not named, is our own.
        """
        from gramlink.errors import Mismatch
        from gramlink.parties.agreement import check_sender

        name, sender = opened.name, opened.sender
        ours = not opened.sealed and sender is None and owner not in self.keys
        if ours:
            self.unsigned[owner] = name
            if self.keys and len(self.unsigned) > 1:
                raise Mismatch(
                    f"{' and '.join(self.unsigned.values())} are not signed, and only one of them "
                    "can be your own",
                    hint="ask the other owner to seal its file with --identity, and name its "
                    "recipient file with --from",
                )
            return
        if self.keys:
            check_sender(name, sender, owner, self.keys.get(owner, ()))
            self.said.append(f"{name} is signed by {owner}")
        elif sender:
            key = sender.fingerprint
            self.said.append(f"{name} comes from the key {key}: is it that of {owner}?")
        else:
            self.said.append(f"{name} may come from anybody: it is not signed")

    def tell(self, speaker: "Speaker") -> None:
        """Say what was noted."""
        if len(self.unsigned) > 1:
            files = " and ".join(self.unsigned.values())
            speaker.say(f"who made {files} was not checked: they are not signed")
        for line in self.said:
            speaker.say(line)
