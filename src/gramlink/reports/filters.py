"""Filters: how templates write numbers, times and names. Their output is escaped later."""

from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction
from shlex import quote as shell
from urllib.parse import quote

from gramlink.privacy.budget import shown
from gramlink.reports.histogram import Histogram, bits

NOTHING = "–"


def count(number: int) -> str:
    """A number with its thousands separated.

    >>> count(149910)
    '149,910'
    """
    return f"{number:,}"


def share(part: float | None) -> str:
    """A precision, recall or F1, measured or estimated.

    >>> share(0.98765), share(None)
    ('0.9877', '–')
    """
    return NOTHING if part is None else f"{part:.4f}"


def size(number: int | None) -> str:
    """A number of bytes.

    >>> size(900), size(4 * 2**20), size(None)
    ('900 bytes', '4.0 MiB', '–')
    """
    if number is None:
        return NOTHING
    left, unit = float(number), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if left < 1024:
            break
        left, unit = left / 1024, larger
    return f"{number:,} bytes" if unit == "bytes" else f"{left:,.1f} {unit}"


def minute(moment: str) -> str:
    """A time to the minute; anything else stays as it is.

    >>> minute("2026-11-16T16:45:12Z"), minute("soon")
    ('2026-11-16 16:45 UTC', 'soon')
    """
    try:
        when = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    when = when.astimezone(UTC) if when.tzinfo else when
    return f"{when:%Y-%m-%d %H:%M} UTC"


def epsilon(cost: Fraction | str) -> str:
    """A privacy cost as a decimal.

    >>> epsilon("1/10")
    '0.1'
    """
    return shown(Fraction(cost))


def several(names: Iterable[str]) -> str:
    """Names in a sentence.

    >>> several(["a", "b", "c"]), several([])
    ('a, b and c', 'nobody')
    """
    *most, last = list(names) or ["nobody"]
    return f"{', '.join(most)} and {last}" if most else last


def segment(name: str) -> str:
    """A name as a part of an address.

    >>> segment("St. Mary's/A")
    'St.%20Mary%27s%2FA'
    """
    return quote(name, safe="")


FILTERS = {
    "bits": bits,
    "count": count,
    "epsilon": epsilon,
    "histogram": Histogram.of,
    "minute": minute,
    "segment": segment,
    "several": several,
    "share": share,
    "shell": shell,
    "size": size,
}
