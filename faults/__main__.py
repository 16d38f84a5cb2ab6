"""Make faults, look at what is left, and count: `make faults`, or `make faults ARGS="--seed 7"`."""

import argparse
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from random import Random

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["GRAMLINK_THREADS"] = "1"  # before numpy starts any

from faults import network, tries, world
from faults.commands import COMMANDS
from faults.outcome import Outcome
from faults.processes import end_with_parent, import_all
from faults.report import FAULTS, Report, Trial

EXCHANGE = "exchange"  # which has a server, workers and two owners
RARE = {EXCHANGE: 8, "unit inbox": 8, "audit": 3}  # rounds for each kill of what takes long
FEW = {"torn_write": 4}  # times that a fault other than a kill is made, if not once
BEGIN = 0.9  # of the time, after which nothing new is begun

_references: dict[str, world.Reference] = {}
_place = Path()


def main() -> None:
    """Make the faults that were asked for; exit with 1 if any was not survived, or too few made."""
    if sys.platform != "linux":
        sys.exit("faults needs Linux, which tells what processes there are")
    chosen = _options()
    begun = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder is deleted
    warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
    import_all()
    with tempfile.TemporaryDirectory(prefix="gramlink-faults-") as folder:
        build(Path(folder), chosen.only or names())
        report = Report(chosen.seed)
        end = begun + chosen.minutes * 60 * BEGIN
        _make(report, chosen, end)
    for line in report.lines(_references):
        print(line)
    short = chosen.number is None and report.kills < chosen.kills and "kill" in chosen.fault
    if short:
        print(f"the {chosen.minutes:g} minutes were over before {chosen.kills} kills")
    took = time.monotonic() - begun
    print(f"seed {chosen.seed}, {took:.0f} s")
    sys.exit(bool(report.wrong) or short)


def names() -> list[str]:
    """What faults can happen to."""
    return [*dict.fromkeys(one.name for one in COMMANDS if one.faults), EXCHANGE]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m faults", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=500, help="at least so many; default: 500")
    parser.add_argument("--minutes", type=float, default=10, help="at most; default: 10")
    parser.add_argument("--only", nargs="+", choices=names(), metavar="COMMAND")
    parser.add_argument("--fault", nargs="+", choices=[*FAULTS], default=[*FAULTS])
    parser.add_argument("--number", type=int, help="only this one of its kind, to see it again")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def build(folder: Path, chosen: list[str]) -> None:
    """What all tries start from; the processes that try are forks of this one, and know it."""
    global _place
    _place = folder
    _references.clear()
    _references.update(world.build(folder / "world", chosen))
    if EXCHANGE in chosen:  # of which only the world beside it counts
        _references[EXCHANGE] = world.Reference(
            COMMANDS[0], folder / "world" / "before", folder / "world" / "after", 0, 0, ()
        )


def _make(report: Report, chosen: argparse.Namespace, end: float) -> None:
    """Make faults, as many at once as there are workers, until there are enough."""
    trials = _trials(chosen)
    pending: dict[Future[Outcome], Trial] = {}
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(chosen.workers, context, end_with_parent) as pool:
        while True:
            enough = time.monotonic() > end
            while not enough and len(pending) < chosen.workers:
                trial = next(trials, None)
                if trial is None or (trial.fault == "kill" and _is_enough(report, chosen)):
                    enough = True
                else:
                    pending[pool.submit(_try, chosen.seed, trial)] = trial
            if not pending:
                break
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                trial = pending.pop(future)
                report.add(trial, future.result())
                _tell(report, end)


def _is_enough(report: Report, chosen: argparse.Namespace) -> bool:
    return chosen.number is None and report.kills >= chosen.kills


def _trials(chosen: argparse.Namespace) -> Iterator[Trial]:
    """Each other fault on each command, then kills until there are enough."""
    if chosen.number is not None:
        yield from (Trial(name, one, chosen.number) for name in _references for one in chosen.fault)
        return
    for fault in chosen.fault:
        for number in range(FEW.get(fault, 1) if fault != "kill" else 0):
            yield from (Trial(name, fault, number) for name in _references)
    for number in range(chosen.kills if "kill" in chosen.fault else 0):
        for name in _references:
            if number % RARE.get(name, 1) == 0 or len(_references) == 1:
                yield Trial(name, "kill", number)


def _try(seed: int, trial: Trial) -> Outcome:
    module = network if trial.command == EXCHANGE else tries
    make = getattr(module, trial.fault, tries.nothing)
    place = _place / f"{trial.command}-{trial.fault}-{trial.number}".replace(" ", "-")
    random = Random(f"{seed} {trial.command} {trial.fault} {trial.number}")
    try:
        return tries.attempt(make, _references[trial.command], place, random)
    except (RuntimeError, OSError) as error:
        return Outcome(0, [f"{type(error).__name__}: {error}"])


def _tell(report: Report, end: float) -> None:
    """Show how far it is, where somebody looks on."""
    if sys.stderr.isatty():
        left = max(0, end - time.monotonic())
        with suppress(OSError):
            print(f"\r{report.kills} kills, {left:.0f} s left ", end="", file=sys.stderr)


if __name__ == "__main__":
    main()
