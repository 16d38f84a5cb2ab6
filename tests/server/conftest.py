"""A linkage unit in this process, with an exchange of two parties."""

import os

import pytest

from gramlink.server.app import application
from gramlink.server.settings import Settings
from gramlink.server.store import database
from gramlink.server.unit import prepared
from server.parties import EXCHANGE, NAMES, SCHEMA, Asker, bring_to_bundles


@pytest.fixture(autouse=True)
def without_waiting_for_the_disk(monkeypatch):
    """No test cuts the power, so none needs to wait until all is on disk."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(database, "SYNCHRONOUS", "OFF")


@pytest.fixture
def patience():
    """More than a busy machine takes; a test that waits for its end asks for less."""
    return 30


@pytest.fixture
def settings(tmp_path, patience):
    return Settings(tmp_path / "unit", patience=patience, largest_bundle=10**6, largest_mined=10**5)


@pytest.fixture
def unit(settings):
    unit = prepared(settings)
    yield unit
    unit.store.close()


@pytest.fixture
def again(unit):
    """Start a server on the same folder again."""
    units = []

    def start():
        unit.store.close()
        units.append(prepared(unit.settings))
        return units[-1]

    yield start
    for one in units:
        one.store.close()


@pytest.fixture(scope="session")
def one_app(tmp_path_factory):
    """An application for all tests, as it takes a while to make."""
    unit = prepared(Settings(tmp_path_factory.mktemp("unit")))
    yield application(unit)
    unit.store.close()


@pytest.fixture
def app(one_app, unit):
    one_app.state.unit = unit
    return one_app


@pytest.fixture
def anybody(app):
    return Asker(app)


@pytest.fixture
def operator(app, unit):
    return Asker(app, unit.folder.operator_token.read_text().strip())


@pytest.fixture
def make(operator, app):
    """Make an exchange, and clients for its parties."""

    def maker(name=EXCHANGE, parties=NAMES, **options):
        asked = {"name": name, "schema": SCHEMA, "parties": list(parties), **options}
        tokens = operator.ask("POST", "/api/exchanges", json=asked, says=201).json()["tokens"]
        return [Asker(app, tokens[party], party, name) for party in parties]

    return maker


@pytest.fixture
def parties(make):
    return make()


@pytest.fixture
def hospital(parties):
    return parties[0]


@pytest.fixture
def registry(parties):
    return parties[1]


@pytest.fixture
def at_bundles(parties):
    """The parties, when bundles are awaited."""
    bring_to_bundles(parties)
    return parties


@pytest.fixture
def log_of(operator):
    """What the log says was done, by whom."""
    return lambda: [(one["who"], one["what"]) for one in operator.get("/api/log").json()["entries"]]
