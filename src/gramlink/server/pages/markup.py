"""Parts that all pages are made of. What is not markup goes through `text`."""

import html
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

View = Mapping[str, Any]  # what the API says, as JSON


def text(value: object) -> str:
    """A value as HTML shows it, within an attribute too.

    >>> text("St. Mary's <b>")
    'St. Mary&#x27;s &lt;b&gt;'
    """
    return html.escape(str(value))


def page(title: str, body: str, *, viewer: View | None = None, attributes: str = "") -> str:
    """A whole page; the body and the attributes of its main part are markup."""
    return _PAGE.format(
        title=text(title), body=body, navigation=_navigation(viewer), attributes=attributes
    )


def _navigation(viewer: View | None) -> str:
    if viewer is None:
        return ""
    links = '<a href="/">Exchanges</a> <a href="/log">Log</a>'
    who = "Signed in as the operator"
    if viewer["role"] == "party":
        links, who = "", f"Signed in as {text(viewer['party'])}"
    return (
        f'<nav aria-label="Pages">{links}</nav><p class="who">{who}</p>'
        '<form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>'
    )


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[int] = ()
) -> str:
    """A table whose cells are markup; on a phone, each row becomes a list of its cells.

    The roles are those that the elements have, as a table laid out in another way loses them.
    """
    right = set(numbers)
    kind = ['class="n"' if place in right else "" for place in range(len(head))]
    top = "".join(
        f'<th role="columnheader" scope="col" {kind[place]}>{text(name)}</th>'
        for place, name in enumerate(head)
    )
    body = "".join(_row(row, head, kind) for row in rows)
    return (
        f'<table role="table"><caption>{text(caption)}</caption>'
        f'<thead role="rowgroup"><tr role="row">{top}</tr></thead>'
        f'<tbody role="rowgroup">{body}</tbody></table>'
    )


def _row(cells: Sequence[str], head: Sequence[str], kind: Sequence[str]) -> str:
    first = f'<th role="rowheader" scope="row" {kind[0]}>{cells[0]}</th>'
    rest = "".join(
        f'<td role="cell" data-label="{text(name)}" {how}><div>{cell}</div></td>'
        for cell, name, how in zip(cells[1:], head[1:], kind[1:], strict=True)
    )
    return f'<tr role="row">{first}{rest}</tr>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Terms, and what they are as markup."""
    rows = "".join(f"<div><dt>{text(term)}</dt><dd>{what}</dd></div>" for term, what in pairs)
    return f'<dl class="facts">{rows}</dl>'


def live(name: str, content: str, element: str = "div") -> str:
    """A part that page.js brings up to date by its id; it holds no form."""
    return f'<{element} id="{name}" data-live>{content}</{element}>'


def shown_if(condition: bool) -> str:
    """The attributes of a part that page.js only shows or hides."""
    return "data-shown" if condition else "data-shown hidden"


def time_of(moment: str | None) -> str:
    """A time to the minute.

    >>> time_of("2026-11-16T16:45:12Z")
    '<time datetime="2026-11-16T16:45:12Z">2026-11-16 16:45 UTC</time>'
    """
    if not moment:
        return "–"
    try:
        when = datetime.fromisoformat(moment)
    except ValueError:
        return text(moment)
    when = when.astimezone(UTC) if when.tzinfo else when
    return f'<time datetime="{text(moment)}">{when:%Y-%m-%d %H:%M} UTC</time>'


def size_of(count: int | None) -> str:
    """A number of bytes.

    >>> size_of(900), size_of(4 * 2**20), size_of(None)
    ('900 bytes', '4.0 MiB', '–')
    """
    if count is None:
        return "–"
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{count:,} bytes" if unit == "bytes" else f"{size:,.1f} {unit}"


def share_of(share: float | None) -> str:
    """An estimated precision or recall."""
    return "–" if share is None else f"{share:.4f}"


def several(names: Sequence[str]) -> str:
    """Names in a sentence, as markup.

    >>> several(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = map(text, names or ["nobody"])
    return f"{', '.join(most)} and {last}" if most else last


def code(line: str) -> str:
    """A command to copy."""
    return (
        f'<div class="command"><pre tabindex="0"><code>{text(line)}</code></pre>'
        f'<button type="button" class="quiet" data-copy="{text(line)}">Copy</button></div>'
    )


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} – gramlink</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/style.css">
<script type="module" src="/static/page.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><p class="name"><a href="/">gramlink linkage unit</a></p>{navigation}</header>
<main id="main" tabindex="-1" {attributes}>
<noscript><p class="note">This page needs JavaScript to send files and to change anything; without
it, it only shows how things stand.</p></noscript>
{body}
</main>
<p id="status" class="status" role="status"></p>
</body>
</html>
"""
