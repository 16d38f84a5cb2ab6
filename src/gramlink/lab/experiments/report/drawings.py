"""Draw what was measured: lines with error bars, that read in print and without colours."""

import html
import io
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from gramlink.lab.experiments.experiment import Experiment, Measured, NotMeasured, Plot
from gramlink.lab.experiments.report.looks import Look, looks_of
from gramlink.lab.experiments.report.words import facts, heading, plain, said, with_values, word
from gramlink.reports.picture import check_matplotlib

GREY = "#4b5563"
MOST_TICKS = 8
_EM = 0.0076  # inches that a character takes for each point of its size


def figure_name(experiment: Experiment, plot: Plot) -> str:
    """The name of a picture's file, without its ending."""
    return f"{experiment.name}-{plot.y}"


def draw(experiment: Experiment, plot: Plot, measured: Measured) -> Any:
    """A matplotlib figure with a panel for each combination of the panels' settings.

    The bars are one standard deviation over the draws to either side.
    """
    rows = with_values(measured, plot.y)
    for name in (plot.x, plot.series, *plot.panels):
        rows = Measured(rows.frame.drop_nulls(name))
    if not rows.frame.height:
        raise NotMeasured(f"{experiment.name}: {plot.y} was not measured in this run")
    means = rows.means((*plot.panels, plot.series, plot.x), (plot.y,))
    labels = experiment.labels
    places, names = _places(means[plot.x].unique(maintain_order=True).to_list())
    series = means[plot.series].unique(maintain_order=True).to_list()
    looks = looks_of(series)
    panels = means.select(plot.panels).unique(maintain_order=True).rows() if plot.panels else [()]
    entries = [_entry(plot, one, labels) for one in series]
    paired = len({settings[-1:] for settings in panels}) == 2 and len(panels) % 2 == 0
    several = sum(isinstance(one, Plot) for one in experiment.shown) > 1
    title = heading(experiment) + (f" ({plot.y_label})" if several else "")
    foot = facts(experiment, measured, plot)
    frame = _Frame(len(panels), entries, title, foot, paired=paired)
    xs, limits = sorted(set(places.values())), _limits(plot, means)
    for number, settings in enumerate(panels):
        axes = frame.axes(number)
        chosen = dict(zip(plot.panels, settings, strict=True))
        here = Measured(means).where(**chosen).frame
        for one in series:
            line = here.filter(pl.col(plot.series) == one)
            if line.height:
                frame.handles[one] = _line(axes, plot, line, places, looks[one], one)
        title = ", ".join(said(*setting, labels) for setting in chosen.items())
        frame.title(axes, title)
        _axes(axes, plot, xs, names, limits, frame.across)
        axes.set_xlabel(plot.x_label, fontsize=9)
        if number % frame.columns == 0:
            axes.set_ylabel(plot.y_label, fontsize=9)
    frame.legend([frame.handles[one] for one in series])
    return frame.settled()


def as_svg(figure: Any) -> str:
    """The picture as an `<svg>` element, the same each time."""
    import matplotlib as mpl

    target = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with mpl.rc_context({"svg.hashsalt": "gramlink", "svg.fonttype": "path"}):
        figure.savefig(target, format="svg", metadata=nothing)
    svg = target.getvalue()
    label = html.escape(figure.get_label())
    return svg[svg.index("<svg") :].replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def as_png(figure: Any) -> bytes:
    """The picture in dots, 150 to the inch."""
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=150, metadata={"Software": None})
    return target.getvalue()


class _Frame:
    """A figure of so many panels, with room for a title above and the legend and facts below."""

    def __init__(
        self, panels: int, entries: Sequence[str], title: str, foot: str, *, paired: bool
    ) -> None:
        check_matplotlib()
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        self.panels, self.entries, self.handles = panels, entries, dict[Any, Any]()
        self.columns = _columns(panels, paired)
        self.rows = math.ceil(panels / self.columns)
        self.across = {1: 6.0, 2: 4.3, 3: 3.5, 4: 3.1}[self.columns]
        width = self.across * self.columns
        titles, notes = _wrapped(title, width, 12), _wrapped(foot, width, 7.5)  # bold is wider
        widest = 0.6 + _EM * 8.5 * max(map(len, entries))
        lines = math.ceil(len(entries) / max(1, int(width / widest)))
        self._legend_columns = math.ceil(len(entries) / lines)
        above, self._notes = 0.1 + 0.19 * len(titles), 0.1 + 0.15 * len(notes)
        below = self._notes + 0.14 + 0.2 * lines
        height = above + 3.1 * self.rows + below
        self._height = height
        rect = (0, below / height, 1, 1 - (above + below) / height)
        layout = ConstrainedLayoutEngine(rect=rect, wspace=0.04, hspace=0.06)
        self.figure = Figure(figsize=(width, height), layout=layout, label=title)
        self.figure.text(
            0.5, 1 - 0.06 / height, "\n".join(titles), ha="center", va="top", fontsize=10,
            fontweight="bold",
        )  # fmt: skip
        self.figure.text(
            0.5, 0.05 / height, "\n".join(notes), ha="center", va="bottom", fontsize=7.5,
            color=GREY, linespacing=1.3,
        )  # fmt: skip

    def axes(self, number: int) -> Any:
        axes = self.figure.add_subplot(self.rows, self.columns, number + 1)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.grid(axis="y", color="#e5e7eb", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=8.5)
        return axes

    def title(self, axes: Any, text: str) -> None:
        axes.set_title("\n".join(_wrapped(text, self.across - 0.5, 9)), fontsize=9)

    def legend(self, handles: Sequence[Any]) -> None:
        self.figure.legend(
            handles, self.entries, loc="lower center", ncols=self._legend_columns, frameon=False,
            bbox_to_anchor=(0.5, self._notes / self._height), borderaxespad=0.1, fontsize=8.5,
            handlelength=2.6, columnspacing=1.6,
        )  # fmt: skip

    def settled(self) -> Any:
        """The figure, laid out once: laid out anew at each saving, it would move a little."""
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        return self.figure


