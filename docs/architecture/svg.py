"""Shapes and text for pictures that can be read on light and on dark screens."""

from collections.abc import Sequence
from html import escape
from textwrap import wrap

STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; fill: #1f2933 }
.mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-weight: 600 }
.bold { font-weight: 600 }
.soft { fill: #52606d }
.middle { text-anchor: middle }
.page { fill: #ffffff; stroke: #d9dfe5 }
.around { fill: #eef2f7; stroke: #b8c4d2 }
.method { fill: #e2f2ee; stroke: #5aa58f }
.ground { fill: #f6f1e7; stroke: #cdb98a }
.owner { fill: #e2f2ee; stroke: #5aa58f }
.unit { fill: #fdeedc; stroke: #d9954a }
.line { fill: none; stroke: #9aa7b5; stroke-width: 1.5 }
.dashed { stroke-dasharray: 3 5 }
.arrow { fill: none; stroke: #334e68; stroke-width: 1.8 }
.head { fill: #334e68 }
.for-owner { fill: #2a7f68 }
.for-unit { fill: #b9651b }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e9ef }
  .soft { fill: #a9b5c2 }
  .page { fill: #14191f; stroke: #323c47 }
  .around { fill: #222b36; stroke: #46566a }
  .method { fill: #16332d; stroke: #3f8a76 }
  .ground { fill: #2f2a1e; stroke: #77683f }
  .owner { fill: #16332d; stroke: #3f8a76 }
  .unit { fill: #3a2814; stroke: #a8702f }
  .line { stroke: #56636f }
  .arrow { stroke: #b7c6d6 }
  .head { fill: #b7c6d6 }
  .for-owner { fill: #63c2a8 }
  .for-unit { fill: #eba35c }
}
"""


def picture(width: int, height: int, about: str, shapes: Sequence[str]) -> str:
    """A whole SVG file, on a background of its own."""
    page = box(0.5, 0.5, width - 1, height - 1, "page", 14)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(about)}">\n'
        f"<title>{escape(about)}</title>\n<style>{STYLE}</style>\n"
        + "\n".join([page, *shapes])
        + "\n</svg>\n"
    )


def box(x: float, y: float, width: float, height: float, kind: str, round_by: float = 9) -> str:
    """A rectangle with round corners."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_by:g}" '
        f'class="{kind}"/>'
    )


def text(x: float, y: float, words: str, kind: str = "", size: float = 14) -> str:
    """A line of text."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}"{named}>{escape(words)}</text>'


def lines(
    x: float, y: float, words: str, width: float, kind: str = "", size: float = 14
) -> list[str]:
    """Text in as many lines as fit the width, the first of them at this height."""
    fitting = wrap(words, int(width / (size * 0.53)))
    return [
        text(x, y + place * size * 1.35, line, kind, size) for place, line in enumerate(fitting)
    ]


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "line") -> str:
    """A straight line."""
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" class="{kind}"/>'


def arrow(x1: float, x2: float, y: float) -> str:
    """A level arrow."""
    back = -9 if x2 > x1 else 9
    return (
        line(x1, y, x2 + back, y, "arrow") + f'<path d="M{x2:g} {y:g}l{back} -5v10z" class="head"/>'
    )


def dot(x: float, y: float) -> str:
    """Where arrows begin."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="3.5" class="head"/>'


def lock(x: float, y: float, kind: str) -> str:
    """A padlock, its middle at this place, in the colour of who can open it."""
    return (
        f'<path d="M{x - 6:g} {y - 1:g}h12v8h-12zM{x - 5:g} {y:g}v-4a5 5 0 0 1 10 0v4h-2.4v-4'
        f'a2.6 2.6 0 0 0 -5.2 0v4z" class="{kind}"/>'
    )
