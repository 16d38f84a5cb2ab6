"""Tries: one fault on one command, the next run, and what was wrong after each."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random

from faults import mounts
from faults.invariants import Stage, problems_after_a_fault, problems_at_the_end, stale
from faults.outcome import Outcome, impolite
from faults.processes import Process, asked, run, run_struck, start
from faults.strikes import TORN, Strike, draw
from faults.world import Reference, copy

DISK = 32 * 2**20
_THERE = ("exists already", "there already is")  # how a command says that it has been run


Try = Callable[[Reference, Path, Random], Outcome]


def kill(reference: Reference, place: Path, random: Random) -> Outcome:
    """Kill it up to three times, each somewhere else; then it must end well."""
    stage, found = _staged(reference, place / "stage"), Outcome()
    for _ in range(random.choice([1, 1, 2, 3])):
        strike = draw(random, reference.seconds, reference.calls)
        process = run_struck(reference.command.line, stage.folder, place / "said.txt", strike)
        if not process.killed:
            if process.code and not found.hits:
                found.problems.append(f"it failed before anything befell it: {process.said}")
            break
        found.hits += 1
        wrong = problems_after_a_fault(stage, reference)
        if left := process.left():
            wrong.append(f"{len(left)} processes of it are still there")
        found.problems += [f"killed {strike}: {one}" for one in wrong]
        last = strike
    if found.hits:
        found.problems += [f"killed {last}, then: {one}" for one in _next_run(stage, reference)]
    return found


def torn_write(reference: Reference, place: Path, random: Random) -> Outcome:
    """Only half of a line of the ledger is written, as if the power failed.

    It counts at its worst, so the next run may be refused for want of budget, if it says so.
    """
    if not any(name.endswith(".ledger") for name in reference.command.writes):
        return Outcome()
    stage, strike = (
        _staged(reference, place / "stage"),
        Strike(TORN, random.choice(reference.writes)),
    )
    line, output = reference.command.line, place / "said.txt"
    wrong = [] if run_struck(line, stage.folder, output, strike).killed else ["nothing was torn"]
    wrong += problems_after_a_fault(stage, reference)
    wrong += impolite(_again(line, stage, output))
    wrong += problems_after_a_fault(stage, reference, losses=1)
    return Outcome(1, [f"{strike}: {one}" for one in wrong])


def nothing(reference: Reference, place: Path, random: Random) -> Outcome:  # noqa: ARG001
    """What cannot happen."""
    return Outcome()


def full_disk(reference: Reference, place: Path, random: Random) -> Outcome:
    """Little room, or none; then enough."""
    if why := mounts.why_not():
        return Outcome(skipped=why)
    left = random.choice([0, random.randrange(2**19)])
    return apart(partial(_full, place, left), reference, place)


def _full(place: Path, left: int, reference: Reference) -> Outcome:
    stage = _mounted(reference, place)
    ballast = mounts.fill(stage.folder.parent, left)
    process = run(reference.command.line, stage.folder, place / "said.txt")
    wrong = impolite(process) + problems_after_a_fault(stage, reference)
    wrong += [f"{name} is left" for name in stale(set(stage.files()))]
    ballast.unlink()
    wrong += [f"then: {one}" for one in _next_run(stage, reference)]
    return Outcome(1, [f"{left} bytes of room: {one}" for one in wrong])


def read_only(reference: Reference, place: Path, random: Random) -> Outcome:  # noqa: ARG001
    """A folder that cannot be written to; then one that can."""
    if why := mounts.why_not():
        return Outcome(skipped=why)
    return apart(partial(_protected, place), reference, place)


def _protected(place: Path, reference: Reference) -> Outcome:
    stage = _mounted(reference, place)
    before = set(stage.files())
    mounts.protect(stage.folder.parent, read_only=True)
    process = run(reference.command.line, stage.folder, place / "said.txt")
    wrong = impolite(process) + problems_after_a_fault(stage, reference)
    if not process.code:
        wrong.append("it succeeded")
    if set(stage.files()) != before:
        wrong.append("it changed the folder")
    mounts.protect(stage.folder.parent, read_only=False)
    wrong += [f"then: {one}" for one in _next_run(stage, reference)]
    return Outcome(1, wrong)


def clock_set_back(reference: Reference, place: Path, random: Random) -> Outcome:
    """A clock that is an hour to decades behind what the files say."""
    stage, days = _staged(reference, place / "stage"), random.choice([1, 400, 15_000])
    process = run(reference.command.line, stage.folder, place / "said.txt", days_back=days)
    wrong = [] if process.code == 0 else [f"it failed: {process.said.strip()}"]
    wrong += problems_at_the_end(stage, reference)
    return Outcome(1, [f"{days} days back: {one}" for one in wrong])


def two_at_once(reference: Reference, place: Path, random: Random) -> Outcome:
    """The same command twice at once in one folder: each succeeds, or says why not."""
    command, found = reference.command, Outcome()
    for options in ((), *filter(None, [command.other])):
        stage = _staged(reference, place / f"stage{found.hits}")
        later = random.uniform(0, reference.seconds / 3)
        found.problems += _both(stage, command.line, (*command.line, *options), later)
        found.problems += problems_after_a_fault(stage, reference)
        if not options:  # else it depends on who came first
            found.problems += _next_run(stage, reference)
        found.hits += 1
    return found


def _both(stage: Stage, line: tuple[str, ...], second: tuple[str, ...], later: float) -> list[str]:
    """What is wrong with how two processes ended, of which one started later."""
    one = start(line, stage.folder, stage.scratch / "one.txt")
    one.wait(later)
    other = start(second, stage.folder, stage.scratch / "other.txt")
    wrong = []
    for process in (one, other):
        if not process.wait():
            process.kill()
            wrong.append("it never ended")
        wrong += impolite(process)
    if one.code and other.code:
        wrong.append(f"neither succeeded: {one.said.strip()}; {other.said.strip()}")
    return wrong


def _next_run(stage: Stage, reference: Reference) -> list[str]:
    """Run it again, as a user would, and look at the outcome."""
    command, output = reference.command, stage.scratch / "next.txt"
    process = _again(command.line, stage, output)
    if process.code and any(word in process.said for word in _THERE):
        missing = [name for name in command.writes if not (stage.folder / name).exists()]
        if not missing:  # it had done everything
            return problems_at_the_end(stage, reference)
        for name in missing:
            process = _again(command.mend(name), stage, output)
    if process.code:
        return [f"the next run failed: {process.said.strip()}"]
    return problems_at_the_end(stage, reference)


def _again(line: tuple[str, ...], stage: Stage, output: Path) -> Process:
    output.unlink(missing_ok=True)
    return run(line, stage.folder, output)


def _staged(reference: Reference, folder: Path) -> Stage:
    copy(reference.before, folder, reference.command.needs)
    return Stage(folder, folder.parent, reference.before.parent / "now")


def _mounted(reference: Reference, place: Path) -> Stage:
    disk = place / "disk"
    disk.mkdir()
    mounts.mount(disk, DISK)
    copy(reference.before, disk / "stage", reference.command.needs)
    return Stage(disk / "stage", place, reference.before.parent / "now")


def apart(what: Callable[[Reference], Outcome], reference: Reference, place: Path) -> Outcome:
    """Try something in a process of its own, whose mounts end with it."""
    told = asked(lambda: json.dumps(asdict(what(reference))), place / "outcome")
    return Outcome(**json.loads(told))


def attempt(one: Try, reference: Reference, place: Path, random: Random) -> Outcome:
    """Try it in a new folder, which is deleted after."""
    place.mkdir(parents=True)
    try:
        return one(reference, place, random)
    finally:
        shutil.rmtree(place)
