"""All experiments on one page that opens without a network."""

import html
import re
from collections.abc import Mapping, Sequence

from gramlink.lab.experiments.experiment import Plot, Table
from gramlink.lab.experiments.report.drawings import as_svg, draw
from gramlink.lab.experiments.report.sections import (
    BARS,
    INTRODUCTION,
    NOT_MEASURED,
    SCENARIO,
    Finding,
    Section,
    Verdict,
    ordered,
    tally,
)
from gramlink.lab.experiments.report.tables import as_html, rows_of
from gramlink.lab.experiments.report.words import facts as facts_of
from gramlink.reports.page import STYLE, fact_rows

_CLASSES: dict[Verdict, str] = {  # of the style
    "agrees": "yes",
    "partly": "partly",
    "differs": "no",
    "not measured in this run": "none",
}


def report(sections: Sequence[Section], facts: Mapping[str, str]) -> str:
    """The page as HTML, pictures included."""
    listed = ordered(sections)
    found = [(section, list(section.findings())) for section in listed]
    return _PAGE.format(
        style=STYLE + _STYLE,
        facts=fact_rows(facts),
        introduction=INTRODUCTION,
        scenario=SCENARIO,
        bars=BARS,
        contents="".join(
            f'<li><a href="#{html.escape(one.experiment.name)}">{html.escape(one.heading)}</a>'
            for one in listed
        ),
        tally=tally([finding for _, findings in found for finding in findings]),
        claims="".join(
            _claim_row(section, one)
            for section, findings in found
            for one in findings
            if one.claim.paper
        ),
        sections="".join(_section(section, findings) for section, findings in found),
    )


def _claim_row(section: Section, finding: Finding) -> str:
    where = html.escape(section.experiment.where)
    return (
        f'<tr><th scope=row><a href="#{html.escape(finding.anchor)}">'
        f"{html.escape(finding.claim.name)}</a><small>{where}</small></th>"
        f'<td data-label="The paper says">{_prose(finding.claim.paper)}</td>'
        f'<td data-label="We find">{_prose(finding.ours or NOT_MEASURED)}</td>'
        f'<td data-label="Verdict">{_badge(finding.verdict)}</td></tr>'
    )


def _badge(verdict: Verdict) -> str:
    return f'<b class="badge {_CLASSES[verdict]}">{verdict}</b>'


def _section(section: Section, findings: Sequence[Finding]) -> str:
    one = section.experiment
    name = html.escape(one.name)
    shown = "".join(_shown(section, what, file) for what, file in section.shown())
    claims = "".join(map(_claim, findings))
    return (
        f'<section id="{name}"><h2>{html.escape(section.heading)}</h2>'
        f"<p>{html.escape(one.about)}</p>{shown or f'<p>This was {NOT_MEASURED}.</p>'}"
        f'<p class=files>What was measured: <a href="data/{name}.csv">{name}.csv</a>, '
        f'<a href="data/{name}.parquet">{name}.parquet</a></p>{claims}'
        f'<p class=files><a href="#contents">Contents</a></p></section>'
    )


def _shown(section: Section, what: Plot | Table, file: str) -> str:
    one, measured = section.experiment, section.measured
    caption = html.escape(facts_of(one, measured, what))
    if isinstance(what, Table):
        table = as_html(*rows_of(what, measured, one.labels))
        return f"<figure>{table}<figcaption>{caption}</figcaption></figure>"
    svg = section.pictures.get(file) or as_svg(draw(one, what, measured))
    name = html.escape(file)
    links = " ".join(f'<a href="figures/{name}.{end}">{end.upper()}</a>' for end in ("svg", "png"))
    return (
        f'<figure><div class="scroll" tabindex=0>{_own_names(svg, file)}</div>'
        f"<figcaption>{caption} <span class=files>{links}</span></figcaption></figure>"
    )


