"""All experiments on one page that opens without a network."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from gramlink.lab.experiments.experiment import Plot, Table
from gramlink.lab.experiments.report.drawings import as_svg, draw
from gramlink.lab.experiments.report.sections import (
    BARS,
    INTRODUCTION,
    NOT_MEASURED,
    SCENARIO,
    Section,
    Verdict,
    ordered,
    tally,
)
from gramlink.lab.experiments.report.tables import Cells, rows_of
from gramlink.lab.experiments.report.words import facts as facts_of
from gramlink.reports.page import templates

_CLASSES: dict[Verdict, str] = {  # of the style
    "agrees": "yes",
    "partly": "partly",
    "differs": "no",
    "not measured in this run": "none",
}


def report(sections: Sequence[Section], facts: Mapping[str, str]) -> str:
    """The page as HTML, pictures included."""
    chapters = [_chapter(section) for section in ordered(sections)]
    return (
        templates("lab")
        .get_template("lab/experiments.html")
        .render(
            chapters=chapters,
            tally=tally([finding for one in chapters for finding in one["findings"]]),
            facts=facts,
            introduction=INTRODUCTION,
            scenario=SCENARIO,
            bars=BARS,
            not_measured=NOT_MEASURED,
            classes=_CLASSES,
            unbroken=_unbroken,
        )
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """A table, or a picture with the name of its file."""

    caption: str
    table: Cells | None = None
    picture: Markup | None = None
    file: str = ""


def _chapter(section: Section) -> dict[str, Any]:
    one = section.experiment
    return {
        "name": one.name,
        "where": one.where,
        "heading": section.heading,
        "about": one.about,
        "shown": [_shown(section, what, file) for what, file in section.shown()],
        "findings": list(section.findings()),
    }


def _shown(section: Section, what: Plot | Table, file: str) -> _Shown:
    one, measured = section.experiment, section.measured
    caption = facts_of(one, measured, what)
    if isinstance(what, Table):
        return _Shown(caption, Cells.of(*rows_of(what, measured, one.labels)))
    svg = section.pictures.get(file) or as_svg(draw(one, what, measured))
    return _Shown(caption, None, _own_names(svg, file), file)


def _unbroken(text: str) -> str:
    """Text in which no line ends between a name and its value."""
    return text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _own_names(svg: str, file: str) -> Markup:
    """Names within a picture that no other picture of the page has, and its width in pixels."""
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{Markup.escape(file)}-", svg)
    width = re.search(r'width="([\d.]+)pt"', svg)
    pixels = round(float(width[1]) * 4 / 3) if width else 600
    size = f"min-width: {round(0.72 * pixels)}px; max-width: {pixels}px"
    return Markup(svg.replace("<svg ", f'<svg style="{size}" ', 1))  # noqa: S704  # matplotlib's
