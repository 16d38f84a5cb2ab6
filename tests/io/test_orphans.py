"""Processes whose parent is killed, as the system would when it lacks memory."""

import os
import subprocess
import sys
import time

import pytest

POOL = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from gramlink.io.orphans import end_with_parent

if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, get_context("spawn"), end_with_parent)
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(60)
"""
DROP = """
import multiprocessing, sys, time
from pathlib import Path
from gramlink.exchange.file_drop import _received

if __name__ == "__main__":
    received = _received(Path(sys.argv[1]), Path(sys.argv[1]) / "identity", {})
    next(received)
    print(multiprocessing.active_children()[0].pid, flush=True)
    time.sleep(60)
"""


def is_there(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("script", [POOL, DROP], ids=["pool", "file drop"])
@pytest.mark.skipif(sys.platform == "win32", reason="processes are looked for in another way")
def test_a_process_that_waits_for_work_ends_with_its_parent(script, tmp_path):
    for name in ("one.age", "two.age"):
        (tmp_path / name).write_bytes(b"")
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    end = time.monotonic() + 30
    while is_there(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_there(child)
