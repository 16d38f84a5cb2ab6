"""The web pages of the linkage unit: functions from what the API says to HTML.

They hold no script and no style of their own, so that the strictest policy lets them through:
`static/page.js` sends what forms say to the API, and brings the parts marked `data-live` up to
date from the same page, fetched again.
"""

from gramlink.server.pages.entrance import problem_page, sign_in
from gramlink.server.pages.exchange import exchange_page
from gramlink.server.pages.home import operator_home
from gramlink.server.pages.log import log_page

__all__ = ["exchange_page", "log_page", "operator_home", "problem_page", "sign_in"]
