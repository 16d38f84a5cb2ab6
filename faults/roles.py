"""Roles in an exchange over the network: processes that come back after they were killed."""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from faults.processes import Process, start
from faults.strikes import TIME, Strike


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


def kill_worker(server: Process) -> bool:
    """Kill a worker of the server, if there is one."""
    for process in server.left(0):
        if process != server.pid:
            with suppress(OSError):
                command = Path(f"/proc/{process}/cmdline").read_bytes()
                if b"gramlink.server.worker" in command:
                    os.kill(process, signal.SIGKILL)
                    return True
    return False
