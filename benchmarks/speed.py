"""Time and peak memory of each step on all of NAMES, each in a process of its own."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from time import perf_counter

import gramlink as gl
from benchmarks.common import markdown, names, schema
from gramlink.embedding.thresholds import Case
from gramlink.lab.experiments.mining import PRIVATE


def _base() -> gl.Base:
    return gl.Base(gl.mine_field(names(), schema(miner="exact").fields[0], gl.Budget(0)).grams)


def _mine(miner: str) -> Callable[[], object]:
    strings, field = names(), schema(miner=miner).fields[0]
    return lambda: gl.mine_field(strings, field, gl.Budget(Fraction(1)))


def _embed() -> Callable[[], object]:
    strings, base = names(), _base()
    return lambda: gl.embed(strings, base)


def _thresholds(policy: str, edits: int) -> Callable[[], object]:
    case = Case(names(), _base(), schema().fields[0], edits)
    return lambda: gl.POLICIES[policy](case)


STEPS: dict[str, Callable[[], Callable[[], object]]] = {
    **{f"mine, {miner}, ε = 1": lambda miner=miner: _mine(miner) for miner in PRIVATE},
    "embed": _embed,
    "thresholds, paper, 1 edit": lambda: _thresholds("paper", 1),
    "thresholds, worst-case, 1 edit": lambda: _thresholds("worst-case", 1),
    "thresholds, calibrated .99, 1 edit": lambda: _thresholds("calibrated", 1),
    "thresholds, calibrated .99, 2 edits": lambda: _thresholds("calibrated", 2),
}


def measure(step: str) -> dict[str, float]:
    """The best of three runs after a first one that compiles, and the process's peak."""
    run = STEPS[step]()
    run()
    seconds = []
    for _ in range(3):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": min(seconds), "megabytes": peak}


def table() -> str:
    """A row for each step."""
    rows = []
    for step in STEPS:
        command = [sys.executable, "-m", "benchmarks.speed", step]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        result = json.loads(printed)
        rows.append([step, f"{result['seconds']:.2f}", f"{result['megabytes']:,.0f}"])
    return (
        "## Time and memory\n\nNAMES, 149,910 surnames, k = 75, grams of 1 to 3 symbols. "
        "Seconds: the best of three after compilation. Memory: the peak of the whole process, "
        "including Python and its libraries.\n\n" + markdown(["step", "seconds", "peak MB"], rows)
    )


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
