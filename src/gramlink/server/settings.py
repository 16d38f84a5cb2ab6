"""Settings: what the operator decides when starting the server."""

from dataclasses import dataclass
from pathlib import Path

from gramlink.errors import InvalidParameter
from gramlink.io.limits import HOURS

GIB = 2**30


@dataclass(frozen=True, slots=True)
class Settings:
    """The data folder and the limits, checked when created."""

    data: Path
    largest_bundle: int = 4 * GIB
    largest_mined: int = 64 * 2**20
    workers: int = 1
    memory: int = 0  # bytes for each worker; 0 is no limit
    hours: float = HOURS  # for each job
    keep_days: int = 30  # days after the end of an exchange until its files are erased
    open_days: int = 180  # days until an exchange that has not ended is given up and erased
    patience: float = 30  # seconds to wait for the next piece of a body

    def __post_init__(self) -> None:
        for name, value, least in (
            ("the largest bundle", self.largest_bundle, 1),
            ("the most bytes of what is mined", self.largest_mined, 1),
            ("the number of workers", self.workers, 1),
            ("the memory", self.memory, 0),
        ):
            if value < least:
                raise InvalidParameter(f"{name} cannot be {value}", hint=f"use at least {least}")
        if not 0 < self.hours <= 24 * 365:
            raise InvalidParameter(f"a job cannot be given {self.hours} hours")
        if not 0 <= self.keep_days <= 3650:
            raise InvalidParameter(f"files cannot be kept for {self.keep_days} days")
        if not 1 <= self.open_days <= 3650:
            raise InvalidParameter(f"an exchange cannot be left open for {self.open_days} days")
        if not 0 < self.patience <= 3600:
            raise InvalidParameter(f"the server cannot wait {self.patience} seconds for a body")
