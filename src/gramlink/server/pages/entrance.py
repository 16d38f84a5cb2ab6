"""The page to sign in on, and the page that says what went wrong."""

from gramlink.server.pages.markup import page, text


def sign_in(message: str = "") -> str:
    """The form for a token; the message says why it is shown again."""
    said = f'<p id="message" class="error" role="alert">{text(message)}</p>' if message else ""
    return page("Sign in", _SIGN_IN.format(said=said, by="message help" if said else "help"))


def problem_page(status: int, message: str, hint: str) -> str:
    """What happened and what to do, with a way back."""
    advice = f"<p>{text(hint)}</p>" if hint else ""
    return page(
        "A problem",
        f'<h1>This did not work</h1><p class="error">{text(message)}</p>{advice}'
        f'<p><a href="/">Back to the start</a></p><p class="small">HTTP status {status}</p>',
    )


_SIGN_IN = """<h1>Sign in to the linkage unit</h1>
<p>Organisations that may not show each other their records have them linked here. Each sends its
records in a form without names, sealed to this unit, and gets back what was agreed, sealed to
itself.</p>
<form method="post" action="/sign-in" class="box">
{said}
<p><label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="off"
 spellcheck="false" aria-describedby="{by}"></p>
<p><button>Sign in</button></p>
<div id="help">
<p><b>Operator:</b> the token is the line in <code>DIR/operator.token</code>, where
<code>DIR</code> is the folder that <code>gramlink unit serve --data DIR</code> keeps its data
in.</p>
<p><b>Party:</b> the operator of this unit gives you a token of your own.</p>
</div>
</form>"""
