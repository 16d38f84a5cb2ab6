"""Outcome: how often a fault hit, and what was wrong then."""

from dataclasses import dataclass, field

from faults.processes import Process


@dataclass(slots=True)
class Outcome:
    """How often a fault hit, and what was wrong then; or why it could not be made here."""

    hits: int = 0
    problems: list[str] = field(default_factory=list)
    skipped: str = ""


def impolite(process: Process) -> list[str]:
    """What is wrong with how a command failed, if it did: no reason, or a traceback."""
    said = process.said.strip()
    if not process.code:
        return []
    if process.code < 0 or "Traceback" in said:
        return [f"it ended with code {process.code}: {said[-400:]}"]
    if "gramlink: error: " not in said and " cannot be " not in said:
        return [f"it does not say why it failed: {said[-400:]}"]
    return []
