"""The log of the unit: who did what, and when."""

from collections.abc import Sequence

from gramlink.server.pages.markup import View, page, table, text, time_of


def log_page(entries: Sequence[View], intact: bool, viewer: View) -> str:
    """The entries, the newest first, and whether none was changed since."""
    said = (
        '<p class="good">The chain is intact: each entry follows the one before it, unchanged.</p>'
        if intact
        else '<p class="error">The chain is broken: an entry was changed or taken out after it was'
        " written. Compare this log with a back-up of the data folder.</p>"
    )
    rows = [_cells(entry) for entry in reversed(entries)]
    listed = (
        table(
            "Entries, the newest first",
            ("number", "time", "who", "what", "exchange", "detail", "hash"),
            rows,
        )
        if rows
        else "<p>Nothing has happened yet.</p>"
    )
    return page(
        "Log",
        f"<h1>Log</h1>{said}<p>Each hash covers its entry and all before it. Whoever keeps a"
        " copy of the newest hash elsewhere can tell that none was cut off the end. The log holds"
        f" no record, no id and no token, and outlives the exchanges it tells of.</p>{listed}",
        viewer=viewer,
    )


def _cells(entry: View) -> tuple[str, ...]:
    whole = text(entry["hash"])
    return (
        text(entry["number"]),
        time_of(entry["time"]),
        text(entry["who"]),
        text(entry["what"]),
        text(entry["exchange"] or "–"),
        text(entry["detail"] or "–"),
        f'<code title="{whole}">{whole[:12]}</code>',
    )
