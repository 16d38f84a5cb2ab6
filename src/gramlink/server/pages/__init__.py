"""The web pages of the linkage unit: what the API says, as HTML that `templates/` makes of it.

They hold no script and no style of their own, so that the strictest policy lets them through:
`static/page.js` sends what forms say to the API, and brings the parts marked `data-live` up to
date from the same page, fetched again.
"""

from typing import Any

from gramlink.exchange.wire import ExchangeInfo, ExchangeList, LogInfo, TokenInfo, UnitInfo
from gramlink.reports.page import templates
from gramlink.server.pages import words

_TEMPLATES = templates("server")
_TEMPLATES.globals["words"] = words
_TEMPLATES.tests["shorter"] = lambda names, than: len(names) < than


def sign_in(message: str = "") -> str:
    """The form for a token; the message says why it is shown again."""
    return _page("sign_in", message=message)


def problem_page(status: int, message: str, hint: str) -> str:
    """What happened and what to do, with a way back."""
    return _page("problem", status=status, message=message, hint=hint)


def operator_home(listed: ExchangeList, unit: UnitInfo, viewer: TokenInfo) -> str:
    """Exchanges with each party's state, the unit's key, and the form for a new one."""
    return _page("home", viewer, listed=listed, unit=unit)


def exchange_page(view: ExchangeInfo, viewer: TokenInfo) -> str:
    """How an exchange stands, what to do next, and the means to do it.

    Privacy: shows what the view holds, which is what the viewer may see; a party gets no link
    to what is the operator's.
    """
    return _page(viewer.role, viewer, view=view)


def log_page(log: LogInfo, viewer: TokenInfo) -> str:
    """Who did what when, the newest first, and whether no entry was changed since."""
    return _page("log", viewer, entries=log.entries, intact=log.intact)


def _page(template: str, viewer: TokenInfo | None = None, **shown: Any) -> str:
    return _TEMPLATES.get_template(f"server/{template}.html").render(viewer=viewer, **shown)
