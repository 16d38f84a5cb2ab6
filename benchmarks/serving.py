"""A linkage unit's server process, watched while it runs."""

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from gramlink.exchange.client import Client

MEMORY = 4 * 2**30  # bytes for each job


class Unit:
    """A server process on a folder, watched while it runs."""

    def __init__(self, data: Path) -> None:
        self.data, self.port = data, 0
        self.peak = self.worker_peak = 0.0
        self._over = threading.Event()
        self.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def start(self) -> None:
        """Start the server, on the same port as before."""
        command = [sys.executable, "-c", "from gramlink.cli import main; main()", "unit", "serve"]
        options = ["--data", self.data, "--port", self.port, "--memory", MEMORY]
        self.process = subprocess.Popen(
            [*command, *map(str, options)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(re.search(r":(\d+)$", self.process.stdout.readline().strip())[1])  # type: ignore[index]
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def kill(self) -> None:
        """End the server as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End the server."""
        self._over.set()
        self.process.terminate()
        self.process.wait()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            with suppress(OSError):
                pid = self.process.pid
                self.peak = max(self.peak, _resident(pid))
                for task in Path(f"/proc/{pid}/task").iterdir():
                    for child in (task / "children").read_text().split():
                        self.worker_peak = max(self.worker_peak, _resident(int(child)))

    @property
    def processor(self) -> float:
        """The seconds that the server has had of a processor."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")

    def client(self, token: str) -> Client:
        """A party's client."""
        return Client(f"http://127.0.0.1:{self.port}", token, patience=120)


def _resident(pid: int) -> float:
    """The most memory that a process has had, in MB."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1000 if found else 0.0
