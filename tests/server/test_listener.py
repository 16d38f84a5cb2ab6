"""Real servers, in processes of their own, with real workers."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from itertools import permutations
from urllib.parse import quote

import httpx
import pytest
import typer
from typer.testing import CliRunner

from gramlink.bundles.results import Results
from gramlink.bundles.sealing import Recipient, new_identity, seal, unseal_from
from gramlink.cli.unit.serve import serve
from gramlink.server import exchanges, listener
from gramlink.server.unit import opened
from server.parties import NAMES, SCHEMA, identity_of, sealed_bundle, sha256, wait_for

RUN = "from gramlink.cli import main; main()"
LONG = 60  # seconds that a loaded machine may take


class Server:
    """A server process, and its operator."""

    def __init__(self, folder, *options):
        self.folder = folder
        command = [
            sys.executable,
            "-c",
            RUN,
            "unit",
            "serve",
            "--data",
            str(folder),
            "--port",
            "0",
            *options,
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        lines = []
        while not lines or "make an exchange" not in lines[-1]:
            lines.append(self.process.stdout.readline())
            assert lines[-1], self.process.stderr.read()
        self.url = re.search(r"listens at (\S+)", lines[0])[1]
        self.address = ("127.0.0.1", int(self.url.rpartition(":")[2]))
        token = (folder / "operator.token").read_text().strip()
        self.operator = self.client(token)

    def client(self, token):
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=LONG, trust_env=False)

    def make(self, name, parties=NAMES):
        asked = {"name": name, "schema": SCHEMA, "parties": list(parties)}
        answer = self.operator.post("/api/exchanges", json=asked)
        assert answer.status_code == 201, answer.text
        return answer.json()["tokens"]

    def stage(self, name):
        return self.operator.get(f"/api/exchanges/{name}").json()["stage"]

    def connect(self):
        return socket.create_connection(self.address, LONG)

    def kill(self):
        self.process.kill()
        self.end()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self):
        self.operator.close()
        code = self.process.wait(LONG)
        err = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, err


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "unit"
    server = Server(folder, "--patience", "4", "--largest-bundle", str(10**7))
    yield server
    _, err = server.stop()
    assert "Traceback" not in err
    assert "unexpected" not in err


def prepare(server, name, parties=NAMES):
    """An exchange at which bundles are awaited: a client for each party."""
    tokens = server.make(name, parties)
    clients = {party: server.client(token) for party, token in tokens.items()}
    path = f"/api/exchanges/{name}"
    for party, client in clients.items():
        key = identity_of(party).recipient.key
        assert client.put(f"{path}/recipient", content=key).status_code == 204
    for party, client in clients.items():
        for other in parties:
            if other != party:
                sealed = seal(b"grams", [identity_of(other).recipient])
                url = f"{path}/mined/{quote(other, safe='')}"
                assert client.put(url, content=sealed).status_code == 204
    return path, clients


def announce(client, path, data):
    answer = client.post(f"{path}/upload", json={"size": len(data), "sha256": sha256(data)})
    assert answer.status_code == 200, answer.text
    return answer.json()["offset"]


def upload(client, path, data):
    offset = announce(client, path, data)
    return client.patch(f"{path}/upload?offset={offset}", content=data[offset:])


def test_an_exchange_outlives_servers_that_are_killed(tmp_path):
    folder = tmp_path / "unit"
    server = Server(folder)
    path, clients = prepare(server, "stroke-2026")
    recipient = Recipient(httpx.get(f"{server.url}/api/unit", trust_env=False).json()["recipient"])
    first = sealed_bundle("hospital", recipient)
    announce(clients["hospital"], path, first)
    half = len(first) // 2
    assert clients["hospital"].patch(f"{path}/upload?offset=0", content=first[:half]).is_success
    server.kill()

    server = Server(folder)
    again = {
        party: server.client(one.headers["authorization"][7:]) for party, one in clients.items()
    }
    assert announce(again["hospital"], path, first) == half
    assert upload(again["hospital"], path, first).json() == {"offset": len(first)}
    assert upload(again["registry"], path, sealed_bundle("registry", recipient)).is_success
    workers = wait_for(lambda: children(server.process.pid))
    server.kill()
    wait_for(lambda: not any(alive(worker) for worker in workers))

    server = Server(folder)
    for client in [*clients.values(), *again.values()]:
        client.close()
    wait_for(lambda: server.stage("stroke-2026") == "done", 60)
    for party, one in again.items():
        with server.client(one.headers["authorization"][7:]) as client:
            sealed = client.get(f"{path}/results").content
        results = Results.from_bytes(
            unseal_from(sealed, identity_of(party), "results")[0], "results"
        )
        assert len(results.tables["links"]) >= 25
    assert server.operator.get("/api/log").json()["intact"]
    code, err = server.stop()
    assert code == 143
    assert err == ""
    assert not list(folder.rglob("*.part"))


def children(pid):
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True
    )
    return [int(one) for one in listed.stdout.split()]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_answer_is_not_held_back_until_its_head_is_acknowledged():
    with (
        listener.listening(listener.Address(port=0)) as socket_,
        socket.create_connection(socket_.getsockname()),
        socket_.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_second_server_on_the_same_folder_is_refused(server):
    assert "another process is serving" in str(invoked(server.folder).exception)


def test_twenty_parties_upload_at_once(server):
    names = [f"party {number}" for number in range(20)]
    tokens = server.make("crowd", names)
    path = "/api/exchanges/crowd"
    with opened(server.folder) as unit, unit.store.change() as db:
        crowd = db.parties.of(exchanges.find(db, "crowd").number)
        for party in crowd:
            db.parties.give_recipient(party.number, new_identity().recipient.key)
        for sender, receiver in permutations(crowd, 2):
            db.mined.add(sender.number, receiver.number, "")
    answers = {}

    def send(name):
        data = os.urandom(3 * 10**6)
        with server.client(tokens[name]) as client:
            answers[name] = upload(client, path, data).json()

    threads = [threading.Thread(target=send, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {name: {"offset": 3 * 10**6} for name in names}
    assert server.operator.delete(path).status_code == 204


def test_a_name_with_a_percent_sign_is_found(server):
    names = ("100%2F", "a%b#c")
    path, clients = prepare(server, "percent", names)
    answer = clients[names[0]].get(f"{path}/mined/{quote(names[1], safe='')}")
    assert answer.status_code == 200
    for client in clients.values():
        client.close()


def raw(server, *parts, wait=0.0):
    """What is answered to bytes that no client would send."""
    with server.connect() as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(wait)
        answer = b""
        try:
            while piece := connection.recv(65536):
                answer += piece
        except TimeoutError:
            pass
        return answer


def request(token, method, path, *headers):
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"\0\0\0\0",
        b"nonsense\r\n\r\n",
        b"GET /api/unit HTTP/1.1\r\n\r\n",
        b"GET /" + b"x" * 30000,
        b"GET /api/unit HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 10**5,
        b"POST /api/exchanges HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        b"POST /api/exchanges HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    ],
    ids=lambda data: repr(data[:30]),
)
def test_what_is_not_http_is_refused(server, data):
    assert raw(server, data).startswith(b"HTTP/1.1 400")
    assert server.operator.get("/api/unit").status_code == 200


@pytest.mark.parametrize(
    "start", [b"", b"GET /api/unit HT", b"GET /api/unit HTTP/1.1\r\nHost: x\r\n"]
)
def test_a_connection_on_which_nothing_is_asked_is_closed(server, start):
    begin = time.monotonic()
    raw(server, start)
    assert time.monotonic() - begin < LONG  # or nothing ends it


def test_a_slow_body_is_not_waited_for_and_what_came_is_kept(server):
    path, clients = prepare(server, "slow")
    client, data = clients["hospital"], os.urandom(5000)
    announce(client, path, data)
    token = client.headers["authorization"][7:]
    head = request(token, "PATCH", f"{path}/upload?offset=0", "Content-Length: 5000")
    answer = raw(server, head, data[:1000])
    assert answer.startswith(b"HTTP/1.1 408")
    assert announce(client, path, data) == 1000
    with server.connect() as connection:
        rest = head.replace(b"offset=0", b"offset=1000").replace(b": 5000", b": 4000")
        connection.sendall(rest + data[1000:1500])
        time.sleep(0.2)
    wait_for(lambda: announce(client, path, data) == 1500)
    assert upload(client, path, data).json() == {"offset": 5000}
    for one in clients.values():
        one.close()


def test_chunks_are_bounded_as_well(server):
    path, clients = prepare(server, "chunks")
    client = clients["hospital"]
    announce(client, path, bytes(5000))

    def endless():
        for _ in range(200):
            yield bytes(10000)

    assert client.patch(f"{path}/upload?offset=0", content=endless()).status_code == 413
    assert client.put(f"{path}/recipient", content=endless()).status_code == 413
    token = client.headers["authorization"][7:]
    head = request(token, "PUT", f"{path}/recipient", "Transfer-Encoding: chunked")
    assert raw(server, head, b"zz\r\nx").startswith(b"HTTP/1.1 400")
    for one in clients.values():
        one.close()


def test_a_limit_on_the_size_of_files_is_a_lack_of_room(tmp_path):
    resource = pytest.importorskip("resource")
    server = Server(tmp_path / "unit")
    path, clients = prepare(server, "full")
    data = os.urandom(10**6)
    announce(clients["hospital"], path, data)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (500_000, 500_000))
    answer = clients["hospital"].patch(f"{path}/upload?offset=0", content=data)
    assert answer.status_code == 413
    assert "no room" in answer.json()["error"]
    assert not list(server.folder.rglob("*.part"))
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, 0))
    sealed = seal(b"grams", [identity_of("registry").recipient])
    url = f"{path}/mined/registry"
    assert clients["hospital"].put(url, content=sealed).status_code == 413
    answer = server.operator.delete(path)
    assert answer.status_code == 413, answer.text
    assert server.operator.get(path).status_code == 200
    for one in clients.values():
        one.close()
    server.kill()


def invoked(folder, *options):
    """The command in this process."""
    app = typer.Typer()
    app.command()(serve)
    return CliRunner().invoke(app, ["--data", str(folder), "--port", "0", *options])


def test_without_a_certificate_the_world_is_warned(tmp_path, monkeypatch):
    monkeypatch.setattr(listener, "serve_on", lambda _listener, unit, _address: unit.store.close())
    for host, warned in (("0.0.0.0", True), ("127.0.0.1", False), ("localhost", False)):
        result = invoked(tmp_path / "unit", "--host", host)
        assert result.exit_code == 0
        assert ("without a certificate" in result.stderr) == warned
        assert str(tmp_path / "unit" / "operator.token") in result.stdout


def test_without_the_extra_it_is_said_what_to_install(tmp_path):
    code = "import sys; sys.modules['uvicorn'] = None; from gramlink.cli import main; main()"
    command = [sys.executable, "-c", code, "unit", "serve", "--data", str(tmp_path / "unit")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert "uvicorn is missing" in result.stderr
    assert "hint: pip install gramlink[server]" in result.stderr
    assert not (tmp_path / "unit").exists()


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl to make a certificate")
def test_a_certificate_makes_it_https(tmp_path):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    files = ("--certificate", f"{tmp_path}/cert.pem", "--private-key", f"{tmp_path}/key.pem")
    server = Server(tmp_path / "unit", *files)
    trusted = ssl.create_default_context(cafile=f"{tmp_path}/cert.pem")
    with httpx.Client(base_url=server.url, verify=trusted, trust_env=False) as client:
        assert client.get("/api/unit").status_code == 200
        token = (server.folder / "operator.token").read_text().strip()
        answer = client.post("/sign-in", data={"token": token})
        assert "Secure" in answer.headers["set-cookie"]
    with ExitStack() as held:
        allow_files(server, 256)
        for _ in range(300):  # which never begin with TLS
            held.enter_context(server.connect())
        answer = httpx.get(f"{server.url}/api/unit", verify=trusted, trust_env=False)
        assert answer.status_code == 200
    with server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert b"HTTP" not in connection.recv(100)
    code, err = server.stop()
    assert code == 143
    assert len(err.splitlines()) <= 1  # however many connections found too many files open


def allow_files(server, most):
    """Have the system permit a server so many open files, where it can."""
    if sys.platform == "linux":
        import resource

        before = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (most, before[1]))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--port", "70000"], "70000 is not a port number"),
        (["--certificate", "x.pem"], "together with its private key"),
        (["--certificate", "x.pem", "--private-key", "y.pem"], "x.pem is not a file"),
        (["--workers", "0"], "workers cannot be 0"),
        (["--keep-days", "-1"], "cannot be kept"),
        (["--patience", "0"], "the server cannot wait"),
        (["--largest-bundle", "0"], "largest bundle"),
        (["--host", "300.0.0.1"], "cannot listen on"),
        (["--host", "\0"], "cannot listen on"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense(tmp_path, options, says):
    assert says in str(invoked(tmp_path / "unit", *options).exception)
