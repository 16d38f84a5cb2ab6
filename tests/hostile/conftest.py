"""One linkage unit for all attacks that it must outlive, and new ones for those that need it."""

from contextlib import closing

import pytest

from gramlink.server import worker
from gramlink.server.store import Store
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


@pytest.fixture(scope="session")
def resting(tmp_path_factory):
    """A server that does no job, so that tests can."""
    before = "from gramlink.server.runner import Runner; Runner._look = lambda _: None\n"
    server = Server(tmp_path_factory.mktemp("resting"), before=before)
    yield server
    server.stop()


@pytest.fixture
def reason(request, resting):
    """Why the forged bundle of a test was refused.

    The worker runs in this process, as each start of another takes half a second.
    """
    hospital = resting.at_bundles()[0]
    hospital.upload(hospital.sealed(request.function.forge(hospital.bundle())))
    with closing(Store(resting.data / "unit.sqlite3")) as store:
        with store.change() as tables:
            job = tables.jobs.take(room=True)
        worker.main(resting.data, job.number, memory=0)
    state, reason = hospital.verdict()
    assert state == "refused"
    resting.assert_sound()
    return reason
