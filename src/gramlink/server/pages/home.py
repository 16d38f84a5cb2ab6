"""The operator's first page: all exchanges, and a form for a new one."""

from collections.abc import Sequence
from urllib.parse import quote

from gramlink.server.pages.markup import View, facts, live, page, size_of, table, text, time_of
from gramlink.server.pages.tokens import SHOWN_ONCE
from gramlink.server.pages.words import AT_A_GLANCE, GOES_BACK, STAGES

OPERATOR = {"role": "operator", "exchange": None, "party": None}


def operator_home(exchanges: Sequence[View], unit: View) -> str:
    """The exchanges with each party's state, the unit's key, and the form."""
    over = all(view["stage"] in ("done", "failed") for view in exchanges)
    stage = 'data-stage="done"' if over else 'data-stage="open"'
    return page(
        "Exchanges",
        "<h1>Exchanges</h1>"
        + live("exchanges", _listed(exchanges))
        + SHOWN_ONCE
        + _NEW.format(options=_OPTIONS)
        + "<h2>This unit</h2>"
        + facts(_of_unit(unit)),
        viewer=OPERATOR,
        attributes=f'data-poll="5000" {stage}',
    )


def _listed(exchanges: Sequence[View]) -> str:
    if not exchanges:
        return (
            '<p class="note">There is no exchange yet. Agree with the parties on a'
            " <code>linkage.toml</code> (<code>gramlink init data.csv</code> proposes one), then"
            ' make the exchange in the form <a href="#new">below</a>.</p>'
        )
    rows = [
        (
            f'<a href="/exchanges/{quote(view["name"])}">{text(view["name"])}</a>',
            f'<span class="state {text(view["stage"])}">{text(STAGES[view["stage"]])}</span>',
            "<br>".join(f"{text(one['name'])}: {_glance(one)}" for one in view["parties"]),
            time_of(view["created"]),
        )
        for view in exchanges
    ]
    return table("All exchanges of this unit", ("exchange", "stage", "parties", "made"), rows)


def _glance(party: View) -> str:
    """The farthest that a party has come."""
    if party["results"]["fetched"]:
        return "has fetched its results"
    if party["results"]["ready"]:
        return "results are ready"
    state = party["bundle"]["state"]
    if state != "none":
        return f'<span class="state {text(state)}">{text(AT_A_GLANCE[state])}</span>'
    if party["mined_sent_to"]:
        return "has sent what it mined"
    return "key known" if party["recipient"] else "not here yet"


def _of_unit(unit: View) -> list[tuple[str, str]]:
    limits = unit["limits"]
    return [
        ("fingerprint of the key", f"<code>{text(unit['fingerprint'])}</code>"),
        ("key", f'<code class="long">{text(unit["recipient"])}</code>'),
        ("largest bundle", size_of(limits["bundle_bytes"])),
        ("gramlink", text(unit["gramlink"])),
    ]


_OPTIONS = "".join(
    f'<option value="{value}">{text(words)}</option>' for value, words in GOES_BACK.items()
)

_NEW = """<section aria-labelledby="new">
<h2 id="new">New exchange</h2>
<form id="new-exchange" class="box">
<p><label for="name">Name</label>
<input id="name" name="name" required maxlength="64" pattern="[a-z0-9][a-z0-9\\-]*"
 autocomplete="off" spellcheck="false" aria-describedby="name-help">
<span id="name-help" class="help">Small letters, digits and hyphens. A name is never used
again.</span></p>
<p><label for="schema-file">linkage.toml, as a file</label>
<input id="schema-file" type="file" accept=".toml,text/plain"></p>
<p><label for="schema">or as text</label>
<textarea id="schema" name="schema" rows="8" required spellcheck="false"
 aria-describedby="schema-help"></textarea>
<span id="schema-help" class="help">All parties link by these settings. Fields of text must be
mined: this unit must not know the grams.</span></p>
<fieldset id="parties"><legend>Parties</legend>
<p class="help">Each party's name, as its files will say it, and what goes back to it.</p>
<ol></ol>
<p><button type="button" class="quiet" id="add-party">Add a party</button></p>
</fieldset>
<p><label for="days">Tokens are valid for so many days</label>
<input id="days" name="days" type="number" min="1" max="3650" value="90" required></p>
<p class="error" data-said role="alert" hidden></p>
<p><button>Make the exchange</button></p>
</form>
<template id="party-row"><li>
<label><span>Name</span> <input name="party" required maxlength="100" autocomplete="off"></label>
<label><span>Gets</span> <select name="returns">{options}</select></label>
<button type="button" class="quiet" data-remove>Remove</button>
</li></template>
</section>"""
