"""A page about the linkage of records of several fields: for the linkage unit, and the demo."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gramlink.deciding.linkage import Linkage
from gramlink.errors import InvalidParameter
from gramlink.reports.page import (
    BLUE,
    GREY,
    ORANGE,
    STYLE,
    Message,
    fact_rows,
    message_row,
    picture,
    score_row,
)
from gramlink.reports.scores import Scores
from gramlink.scoring.model import Model

_COLOURS = ("#1f5a8a", "#4c8cbf", "#9cc3e0", "#c8651b", "#9ca3af")


def linkage_page(
    title: str,
    linkage: Linkage,
    facts: Mapping[str, str],
    scores: Sequence[tuple[str, Scores]] = (),
    messages: Iterable[Message] = (),
) -> str:
    """The page as HTML, pictures included; without scores if the truth is not known.

    Privacy: holds counts and weights, and no record, id or pseudonym.
    """
    model = linkage.model
    if model is None:
        raise InvalidParameter(
            "there is no model to show", hint="records of one field are linked by distance alone"
        )
    heights = 0.9 + 0.24 * sum(map(len, model.levels))
    return _PAGE.format(
        style=STYLE,
        title=html.escape(title),
        facts=fact_rows({**facts, **_estimates(linkage)}),
        warnings="".join(f"<p class=protects>{html.escape(one)}</p>" for one in linkage.warnings),
        scores=_table(_SCORES, (score_row(*row) for row in scores)),
        messages=_table(_MESSAGES, map(message_row, messages)),
        passes="".join(
            f"<tr><td>{html.escape(str(one))}</td><td class=n>{found:,}</td>"
            f"<td class=n>{added:,}</td></tr>"
            for one, found, added in linkage.passes
        ),
        weights=picture(lambda axes: _draw_weights(axes, model), heights),
        histogram=picture(lambda axes: _draw_histogram(axes, linkage)),
    )


def _estimates(linkage: Linkage) -> dict[str, str]:
    known = {
        "links": f"{len(linkage.links):,}",
        "possible links, for review": f"{len(linkage.possible):,}",
    }
    if linkage.precision is not None and linkage.recall is not None:
        known["estimated precision"] = f"{linkage.precision:.4f}"
        known["estimated recall"] = f"{linkage.recall:.4f}"
    return known


def _table(head: str, rows: Iterable[str]) -> str:
    body = "".join(rows)
    return f"{head}<tbody>{body}</tbody></table></div>" if body else ""


def _draw_weights(axes: Any, model: Model) -> None:
    """A bar for each level of each field, the fields one below the other."""
    labels, places, place = [], [], 0.0
    for name, levels in zip(model.names, model.levels, strict=True):
        near = _COLOURS[: levels.farther]
        colours = (*near, *_COLOURS[-2:]) if levels.edits < 3 else (BLUE,) * len(levels)
        for level, colour in zip(levels.names, colours, strict=True):
            axes.barh(place, model.weights[name][level], color=colour, height=0.85)
            labels.append(f"{name}: {level}" if level == "equal" else level)
            places.append(place)
            place += 1
        place += 0.6
    axes.axvline(0, color=GREY, linewidth=0.8)
    axes.set_yticks(places, labels, fontsize=8)
    axes.set(xlabel="what the level adds to the match weight, bits", ylim=(place, -1))


def _draw_histogram(axes: Any, linkage: Linkage) -> None:
    """Candidate pairs by match weight, and where a pair becomes a link."""
    weights = np.array([weight for weight, _ in linkage.histogram])
    counts = np.array([count for _, count in linkage.histogram])
    if len(weights):
        axes.bar(weights + 0.5, counts, width=0.9, color=BLUE)
        axes.set_yscale("log")
    if "match_weight" in linkage.links.details and len(linkage.links):
        lightest = float(linkage.links.details["match_weight"].to_numpy().min())
        axes.axvline(lightest, color=ORANGE, label="the lightest link")
        axes.legend(frameon=False)
    axes.set(xlabel="match weight, bits", ylabel="candidate pairs")


_SCORES = """<h2>Result</h2><div class="scroll"><table><thead><tr><th>method</th>
<th class=n>links</th><th class=n>precision</th><th class=n>recall</th><th class=n>F1</th>
</tr></thead>"""

_MESSAGES = """<h2>Who sent what to whom</h2><div class="scroll"><table><thead><tr><th>from</th>
<th>to</th><th>what</th><th>file</th><th class=n>bytes</th><th>cost</th></tr></thead>"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body>
<h1>{title}</h1>
<table><tbody>{facts}</tbody></table>
{warnings}
{scores}

<h2>What each field adds to the match weight</h2>
<figure>{weights}<figcaption>log2 of how many times more often matches have a level than random
pairs do: 10 bits are a factor of about 1,000. A pair's weight is their sum, with more for a rare
value that is equal, and less for fields that are shared in a household. Learnt without labels.
</figcaption></figure>

<h2>Match weights</h2>
<figure>{histogram}<figcaption>Two hills with a valley between them are easy to tell apart.
Estimated precision and recall come from the probabilities of all pairs, and need no truth.
</figcaption></figure>

<h2>Passes</h2>
<div class="scroll"><table><thead><tr><th>pass</th><th class=n>pairs found</th>
<th class=n>of them new</th></tr></thead><tbody>{passes}</tbody></table></div>
{messages}

<h2>What is protected, and what is not</h2>
<div class="protects">
<p><b>Protected by ε:</b> the grams that the owners show each other.</p>
<p><b>Not protected by ε:</b> the vectors and thresholds that the linkage unit receives. It is
trusted not to attack them, and never gets the base.</p>
</div>
</body></html>
"""
