"""Names of parties, exchanges and data sets, fit to be read, told apart and used in file names.

A name can be the name of a file on every system, and looks like itself alone: it has no invisible
character, is written in the usual way (NFKC), and does not mix scripts. Those of one exchange are
compared by what they look like, after Unicode Technical Standard 39, whose table is in
`lookalikes.txt`.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from gramlink.errors import InvalidParameter

LONGEST = 100
_NOT_IN_FILES = '/\\:*?"<>|'
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # of Windows
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800"  # printable, says Unicode, but nothing is seen
_SELECTORS = re.compile("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
# scripts that people write together, besides each with itself; "highly restrictive" in UTS 39
_TOGETHER = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"},
    {"LATIN", "CJK", "BOPOMOFO"},
    {"LATIN", "CJK", "HANGUL"},
)


def owner_name(text: object) -> str:
    """A name that can be printed, be part of a file's name, and be told from others.

    >>> owner_name("St. Mary's")
    "St. Mary's"
    """
    fault = unreadable(text) or unfit_for_files(str(text))
    if fault:
        raise InvalidParameter(
            f"{str(text)[:LONGEST]!r} cannot be the name of an owner: {fault}",
            hint="choose another, in letters of one script; for your own, use --owner",
        )
    return str(text)


def dataset_name(text: str) -> str:
    """A name that can be part of a file's name; a data set's own, so it may mix scripts."""
    fault = unfit_for_files(text) or _unprintable(text)
    if fault:
        raise InvalidParameter(
            f"{text[:LONGEST]!r} cannot be the name of a data set: {fault}",
            hint="give it another with --dataset",
        )
    return text


def exchange_name(text: object) -> str:
    """A name that can be part of an address and of a file's name.

    >>> exchange_name("stroke-2026")
    'stroke-2026'
    """
    if not isinstance(text, str) or not re.fullmatch("[a-z0-9][a-z0-9-]{0,63}", text):
        raise InvalidParameter(
            f"{str(text)[:LONGEST]!r} cannot be the name of an exchange",
            hint="use up to 64 lower-case letters, digits and hyphens, not starting with a hyphen",
        )
    return text


def unreadable(text: object) -> str:
    """Why a name cannot be read for what it is, or nothing if it can.

    >>> unreadable("r\N{CYRILLIC SMALL LETTER IE}gistry")
    'it mixes CYRILLIC and LATIN letters'
    """
    if not isinstance(text, str):
        return "it is not text"
    fault = _unprintable(text)
    if fault:
        return fault
    usual = unicodedata.normalize("NFKC", text)
    if text != usual:
        return f"some of its characters are not the usual ones; did you mean {usual}?"
    scripts = set(map(_script, text)) - {""}
    if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
        return f"it mixes {' and '.join(sorted(scripts))} letters"
    return ""


def unfit_for_files(text: str) -> str:
    """Why a name cannot be part of a file's name on every system, or nothing if it can."""
    if not 0 < len(text) <= LONGEST:
        return f"it has not 1 to {LONGEST} characters"
    found = sorted(set(_NOT_IN_FILES) & set(text))
    if found:
        return f"names of files cannot have {' '.join(found)}"
    if text != text.strip():
        return "it starts or ends with a blank"
    if text[0] in ".-":
        return f"it starts with {text[0]}"
    if _DEVICES.fullmatch(text):
        return "Windows has a device of this name"
    return ""


def alike(names: Iterable[str]) -> list[str]:
    """The names that somebody, or a file system, could take for another one of them.

    >>> alike(["clinic", "Clinic", "office"]), alike(["site-1", "site-l"])
    (['Clinic', 'clinic'], ['site-1', 'site-l'])
    """
    names = sorted(names)
    looks = [{_skeleton(name), _skeleton(name.casefold())} for name in names]
    return [
        name
        for place, name in enumerate(names)
        if any(looks[place] & other for at, other in enumerate(looks) if at != place)
    ]


def _unprintable(text: str) -> str:
    if not text.isprintable() or _SELECTORS.search(text) or set(_BLANK) & set(text):
        return "it has invisible characters"
    return ""


def _script(symbol: str) -> str:
    """The script of a letter or mark, as the first word of its name says; else nothing."""
    if unicodedata.category(symbol)[0] not in "LM":
        return ""
    script = unicodedata.name(symbol, "unknown").split()[0]
    return "" if script in ("COMBINING", "MODIFIER") else script


def _skeleton(name: str) -> str:
    """What a name looks like: the same for two names if, and only if, they can be confused."""
    plain = unicodedata.normalize("NFKD", name).translate(_lookalikes())
    return " ".join(unicodedata.normalize("NFKD", plain).split())


@cache
def _lookalikes() -> dict[int, str]:
    text = Path(__file__).with_name("lookalikes.txt").read_text("utf-8")
    table: dict[int, str] = {}
    for line in text.splitlines():
        if not line.startswith("##"):
            looks, *others = line.split(" ")
            table |= {ord(other): looks for other in others}
    return table
