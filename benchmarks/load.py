"""A linkage unit's server under load, on loopback: many parties at once, and one large upload."""

import hashlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, sleep

import gramlink as gl
from benchmarks import crowd
from benchmarks.common import markdown
from benchmarks.serving import MEMORY, Unit
from gramlink.bundles.sealing import seal_from, unseal_from
from gramlink.exchange.client import Client
from gramlink.lab.datasets import persons
from gramlink.server import exchanges
from gramlink.server.plan import Plan
from gramlink.server.unit import opened

EXCHANGES, ROWS, LARGE = 10, 100_000, 1_000_000
TOML = "\n".join(
    f'[fields.{name}]\nkind = "{kind}"'
    for name, kind in {
        "given_name": "text",
        "surname": "text",
        "date_of_birth": "date",
        "city": "text",
        "postcode": "digits",
    }.items()
)
NAMES = ("hospital", "registry")


@contextmanager
def served() -> Iterator[Unit]:
    """A server on a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        unit = Unit(Path(folder) / "unit")
        try:
            yield unit
        finally:
            unit.stop()


@dataclass(frozen=True, slots=True)
class Sender:
    """A party that is about to upload."""

    client: Client
    exchange: str
    identity: gl.Identity
    sealed: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of what it uploads."""
        return hashlib.sha256(self.sealed).hexdigest()

    def upload(self) -> None:
        """Upload the bundle."""
        file = io.BytesIO(self.sealed)
        self.client.upload(self.exchange, file, len(self.sealed), self.digest, None)

    def results(self) -> gl.Results:
        """Wait for the results, and open them."""
        while not any(
            party.results.ready
            for party in self.client.exchange(self.exchange).parties
            if party.results.bytes
        ):
            sleep(0.2)
        file = io.BytesIO()
        self.client.results(self.exchange, file)
        opened, _ = unseal_from(file.getvalue(), self.identity, "results")
        return gl.Results.from_bytes(opened, "results")


def bundles(rows: int) -> list[gl.Bundle]:
    """What two owners of so many persons send."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "linkage.toml"
        path.write_text(TOML)
        schema = gl.load_schema(path)
    people = persons(rows, seed=1)
    owners = [
        gl.Owner(name, gl.read_records(frame, schema), schema, name.encode() * 4)
        for name, frame in zip(NAMES, (people.left, people.right), strict=True)
    ]
    projection = gl.agree(*(owner.mine(None) for owner in owners))
    return [owner.embed(projection) for owner in owners]


def senders(unit: Unit, name: str, two: list[gl.Bundle]) -> list[Sender]:
    """The parties of a new exchange, when bundles are awaited."""
    with opened(unit.data) as folder, folder.store.change() as db:
        tokens = exchanges.create(db, folder.folder, Plan(name, TOML, NAMES))
        recipient = folder.recipient
    found = []
    for bundle in two:
        client, identity = unit.client(tokens[bundle.owner].text), gl.new_identity()
        client.put_recipient(name, identity.recipient.key)
        addressed = replace(bundle, exchange=name, reply=identity.recipient)
        sealed = seal_from(addressed.to_bytes(), identity, recipient)
        found.append(Sender(client, name, identity, sealed))
    for sender, other, to in (
        (found[0], found[1], NAMES[1]),
        (found[1], found[0], NAMES[0]),
    ):
        sender.client.put_mined(name, to, gl.seal(b"grams", [other.identity.recipient]))
    return found


def at_once(calls: list[Callable[[], object]]) -> float:
    """The seconds that calls take, all at the same time."""
    started = perf_counter()
    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result()
    return perf_counter() - started


def copied(data: bytes, path: Path) -> None:
    """Write a file to the disk, which is what an upload cannot do without."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def many(two: list[gl.Bundle]) -> list[str]:
    """Twenty parties, two an exchange, upload at once."""
    expected = gl.answer(two, dict.fromkeys(NAMES, "links")).results[NAMES[0]]
    with served() as unit:
        parties = [one for n in range(EXCHANGES) for one in senders(unit, f"load-{n}", two)]
        started = perf_counter()
        uploading = at_once([party.upload for party in parties])
        results = [party.results() for party in parties]
        whole = perf_counter() - started
        same = all(one.tables["links"].equals(expected.tables["links"]) for one in results)
        if not same:
            raise AssertionError("something was lost")
        with tempfile.TemporaryDirectory(dir=unit.data) as folder:
            plain = at_once(
                [
                    lambda n=n, party=party: copied(party.sealed, Path(folder) / str(n))  # type: ignore[misc]
                    for n, party in enumerate(parties)
                ]
            )
        size = len(parties[0].sealed) / 1e6
        return [
            f"{len(parties)} × {ROWS:,} rows",
            f"{size:.1f}",
            f"{uploading:.1f}",
            f"{len(parties) * size / uploading:.0f}",
            f"{uploading / plain:.1f}",
            f"{whole:.0f}",
            f"{unit.peak:.0f}",
            f"{unit.worker_peak:.0f}",
        ]


