"""A small part of `make faults`, and proof that it sees what is wrong."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no /proc tells of processes")

# in one process, as importing everything takes longer than the kills
SCRIPT = """
import os, sys
from pathlib import Path
import faults.__main__ as faults
from faults import processes

def lose_the_end(part, target):
    Path(target).write_bytes(Path(part).read_bytes()[:-9])
    Path(part).unlink()

def forget(line):
    code = command(line)
    for ledger in Path().glob("*.ledger"):
        ledger.unlink()
    return code

def build_carelessly(folder, chosen):
    build(folder, chosen)
    os.replace, processes._command = lose_the_end, forget

def run(*options):
    sys.argv = ["faults", "--workers", "1", "--fault", "kill", *options]
    try:
        faults.main()
    except SystemExit as end:
        print(f"exit code {int(end.code)}")

run("--only", "mine", "merge", "--kills", "12")
print("careless:")
command, build, faults.build = processes._command, faults.build, build_carelessly
run("--only", "mine", "--kills", "3")
"""


@pytest.fixture(scope="module")
def said():
    """What two small runs print: of the code as it is, and of careless code."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout.split("careless:\n")


def test_every_kill_is_survived(said):
    assert int(re.search(r"(\d+) of them kills", said[0])[1]) >= 12
    assert "something was wrong 0 times" in said[0], said[0]
    assert said[0].endswith("exit code 0\n")


@pytest.mark.parametrize(
    "wrong",
    [
        "hospital.mined.json is not whole",
        "hospital.mined.json was released without a ledger",
    ],
)
def test_what_careless_code_leaves_is_seen(said, wrong):
    assert wrong in said[1]
    assert said[1].endswith("exit code 1\n")


def test_a_failure_says_how_to_see_it_again(said):
    assert 'python -m faults --seed 1 --only "mine" --fault kill --number' in said[1]
