"""Bodies and heads that are too large, too slow, cut off, repeated, or not what they say."""

import os
import socket
import threading
import time
from contextlib import ExitStack

import httpx
import pytest

from gramlink.bundles.sealing import seal
from hostile.attacking import (
    LARGEST,
    PATIENCE,
    assert_refused,
    head,
    identity_of,
    read_all,
    sha256,
    until,
)

pytestmark = pytest.mark.usefixtures("sound")
MANY = 60  # seconds, on a machine that has other things to do


def part_of(party):
    exchange = party.server.tables("SELECT exchange FROM parties WHERE number = ?", party.number)[
        0
    ][0]
    return party.server.data / "exchanges" / str(exchange) / f"upload-{party.number}.part"


def clear(party):
    """Have an upload forgotten that is not to be ended: no bytes of the next one are there."""
    party.announce(os.urandom(7))
    assert not part_of(party).exists()


def test_a_body_over_the_limit_is_refused(server, pair):
    hospital = pair[0]
    with server.untouched():
        told = {"size": LARGEST + 1, "sha256": "0" * 64}
        answer = hospital.ask("POST", "upload", json=told)
        assert_refused(answer, 413, f"{LARGEST:,}", "larger")
        answer = hospital.ask("PUT", "recipient", content=b"x" * 1025)
        assert_refused(answer, 413, "larger than the 1,024 bytes")
        answer = server.ask("POST", "/api/exchanges", content=b" " * (2**20 + 1))
        assert_refused(answer, 413, "larger")
        sealed = seal(bytes(64 * 2**20), [identity_of("registry").recipient])
        assert_refused(hospital.ask("PUT", "mined/registry", content=sealed), 413, "larger")


def test_a_body_over_what_was_announced_is_refused_and_not_kept(pair):
    hospital, data = pair[0], os.urandom(1000)
    hospital.announce(data)
    assert_refused(hospital.patch(data + b"x", says=413), 413, "larger than the 1,000 bytes")
    assert not part_of(hospital).exists() or part_of(hospital).stat().st_size == 0


def test_a_length_that_is_longer_than_the_body_is_not_waited_for(server, pair):
    """What came is kept, and can be gone on from."""
    hospital, data = pair[0], os.urandom(5000)
    hospital.announce(data)
    path = f"{hospital.path}/upload?offset=0"
    answer = server.raw(head("PATCH", path, hospital.token, "Content-Length: 5000"), data[:1000])
    assert answer.startswith(b"HTTP/1.1 408")
    assert f"nothing arrived for {PATIENCE} seconds".encode() in answer
    assert hospital.announce(data).json() == {"offset": 1000}
    clear(hospital)


def test_a_length_that_is_shorter_than_the_body_takes_no_more_than_it_says(server, pair):
    """What follows is another request, without a token, and none at all if it is not HTTP."""
    hospital, data = pair[0], os.urandom(5000)
    hospital.announce(data)
    path = f"{hospital.path}/upload?offset=0"
    start = head("PATCH", path, hospital.token, "Content-Length: 1000")
    answer = server.raw(start, b"x" * 1000 + b"\0" * 4000)
    assert answer.count(b"HTTP/1.1 ") == 2
    assert b'{"offset":1000}' in answer
    assert b"HTTP/1.1 400" in answer
    hidden = b"DELETE " + hospital.path.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    start = head("PATCH", path.replace("=0", "=1000"), hospital.token, "Content-Length: 1000")
    answer = server.raw(start, b"x" * 1000 + hidden)
    assert b'{"offset":2000}' in answer
    assert b"HTTP/1.1 401" in answer
    clear(hospital)


def test_an_endless_body_in_chunks_is_cut_off(server, pair):
    hospital, data = pair[0], os.urandom(5000)
    hospital.announce(data)
    sent = 0
    path = f"{hospital.path}/upload?offset=0"
    start = head("PATCH", path, hospital.token, "Transfer-Encoding: chunked")
    chunk = b"10000\r\n" + bytes(2**16) + b"\r\n"
    begin = time.monotonic()
    with server.connect() as connection:
        connection.sendall(start)
        try:
            while time.monotonic() < begin + MANY:
                connection.sendall(chunk)
                sent += 1
                time.sleep(0.01)
        except OSError:
            pass
        answer = read_all(connection)
    assert time.monotonic() < begin + MANY
    assert answer == b"" or answer.startswith(b"HTTP/1.1 413")
    assert sent > 0
    assert not part_of(hospital).exists() or part_of(hospital).stat().st_size <= 5000
    clear(hospital)


