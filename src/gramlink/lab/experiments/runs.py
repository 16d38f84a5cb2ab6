"""Measure the points of experiments on all cores, and resume where an earlier run stopped."""

import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import polars as pl

from gramlink.engines.local import VARIABLE, cores, thread_count
from gramlink.errors import GramlinkError
from gramlink.io.orphans import end_with_parent
from gramlink.lab.experiments.experiment import Experiment, Measured, Point, Row, Scale

Progress = Callable[[int, int], None]
Tell = Callable[[str], None]

THREADS = (VARIABLE, "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
MOST_PROCESSES = 8  # each takes up to 2 GB, at 149,910 names


def run(
    experiments: Sequence[Experiment],
    scale: Scale,
    folder: Path,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> dict[str, Measured]:
    """Measure what `folder` does not hold yet, and return all of it.

    Every point is saved as soon as it is measured, so a run that is stopped loses
    only the points under way. Points that time something have the machine to themselves.
    """
    kept = {one.name: Kept(folder / "points" / f"{one.name}.jsonl") for one in experiments}
    missing = {
        one.name: [point for point in one.points(scale) if point not in kept[one.name]]
        for one in experiments
    }
    total, done = sum(map(len, missing.values())), 0
    seconds: dict[str, float] = dict.fromkeys(missing, 0.0)
    most = thread_count()
    for alone in (False, True):
        chosen = [one for one in experiments if one.alone is alone and missing[one.name]]
        tasks = [(one.name, point) for one in chosen for point in missing[one.name]]
        processes, threads = (1, most) if alone else (min(most, MOST_PROCESSES), 1)
        for name, point, rows, took in _measured(tasks, processes, threads):
            kept[name].add(point, rows)
            missing[name].remove(point)
            seconds[name] += took
            done += 1
            if progress:
                progress(done, total)
            if tell and not missing[name]:
                tell(f"{name:<17} {seconds[name]:>6,.0f} s of work   {done:,} of {total:,} points")
    return {one.name: _measured_in(one, scale, kept[one.name]) for one in experiments}


def is_complete(experiment: Experiment, scale: Scale, folder: Path) -> bool:
    """Whether a folder holds all points of an experiment."""
    file = folder / "points" / f"{experiment.name}.jsonl"
    kept = Kept(file) if file.exists() else ()
    return all(point in kept for point in experiment.points(scale))


def machine() -> str:
    """What a reader of timings has to know about the machine."""
    return f"{cores()} cores, {platform.machine()}"


class Kept:
    """What was measured, in a file with a line for each point and its date.

    What another version or another machine measured is left alone.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lines = path, dict[str, dict[str, Any]]()
        self._here = {"gramlink": metadata.version("gramlink"), "machine": machine()}
        path.parent.mkdir(parents=True, exist_ok=True)
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                found = json.loads(line)
                if all(found[name] == value for name, value in self._here.items()):
                    _ = found["rows"], found["date"]
                    self._lines[_key(found["point"])] = found
            except (ValueError, KeyError, TypeError):
                continue  # a run was stopped while it wrote this line
        self._complete_last_line()

    def __contains__(self, point: Point) -> bool:
        return _key(point) in self._lines

    def __getitem__(self, point: Point) -> list[Row]:
        rows: list[Row] = self._lines[_key(point)]["rows"]
        return rows

    def date(self, point: Point) -> str:
        """The day on which a point was measured."""
        return str(self._lines[_key(point)]["date"])

    def add(self, point: Point, rows: list[Row]) -> None:
        """Save a point."""
        today = str(datetime.now(UTC).date())
        line = {**self._here, "date": today, "point": point, "rows": rows}
        self._lines[_key(point)] = line
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _complete_last_line(self) -> None:
        """End a line that was cut off, so that the next is not taken for a part of it."""
        if self._path.exists() and not self._path.read_bytes().endswith(b"\n"):
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n")


def _key(point: Point) -> str:
    return json.dumps(point, sort_keys=True)


def _measured_in(experiment: Experiment, scale: Scale, kept: Kept) -> Measured:
    points = list(experiment.points(scale))
    rows = [{**point, **row} for point in points for row in kept[point]]
    dates = frozenset(map(kept.date, points))
    return Measured(pl.DataFrame(rows, infer_schema_length=None), dates)


def _measured(
    tasks: Sequence[tuple[str, Point]], processes: int, threads: int
) -> Iterator[tuple[str, Point, list[Row], float]]:
    """The rows of each task as it is done, and the seconds it took."""
    if not tasks:
        return
    with _threads_each(threads), _pool(processes) as pool:
        futures = {pool.submit(measure, *task): task for task in tasks}
        try:
            for future in as_completed(futures):
                yield *futures[future], *future.result()
        except BrokenProcessPool as error:
            raise GramlinkError(
                "a measuring process was killed, perhaps for lack of memory",
                hint="run the command again to resume",
            ) from error


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that start afresh, so that they read how many threads they may use."""
    pool = ProcessPoolExecutor(processes, get_context("spawn"), end_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _threads_each(threads: int) -> Iterator[None]:
    """Let processes started meanwhile use this many threads, in kernels and frames, too."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def measure(name: str, point: Point) -> tuple[list[Row], float]:
    """One point of an experiment, and the seconds it took: what each process does."""
    from gramlink.lab.experiments import EXPERIMENTS

    started = perf_counter()
    return EXPERIMENTS[name].measure(**point), perf_counter() - started
