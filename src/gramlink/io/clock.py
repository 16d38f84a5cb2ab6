"""Times, as text that sorts in order of time."""

from datetime import UTC, datetime, timedelta

_FORM = "%Y-%m-%dT%H:%M:%SZ"


def now() -> str:
    """The current time, in UTC."""
    return datetime.now(UTC).strftime(_FORM)


def days_after(time: str, days: int) -> str:
    """The time this many days later.

    >>> days_after("2026-02-28T12:00:00Z", 1)
    '2026-03-01T12:00:00Z'
    """
    start = datetime.strptime(time, _FORM).replace(tzinfo=UTC)
    return (start + timedelta(days=days)).strftime(_FORM)


def seconds_after(time: str, seconds: int) -> str:
    """The time this many seconds later."""
    start = datetime.strptime(time, _FORM).replace(tzinfo=UTC)
    return (start + timedelta(seconds=seconds)).strftime(_FORM)


def seconds_until(time: str) -> int:
    """The seconds left until then; 0 if it has passed."""
    end = datetime.strptime(time, _FORM).replace(tzinfo=UTC)
    return max(0, int((end - datetime.now(UTC)).total_seconds()))