def test_a_slow_body_is_not_waited_for(server, pair):
    """Neither one that stops, nor a small one that comes byte by byte."""
    hospital = pair[0]
    begin = time.monotonic()
    start = head("PUT", f"{hospital.path}/recipient", hospital.token, "Content-Length: 62")
    answer = server.raw(start, b"age1")
    assert answer.startswith(b"HTTP/1.1 408")
    with server.connect() as connection:
        connection.settimeout(0.1)
        connection.sendall(start)
        answer = b""
        while not answer and time.monotonic() < begin + MANY:
            connection.sendall(b"x")
            try:
                answer = connection.recv(65536)
            except TimeoutError:
                continue
        connection.settimeout(MANY)
        answer += read_all(connection)
    assert answer.startswith(b"HTTP/1.1 408")
    assert f"not all of it arrived within {PATIENCE} seconds".encode() in answer


def test_an_upload_that_is_cut_off_goes_on_where_it_was(server, two):
    hospital = two[0]
    data = hospital.sealed()
    hospital.announce(data)
    path = f"{hospital.path}/upload?offset=0"
    start = head("PATCH", path, hospital.token, f"Content-Length: {len(data)}")
    with server.connect() as connection:
        connection.sendall(start + data[:1000])
        until(lambda: part_of(hospital).exists(), "a part")
    until(lambda: hospital.announce(data).json() == {"offset": 1000}, "the offset")
    assert_refused(hospital.ask("PATCH", "upload?offset=999", content=b"x"), 409, "at 1000")
    hospital.patch(data[1000:], 1000)
    assert hospital.verdict() == ("accepted", None)


def test_a_bundle_that_is_uploaded_again_changes_nothing_and_another_is_refused(server, two):
    hospital = two[0]
    data = hospital.upload()
    assert hospital.verdict() == ("accepted", None)
    with server.untouched():
        assert hospital.announce(data).json() == {"offset": len(data)}
        hospital.patch(b"", len(data))
        another = hospital.sealed()
        assert_refused(hospital.announce(another, 409), 409, "already uploaded")
        assert_refused(hospital.ask("PATCH", "upload?offset=0", content=another), 409, "continues")
        answer = hospital.ask("PATCH", f"upload?offset={len(data)}", content=another)
        assert answer.status_code in (200, 409)
        assert hospital.ask("GET", "", 200).json()["parties"][0]["bundle"]["sha256"] == sha256(data)


def test_the_second_of_two_uploads_at_once_is_refused(server, two):
    hospital = two[0]
    data = hospital.sealed()
    hospital.announce(data)
    path = f"{hospital.path}/upload?offset=0"
    start = head("PATCH", path, hospital.token, f"Content-Length: {len(data)}", "Connection: close")
    with server.connect() as connection:
        connection.sendall(start + data[:1000])
        until(lambda: part_of(hospital).exists(), "a part")
        assert_refused(hospital.ask("PATCH", "upload?offset=0", content=data), 409, "already")
        other = {"size": 5, "sha256": "0" * 64}
        assert_refused(hospital.ask("POST", "upload", json=other), 409, "already")
        connection.sendall(data[1000:])
        assert read_all(connection).startswith(b"HTTP/1.1 200")
    assert hospital.verdict() == ("accepted", None)


