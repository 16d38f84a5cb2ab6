"""A server process and two owner processes on loopback, killed wherever it hurts."""

import json
import os
import signal

import pytest

from end_to_end.processes import assert_as_in_one_process, assert_forgotten, until
from gramlink.privacy.ledger import Ledger


def test_three_processes_make_the_links_of_one_bit_for_bit(server, two):
    for party in two:
        party.start(server.url)
    for party in two:
        party.finish()
    assert_as_in_one_process(*two)
    ours, theirs = ((party.folder / "said.txt").read_text().splitlines() for party in two)
    for agreed in ("keys code: ", "fingerprint of the projection: ", "the linkage unit's key: "):
        (line,) = [line for line in ours if agreed in line]
        assert line in theirs
    log = json.loads(server.run("unit", "log", "--data", "unit", "--json"))
    assert log["intact"]
    told = server.said() + json.dumps(log)
    for party in two:
        for row in party.links().head(20).iter_rows():
            assert not [one for one in row if one in told]
    assert_forgotten(server, *two)


@pytest.mark.parametrize("encoding", ["vectors"])
def test_a_server_killed_in_every_stage_and_its_worker_go_on(server, two):
    """Killed while one has joined, one has sent, a bundle comes, is checked, is linked."""
    one, other = two

    def restart():
        server.kill()
        server.start()

    one.start(server.url)
    until(lambda: server.ask("SELECT 1 FROM parties WHERE recipient IS NOT NULL"), "joining")
    restart()
    other.start(server.url)
    until(lambda: server.ask("SELECT 1 FROM mined"), "what one mined")
    restart()
    until(lambda: {"uploading", "checking"} & set(server.states()), "an upload")
    restart()
    until(lambda: server.running("check"), "a check")
    restart()
    until(lambda: server.running("link"), "linking")
    restart()
    until(lambda: server.running("link"), "linking again")
    (worker,) = until(lambda: _children(server.process.pid), "a worker")
    os.kill(worker, signal.SIGKILL)
    for party in two:
        party.finish()
    assert_as_in_one_process(*two)
    assert json.loads(server.run("unit", "log", "--data", "unit", "--json"))["intact"]


def test_an_owner_killed_in_every_stage_goes_on_and_spends_once(server, two):
    """Killed once it has paid, as soon as files of its folder are there, and wherever it is.

    `test_participation` has a crash at every file, within one process.
    """
    one, other = two
    ledger = one.folder / "hospital.ledger"
    other.start(server.url)
    steps = ["identity", "a charge", "mined.json", "mined-2.json", "bundle.age", "results.age"]
    for step in steps:
        one.start(server.url)
        if step == "a charge":
            until(lambda: b'"charge"' in ledger.read_bytes(), step, one.process)
        else:
            until(lambda step=step: (one.work / step).exists(), step, one.process)
        one.kill()
        if step == "a charge":
            assert len(Ledger.open(ledger).state.releases) == 1
    one.start(server.url)
    one.finish()
    other.finish()
    assert_as_in_one_process(*two)


def _children(pid):
    """The processes that a process has started, where the system tells."""
    listed = f"/proc/{pid}/task/{pid}/children"
    if not os.path.exists(listed):  # noqa: PTH110
        pytest.skip("this system does not list the processes of a process")
    found = set()
    for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
        with open(f"/proc/{pid}/task/{task}/children") as file:  # noqa: PTH123
            found |= {int(child) for child in file.read().split()}
    return sorted(found)
