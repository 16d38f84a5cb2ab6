"""A linkage unit's server in a crowd: how long a party's call takes while many others ask too."""

import os
import random
import resource
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import httpx

import gramlink as gl
from benchmarks.common import markdown
from benchmarks.serving import Unit
from gramlink.bundles.sealing import HEADER
from gramlink.server import auth
from gramlink.server.settings import Settings
from gramlink.server.unit import prepared

EXCHANGES, IDLE, UPLOADING, SLOW = 10_000, 1_000, 50, 50
SECONDS = 30
BUNDLE, PIECE = 8 * 2**20, 2**20
PACE = 1.0  # seconds between two pieces of a party's bundle
AT_FIRST = 8.0  # seconds within which all have begun
NAMES = ("hospital", "registry")
TOML = "[fields.surname]\n"


@dataclass
class Calls:
    """How long calls took, by what was asked, and how they were answered."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    statuses: dict[int, int] = field(default_factory=dict)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, what: str, client: httpx.Client, method: str, path: str, **sent: Any) -> Any:
        """Ask, and note how long the answer took."""
        started = perf_counter()
        answer = client.request(method, path, **sent)
        took = perf_counter() - started
        with self.turn:
            self.seconds.setdefault(what, []).append(took)
            self.statuses[answer.status_code] = self.statuses.get(answer.status_code, 0) + 1
        return answer

    def rows(self) -> list[list[str]]:
        """The rows of a table: the median, the 99th percentile and the longest."""
        found = []
        for what, seconds in sorted(self.seconds.items()):
            ordered = sorted(seconds)
            shown = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99, 1))
            found.append([what, f"{len(ordered):,}", *(f"{1000 * one:,.0f}" for one in shown)])
        return found


def filled(folder: Path) -> list[tuple[str, str]]:
    """A unit with many exchanges; return the exchange and token of parties that may upload."""
    unit = prepared(Settings(folder))
    tokens = []
    with unit.store.change() as db:
        for number in range(EXCHANGES):
            name = f"exchange-{number}"
            exchange = db.exchanges.add(name, TOML, "2026-01-01T00:00:00Z")
            db.exchanges.plan_erasing(exchange, "2099-01-01T00:00:00Z")
            parties = [db.parties.add(exchange, party, "links") for party in NAMES]
            for party in parties:
                db.parties.give_recipient(party, gl.new_identity().recipient.key)
            db.mined.add(*parties, "0" * 64)
            db.mined.add(*parties[::-1], "0" * 64)
            unit.folder.of(exchange).mkdir()
            if number < (UPLOADING + SLOW) // 2:
                tokens += [(name, auth.give(db, party, 1)[0].text) for party in parties]
    unit.store.close()
    return tokens


def upload(unit: Unit, exchange: str, token: str, calls: Calls, over: threading.Event) -> None:
    """Upload a bundle in pieces, look how the exchange stands in between, and withdraw it."""
    path, client = f"/api/exchanges/{exchange}", connected(unit, token)
    over.wait(random.uniform(0, AT_FIRST))
    began = perf_counter()
    while not over.is_set():
        # no real bundle: this is about what comes before a worker opens it
        data = HEADER + os.urandom(BUNDLE - len(HEADER))
        told = {"size": len(data), "sha256": "0" * 64}
        calls.ask("announce a bundle", client, "POST", f"{path}/upload", json=told)
        for start in range(0, BUNDLE - PIECE, PIECE):  # all but the last piece
            if over.wait(max(0.0, began + PACE - perf_counter())):
                break
            began = perf_counter()
            piece, url = data[start : start + PIECE], f"{path}/upload?offset={start}"
            calls.ask("send 1 MiB of a bundle", client, "PATCH", url, content=piece)
            calls.ask("ask how the exchange stands", client, "GET", path)
        calls.ask("withdraw the bundle", client, "DELETE", f"{path}/bundle")
    client.close()


def look(unit: Unit, calls: Calls, over: threading.Event) -> None:
    """Be the operator, who looks through the exchanges."""
    token = (unit.data / "operator.token").read_text().strip()
    client = connected(unit, token)
    while not over.wait(0.5):
        calls.ask("list 100 exchanges", client, "GET", "/api/exchanges?after=exchange-5000")
        calls.ask("the operator's page", client, "GET", "/")
    client.close()


def crawl(unit: Unit, exchange: str, token: str, over: threading.Event) -> None:
    """Send a body at a byte a second."""
    client = connected(unit, token)
    told = {"size": BUNDLE, "sha256": "0" * 64}
    over.wait(random.uniform(0, AT_FIRST))
    client.post(f"/api/exchanges/{exchange}/upload", json=told)
    client.close()
    head = (
        f"PATCH /api/exchanges/{exchange}/upload?offset=0 HTTP/1.1\r\nHost: unit\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {BUNDLE}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", unit.port)) as connection:
        connection.sendall(head.encode())
        while not over.wait(1):
            connection.sendall(b"a")


def connected(unit: Unit, token: str) -> httpx.Client:
    """A client with a token."""
    return httpx.Client(
        base_url=f"http://127.0.0.1:{unit.port}",
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
        trust_env=False,
        verify=False,  # there is no TLS, and reading all authorities takes a while
    )


def measured(folder: Path) -> tuple[Calls, float, float]:
    """All calls, the most memory of the server, in MB, and its share of a processor."""
    tokens = filled(folder)
    unit, calls, over = Unit(folder), Calls(), threading.Event()
    uploading, slow = tokens[:UPLOADING], tokens[UPLOADING:]
    work: list[Callable[[], None]] = [lambda: look(unit, calls, over)]
    work += [lambda one=one: upload(unit, *one, calls, over) for one in uploading]  # type: ignore[misc]
    work += [lambda one=one: crawl(unit, *one, over) for one in slow]  # type: ignore[misc]
    try:
        with ExitStack() as held:
            for _ in range(IDLE):
                held.enter_context(socket.create_connection(("127.0.0.1", unit.port)))
            threads = [threading.Thread(target=one) for one in work]
            for thread in threads:
                thread.start()
            before = unit.processor
            sleep(SECONDS)
            share = (unit.processor - before) / SECONDS
            over.set()
            for thread in threads:
                thread.join()
    finally:
        unit.stop()
    return calls, unit.peak, share


def table() -> str:
    """The table of this part."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, most), most))
    with tempfile.TemporaryDirectory() as folder:
        calls, peak, share = measured(Path(folder) / "unit")
    answered = ", ".join(f"{count:,} with {status}" for status, count in calls.statuses.items())
    return (
        "### In a crowd\n\n"
        f"A server with {EXCHANGES:,} exchanges, {IDLE:,} connections on which nothing is asked, "
        f"{SLOW} bodies that arrive at a byte a second, {UPLOADING} parties that upload at once, "
        f"{PIECE / 2**20 / PACE:g} MiB a second each, and an operator who looks through the "
        f"exchanges; {SECONDS} s on loopback, with the clients in one process on the same two "
        f"cores. Answered: {answered}. The server took {peak:.0f} MB at most, and "
        f"{share:.0%} of one processor; the machine's load was {os.getloadavg()[0]:.0f}.\n\n"
        + markdown(("a call", "calls", "median, ms", "99th percentile, ms", "longest, ms"),
                   calls.rows())
    )  # fmt: skip


if __name__ == "__main__":
    print(table())
