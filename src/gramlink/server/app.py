"""The application: all routes and rules over one unit."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from gramlink.server import api, guard, site
from gramlink.server.runner import Runner
from gramlink.server.unit import Unit

_ABOUT = """Finds the people several organisations have in common, without sharing their records.

Requests carry a token, as `Authorization: Bearer TOKEN`. Errors say what happened and what to do.
"""


def application(unit: Unit) -> FastAPI:
    """The application; its workers run from its start to its end."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # asyncio's own would print a page for each connection that finds too many files open
        asyncio.get_running_loop().set_exception_handler(guard.Reports())
        with Runner(unit).running():
            yield

    app = FastAPI(
        title="gramlink linkage unit",
        description=_ABOUT,
        version=version("gramlink"),
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.unit = unit
    app.include_router(api.router)
    app.include_router(site.router)
    guard.install(app, [*api.router.routes, *site.router.routes], unit.settings.patience)
    return app
