"""What a date is in a format, one cell at a time, and Python's own calendar."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date

NAMES = {
    "january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7,
    "august": 8, "september": 9, "october": 10, "november": 11, "december": 12,
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "jun": 6, "jul": 7,
    "aug": 8, "sep": 9, "sept": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
CLOCK = re.compile(r"[0-9][0-9]?[:.][0-9][0-9]([:.][0-9][0-9]([.,][0-9]+)?)?")
ZONE = re.compile(r"[+-][0-9][0-9](:?[0-9][0-9])?")


def read(cell: str | None, date_format: str) -> tuple[str, bool, bool]:
    """The cell's digits, whether it is unreadable, and whether it is impossible."""
    text = unicodedata.normalize("NFKC", cell or "")
    if not text.strip():
        return "", False, False
    pieces = re.findall("Y+|MMM|M+|D+|[^YMD]+", loosened(date_format))
    for parts in readings(trimmed(text), pieces):
        year, month, day = parts["Y"], parts["M"].zfill(2), parts["D"].zfill(2)
        centuries = [""] if len(year) == 4 else [f"{number:02}" for number in range(100)]
        possible = any(exists(century + year, month, day) for century in centuries)
        return year.rjust(4, "-") + month + day, False, not possible
    return "", True, False


def recognise(cells: Sequence[str | None], formats: Sequence[str]) -> set[str]:
    """The format that reads most cells as days since 1583; several if it cannot be told.

    None if it reads fewer than half of them.
    """
    cells = [cell for cell in cells if cell and unicodedata.normalize("NFKC", cell).strip()]
    real = {name: sum(likely(cell, name) for cell in cells) for name in formats}
    most = max(real.values())
    if 2 * most < len(cells):
        return set()
    first, *others = [name for name in formats if real[name] == most]
    return {first} | {
        name
        for name in others
        for cell in cells
        if len({"", read(cell, first)[0], read(cell, name)[0]}) == 3
    }


def likely(cell: str, date_format: str) -> bool:
    digits, unreadable, impossible = read(cell, date_format)
    early = digits[:4].isdigit() and int(digits[:4]) < 1583
    return not unreadable and not impossible and not early


def exists(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def loosened(date_format: str) -> str:
    """The format with D and M for every number of one digit or two: one that touches no other."""
    return re.sub(
        "(?<![YMD])(DD|MM)(?![YMD])|(?<![YMD])DD(?=MMM(?!M))|(?<=MMM)DD(?![YMD])",
        lambda found: found[0][0],
        date_format,
    )


def readings(text: str, pieces: Sequence[str]) -> Iterator[dict[str, str]]:
    """Every way in which the text is the pieces of a format, and perhaps a time of day."""
    if not pieces:
        if not trimmed(text) or is_time(text):
            yield {}
        return
    piece, after = pieces[0], pieces[1:]
    if piece == "MMM":
        text = trimmed(text)
        while after and after[0][0] not in "YMD":
            after = after[1:]
        for name, number in NAMES.items():
            if text[: len(name)].lower() == name:
                rest = text[len(name) :]
                for others in readings(trimmed(rest) if after else rest, after):
                    yield {"M": str(number), **others}
    elif piece[0] not in "YMD":
        named = after[0] == "MMM"
        if named or is_break(text[:1]):
            yield from readings(trimmed(text), after)
    else:
        for length in {"D": (1, 2), "M": (1, 2)}.get(piece, (len(piece),)):
            digits, rest = text[:length], text[length:]
            if len(digits) == length and set(digits) <= set("0123456789"):
                for others in readings(rest, after):
                    yield {piece[0]: digits, **others}


def is_time(text: str) -> bool:
    """Whether this begins with T or a separator, and goes on with a time of day."""
    clock = text[1:] if text[:1] in ("T", "t") else trimmed(text)
    found = CLOCK.match(clock)
    if clock == text or found is None:
        return False
    rest = clock[found.end() :]
    for word in ("", "am", "pm", "z", "utc", "gmt"):
        if word and trimmed(rest)[: len(word)].lower() != word:
            continue
        behind = trimmed(rest)[len(word) :] if word else rest
        zones = [behind[start:] for start in range(len(behind)) if not trimmed(behind[:start])]
        ends = [zone[found.end() :] for zone in zones if (found := ZONE.match(zone))]
        if any(not trimmed(end) for end in [behind, *ends]):
            return True
    return False


def is_break(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] not in "LN"


def trimmed(text: str) -> str:
    """The text from its first letter or digit on."""
    while is_break(text[:1]):
        text = text[1:]
    return text
