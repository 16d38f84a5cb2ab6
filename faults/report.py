"""Report: how many faults of each kind each command survived, and how to see the others again."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from faults.outcome import Outcome

FAULTS = {
    "kill": "killed",
    "torn_write": "write torn",
    "full_disk": "disk full",
    "read_only": "read-only",
    "clock_set_back": "clock set back",
    "two_at_once": "two at once",
}
EXAMPLES = 3  # of what was wrong with each


@dataclass(frozen=True, slots=True)
class Trial:
    """A fault on a command, and which one of its kind it is."""

    command: str
    fault: str
    number: int

    def again(self, seed: int) -> str:
        """How to see it again."""
        return (
            f'python -m faults --seed {seed} --only "{self.command}" --fault {self.fault} '
            f"--number {self.number}"
        )


@dataclass(slots=True)
class Report:
    """What was tried, and what was wrong."""

    seed: int
    hits: dict[tuple[str, str], int] = field(default_factory=dict)
    failed: dict[tuple[str, str], int] = field(default_factory=dict)
    wrong: list[tuple[Trial, list[str]]] = field(default_factory=list)
    skipped: set[tuple[str, str]] = field(default_factory=set)

    @property
    def kills(self) -> int:
        """How often something was killed."""
        return sum(hits for (_, fault), hits in self.hits.items() if fault == "kill")

    def add(self, trial: Trial, outcome: Outcome) -> None:
        """Count an outcome."""
        kind = (trial.command, trial.fault)
        if outcome.skipped:
            self.skipped.add((trial.fault, outcome.skipped))
            return
        self.hits[kind] = self.hits.get(kind, 0) + outcome.hits
        if outcome.problems:
            self.failed[kind] = self.failed.get(kind, 0) + 1
            self.wrong.append((trial, outcome.problems))

    def lines(self, commands: Iterable[str]) -> Iterable[str]:
        """A Markdown table, then what was skipped and what was wrong."""
        yield from _row("command", *FAULTS.values())
        yield from _row("---", *("---" for _ in FAULTS))
        for command in commands:
            yield from _row(command, *(self._cell(command, fault) for fault in FAULTS))
        totals = [
            str(sum(hits for (_, of), hits in self.hits.items() if of == fault)) for fault in FAULTS
        ]
        yield from _row("all", *totals)
        yield ""
        for fault, why in sorted(self.skipped):
            yield f"{FAULTS[fault]}: left out, {why}"
        shown: Counter[tuple[str, str]] = Counter()
        for trial, problems in self.wrong:
            shown[trial.command, trial.fault] += 1
            if shown[trial.command, trial.fault] <= EXAMPLES:
                yield f"{trial.command}, {FAULTS[trial.fault]}: {trial.again(self.seed)}"
                yield from (f"  {line}" for problem in problems for line in problem.splitlines())
        total, failed = sum(self.hits.values()), sum(self.failed.values())
        yield f"{total:,} faults, {self.kills:,} of them kills; something was wrong {failed} times"

    def _cell(self, command: str, fault: str) -> str:
        hits, failed = (table.get((command, fault), 0) for table in (self.hits, self.failed))
        return f"{hits}, wrong {failed} times" if failed else str(hits or "")


def _row(*cells: str) -> Iterable[str]:
    yield f"| {' | '.join(cells)} |"
