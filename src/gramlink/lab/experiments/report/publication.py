"""All that a run leaves behind: data, pictures, one page for a browser and one for the docs."""

import io
import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from gramlink.io.files import written_whole
from gramlink.lab.experiments import EXPERIMENTS
from gramlink.lab.experiments.experiment import Plot, Scale
from gramlink.lab.experiments.report.drawings import as_png, as_svg, draw
from gramlink.lab.experiments.report.page import report
from gramlink.lab.experiments.report.reproduced import page
from gramlink.lab.experiments.report.sections import Section
from gramlink.lab.experiments.runs import machine


def publish(
    sections: Sequence[Section], scale: Scale, folder: Path, tell: Callable[[str], None]
) -> None:
    """Write data/, figures/, report.html and reproduced.md; each file whole or not at all."""
    drawn = []
    for section in sections:
        _write_data(section, folder / "data")
        drawn.append(replace(section, pictures=_write_figures(section, folder / "figures")))
    known = facts(sections, scale)
    _write(folder / "report.html", report(drawn, known).encode())
    _write(folder / "reproduced.md", page(drawn, known).encode())
    tell(f"report: {folder / 'report.html'}; data and figures beside it")


def facts(sections: Sequence[Section], scale: Scale) -> dict[str, str]:
    """What a reader must know to run it again."""
    versions = (f"{name} {metadata.version(name)}" for name in ("gramlink", "numba", "opendp"))
    dates = sorted(date for section in sections for date in section.measured.dates)
    names = [section.experiment.name for section in sections]
    only = [] if len(names) == len(EXPERIMENTS) else [f"--only {name}" for name in names]
    quick = ["--quick"] if scale == "quick" else []
    return {
        "command": " ".join(["gramlink experiments", *quick, *only]),
        "measured": " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "",
        "versions": f"Python {platform.python_version()}, " + ", ".join(versions),
        "machine": machine(),
        "seeds": "a draw's number seeds the sample of the list and the typos; noise comes from "
        "OpenDP and cannot be seeded, so private figures differ from run to run: see their bars",
    }


def _write_data(section: Section, folder: Path) -> None:
    name, frame = section.experiment.name, section.measured.frame
    packed = io.BytesIO()
    frame.write_parquet(packed)
    _write(folder / f"{name}.csv", frame.write_csv().encode())
    _write(folder / f"{name}.parquet", packed.getvalue())


def _write_figures(section: Section, folder: Path) -> dict[str, str]:
    pictures = {}
    for plot, name in section.shown():
        if isinstance(plot, Plot):
            figure = draw(section.experiment, plot, section.measured)
            pictures[name] = as_svg(figure)
            _write(folder / f"{name}.png", as_png(figure))
            _write(folder / f"{name}.svg", pictures[name].encode())
    return pictures


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        file.write(content)
