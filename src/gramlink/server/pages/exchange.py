"""The page of one exchange: for the operator, and what a party may see of it."""

from collections.abc import Sequence
from fractions import Fraction
from urllib.parse import quote

from gramlink.bundles.sealing import Recipient
from gramlink.privacy.budget import shown
from gramlink.server.pages.markup import (
    View,
    facts,
    live,
    page,
    several,
    size_of,
    table,
    text,
    time_of,
)
from gramlink.server.pages.outcome import outcome
from gramlink.server.pages.party import part_of, what_next
from gramlink.server.pages.tokens import deletion, tokens
from gramlink.server.pages.words import AT_A_GLANCE, GETS, GOES_BACK, MEANING, STAGES, UNIT_SEES


def exchange_page(view: View, viewer: View) -> str:
    """How an exchange stands, what to do next, and the means to do it."""
    operator = viewer["role"] == "operator"
    name = view["name"]
    body = [f"<h1>{text(name)}</h1>", live("stages", _stages(view))]
    if operator:
        body.append(_next(_awaited(view)))
        body.append(live("progress", _progress(view)))
        body.append(live("outcome", outcome(view)))
        body += [_state(view), _who_sees_what(view), tokens(view), deletion(name)]
        body.append('<p><a href="/log">The log of this unit</a></p>')
    else:
        me = next(one for one in view["parties"] if one["name"] == viewer["party"])
        body.append(_next(what_next(view, me)))
        body.append(live("progress", _progress(view)))
        body.append(live("outcome", outcome(view)))
        body += [part_of(view, me), _state(view), _who_sees_what(view)]
        body.append(facts([("your token is valid until", time_of(viewer["expires"]))]))
    marks = {"exchange": name, "stage": view["stage"], "poll": 2000, "path": _path(name)}
    attributes = " ".join(f'data-{key}="{text(value)}"' for key, value in marks.items())
    return page(name, "\n".join(body), viewer=viewer, attributes=attributes)


def _path(name: str) -> str:
    return f"/api/exchanges/{quote(name, safe='')}"


def _stages(view: View) -> str:
    """The stages in their order, with the present one marked."""
    stage = view["stage"]
    order = ["joining", "mined", "bundles", "linking", "failed" if stage == "failed" else "done"]
    over = _over(view) if stage == "failed" else order.index(stage)
    items = []
    for number, one in enumerate(order):
        kind = "now" if one == stage else "past" if number < over else "ahead"
        current = ' aria-current="step"' if kind == "now" else ""
        hidden = '<span class="unseen">, over</span>' if kind == "past" else ""
        items.append(
            f'<li class="{kind} {one}"{current}><b>{STAGES[one]}</b>{hidden}'
            f"<span>{MEANING[one]}</span></li>"
        )
    return f'<ol class="stages" aria-label="Stages">{"".join(items)}</ol>'


def _over(view: View) -> int:
    """How many stages an exchange that failed had come through."""
    parties = view["parties"]
    through = (
        all(one["recipient"] for one in parties),
        all(len(one["mined_sent_to"]) == len(parties) - 1 for one in parties),
        all(one["bundle"]["state"] == "accepted" for one in parties),
    )
    return (*through, False).index(False)


def _next(words: str) -> str:
    return f'<div id="next" class="note" data-live aria-live="polite">{words}</div>'


def _awaited(view: View) -> str:
    """What the operator waits for, or can do."""
    stage, parties = view["stage"], view["parties"]
    if stage == "failed":
        return (
            f'<p class="error">Failed: {text(view["reason"] or "no reason is known")}</p>'
            "<p>Nothing more will happen here. Delete the exchange, and make a new one under"
            " another name once the cause is gone.</p>"
        )
    if stage == "joining":
        waits = [one["name"] for one in parties if not one["recipient"]]
        return (
            f"<p>Waiting for the key of {several(waits)}. Each party runs"
            " <code>gramlink exchange URL --token-file F data.csv</code>, or signs in here with"
            " its token.</p>"
        )
    if stage == "mined":
        waits = [one["name"] for one in parties if len(one["mined_sent_to"]) < len(parties) - 1]
        return f"<p>Waiting for what {several(waits)} mined.</p>"
    if stage == "bundles":
        waits = [one["name"] for one in parties if one["bundle"]["state"] != "accepted"]
        return f"<p>Waiting for the bundles of {several(waits)}. Linking starts by itself.</p>"
    if stage == "linking":
        return "<p>All bundles are accepted, and are being linked. There is nothing to do.</p>"
    waits = [one["name"] for one in parties if not one["results"]["fetched"]]
    if waits:
        return f"<p>Linked. {several(waits)} can fetch the results now.</p>"
    return "<p>Linked, and every party has fetched its results. The exchange can be deleted.</p>"