def _claim(finding: Finding) -> str:
    claim = finding.claim
    parts = {
        "The paper:": claim.paper,
        "Ours:": finding.ours or f"{NOT_MEASURED}.",
        "Why:": finding.why,
    }
    verdict = f"<p>Verdict: {_badge(finding.verdict)}</p>" if claim.paper else ""
    said = "".join(
        f"<dt>{label}</dt><dd>{_prose(text)}</dd>" for label, text in parts.items() if text
    )
    return (
        f'<div class=claim id="{html.escape(finding.anchor)}"><h3>{html.escape(claim.name)}</h3>'
        f"{verdict}<dl>{said}</dl></div>"
    )


def _prose(text: str) -> str:
    """Text in which no line ends between a name and its value."""
    return html.escape(text).replace(" = ", "&nbsp;=&nbsp;")


def _own_names(svg: str, file: str) -> str:
    """Names within a picture that no other picture of the page has, and its width in pixels."""
    own = html.escape(file)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{own}-", svg)
    width = re.search(r'width="([\d.]+)pt"', svg)
    pixels = round(float(width[1]) * 4 / 3) if width else 600
    size = f"min-width: {round(0.72 * pixels)}px; max-width: {pixels}px"
    return svg.replace("<svg ", f'<svg style="{size}" ', 1)


_STYLE = """
body { max-width: 66rem; }
section, .claim { scroll-margin-top: 1rem; }
section { border-top: 1px solid #9ca3af; margin-top: 3rem; }
section h2 { margin-top: 1.2rem; }
small { display: block; font-weight: 400; color: #4b5563; }
#contents + ul { padding-left: 1.2rem; columns: 24rem; column-gap: 2.5rem; }
.facts th { width: 11rem; }
figure .scroll { text-align: center; }
.measured { text-align: left; } .measured td { white-space: nowrap; }
.measured .t { white-space: normal; min-width: 14rem; }
.measured th { vertical-align: bottom; } figcaption { margin-top: .4rem; }
.measured .n { text-align: right; }
.measured tbody tr:hover { background: #f3f6fa; }
.files { font-size: .9rem; overflow-wrap: anywhere; }
.claims th { width: 21%; } .claims td { width: 29%; } .claims td:nth-child(3) { width: 39%; }
.claims td:last-child { width: auto; }
.claim { background: #f3f6fa; padding: .3rem 1rem .6rem; margin: 1rem 0; }
.claim h3 { margin: .5rem 0 0; font-size: 1rem; } .claim p { margin: .3rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem .8rem; margin: 0; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
.badge { padding: .05rem .5rem; border-radius: .25rem; display: inline-block; }
.yes { background: #d1e7dd; color: #0b4229; } .no { background: #f8d7da; color: #6a1018; }
.partly { background: #fff0c2; color: #5c4300; } .none { background: #e5e7eb; color: #374151; }
@media (max-width: 48rem) {
  .claims thead { display: none; } .claims tr { display: block; padding: .6rem 0; }
  .claims tr > * { display: block; width: auto !important; border: 0;
    padding: .1rem 0; }
  .claims td::before { content: attr(data-label) ": "; font-weight: 600; }
  .claims tr { border-bottom: 2px solid #e5e7eb; }
  dl { display: block; } dd { margin-bottom: .4rem; }
}
@media print { section { break-inside: avoid-page; } .scroll { overflow: visible; } }
"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'">
<title>The paper, reproduced</title><style>{style}</style></head><body>
<h1>The paper, reproduced</h1>
<p>{introduction}</p>
<p>{scenario}</p>
<table class=facts><tbody>{facts}</tbody></table>
<p>{bars}</p>
<h2 id="contents">Contents</h2>
<ul>{contents}</ul>
<h2 id="claims">Claims</h2>
<p>{tally}</p>
<table class=claims><thead><tr><th>claim</th><th>the paper says</th><th>we find</th>
<th>verdict</th></tr></thead><tbody>{claims}</tbody></table>
{sections}
</body></html>
"""