def test_many_uploads_at_once_make_one_bundle(server, two):
    """Whoever wins, the bundle is whole, and there is one job."""
    hospital = two[0]
    data = hospital.sealed()
    statuses = []

    def send():
        told = {"size": len(data), "sha256": sha256(data)}
        answer = hospital.ask("POST", "upload", json=told)
        statuses.append(answer.status_code)
        if answer.status_code == 200:
            offset = answer.json()["offset"]
            rest = data[offset:]
            statuses.append(
                hospital.ask("PATCH", f"upload?offset={offset}", content=rest).status_code
            )

    threads = [threading.Thread(target=send) for _ in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert set(statuses) <= {200, 409}
    assert hospital.verdict() == ("accepted", None)
    jobs = "SELECT count(*) FROM jobs WHERE party = ?"
    assert server.tables(jobs, hospital.number) == [(1,)]


def test_a_wrong_digest_leaves_nothing(pair):
    hospital, data = pair[0], os.urandom(3000)
    hospital.announce(data)
    answer = hospital.patch(data[:-1] + bytes([data[-1] ^ 1]), says=422)
    assert_refused(answer, 422, "sha256")
    assert not part_of(hospital).exists()


def test_a_giant_head_and_a_flood_of_headers_are_refused(server, pair):
    start = f"GET {pair[0].path} HTTP/1.1\r\nHost: x\r\n".encode()
    with server.untouched():
        for attack in (
            start + b"X: " + b"x" * 10**6 + b"\r\n\r\n",
            start + b"".join(b"X%d: x\r\n" % n for n in range(10**5)) + b"\r\n",
            b"GET /" + b"x" * 10**6 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            start + b"Cookie: gramlink=" + b"x" * 10**5 + b"\r\n\r\n",
        ):
            answer = server.raw(attack)
            assert answer == b"" or answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 401")
        endless = [b"X: x\r\n"] * 10
        begin = time.monotonic()
        server.raw(start, *endless, wait=0.05)
        assert time.monotonic() < begin + MANY


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"Content-Length: +5\r\n\r\nhello",
        b"Content-Length: 0x5\r\n\r\nhello",
        b"Content-Length: 5\r\n Content-Length: 6\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\nhello\r\n0\r\n\r\n",
    ],
)
def test_a_request_that_two_readers_would_read_differently_does_nothing(server, pair, lines):
    """With the token of a party, so that it is not for want of one."""
    hospital = pair[0]
    start = f"PUT {hospital.path}/recipient HTTP/1.1\r\nHost: x\r\n".encode()
    with server.untouched():
        token = f"Authorization: Bearer {hospital.token}\r\nConnection: close\r\n".encode()
        answer = server.raw(start + token + lines)
        assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 408", b"HTTP/1.1 422")
        assert answer.count(b"HTTP/1.1 ") == 1


def test_clients_that_ask_nothing_keep_nobody_out(server, pair):
    """Many connections that are open and silent: whoever asks is answered, and at once."""
    with ExitStack() as held:
        for _ in range(300):
            connection = held.enter_context(server.connect())
            connection.sendall(b"GET /api/unit HTTP/1.1\r\nHost: ")
        for _ in range(5):
            asked = {"Authorization": f"Bearer {pair[0].token}"}
            url = f"http://127.0.0.1:{server.port}{pair[0].path}"
            assert httpx.get(url, headers=asked, trust_env=False).status_code == 200
            assert server.ask("GET", "/api/unit", token=None).status_code == 200


def test_a_party_with_many_connections_keeps_out_nobody_but_itself(server, pair):
    hospital, registry = pair
    answers = []
    with ExitStack() as held:
        for _ in range(17):
            connection = held.enter_context(server.connect())
            connection.sendall(head("GET", hospital.path, hospital.token))
            answers.append(connection.recv(4096)[9:12])
        asked = {"Authorization": f"Bearer {registry.token}"}
        url = f"http://127.0.0.1:{server.port}{registry.path}"
        assert httpx.get(url, headers=asked, trust_env=False).status_code == 200
    assert answers[:14] == [b"200"] * 14
    assert answers[-1] == b"429"


def test_clients_that_do_not_read_do_not_keep_others_out_for_long(server):
    """Each asks for much over one connection, and never reads a byte of it."""
    if not os.path.exists("/proc/net/tcp"):  # noqa: PTH110
        pytest.skip("this system does not list connections")
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 200
    ports = set()
    with ExitStack() as held:
        for _ in range(10):
            connection = held.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(asked)
            ports.add(connection.getsockname()[1])
        time.sleep(1)
        end = time.monotonic() + MANY
        while open_at(server, ports) and time.monotonic() < end:
            time.sleep(0.2)
        assert open_at(server, ports) == set()


def open_at(server, ports):
    """Which of a client's ports the server still holds a connection to."""
    links = set()
    for one in os.listdir(f"/proc/{server.process.pid}/fd"):  # noqa: PTH208
        try:
            links.add(os.readlink(f"/proc/{server.process.pid}/fd/{one}"))  # noqa: PTH115
        except OSError:
            continue
    found = set()
    with open("/proc/net/tcp") as table:  # noqa: PTH123
        for line in table.readlines()[1:]:
            words = line.split()
            here, there = (int(words[n].rpartition(":")[2], 16) for n in (1, 2))
            if here == server.port and there in ports and f"socket:[{words[9]}]" in links:
                found.add(there)
    return found


def test_after_all_these_bodies_the_next_exchange_works(server):
    server.works()