def large(two: list[gl.Bundle]) -> tuple[list[str], float]:
    """One upload of a million rows, cut off once, and with the server killed once."""
    with served() as unit:
        first, second = senders(unit, "large", two)
        sent, killed = 0, False

        def watched(done: int, total: int) -> None:
            nonlocal killed
            if done > 0.7 * total and not killed:
                killed = True
                unit.kill()
                unit.start()

        class Counting(io.BytesIO):
            cut = True

            def read(self, size: int | None = -1) -> bytes:
                nonlocal sent
                if self.cut and self.tell() > 0.4 * len(first.sealed):
                    raise KeyboardInterrupt  # the owner's process ends here
                data = super().read(size)
                sent += len(data)
                return data

        size = len(first.sealed)
        started = perf_counter()
        file = Counting(first.sealed)
        with suppress(KeyboardInterrupt):
            first.client.upload("large", file, size, first.digest, watched)
        file.cut = False
        first.client.upload("large", file, size, first.digest, watched)
        uploading = perf_counter() - started
        second.upload()
        links = first.results().tables["links"]
        whole = perf_counter() - started
        if not killed or len(links) < 0.4 * LARGE:
            raise AssertionError("the large upload was not resumed, or not linked")
        row = [
            f"2 × {LARGE:,} rows, one of them cut off and resumed",
            f"{size / 1e6:.0f}",
            f"{uploading:.1f}",
            f"{size / 1e6 / uploading:.0f}",
            "",
            f"{whole:.0f}",
            f"{unit.peak:.0f}",
            f"{unit.worker_peak:.0f}",
        ]
        return row, sent / size


def table() -> str:
    """The tables of this part."""
    row, again = large(bundles(LARGE))
    rows = [many(bundles(ROWS)), row]
    head = ["load", "MB each", "uploading, s", "MB/s", "times plain files", "to the last result, s",
            "server, peak MB", "worker, peak MB"]  # fmt: skip
    return (
        "## The server under load\n\n"
        f"A server process on loopback, one worker at a time with at most {MEMORY // 2**30} GiB, "
        f"and clients in another process, 2 cores for all. {2 * EXCHANGES} parties of "
        f"{EXCHANGES} exchanges all at once upload sealed bundles of {ROWS:,} persons each (five "
        "fields, k = 75 for each text field, ε = 1, 1 edit); all are checked, linked and fetched, "
        "and the links are those of one process. Then two bundles of a million are "
        "uploaded. The owner's process ends at 40 % of the first and the server is killed (-9) at "
        f"70 %; in all, {100 * (again - 1):.0f} % more bytes are sent than the file has. "
        "Plain files: the same bytes written and synced by as many threads at once.\n\n"
        + markdown(head, rows)
        + "\n"
        + crowd.table()
    )


if __name__ == "__main__":
    print(table())