def _progress(view: View) -> str:
    """A bar while something is being worked on."""
    now = view["progress"]
    if not now or not now["step"]:
        return ""
    done, total = now["done"], now["total"]
    label = f'<p id="step">{text(str(now["step"]).capitalize())}'
    if not total:
        return f'{label}</p><progress aria-labelledby="step"></progress>'
    return (
        f"{label}: {done:,} of {total:,} ({done / total:.0%})</p>"
        f'<progress aria-labelledby="step" max="{total}" value="{done}"></progress>'
    )


def _state(view: View) -> str:
    others = len(view["parties"]) - 1
    rows = [
        (
            text(one["name"]),
            _key(one["recipient"]),
            _sent(one["mined_sent_to"], others),
            _bundle(one["bundle"]),
            _results(one["results"]),
        )
        for one in view["parties"]
    ]
    head = ("party", "key", "sent what it mined", "bundle", "results")
    listed = live("state", table("Where each party is", head, rows))
    erase = live("erase", _erasure(view["erase"], view.get("erased")))
    return f"<section><h2>Parties</h2>{listed}{erase}</section>"


def _key(recipient: str | None) -> str:
    if not recipient:
        return '<span class="state none">not known yet</span>'
    return f"<code>{text(Recipient(recipient).fingerprint)}</code>"


def _sent(sent: Sequence[str], others: int) -> str:
    if not sent:
        return f"0 of {others}"
    return f"{len(sent)} of {others}: to {several(sent)}"


def _bundle(bundle: View) -> str:
    state = bundle["state"]
    said = f'<span class="state {text(state)}">{text(AT_A_GLANCE[state])}</span>'
    if state == "uploading" and bundle["size"]:
        said += f", {size_of(bundle['offset'])} of {size_of(bundle['size'])}"
    if state == "refused" and bundle["reason"]:
        said += f'<br><span class="error">{text(bundle["reason"])}</span>'
    known = []
    if bundle["rows"] is not None:
        known.append(f"{bundle['rows']:,} records")
    if bundle["epsilon"]:
        known.append(f"ε {text(shown(Fraction(bundle['epsilon'])))}")
    if bundle["bytes"] is not None:
        known.append(size_of(bundle["bytes"]))
    return said + (f"<br>{', '.join(known)}" if known else "")


def _results(results: View) -> str:
    if not results["ready"]:
        return '<span class="state none">not ready</span>'
    said = '<span class="state accepted">ready</span>'
    if results["bytes"] is not None:
        said += f", {size_of(results['bytes'])}"
    if results["fetched"]:
        said += f"<br>fetched {time_of(results['fetched'])}"
    return said


def _erasure(moment: str | None, erased: str | None) -> str:
    if erased:
        return f"<p>All files of this exchange were erased on {time_of(erased)}.</p>"
    if moment:
        return f"<p>All files of this exchange will be erased on {time_of(moment)}.</p>"
    return "<p>When the exchange has ended, its files are kept for a while and then erased.</p>"


def _who_sees_what(view: View) -> str:
    rows = [
        (text(one["name"]), text(GOES_BACK[one["returns"]]), text(_party_sees(one["returns"])))
        for one in view["parties"]
    ]
    rows.append(("this unit", "bundles", text(UNIT_SEES)))
    return (
        "<section><h2>Who sees what</h2>"
        + table("What each gets, and learns from it", ("who", "gets", "sees"), rows)
        + "</section>"
    )


def _party_sees(returns: str) -> str:
    return f"{GETS[returns]}. From the other parties: their grams with noisy counts, under ε"
