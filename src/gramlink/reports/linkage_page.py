"""The linkage of records of several fields, as a page for the linkage unit."""

from collections.abc import Mapping
from typing import Any

from gramlink.deciding.linkage import Linkage
from gramlink.errors import InvalidParameter
from gramlink.reports.histogram import Histogram
from gramlink.reports.page import templates
from gramlink.reports.picture import BLUE, GREY, picture
from gramlink.scoring.model import Model

LONGEST = 40  # letters of a field's name that fit in a picture
_COLOURS = ("#1f5a8a", "#4c8cbf", "#9cc3e0", "#c8651b", "#9ca3af")


def linkage_page(title: str, linkage: Linkage, facts: Mapping[str, str]) -> str:
    """The page as HTML, pictures included.

    Privacy: holds counts and weights, but no record, id or pseudonym.
    """
    shown = linkage_shown(title, linkage, facts)
    return templates("reports").get_template("reports/linkage.html").render(shown)


def linkage_shown(title: str, linkage: Linkage, facts: Mapping[str, str]) -> dict[str, Any]:
    """What the template `reports/linkage.html` shows, and those that extend it."""
    model = linkage.model
    if model is None:
        raise InvalidParameter("there is no model to show", hint="records of one field have none")
    height = 0.9 + 0.24 * sum(map(len, model.levels))
    return {
        "title": title,
        "linkage": linkage,
        "facts": {**facts, **_estimates(linkage)},
        "levels": picture(lambda axes: _draw_levels(axes, model), height),
        "weights": Histogram.of(linkage.histogram, _lightest(linkage)),
    }


def _estimates(linkage: Linkage) -> dict[str, str]:
    known = {
        "links": f"{len(linkage.links):,}",
        "possible links, for review": f"{len(linkage.possible):,}",
    }
    if linkage.precision is not None and linkage.recall is not None:
        known["estimated precision"] = f"{linkage.precision:.4f}"
        known["estimated recall"] = f"{linkage.recall:.4f}"
    return known


def _draw_levels(axes: Any, model: Model) -> None:
    """A bar for each level of each field, with the fields below each other."""
    labels, places, place = [], [], 0.0
    for name, levels in zip(model.names, model.levels, strict=True):
        near = _COLOURS[: levels.farther]
        told = levels.missing - levels.farther - 1  # nicknames and swapped fields
        rest = (_COLOURS[-2], *_COLOURS[:told], _COLOURS[-1])
        colours = (*near, *rest) if levels.edits < 3 else (BLUE,) * len(levels)
        for level, colour in zip(levels.names, colours, strict=True):
            axes.barh(place, model.weights[name][level], color=colour, height=0.85)
            labels.append(f"{_shortened(name)}: {level}" if level == "equal" else level)
            places.append(place)
            place += 1
        place += 0.6
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_yticks(places, labels, fontsize=8, parse_math=False)  # a dollar is a dollar
    axes.set(xlabel="what the level adds to the match weight, bits", ylim=(place, -1))


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _lightest(linkage: Linkage) -> float | None:
    """The least weight of a link, if links have weights."""
    if "match_weight" not in linkage.links.details or not len(linkage.links):
        return None
    return float(linkage.links.details["match_weight"].to_numpy().min())
