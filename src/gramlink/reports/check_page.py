"""What `gramlink check` found, as one page that opens without a network."""

import html
from collections.abc import Iterable

from gramlink.privacy.budget import shown
from gramlink.records.quality import FieldQuality, Identical, Quality
from gramlink.records.reading import Problem
from gramlink.records.suspicions import TOO_COMMON

_COUNTS = ("values", "distinct", "missing", "invalid", "outside", "cut")


def check_page(quality: Quality) -> str:
    """The page as HTML.

    Privacy: names columns and rows and never says what a cell holds; the counts are exact,
    so it stays with the owner.
    """
    sections = [
        _section("What was found", map(_problem, quality.problems), _PROBLEMS),
        _section("Suspicious", map(_problem, quality.suspicions), _SUSPICIOUS),
        _section("The worst rows", (_worst(w.row, w.fields) for w in quality.worst), _WORST),
        _section("The same in all fields", _identical(quality.identical), _SAME[quality.unique]),
    ]
    return _PAGE.format(
        style=_STYLE,
        name=html.escape(quality.name),
        records=_tile(quality.records, "records"),
        clean=_tile(quality.clean, "without any problem"),
        bad=_tile(quality.bad, "to mend"),
        empty=_tile(quality.empty, "without any value"),
        same=_tile(quality.identical.records, "the same as another"),
        fields="".join(_row(field, quality.records) for field in quality.fields),
        epsilon=html.escape(shown(quality.epsilon)),
        sections="".join(sections) or "<p>Nothing to report.</p>",
    )


def _tile(count: int, what: str) -> str:
    return f"<div><b>{count:,}</b>{what}</div>"


def _row(field: FieldQuality, records: int) -> str:
    cells = "".join(
        f'<td class=n data-label="{name}">{getattr(field, name):,}</td>' for name in _COUNTS
    )
    column = html.escape(" + ".join(field.columns))
    return (
        f"<tr><th scope=row>{html.escape(field.name)}{_bar(field, records)}</th>"
        f'<td data-label="kind">{field.kind}</td><td data-label="column">{column}</td>{cells}'
        f'<td class=n data-label="epsilon">{html.escape(shown(field.epsilon))}</td></tr>'
    )


def _bar(field: FieldQuality, records: int) -> str:
    """Which share of the records is fine, invalid and missing."""
    shares = {
        "fine": records - field.missing - field.invalid,
        "invalid": field.invalid,
        "missing": field.missing,
    }
    parts = "".join(
        f'<i class={name} style="width:{100 * count / records:.2f}%"></i>'
        for name, count in shares.items()
        if count
    )
    return f"<div class=bar>{parts}</div>"


def _section(title: str, items: Iterable[str], text: str) -> str:
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f"<h2>{title}</h2><p>{text}</p><ul>{listed}</ul>" if listed else ""


def _problem(problem: Problem) -> str:
    return html.escape(str(problem))


def _worst(row: int, fields: tuple[str, ...]) -> str:
    return f"row {row}: {html.escape(', '.join(fields))}"


def _identical(identical: Identical) -> list[str]:
    listed = [f"rows {', '.join(map(str, group))}" for group in identical.rows]
    more = identical.groups - len(identical.rows)
    return [*listed, f"and {more:,} more kinds"] if more else listed


_PROBLEMS = """The first ten rows of each are named, numbered as in a spreadsheet. In a CSV file
the header is row 1; in a Parquet file the first record is."""

_SUSPICIOUS = f"""A value in more rows than so many people would share: above
{TOO_COMMON["text"]:.0%} of a text or of digits, or {TOO_COMMON["date"]:.1%} of dates. It may be
what a system fills in, or what is typed for "not known". If so, list it under
<code>missing</code> of the field in linkage.toml, lest people be linked by it."""

_WORST = "Rows with a problem in two or more fields; those with the most come first."

_SAME = {
    True: """linkage.toml says <code>unique = true</code>: that nobody is in this file twice.
If these are one person twice, keep one record, or set <code>unique = false</code>.""",
    False: "linkage.toml says <code>unique = false</code>: somebody may be in this file twice.",
}

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2937; background: #fff;
       max-width: 62rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .6rem; }
.tiles div { flex: 1 1 8rem; background: #f3f6fa; padding: .6rem .9rem; font-size: .9rem; }
.tiles b { display: block; font-size: 1.5rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; margin-top: 1.5rem; }
th, td { text-align: left; padding: .35rem .5rem; border-bottom: 1px solid #e5e7eb;
         vertical-align: top; }
th { font-weight: 600; } .n { text-align: right; font-variant-numeric: tabular-nums; }
thead th { border-bottom: 2px solid #9ca3af; overflow-wrap: normal; }
.bar { display: flex; height: .45rem; min-width: 6rem; margin-top: .3rem; background: #e5e7eb; }
.fine { background: #1f5a8a; } .invalid { background: #c8651b; } .missing { background: #d1d5db; }
.bar i { min-width: 2px; }
.key i { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 .8rem; }
.key, footer { color: #4b5563; font-size: .9rem; }
@media (max-width: 48rem) {
  thead { display: none; }
  tr { display: grid; grid-template-columns: 1fr 1fr; column-gap: 2rem; padding: .6rem 0;
       border-bottom: 2px solid #e5e7eb; }
  tbody th, td { display: flex; justify-content: space-between; border: 0; padding: .1rem 0; }
  tbody th { display: block; grid-column: 1 / -1; }
  td::before { content: attr(data-label); color: #4b5563; padding-right: 1rem; }
}
"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'">
<title>gramlink check</title><style>{style}</style></head><body>
<h1>gramlink check: {name}</h1>
<div class=tiles>{records}{clean}{bad}{empty}{same}</div>
<table><thead><tr><th>field</th><th>kind</th><th>column</th><th class=n>values</th>
<th class=n>distinct</th><th class=n>missing</th><th class=n>invalid</th><th class=n>outside</th>
<th class=n>cut</th><th class=n>ε</th></tr></thead><tbody>{fields}</tbody></table>
<p class=key>Of all records, a field is<i class=fine></i>there<i class=invalid></i>invalid<i
class=missing></i>missing.</p>
<p>Invalid: a date that cannot be read or is no day of the calendar, or a value of which nothing
is left after normalising. Outside: with a symbol outside the alphabet. Cut: longer than the
field. Mining will cost ε = {epsilon} in all, once, by the fields as shown.</p>
{sections}
<footer><p>To mend are dates that cannot be read or are no day of the calendar, values of which
nothing is left, that are mostly outside the alphabet or that are cut, and records without any
value. <code>gramlink check --bad-rows FILE.csv</code> lists them with their ids.</p>
<p>This page names columns and rows and never says what a cell holds. Its counts are exact, so
it is for the owner of the data alone.</p></footer>
</body></html>
"""
