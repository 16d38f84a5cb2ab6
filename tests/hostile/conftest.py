"""One linkage unit for all attacks that it must outlive, and new ones for those that need it."""

import pytest

from hostile.attacking import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("attacked"), "--workers", 2)
    yield server
    server.stop()


@pytest.fixture
def start(tmp_path):
    """Start servers with other limits, which are stopped in the end."""
    started = []

    def starter(*options, folder=tmp_path, **more):
        started.append(Server(folder, *options, **more))
        return started[-1]

    yield starter
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def pair(server):
    """A hospital and a registry of whom bundles are awaited, for all tests of a module."""
    return server.at_bundles()


@pytest.fixture
def two(server):
    """The same, for one test alone."""
    return server.at_bundles()


@pytest.fixture
def sound(server):
    """What must hold after each attack."""
    yield server
    server.assert_sound()


@pytest.fixture
def reason(request, server, sound):
    """Why the forged bundle of a test was refused."""
    del sound
    hospital = server.at_bundles()[0]
    hospital.upload(hospital.sealed(request.function.forge(hospital.bundle())))
    state, reason = hospital.verdict()
    assert state == "refused"
    return reason
