"""Work that is too much, disks that are full, and others who are at the same folder."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing

import httpx
import pytest

from gramlink.bundles.sealing import seal
from hostile.attacking import (
    LONG,
    NAMES,
    RUN,
    SCHEMA,
    assert_refused,
    identity_of,
    spread,
    unlike,
    until,
)

resource = pytest.importorskip("resource")
ALL = SCHEMA.replace("\n\n", '\ndecide = "all"\n\n', 1)


def children(pid):
    """The workers of a server, where the system tells."""
    if not os.path.exists(f"/proc/{pid}/task/{pid}/children"):  # noqa: PTH110
        pytest.skip("this system does not list the processes of a process")
    found = set()
    for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
        with open(f"/proc/{pid}/task/{task}/children") as file:  # noqa: PTH123
            found |= {int(child) for child in file.read().split()}
    return found


def send_same(parties, rows):
    """Have each party send so many rows that are all the same."""
    for party, count in zip(parties, rows, strict=True):
        data = unlike(party.bundle(ALL), count).to_bytes()
        party.upload(party.sealed(data))


# too many pairs


def test_a_thousand_million_pairs_are_not_made(server, sound):
    del sound
    parties = server.at_bundles(schema=ALL)
    send_same(parties, (30_000, 40_000))
    state, reason = parties[0].outcome()
    assert state == "failed"
    assert "pairs" in reason or "memory" in reason
    for party in parties:
        assert_refused(party.ask("GET", "results"), 404, "not ready")


def test_pairs_that_are_allowed_and_do_not_fit_in_memory_fail_and_say_so(server, sound):
    """Each of 9,500 with each of 9,500: less than are too many, and some GB with their ids."""
    del sound
    parties = server.at_bundles(schema=ALL)
    send_same(parties, (9_500, 9_500))
    state, reason = parties[0].outcome()
    assert state == "failed"
    assert "memory" in reason


def test_work_that_takes_too_long_is_ended(start, tmp_path):
    endless = tmp_path / "endless"  # for workers, in the place of Python
    endless.write_text("#!/bin/sh\nexec sleep 600\n")
    endless.chmod(0o755)
    server = start("--hours", 0.0001, before=f"import sys; sys.executable = {str(endless)!r}\n")
    hospital, _ = server.at_bundles()
    hospital.upload()
    state, reason = hospital.verdict()
    assert state == "refused"
    assert "it took more than 0.0001 hours" in reason
    server.assert_sound()


# full disks


@pytest.fixture
def small_disk(tmp_path):
    """A folder that is a disk of its own, with little more room than an upload must leave."""
    if os.geteuid() != 0:
        pytest.skip("only the administrator can make a disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", str(folder)]
    if subprocess.run(made, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be made here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder, leave):
    """Take all room but so many bytes."""
    room = os.statvfs(folder)
    with (folder / "filler").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - leave)


def free(folder):
    (folder / "filler").unlink()


def test_a_disk_that_is_full_is_said_to_be_and_nothing_is_left(small_disk, start):
    server = start(folder=small_disk)
    hospital, registry = server.at_bundles()
    one, _ = server.exchange()
    one.join()
    data = hospital.sealed(os.urandom(2 * 10**6))
    hospital.announce(data)
    before = server.files()
    fill(small_disk, leave=10**6)
    answer = hospital.ask("PATCH", "upload?offset=0", content=data)
    assert_refused(answer, 413, "no room")
    assert_refused(registry.announce(data, 413), 413, "no room")
    other = server.exchange()
    for party in other:
        party.join()
    sealed = seal(bytes(2 * 10**6), [identity_of("registry").recipient])
    assert_refused(other[0].ask("PUT", "mined/registry", content=sealed), 413, "no room")
    assert server.files() == before
    free(small_disk)
    fill(small_disk, leave=0)
    statuses = set()
    for number in range(20):  # the tables have some room of their own
        asked = {"name": f"full-{number}", "schema": SCHEMA, "parties": list(NAMES)}
        answer = server.ask("POST", "/api/exchanges", json=asked)
        statuses.add(answer.status_code)
        if answer.status_code != 201:
            assert_refused(answer, 413, "no room")
            break
    assert 413 in statuses
    assert server.ask("GET", hospital.path).status_code == 200
    free(small_disk)
    server.assert_sound()
    server.works()


def test_a_disk_that_fills_up_while_results_are_written_is_waited_for(small_disk, start):
    """No half of them is left, and once there is room, there are results after all."""
    server = start(folder=small_disk)
    parties = server.at_bundles()
    for party in parties:
        party.upload(party.sealed(spread(party.bundle(), 25_000).to_bytes()))
        if party.name == "hospital":
            assert party.verdict() == ("accepted", None)
    fill(small_disk, leave=150_000)
    until(lambda: "room" in (parties[0].view()["progress"]["step"] or ""), "waiting for room")
    assert parties[0].view()["stage"] == "linking"
    assert not [path for path in server.files() if "results" in path or "part" in path]
    free(small_disk)
    assert parties[0].outcome() == ("done", None)
    server.assert_sound()


# others at the same folder


def test_a_second_server_on_one_folder_is_refused_and_the_first_goes_on(server, sound):
    del sound
    command = [sys.executable, "-c", RUN, "--data", str(server.data), "--port", "0"]
    with server.untouched():
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONG)
        assert done.returncode != 0
        assert "another process is serving" in done.stderr + done.stdout


def test_two_linkages_at_once_do_not_disturb_each_other(server, sound):
    del sound
    exchanges = [server.at_bundles() for _ in range(2)]
    for parties in exchanges:
        parties[0].upload()
    for parties in exchanges:
        assert parties[0].verdict() == ("accepted", None)
    for parties in exchanges:
        parties[1].upload()
    for parties in exchanges:
        assert parties[0].outcome() == ("done", None)
        hospital, registry = (party.results() for party in parties)
        assert hospital.exchange == parties[0].exchange
        assert hospital.tables["links"].equals(registry.tables["links"])


def test_an_exchange_that_is_deleted_during_its_run_is_gone_at_once(server, sound):
    del sound
    hospital, registry = server.at_bundles()
    hospital.upload()
    running = "SELECT 1 FROM jobs WHERE state = 'running' AND party = ?"
    until(lambda: server.tables(running, hospital.number), "a run")
    workers = children(server.process.pid)
    (folder,) = {
        name.split("/")[1] for name in server.files() if f"bundle-{hospital.number}." in name
    }
    server.ask("DELETE", hospital.path, 204)
    assert not (server.data / "exchanges" / folder).exists()
    until(lambda: not workers & children(server.process.pid), "the end of the worker")
    assert server.ask("GET", hospital.path).status_code == 404
    for party in (hospital, registry):
        assert_refused(server.ask("GET", hospital.path, token=party.token), 401)


def test_an_exchange_that_is_deleted_during_an_upload_leaves_nothing(server, sound):
    del sound
    hospital, _ = server.at_bundles()
    data = hospital.sealed(os.urandom(10**6))
    hospital.announce(data)
    gone, before = threading.Event(), set(server.files())

    def parts():
        return [one for one in set(server.files()) - before if ".part" in one]

    def slowly():
        yield data[: 10**5]
        gone.wait(LONG)
        yield data[10**5 :]

    statuses = []

    def send():
        with httpx.Client(trust_env=False, timeout=LONG) as client:
            url = f"http://127.0.0.1:{server.port}{hospital.path}/upload?offset=0"
            headers = {"Authorization": f"Bearer {hospital.token}"}
            statuses.append(client.patch(url, content=slowly(), headers=headers).status_code)

    sender = threading.Thread(target=send)
    sender.start()
    until(parts, "a part")
    server.ask("DELETE", hospital.path, 204)
    gone.set()
    sender.join()
    assert 400 <= statuses[0] < 500
    assert not parts()


def test_what_was_mined_for_an_exchange_whose_files_were_erased_is_refused(start):
    server = start("--keep-days", 0)
    parties = server.at_bundles()
    for party in parties:
        party.upload()
    assert parties[0].outcome() == ("done", None)
    until(lambda: parties[0].view()["erased"], "the erasing")
    sealed = seal(b"another", [identity_of("registry").recipient])
    answer = parties[0].ask("PUT", "mined/registry", content=sealed)
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text)
    for path in ("results", "mined/registry", "upload?offset=0"):
        method = "PATCH" if "upload" in path else "GET"
        assert 400 <= parties[0].ask(method, path, content=b"").status_code < 500
    server.assert_sound()


# tables that others lock


def test_tables_that_are_locked_for_a_while_are_waited_for(server, sound):
    del sound
    hospital, _ = server.exchange()
    with closing(sqlite3.connect(server.data / "unit.sqlite3", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        asking = threading.Thread(target=hospital.join)
        asking.start()
        time.sleep(1)
        assert asking.is_alive()
        db.execute("ROLLBACK")
        asking.join()
    assert hospital.me()["recipient"] == hospital.recipient.key


def test_tables_that_are_locked_for_long_are_said_to_be_busy(start):
    """Here for longer than a second, as waiting for the true half minute takes too long."""
    server = start(before="from gramlink.server.store import database; database.BUSY = 1\n")
    hospital, _ = server.at_bundles()
    with closing(sqlite3.connect(server.data / "unit.sqlite3", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        one = server.exchange_asked()
        other = hospital.ask("POST", "upload", json={"size": 5, "sha256": "0" * 64})
        seen = server.ask("GET", hospital.path)
        db.execute("ROLLBACK")
    assert seen.status_code == 200
    for answer in (one, other):
        assert answer.status_code == 503 or 400 <= answer.status_code < 500, answer.text
        assert "busy" in answer.json()["error"]
        assert answer.json()["hint"]
    server.assert_sound()


def test_tables_that_are_locked_while_a_worker_starts_do_not_end_its_job(start):
    """A back-up that takes its time is no reason to refuse a bundle, or to fail an exchange."""
    before = "from gramlink.server.store import database; database.BUSY = 1\n"
    server = start(before=before)
    hospital, registry = server.at_bundles()
    hospital.upload()
    assert hospital.verdict() == ("accepted", None)
    registry.upload()
    with closing(sqlite3.connect(server.data / "unit.sqlite3", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        time.sleep(3)
        db.execute("ROLLBACK")
    assert registry.outcome() == ("done", None)


# no files to be had


def test_a_job_whose_worker_cannot_be_started_is_tried_again(start):
    """As when clients hold so many connections that no file can be opened."""
    server = start()
    hospital, _ = server.at_bundles()
    data = hospital.sealed()
    hospital.announce(data)
    hospital.patch(data[:-1])
    if sys.platform != "linux":
        pytest.skip("limits of another process can be set on Linux only")
    used = len(os.listdir(f"/proc/{server.process.pid}/fd"))  # noqa: PTH208
    before = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (used + 2, before[1]))
    hospital.patch(data[-1:], len(data) - 1)
    until(lambda: "unexpected" in server.said(), "trouble")
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, before)
    until(lambda: hospital.state == "accepted", "the verdict")


def test_a_flood_of_connections_makes_no_error_of_the_server(start):
    """More of them than it may open files: whoever is connected is told why, and not by 500."""
    server = start()
    hospital, _ = server.at_bundles()
    data = os.urandom(1000)
    hospital.announce(data)
    if sys.platform != "linux":
        pytest.skip("limits of another process can be set on Linux only")
    before = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (64, before[1]))
    with ExitStack() as held:
        for _ in range(80):
            held.enter_context(server.connect())
        time.sleep(0.3)
        answer = hospital.ask("PATCH", "upload?offset=0", content=data)
    assert answer.status_code != 500, answer.text
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, before)
    until(lambda: server.ask("GET", "/api/unit", token=None).status_code == 200, "an answer")


def test_after_all_this_work_the_next_exchange_works(server, sound):
    del sound
    server.works()
