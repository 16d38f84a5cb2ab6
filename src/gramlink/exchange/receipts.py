"""Receipts: what the sender of each file in the inbox of a file drop is told, in the outbox."""

from contextlib import suppress
from pathlib import Path

from gramlink.errors import InvalidFile
from gramlink.io.files import written_whole


class Receipts:
    """The receipts in an outbox, and which of them say something new since this was made."""

    def __init__(self, outbox: Path) -> None:
        self.outbox = outbox
        self._before: dict[str, str] = {}

    def tell(self, name: str, text: str) -> None:
        """Leave a receipt, unless it is there already, or the file's name is too long for one."""
        if self._found(name) != text:
            with suppress(InvalidFile), written_whole(self._place(name)) as file:
                file.write(text.encode())

    def tells_of(self, name: str, digest: str) -> bool:
        """Whether the receipt of a file tells of it as it is now."""
        return bool(digest) and digest in self._found(name)

    def is_new(self, name: str) -> bool:
        """Whether the receipt of a file says something that it did not say before."""
        now = self._found(name)
        return not now or now != self._before[name]

    def _found(self, name: str) -> str:
        try:
            text = self._place(name).read_text("utf-8", "replace")
        except OSError:
            text = ""
        self._before.setdefault(name, text)
        return text

    def _place(self, name: str) -> Path:
        return self.outbox / f"{name}.receipt.txt"
