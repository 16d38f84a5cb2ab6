"""An exchange over the network: a server, its workers and two owners, killed at random."""

import json
import os
import shutil
import socket
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from random import Random

from faults import mounts
from faults.commands import EPSILON
from faults.invariants import Stage, stale, unpaid
from faults.outcome import Outcome, impolite
from faults.processes import Process, run, start
from faults.strikes import TIME, Strike, draw
from faults.tries import DISK, apart
from faults.world import Reference

OWNERS = ("hospital", "registry")
PATIENCE = 180.0  # seconds until an exchange must be over
SECONDS, CALLS = 5.0, 70  # about what each one's part takes


@dataclass(slots=True)
class Role:
    """One who takes part, started again whenever it was killed."""

    name: str
    line: tuple[str, ...]
    folder: Path
    output: Path
    process: Process | None = None
    strike: Strike | None = None
    begun: float = 0.0

    def start(self, strike: Strike | None = None, days_back: int = 0) -> None:
        """Start it, to be struck or not."""
        self.strike, self.begun = strike, time.monotonic()
        self.process = start(
            self.line, self.folder, self.output, strike=strike, days_back=days_back
        )

    @property
    def running(self) -> Process:
        """Its process."""
        assert self.process is not None
        return self.process

    def struck(self) -> bool:
        """Whether it was killed, now if it is time to."""
        strike = self.strike
        if strike and strike.kind == TIME and time.monotonic() > self.begun + strike.at:
            self.running.kill()
        return self.running.ended() and self.running.killed


def kill(reference: Reference, place: Path, random: Random) -> Outcome:
    """Kill the server, a worker and the owners, eight times or so in all."""
    return Exchange(place, random, kills=8).run(reference)


def clock_set_back(reference: Reference, place: Path, random: Random) -> Outcome:
    """Whoever is killed comes back with a clock that is behind."""
    found = Exchange(place, random, kills=4, days_back=random.choice([1, 30, 400])).run(reference)
    return Outcome(1, found.problems)


def two_at_once(reference: Reference, place: Path, random: Random) -> Outcome:
    """A second server and a second owner in the same folders."""
    return Exchange(place, random, double=True).run(reference)


def full_disk(reference: Reference, place: Path, random: Random) -> Outcome:
    """A server with little room or none; then with enough."""
    if why := mounts.why_not():
        return Outcome(skipped=why)
    return apart(Exchange(place, random, crowded=True).run, reference, place)


