"""An exchange of two owners over a linkage unit: who sends what to whom, and who can read it."""

from docs.architecture.svg import arrow, box, dot, line, lines, lock, picture, text

WIDTH = 960
HOSPITAL, UNIT, REGISTRY = 168, 480, 792  # the middle of each column
WIDE = 264  # a box of a party
PARTIES = {
    HOSPITAL: ("hospital", "data owner", "owner"),
    UNIT: ("linkage unit", "trusted third party", "unit"),
    REGISTRY: ("registry", "data owner", "owner"),
}
READS = {
    HOSPITAL: (
        "its own records",
        "the registry's grams, with noisy counts",
        "which of its ids are linked to which pseudonyms of the registry",
    ),
    UNIT: (
        "of each record: a pseudonym, gram counts, thresholds, which fields are missing",
        "which pseudonyms belong together",
        "with effort, most of the values",
    ),
    REGISTRY: (
        "its own records",
        "the hospital's grams, with noisy counts",
        "which of its ids are linked to which pseudonyms of the hospital",
    ),
}
READS_NOT = {
    HOSPITAL: "the registry's records and ids",
    UNIT: "records, ids, and the base: which gram each count is of",
    REGISTRY: "the hospital's records and ids",
}


def drawing() -> str:
    """The picture."""
    shapes: list[str] = []
    for middle, (name, role, kind) in PARTIES.items():
        shapes.append(box(middle - WIDE / 2, 24, WIDE, 54, kind))
        shapes.append(text(middle, 47, name, "bold middle", 16))
        shapes.append(text(middle, 67, role, "soft middle", 13))
    steps: list[str] = []
    y = 96.0
    y = _together(steps, y, "agree on linkage.toml, compare keys")
    y = _step(steps, y, "mine", "noisy gram counts; ε is charged first")
    y = _across(steps, y)
    y = _step(steps, y, "merge", "one base; both compare its digest")
    y = _step(steps, y, "embed", "count grams, replace ids")
    y = _to_unit(steps, y)
    y = _link(steps, y)
    y = _to_owners(steps, y)
    y = _step(steps, y, "results", "pseudonyms become its own ids again")
    lifelines = [line(middle, 78, middle, y + 8, "line dashed") for middle in PARTIES]
    y = _readers(steps, y + 26)
    shapes = [*lifelines, *shapes, *steps]
    said = "An exchange of two data owners over a linkage unit"
    return picture(WIDTH, int(y + 14), said, shapes)


def _together(shapes: list[str], y: float, words: str) -> float:
    """What the owners do without the unit."""
    left = HOSPITAL - WIDE / 2
    shapes.append(box(left, y, REGISTRY - HOSPITAL + WIDE, 34, "around"))
    shapes.append(text(UNIT, y + 22, words, "middle", 14))
    return y + 48


def _step(shapes: list[str], y: float, verb: str, words: str) -> float:
    """What each owner does by itself."""
    for middle in (HOSPITAL, REGISTRY):
        shapes.append(box(middle - WIDE / 2, y, WIDE, 50, "owner"))
        shapes.append(text(middle, y + 20, verb, "mono middle", 14))
        shapes.append(text(middle, y + 39, words, "soft middle", 12.5))
    return y + 62


def _across(shapes: list[str], y: float) -> float:
    """What one owner sends the other, which the unit carries."""
    for start, end in ((HOSPITAL, REGISTRY), (REGISTRY, HOSPITAL)):
        shapes.append(arrow(start, end, y + 26))
        label = (start + (UNIT - 74 if start < UNIT else UNIT + 74)) / 2
        shapes += _sealed(label, y + 17, "its grams, signed by it", "for-owner")
        y += 34
    shapes.append(box(UNIT - 74, y - 56, 148, 50, "unit"))
    shapes.append(text(UNIT, y - 35, "carries them,", "soft middle", 12.5))
    shapes.append(text(UNIT, y - 18, "cannot open them", "soft middle", 12.5))
    return y + 10


def _to_unit(shapes: list[str], y: float) -> float:
    for start, words in ((HOSPITAL, "counts, thresholds"), (REGISTRY, "counts")):
        shapes.append(arrow(start, UNIT, y + 26))
        shapes += _sealed((start + UNIT) / 2, y + 17, f"pseudonyms, {words}", "for-unit")
    return y + 42


def _link(shapes: list[str], y: float) -> float:
    shapes.append(box(UNIT - WIDE / 2, y, WIDE, 50, "unit"))
    shapes.append(text(UNIT, y + 20, "link", "mono middle", 14))
    shapes.append(text(UNIT, y + 39, "match, score, decide", "soft middle", 12.5))
    return y + 54


def _to_owners(shapes: list[str], y: float) -> float:
    for end in (HOSPITAL, REGISTRY):
        shapes.append(arrow(UNIT, end, y + 26))
        shapes += _sealed((end + UNIT) / 2, y + 17, "pairs of pseudonyms", "for-owner")
    shapes.append(dot(UNIT, y + 26))
    return y + 42


def _sealed(middle: float, y: float, words: str, reader: str) -> list[str]:
    """What is sent, with a lock in the colour of who can open it."""
    return [
        lock(middle - len(words) * 3.3 - 12, y - 6, reader),
        text(middle + 6, y, words, "middle", 12.5),
    ]


def _readers(shapes: list[str], y: float) -> float:
    """A card for each party: what it can read in the end, and what it cannot."""
    bottom = y
    cards: list[str] = []
    for middle, (name, _, _) in PARTIES.items():
        left, at = middle - WIDE / 2 + 16, y + 26
        cards.append(text(left, at, f"{name} can read", "bold", 13.5))
        at += 22
        for one in READS[middle]:
            found = lines(left + 12, at, one, WIDE - 40, "soft", 12.5)
            cards += [text(left, at, "·", "soft", 14), *found]
            at += 17 * len(found) + 3
        cards.append(text(left, at + 8, "and cannot", "bold", 13.5))
        found = lines(left + 12, at + 29, READS_NOT[middle], WIDE - 40, "soft", 12.5)
        cards += [text(left, at + 29, "·", "soft", 14), *found]
        bottom = max(bottom, at + 29 + 17 * len(found))
    for middle, (_, _, kind) in PARTIES.items():
        shapes.append(box(middle - WIDE / 2, y, WIDE, bottom - y, kind))
    shapes += cards
    shapes += [
        lock(HOSPITAL - WIDE / 2 + 8, bottom + 22, "for-owner"),
        text(
            HOSPITAL - WIDE / 2 + 22,
            bottom + 27,
            "for the owner alone to open",
            "soft",
            12.5,
        ),
        lock(UNIT - WIDE / 2 + 8, bottom + 22, "for-unit"),
        text(UNIT - WIDE / 2 + 22, bottom + 27, "for the unit alone to open", "soft", 12.5),
    ]
    return bottom + 34
