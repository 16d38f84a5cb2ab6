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
import sys, time
from pathlib import Path
from gramlink.bundles.sealing import new_identity, write_identity
from gramlink.exchange.opener import Opener
from gramlink.io.limits import Limits

if __name__ == "__main__":
    identity = Path(sys.argv[1], "identity")
    write_identity(identity, new_identity(), "unit")
    opener = Opener(identity, {}, Limits(), None)
    opener.checked(Path(sys.argv[1], "one.age"))
    print(opener._process._process.pid, flush=True)
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
    (tmp_path / "one.age").write_bytes(b"")
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    end = time.monotonic() + 30
    while is_there(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_there(child)
