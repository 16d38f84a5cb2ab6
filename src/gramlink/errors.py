"""Every error gramlink raises on purpose, as one tree.

GramlinkError            message: what happened; hint: what to do
├── InvalidParameter     a number or name that makes no sense (epsilon <= 0, k = 0)
├── InvalidSchema        linkage.toml
├── InvalidRecords       a data file: names the file, row and column
├── InvalidBase          grams that cannot be a base
├── InvalidFile          a file of ours that is damaged, or not what was expected
├── Mismatch             things that should go together and do not: settings, keys, parties
├── InvalidLedger        a ledger that is damaged, or another data set's
├── BudgetExceeded       more epsilon than is left
├── ExposureExceeded     more shown to a linkage unit than its owner permits
├── Ended                work in a process of its own that took too much, or crashed it
├── Refused              a linkage unit that answered and said no
└── Unanswered           a linkage unit that has not answered for too long

The server's own answers, `gramlink.server.errors.Refusal`, carry an HTTP status besides.
"""


class GramlinkError(Exception):
    """What happened, in one line, and a hint at what to do about it.

    >>> str(GramlinkError("the file is empty", hint="export it again"))
    'the file is empty'
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InvalidParameter(GramlinkError):
    """A number or name that makes no sense."""


class InvalidSchema(GramlinkError):
    """linkage.toml cannot be used as it stands."""


class InvalidRecords(GramlinkError):
    """A data file cannot be read; the message names the file, row and column."""


class InvalidBase(GramlinkError):
    """Grams that cannot be a base."""


class InvalidFile(GramlinkError):
    """A file of ours that is damaged, or not what was expected."""


class Mismatch(GramlinkError):
    """Things that should go together and do not; the message says what differs."""


class InvalidLedger(GramlinkError):
    """A ledger that is damaged, or belongs to another data set."""


class BudgetExceeded(GramlinkError):
    """A release that would cost more epsilon than is left; nothing was spent."""

    exit_code = 3


class ExposureExceeded(GramlinkError):
    """A linkage unit would be shown a data set more often than the owner permits; it was not."""

    exit_code = 3


class Ended(GramlinkError):
    """Work in a process of its own that took too much memory or time, or crashed it."""


class Refused(GramlinkError):
    """The linkage unit answered and said no; the message is its own."""

    def __init__(self, message: str, *, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class Unanswered(GramlinkError):
    """The linkage unit has not answered for longer than we would wait."""
