"""Pictures embedded in a page, as SVG."""

import io
from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from gramlink.errors import GramlinkError

BLUE, ORANGE, GREY = "#1f5a8a", "#c8651b", "#6b7280"


def check_matplotlib() -> None:
    """Stop early if pictures cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise GramlinkError(
            "the report needs matplotlib", hint="pip install 'gramlink[report]'"
        ) from error


def picture(draw: Callable[[Any], None], height: float = 3.4) -> Markup:
    """A drawing as SVG, to embed in a page."""
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
    return Markup(svg[svg.index("<svg") :])  # noqa: S704  # matplotlib escapes what it writes
