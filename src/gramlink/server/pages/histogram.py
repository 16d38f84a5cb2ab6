"""The histogram of match weights, as SVG whose colours are those of the page."""

import math
from collections.abc import Sequence

from gramlink.server.pages.markup import table, text

WIDTH, HEIGHT = 480, 260
LEFT, RIGHT, TOP, BOTTOM = 104, 14, 12, 54
TICKS = 7

Bins = Sequence[tuple[int, int]]  # a whole number of bits, and how many pairs have it


def histogram(bins: Bins, name: str, title: str) -> str:
    """A figure of how many pairs have which weight, and the same numbers as a table.

    Bars grow with the logarithm of the count, so that a single pair beside a million shows.

    >>> "no pair" in histogram([], "weights", "hospital and registry")
    True
    """
    bins = sorted((int(weight), int(count)) for weight, count in bins if count > 0)
    if not bins:
        return f"<p>{text(title)}: no pair was compared.</p>"
    rows = [(f"{_bits(weight)} to {_bits(weight + 1)}", f"{count:,}") for weight, count in bins]
    numbers = table(f"Match weights of {title}", ("bits", "pairs"), rows, numbers=(0, 1))
    return (
        f"<figure>{_picture(bins, name, title)}<figcaption>Candidate pairs of {text(title)} by"
        " match weight; the scale of pairs is logarithmic. Two hills with a valley between them are"
        " easy to tell apart.</figcaption></figure>"
        f"<details><summary>The same as a table</summary>{numbers}</details>"
    )


def _picture(bins: Bins, name: str, title: str) -> str:
    first, last = bins[0][0], bins[-1][0] + 1
    top = max(1, math.ceil(math.log10(max(count for _, count in bins))))
    across = (WIDTH - LEFT - RIGHT) / (last - first)

    def x(weight: float) -> float:
        return LEFT + (weight - first) * across

    def y(count: float) -> float:
        # half a decade below 1, so that one pair has a bar
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (math.log10(count) + 0.5) / (top + 0.5))

    floor = HEIGHT - BOTTOM
    bars = "".join(
        f'<rect class="bar" x="{x(weight) + across * 0.06:.1f}" y="{y(count):.1f}"'
        f' width="{across * 0.88:.1f}" height="{floor - y(count):.1f}"/>'
        for weight, count in bins
    )
    levels = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(10**p):.1f}"'
        f' y2="{y(10**p):.1f}"/><text x="{LEFT - 8}" y="{y(10**p) + 4:.1f}"'
        f' text-anchor="end">{_power(p)}</text>'
        for p in range(0, top + 1, 1 + top // 6)
    )
    marks = "".join(
        f'<line class="axis" x1="{x(w):.1f}" x2="{x(w):.1f}" y1="{floor}" y2="{floor + 5}"/>'
        f'<text x="{x(w):.1f}" y="{floor + 20}" text-anchor="middle">{_bits(w)}</text>'
        for w in _ticks(first, last)
    )
    middle = (TOP + floor) / 2
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-labelledby="{name}-title {name}-said">'
        f'<title id="{name}-title">Match weights of {text(title)}</title>'
        f'<desc id="{name}-said">{text(in_words(bins))}</desc>{levels}{bars}'
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{floor}" y2="{floor}"/>{marks}'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">'
        "match weight, bits</text>"
        f'<text x="14" y="{middle:.0f}" text-anchor="middle"'
        f' transform="rotate(-90 14 {middle:.0f})">candidate pairs</text></svg>'
    )


def in_words(bins: Bins) -> str:
    """What the picture shows, for who cannot see it.

    >>> in_words([(7, 1), (8, 40)])
    '41 pairs from 7 to 9 bits; most, 40, have 8 to 9 bits.'
    """
    total = sum(count for _, count in bins)
    said = f"{total:,} pairs from {bins[0][0]} to {bins[-1][0] + 1} bits; " + _most(bins)
    above = [one for one in bins if one[0] >= 0]
    if above and bins[0][0] < 0:
        said += f"; above 0 bits, {_most(above)}"
    return said + "."


def _most(bins: Bins) -> str:
    weight, count = max(bins, key=lambda one: one[1])
    return f"most, {count:,}, have {weight} to {weight + 1} bits"


def _ticks(first: int, last: int) -> list[int]:
    """Round numbers, not too many.

    >>> _ticks(-17, 31)
    [-10, 0, 10, 20, 30]
    """
    for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        marks = list(range(-(-first // step) * step, last + 1, step))
        if len(marks) <= TICKS:
            break
    return marks


def _power(exponent: int) -> str:
    """A power of ten, short enough for an axis.

    >>> _power(4), _power(7)
    ('10,000', '10 million')
    """
    if exponent < 6:
        return f"{10**exponent:,}"
    if exponent < 9:
        return f"{10 ** (exponent - 6)} million"
    return f"{10 ** (exponent - 9):,} billion"


def _bits(weight: int) -> str:
    return f"{weight:,}".replace("-", "−")
