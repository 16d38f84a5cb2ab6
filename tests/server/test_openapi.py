"""Whatever fits the OpenAPI description, and much that does not, gets the answers it describes."""

import os
import warnings
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gramlink.server import api
from gramlink.server.app import application
from gramlink.server.settings import Settings
from gramlink.server.store import database
from gramlink.server.unit import prepared

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of libraries that it uses
    import schemathesis
    from starlette.testclient import TestClient

SCHEMA = "[fields.surname]\nsize = 20\n"


@pytest.fixture(scope="module")
def one_app(tmp_path_factory):
    """An application for all tests, as it takes a while to make."""
    unit = prepared(Settings(tmp_path_factory.mktemp("unit"), patience=5))
    app = application(unit)
    app.router.lifespan_context = without_workers
    yield app
    unit.store.close()


@asynccontextmanager
async def without_workers(_):
    yield


@pytest.fixture
def app(one_app, tmp_path, monkeypatch):
    """The application with a unit that nobody has asked anything yet."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(database, "SYNCHRONOUS", "OFF")
    one_app.state.unit = unit = prepared(Settings(tmp_path / "unit", patience=5))
    yield one_app
    unit.store.close()


@pytest.fixture
def tokens(app):
    """The operator's token, and a party's of an exchange that is named as in the examples."""
    operator = app.state.unit.folder.operator_token.read_text().strip()
    made = TestClient(app).post(
        "/api/exchanges",
        headers={"Authorization": f"Bearer {operator}"},
        json={"name": "stroke-2026", "schema": SCHEMA, "parties": ["hospital", "registry"]},
    )
    return {"operator": operator, "party": made.json()["tokens"]["hospital"], "nobody": "gl_x_y"}


def operations():
    """The names of all operations that are described."""
    described = FastAPI()
    described.include_router(api.router)
    paths = described.openapi()["paths"]
    return [f"{method.upper()} {path}" for path, one in paths.items() for method in one]


@pytest.mark.parametrize("operation", operations())
@pytest.mark.parametrize("who", ["operator", "party", "nobody"])
def test_any_request_gets_an_answer_that_is_described(app, tokens, who, operation):
    method, path = operation.split()
    described = schemathesis.openapi.from_asgi("/openapi.json", app)[path][method]

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=st.data())
    def asked(case):
        one = case.draw(described.as_strategy())
        # that it fits the description does not make it right: two parties may not share a name
        unless = [schemathesis.checks.CHECKS.get_one("positive_data_acceptance")]
        headers = {"Authorization": f"Bearer {tokens[who]}"}
        one.call_and_validate(headers=headers, excluded_checks=unless)

    asked()
