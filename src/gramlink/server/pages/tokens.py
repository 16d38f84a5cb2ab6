"""The operator's tokens, and where page.js shows new ones, once."""

from gramlink.server.pages.markup import View, live, table, text, time_of

SHOWN_ONCE = """<section id="tokens-shown" class="box strong" aria-labelledby="tokens-title" hidden>
<h2 id="tokens-title" tabindex="-1">Tokens, shown this once</h2>
<p>This unit keeps only a digest of a token. Copy or save each now, and give each party its own by
a safe way: in person, by telephone, in an encrypted message. A lost one is replaced on the page of
the exchange.</p>
<ul id="tokens"></ul>
<p>Each party then runs, with its token in the file PARTY.token:</p>
<div class="command"><pre tabindex="0"><code data-command></code></pre>
<button type="button" class="quiet" data-copy="">Copy</button></div>
<p>A party that only has a browser signs in here with its token, and is told what to do.</p>
<p><a data-exchange-link href="/">To the exchange</a></p>
<template id="token-row"><li><b data-party></b>
<code class="long" data-token></code>
<span class="buttons"><button type="button" class="quiet" data-copy="">Copy</button>
<button type="button" class="quiet" data-save="" data-file="">Save as a file</button></span>
</li></template>
</section>"""


def tokens(view: View) -> str:
    """Each party's token, to be revoked or replaced."""
    rows = [
        (
            text(party["name"]),
            live(f"token-{place}", _validity(party["token"]), "span"),
            _buttons(party["name"]),
        )
        for place, party in enumerate(view["parties"])
    ]
    return (
        "<section><h2>Tokens</h2>"
        + table("Each party's token", ("party", "validity", "change"), rows)
        + '<p class="error" data-said role="alert" hidden></p></section>'
        + SHOWN_ONCE
        + _REVOKE
    )


def _validity(token: View | None) -> str:
    if not token:
        return "none"
    if token["revoked"]:
        return '<span class="state refused">revoked</span>'
    return f"until {time_of(token['expires'])}"


def _buttons(name: str) -> str:
    party = text(name)
    return (
        f'<span class="buttons"><button type="button" class="quiet" data-new-token="{party}"'
        f' aria-label="New token for {party}">New token</button>'
        f'<button type="button" class="quiet" data-revoke="{party}"'
        f' aria-label="Revoke the token of {party}">Revoke</button></span>'
    )


def deletion(name: str) -> str:
    """The way to delete an exchange, with a question first."""
    return _DELETE.format(name=text(name))


_REVOKE = """<dialog id="ask" aria-labelledby="ask-title">
<form method="dialog"><h2 id="ask-title"></h2><p id="ask-text"></p>
<p class="buttons"><button type="submit" value="" class="quiet" autofocus>Cancel</button>
<button type="submit" value="yes" class="danger" id="ask-yes"></button></p></form></dialog>"""

_DELETE = """<section><h2>Delete</h2>
<p>Deleting erases all files of this exchange, the bundles and the results among them, and ends its
tokens. The log keeps that it took place. It cannot be undone, and the name is not used again.</p>
<p><button type="button" class="danger" id="delete">Delete this exchange</button></p>
<dialog id="delete-dialog" aria-labelledby="delete-title">
<form method="dialog"><h2 id="delete-title">Delete {name}?</h2>
<p id="delete-help">All its files are erased for good. Type the name of the exchange,
<b>{name}</b>, to confirm.</p>
<p><label for="delete-name">Name of the exchange</label>
<input id="delete-name" autocomplete="off" spellcheck="false" aria-describedby="delete-help"></p>
<p class="error" data-said role="alert" hidden></p>
<p class="buttons"><button type="button" class="quiet" data-close>Cancel</button>
<button type="submit" class="danger" id="delete-yes" disabled>Delete for good</button></p>
</form></dialog></section>"""
