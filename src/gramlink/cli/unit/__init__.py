"""Commands for the linkage unit: `gramlink unit` for its server, and two for files alone."""

from gramlink.cli.help import group
from gramlink.cli.unit.exchanges import delete, list_, show
from gramlink.cli.unit.inbox import inbox
from gramlink.cli.unit.log import log
from gramlink.cli.unit.new import new
from gramlink.cli.unit.serve import serve
from gramlink.cli.unit.tokens import revoke, token

app = group(
    "unit",
    "Run a linkage unit: its server and exchanges, or a file drop.\n\n"
    "All commands except serve and inbox also work while the server runs.",
    {
        "Exchanges over the network": (serve, new, list_, show, token, revoke, delete, log),
        "Exchanges of files": (inbox,),
    },
)