@dataclass(slots=True)
class Exchange:
    """An exchange in a folder, and what went wrong in it."""

    place: Path
    random: Random
    kills: int = 0
    days_back: int = 0
    double: bool = False
    crowded: bool = False
    ballast: Path | None = None
    found: Outcome = field(default_factory=Outcome)

    def run(self, reference: Reference) -> Outcome:
        """Have it, from its making to its end."""
        encoding = self.random.choice(["vectors", "veiled"])
        self._prepare(reference.before.parent / "now", encoding)
        server, owners = self._roles()
        try:
            self._make(server)
            if self.crowded:
                self.ballast = mounts.fill(self.place / "unit", self.random.randrange(2**18))
                self.found.hits += 1
            for role in (server, *owners):
                role.start(self._strike())
            if self.double:
                self._double(server, owners[0])
            self._live(server, owners)
            if not self.found.problems:
                self._check(server, owners, encoding)
        finally:
            for role in (server, *owners):
                if role.process:
                    role.process.kill()
        for role in (server, *owners):
            if role.running.left():
                self._wrong(f"processes of the {role.name} are still there")
        return self.found

    def _prepare(self, world: Path, encoding: str) -> None:
        schema = (world / "linkage.toml").read_text().replace('"veiled"', f'"{encoding}"')
        for owner in OWNERS:
            (self.place / owner).mkdir()
            shutil.copy(world / f"{owner}.csv", self.place / owner)
            (self.place / owner / "linkage.toml").write_text(schema)

    def _roles(self) -> tuple[Role, list[Role]]:
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        serve = ("unit", "serve", "--data", "unit", "--port", port)
        server = Role("server", serve, self.place, self.place / "server.txt")
        owners = []
        for owner, other in (OWNERS, OWNERS[::-1]):
            line = (
                *("exchange", f"http://127.0.0.1:{port}", f"{owner}.csv", "--yes"),
                *("--token-file", f"../stroke-{owner}.token", "--schema", "linkage.toml"),
                *("--epsilon", EPSILON, "--peer", f"../{other}/stroke-{other}/recipient"),
            )
            folder = self.place / owner
            owners.append(Role(owner, line, folder, self.place / f"{owner}.txt"))
        return server, owners

    def _make(self, server: Role) -> None:
        """The unit's folder, the exchange and its tokens."""
        if self.crowded:
            (self.place / "unit").mkdir()
            mounts.mount(self.place / "unit", DISK)
        server.start()
        while "listens at" not in server.running.said:
            if server.running.wait(0.05):
                raise RuntimeError(f"the server ended: {server.running.said}")
        server.running.kill()
        self._stage(self.place).said(
            "unit", "new", "stroke", "hospital/linkage.toml", *OWNERS, "--data", "unit"
        )

    def _strike(self) -> Strike | None:
        if self.found.hits >= self.kills:
            return None
        return draw(self.random, SECONDS, CALLS)

    def _live(self, server: Role, owners: list[Role]) -> None:
        """Start whoever was killed again, until both owners are done."""
        end = time.monotonic() + PATIENCE
        worker_at = time.monotonic() + self.random.uniform(0, 2 * SECONDS)
        roles, room_at = [server, *owners], time.monotonic() + self.random.uniform(2, 2 * SECONDS)
        while any(role in roles for role in owners):
            for role in list(roles):
                if role.struck():
                    self._hit(role)
                    role.start(self._strike(), self.days_back)
                elif role.running.ended():
                    if self.crowded and role.running.code and not impolite(role.running):
                        role.start()  # as whoever runs it would
                        time.sleep(0.5)
                        continue
                    if role is server or role.running.code:
                        self._wrong(f"the {role.name} ended: {role.running.said.strip()[-600:]}")
                        return
                    roles.remove(role)
            if self.kills and time.monotonic() > worker_at and _kill_worker(server):
                self.found.hits += 1  # one at most: the unit gives up a job whose workers die
                worker_at = end
            if self.ballast and time.monotonic() > room_at:
                self.ballast.unlink(missing_ok=True)
            if time.monotonic() > end:
                said = [role.running.said.strip()[-300:] for role in roles]
                self._wrong(f"it is not over after {PATIENCE:.0f} seconds: {said}")
                return
            time.sleep(0.01)

    def _double(self, server: Role, owner: Role) -> None:
        """Start a second server and a second owner, which must say why they cannot run."""
        begun = owner.folder / f"stroke-{owner.name}" / "exchange.json"
        end = time.monotonic() + PATIENCE
        while not begun.exists() and time.monotonic() < end:
            time.sleep(0.01)
        for role in (server, owner):
            self.found.hits += 1
            second = run(role.line, role.folder, self.place / "second.txt")
            if not second.code:
                self._wrong(f"a second {role.name} ran in the same folder")
            self.found.problems += impolite(second)

    def _hit(self, role: Role) -> None:
        self.found.hits += 1
        if role.running.left():
            self._wrong(f"processes of the killed {role.name} are still there")

    def _check(self, server: Role, owners: list[Role], encoding: str) -> None:
        for role in owners:
            again = run(role.line, role.folder, self.place / "again.txt")
            if again.code:
                self._wrong(f"the next run of {role.name} failed: {again.said.strip()[-600:]}")
            self._check_owner(role, encoding)
        if encoding == "vectors":
            self._compare(owners)
        server.running.kill()
        stage = self._stage(self.place)
        if not json.loads(stage.said("unit", "log", "--data", "unit", "--json"))["intact"]:
            self._wrong("the chain of the unit's log is broken")
        for name in stale(set(stage.files())):
            self._wrong(f"{name} is left")

    def _check_owner(self, role: Role, encoding: str) -> None:
        work = role.folder / f"stroke-{role.name}"
        shutil.copy(work / "mined.json", role.folder / f"{role.name}.mined.json")
        stage = self._stage(role.folder)
        now = json.loads(stage.said("ledger", f"{role.name}.ledger", "--json"))
        for problem in unpaid(stage, role.name, now):
            self._wrong(problem)
        if Fraction(now["spent"]) != Fraction(EPSILON) or len(now["releases"]) != 1:
            self._wrong(f"{role.name} spent {now['spent']} on {len(now['releases'])} releases")
        if None in [one["digest"] for one in now["releases"]]:
            self._wrong(f"the ledger of {role.name} does not say what was released")
        shown = [one for unit in now["exposures"] for one in unit["bundles"]]
        if len(shown) != 1:
            self._wrong(f"{role.name} has {len(shown)} exposures")
        secrets = [work / "contribution.json", work / "identity"]
        if encoding == "veiled" and any(path.exists() for path in secrets):
            self._wrong(f"{role.name} still has what could open the bundles")

    def _compare(self, owners: list[Role]) -> None:
        """Compare the links with those that commands make of the same mined files."""
        folder = self.place / "apart"
        folder.mkdir()
        for role in owners:
            work = role.folder / f"stroke-{role.name}"
            shutil.copy(work / "pseudonyms.key", folder / f"{role.name}.key")
            for name in (f"{role.name}.csv", f"{role.name}.mined.json", "linkage.toml"):
                shutil.copy(role.folder / name, folder)
        stage = self._stage(folder)
        stage.said("merge", *(f"{owner}.mined.json" for owner in OWNERS))
        for owner in OWNERS:
            stage.said("embed", f"{owner}.csv", "--ledger", f"{owner}-apart.ledger")
        stage.said("link", *(f"{owner}.bundle" for owner in OWNERS))
        for owner in OWNERS:
            stage.said("results", "links.csv", f"{owner}.csv")
            here = (folder / f"{owner}-links.csv").read_bytes()
            if here != (self.place / owner / f"stroke-{owner}" / "links.csv").read_bytes():
                self._wrong(f"the links of {owner} are not those that commands make")

    def _stage(self, folder: Path) -> Stage:
        return Stage(folder, self.place, folder)

    def _wrong(self, problem: str) -> None:
        self.found.problems.append(problem)


def _kill_worker(server: Role) -> bool:
    """Kill a worker of the server, if there is one."""
    for process in server.running.left(0):
        if process != server.running.pid:
            with suppress(OSError):
                command = Path(f"/proc/{process}/cmdline").read_bytes()
                if b"gramlink.server.worker" in command:
                    os.kill(process, 9)
                    return True
    return False