def _columns(panels: int, paired: bool) -> int:
    """How many panels stand side by side: pairs do, and few are left alone."""
    if panels < 4:
        return panels
    if panels == 4 or paired:
        return 2
    return 3 if panels % 3 != 1 else 4


def _entry(plot: Plot, value: Any, labels: Mapping[str, str]) -> str:
    if isinstance(value, str) and plot.series != "epsilon":
        return word(value, labels)
    return said(plot.series, value, labels)


def _line(
    axes: Any, plot: Plot, rows: pl.DataFrame, places: dict[Any, float], look: Look, name: Any
) -> Any:
    found = rows.select(plot.x, plot.y, pl.col(f"{plot.y}_sd").fill_null(0.0)).rows()
    points = sorted((places[x], y, sd) for x, y, sd in found)
    xs, ys, sds = (list(part) for part in zip(*points, strict=True))
    every = math.ceil(len(xs) / 26)
    rimmed = look.filled and look.marker != "x"  # in white, so that markers show on each other
    return axes.errorbar(
        xs, ys, yerr=sds if any(sds) else None, color=look.colour, linestyle=look.line,
        marker=look.marker, markersize=9.5 if look.marker == "*" else 6.5 if rimmed else 5,
        markerfacecolor=look.colour if look.filled else "white",
        markeredgecolor="white" if rimmed else look.colour, markeredgewidth=0.6 if rimmed else 1.2,
        linewidth=1.5, elinewidth=0.9, capsize=2.5, markevery=every, errorevery=every,
        zorder=4 if name == "levelgram" else 3,
    )  # fmt: skip


def _axes(
    axes: Any, plot: Plot, xs: list[float], names: dict[float, str] | None,
    limits: tuple[float, float], width: float,
) -> None:  # fmt: skip
    """Scales, limits and ticks: at what was measured, if that is little."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

    plainly = FuncFormatter(lambda value, _: plain(float(f"{value:.6g}")))
    log = plot.x_log and names is None and xs[0] > 0
    axes.set_ylim(*limits)
    axes.yaxis.set_major_formatter(plainly)
    if log:
        axes.set_xscale("log")
    scaled = [math.log(x) if log else x for x in xs]
    margin = 0.05 * (scaled[-1] - scaled[0]) or 0.5
    ends = scaled[0] - margin, scaled[-1] + margin
    axes.set_xlim(*map(math.exp, ends) if log else ends)
    if names is not None or len(xs) <= MOST_TICKS:
        texts = [names[x] if names else plain(x) for x in xs]
        room = (width - 0.8) / (ends[1] - ends[0])
        kept = _apart([x * room for x in scaled], texts)
        axes.set_xticks(xs, [text if i in kept else "" for i, text in enumerate(texts)])
    else:
        axes.xaxis.set_major_locator(
            LogLocator(subs=(1, 2, 5)) if log else MaxNLocator(6, steps=(1, 2, 2.5, 5, 10))
        )
        axes.xaxis.set_major_formatter(plainly)
    axes.minorticks_off()


def _apart(places: Sequence[float], texts: Sequence[str]) -> set[int]:
    """Which labels have room beside each other, the outermost before all others."""
    widths = [_EM * 8.5 * (len(text) + 1) for text in texts]
    kept: list[int] = []
    for one in dict.fromkeys((len(texts) - 1, *range(len(texts)))):
        gaps = (abs(places[one] - places[k]) - (widths[one] + widths[k]) / 2 for k in kept)
        if all(gap >= 0 for gap in gaps):
            kept.append(one)
    return set(kept)


def _places(values: Sequence[Any]) -> tuple[dict[Any, float], dict[float, str] | None]:
    """Where each x lies: at its number, or side by side if some are no numbers."""
    try:
        return {value: float(value) for value in values}, None
    except ValueError:
        places = {value: float(place) for place, value in enumerate(values)}
        return places, {place: word(value) for value, place in places.items()}


def _limits(plot: Plot, means: pl.DataFrame) -> tuple[float, float]:
    """The ends of the y axis, the same in all panels; no mean lies outside."""
    ys, sds = means[plot.y], means[f"{plot.y}_sd"].fill_null(0.0)
    low, high = float((ys - sds).min()), float((ys + sds).max())  # type: ignore[arg-type]
    if plot.y_range is None:
        low = low if low > high / 2 else min(0.0, low)
    else:
        low, high = min(plot.y_range[0], float(ys.min())), max(plot.y_range[1], float(ys.max()))  # type: ignore[arg-type]
    margin = 0.03 * (high - low) or 0.5
    return low - margin, high + margin


def _wrapped(text: str, width: float, size: float) -> list[str]:
    together = text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    characters = max(12, int(width / (_EM * size)))
    return textwrap.wrap(together, characters, break_on_hyphens=False) or [""]
