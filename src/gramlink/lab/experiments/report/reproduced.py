"""All experiments as a page of the documentation, in Markdown."""

import re
from collections.abc import Iterator, Mapping, Sequence

from gramlink.lab.experiments.experiment import Plot, Table
from gramlink.lab.experiments.report.sections import (
    BARS,
    INTRODUCTION,
    NOT_MEASURED,
    SCENARIO,
    Finding,
    Section,
    ordered,
    tally,
)
from gramlink.lab.experiments.report.tables import as_markdown, rows_of
from gramlink.lab.experiments.report.words import facts as facts_of


def page(sections: Sequence[Section], facts: Mapping[str, str]) -> str:
    """The page; its pictures lie in `figures/` and what was measured in `data/`."""
    found = [(section, list(section.findings())) for section in ordered(sections)]
    every = [(section, finding) for section, findings in found for finding in findings]
    head = ("in the paper", "claim", "verdict")
    rows = [
        [_link(one.experiment.where, one.experiment.name), _text(f.claim.name), f.verdict]
        for one, f in every
        if f.claim.paper
    ]
    parts = [
        "# The paper, reproduced",
        _text(INTRODUCTION),
        _text(SCENARIO),
        _text(BARS),
        as_markdown(("", ""), [[_text(name), _text(text)] for name, text in facts.items()]),
        "## Claims",
        tally([finding for _, finding in every]),
        as_markdown(head, rows),
        *(part for section, findings in found for part in _section(section, findings)),
    ]
    return "\n\n".join(parts) + "\n"


def _section(section: Section, findings: Sequence[Finding]) -> Iterator[str]:
    name = section.experiment.name
    yield f'<a id="{name}"></a>\n\n## {_text(section.heading)}'
    yield _text(section.experiment.about)
    shown = list(section.shown())
    for what, file in shown:
        yield from _shown(section, what, file)
    if not shown:
        yield f"This was {NOT_MEASURED}."
    yield f"What was measured: [{name}.csv](data/{name}.csv)"
    for finding in findings:
        yield from _claim(finding)


def _shown(section: Section, what: Plot | Table, file: str) -> Iterator[str]:
    one, measured = section.experiment, section.measured
    if isinstance(what, Table):
        yield as_markdown(*rows_of(what, measured, one.labels))
    else:
        yield f"![{_text(section.heading)}](figures/{file}.png)"
    caption = facts_of(one, measured, what)
    if caption:
        yield f"{_text(caption)}."


def _claim(finding: Finding) -> Iterator[str]:
    claim = finding.claim
    yield f"### {_text(claim.name)}" + (f": {finding.verdict}" if claim.paper else "")
    said = {"The paper": claim.paper, "Ours": finding.ours, "Why": finding.why}
    lines = [f"- **{label}:** {_text(text)}" for label, text in said.items() if text]
    if lines:
        yield "\n".join(lines)


def _link(text: str, anchor: str) -> str:
    return f"[{_text(text)}](#{anchor})"


def _text(text: str) -> str:
    """Text on one line that Markdown shows as it is."""
    flat = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"([\\`*_\[\]]|<(?=[A-Za-z/!?]))", r"\\\1", flat)
