"""What came of an exchange: links, estimates and, for the operator, the match weights."""

from collections.abc import Mapping

from gramlink.server.pages.histogram import histogram
from gramlink.server.pages.markup import View, facts, share_of, table, text

OPEN = 3  # so many pairs of parties have their histograms in sight; more are folded away


def outcome(view: View) -> str:
    """The summary, as much of it as the API lets the viewer see; nothing before there is one."""
    summary = view["summary"]
    if not summary:
        return ""
    pairs = summary.get("pairs")
    if pairs is None:
        return "<section><h2>Outcome</h2>" + facts(_totals(summary)) + _ESTIMATES + "</section>"
    rows = [
        (
            _names(pair),
            f"{pair['links']:,}",
            f"{pair['possible']:,}",
            share_of(pair["precision"]),
            share_of(pair["recall"]),
        )
        for pair in pairs
    ]
    head = ("parties", "links", "possible links", "estimated precision", "estimated recall")
    listed = table("Links between each two parties", head, rows, numbers=(1, 2, 3, 4))
    if len(pairs) > 1 and "clusters" in summary:
        listed += f"<p>Together they make {summary['clusters']:,} clusters of records.</p>"
    return (
        f"<section><h2>Outcome</h2>{listed}{_ESTIMATES}"
        + "".join(_details(pair, place, len(pairs)) for place, pair in enumerate(pairs))
        + "</section>"
    )


def _totals(summary: View) -> list[tuple[str, str]]:
    known = [("links", f"{summary['links']:,}"), ("possible links", f"{summary['possible']:,}")]
    if summary.get("precision") is not None:
        known.append(("estimated precision", share_of(summary["precision"])))
    if summary.get("recall") is not None:
        known.append(("estimated recall", share_of(summary["recall"])))
    return known


def _names(pair: View) -> str:
    return f"{text(pair['left'])} – {text(pair['right'])}"


def _details(pair: View, place: int, count: int) -> str:
    warnings = "".join(f'<p class="note">{text(one)}</p>' for one in pair.get("warnings", ()))
    title = f"{pair['left']} and {pair['right']}"
    parts = warnings
    if pair.get("histogram"):
        parts += histogram(pair["histogram"], f"weights-{place}", title)
    if pair.get("passes"):
        parts += _passes(pair["passes"], title)
    if not parts:
        return ""
    if count > OPEN:
        return (
            f'<details id="pair-{place}"><summary>Match weights of {text(title)}</summary>'
            f"{parts}</details>"
        )
    return f"<h3>Match weights of {text(title)}</h3>{parts}"


def _passes(passes: list[View], title: str) -> str:
    rows = [(_pass(one["pass"]), f"{one['found']:,}", f"{one['added']:,}") for one in passes]
    head = ("fields that agree", "pairs found", "of them new")
    return (
        "<details><summary>Passes</summary>"
        + table(f"How candidate pairs of {title} were found", head, rows, numbers=(1, 2))
        + "</details>"
    )


def _pass(one: object) -> str:
    """A pass in words: which fields are equal, or within so many edits."""
    if not isinstance(one, Mapping):
        return text(one)
    return text(
        ", ".join(f"{name} within {edits}" if edits else name for name, edits in one.items())
    )


_ESTIMATES = """<p class="help">Possible links are pairs that a person should look at before anyone
relies on them. Estimated precision is the share of the links that are likely true, estimated recall
the share of the likely matches that were linked; both come from the match weights, without known
truth. Records of one field have no such estimates.</p>"""
