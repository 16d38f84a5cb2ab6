"""An exchange over the network: a server, its workers and two owners, killed at random."""

import json
import shutil
import socket
import time
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from random import Random

from faults import mounts
from faults.commands import EPSILON
from faults.invariants import Stage, stale, unpaid
from faults.outcome import Outcome, impolite
from faults.processes import run
from faults.roles import Role, kill_worker
from faults.strikes import Strike, draw
from faults.tries import apart
from faults.world import Reference

OWNERS = ("hospital", "registry")
_OWN = ("csv", "mined.json", "ledger")
PATIENCE = 180.0  # seconds until an exchange must be over
DISK = 160 * 2**20  # the server keeps 64 MiB free of bundles
SECONDS, CALLS = 5.0, 70  # about what each one's part takes


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
    """A server, then an owner, with little room or none; then with enough."""
    return _on_disks(reference, place, random, crowded=True)


def read_only(reference: Reference, place: Path, random: Random) -> Outcome:
    """A server, then an owner, in a folder that cannot be written to; then in one that can."""
    return _on_disks(reference, place, random, crowded=False)


def _on_disks(reference: Reference, place: Path, random: Random, *, crowded: bool) -> Outcome:
    if why := mounts.why_not():
        return Outcome(skipped=why)
    found = Outcome()
    for disk in ("unit", OWNERS[0]):
        (place / f"on-{disk}").mkdir()
        exchange = Exchange(place / f"on-{disk}", random, disk=disk, crowded=crowded)
        one = apart(exchange.run, reference, place)
        found.hits += one.hits
        found.problems += [f"on the disk of {disk}: {problem}" for problem in one.problems]
    return found


@dataclass(slots=True)
class Exchange:
    """An exchange in a folder, and what went wrong in it."""

    place: Path
    random: Random
    kills: int = 0
    days_back: int = 0
    double: bool = False
    disk: str = ""  # whose folder has a disk of its own, full if crowded, else read-only at first
    crowded: bool = False
    ballast: Path | None = None
    found: Outcome = field(default_factory=Outcome)

    def run(self, reference: Reference) -> Outcome:
        """Have it, from its making to its end."""
        encoding = self.random.choice(["vectors", "veiled"])
        if self.disk:
            (self.place / self.disk).mkdir()
            mounts.mount(self.place / self.disk, DISK)
        self._prepare(reference.before.parent / "now", encoding)
        server, owners = self._roles()
        try:
            self._make(server)
            if self.crowded:
                room = self.random.randrange(self.random.choice([2**18, DISK // 2]))
                self.ballast = mounts.fill(self.place / self.disk, room)
                self.found.hits += 1
            elif self.disk == "unit":
                self._protect(server)
            server.start(self._strike())
            if self.disk == OWNERS[0] and not self.crowded:
                self._protect(owners[0])
            for role in owners:
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
            (self.place / owner).mkdir(exist_ok=True)
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
            if self.kills and time.monotonic() > worker_at and kill_worker(server.running):
                self.found.hits += 1  # one at most: the unit gives up a job whose workers die
                worker_at = end
            if self.ballast and time.monotonic() > room_at:
                self.ballast.unlink(missing_ok=True)
            if time.monotonic() > end:
                said = [role.running.said.strip()[-300:] for role in roles]
                self._wrong(f"it is not over after {PATIENCE:.0f} seconds: {said}")
                return
            time.sleep(0.01)

    def _protect(self, role: Role) -> None:
        """Start one in a folder that is read-only, which it must say."""
        self.found.hits += 1
        mounts.protect(self.place / self.disk, read_only=True)
        process = run(role.line, role.folder, self.place / "protected.txt")
        if not process.code:
            self._wrong(f"the {role.name} ran in a folder that is read-only")
        self.found.problems += impolite(process)
        mounts.protect(self.place / self.disk, read_only=False)

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
            for name in (*(f"{role.name}.{end}" for end in _OWN), "linkage.toml"):
                shutil.copy(role.folder / name, folder)
        stage = self._stage(folder)
        stage.said("merge", *(f"{owner}.mined.json" for owner in OWNERS))
        for owner in OWNERS:
            stage.said("embed", f"{owner}.csv")
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
