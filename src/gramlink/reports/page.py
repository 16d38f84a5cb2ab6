"""Parts of pages: tables and pictures that open without a network."""

import html
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gramlink.errors import GramlinkError
from gramlink.reports.scores import Scores

BLUE, ORANGE, GREY = "#1f5a8a", "#c8651b", "#6b7280"


@dataclass(frozen=True, slots=True)
class Message:
    """What one party sent another."""

    sender: str
    reader: str
    what: str
    file: str
    size: int
    cost: str


def check_matplotlib() -> None:
    """Refuse to go on where pictures cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise GramlinkError(
            "the report needs matplotlib", hint="pip install 'gramlink[report]'"
        ) from error


def picture(draw: Callable[[Any], None], height: float = 3.4) -> str:
    """A drawing as SVG, to stand in a page."""
    check_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "gramlink", "font.size": 10})
    figure = Figure(figsize=(7.2, height), layout="constrained")
    axes = figure.add_subplot()
    draw(axes)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    target = io.StringIO()
    figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    svg = target.getvalue()
    return svg[svg.index("<svg") :]


def score_row(name: str, s: Scores) -> str:
    """A row of a table of scores."""
    cells = (f"{s.links:,}", f"{s.precision:.4f}", f"{s.recall:.4f}", f"{s.f1:.4f}")
    numbers = "".join(f"<td class=n>{cell}</td>" for cell in cells)
    return f"<tr><th scope=row>{html.escape(name)}</th>{numbers}</tr>"


def message_row(message: Message) -> str:
    """A row of a table of messages."""
    cells = (message.sender, message.reader, message.what, message.file)
    text = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
    return f"<tr>{text}<td class=n>{message.size:,}</td><td>{html.escape(message.cost)}</td></tr>"


def fact_rows(facts: Mapping[str, str]) -> str:
    """Rows of a table of facts."""
    return "".join(
        f"<tr><th scope=row>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>"
        for k, v in facts.items()
    )


STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2937; background: #fff;
       max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid #e5e7eb;
         vertical-align: top; }
th { font-weight: 600; } .n { text-align: right; font-variant-numeric: tabular-nums; }
thead th { border-bottom: 2px solid #9ca3af; }
figure { margin: 1.5rem 0; } figure svg { width: 100%; height: auto; }
figcaption, footer { color: #4b5563; font-size: .9rem; }
.protects { border-left: 4px solid #1f5a8a; padding: .1rem 1rem; background: #f3f6fa; }
"""
