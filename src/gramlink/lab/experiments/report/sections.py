"""What is said of each experiment, on the HTML page and on the Markdown page alike."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from gramlink.lab.experiments.experiment import (
    Claim,
    Experiment,
    Measured,
    NotMeasured,
    Plot,
    Table,
)
from gramlink.lab.experiments.report.drawings import figure_name
from gramlink.lab.experiments.report.words import heading, with_values

OURS: Final = "ours"
NOT_MEASURED: Final = "not measured in this run"

Verdict = Literal["agrees", "differs", "partly", "not measured in this run", "ours"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "partly", "differs", NOT_MEASURED)

INTRODUCTION = """Every table and figure of the paper that gramlink comes from, measured again with
the code that you run, and what we measured besides. Each section says what the paper claims,
what we find, and why they differ where they do. What counts as agreeing is a rule in the code,
one for each claim; the paper gives few margins, so most rules are ours, and some of them were set
with the figures in view."""
SCENARIO = """As in the paper, one owner has a list and the other a copy of it, in which each string
has up to so many edits: every number from 0 on is as likely, and so are insertions, deletions and
substitutions, so with up to 1 edit half of the strings are as they were. A true pair is a string
and its own copy. N strings are linked; where owners mined more than that, "mined on" says how
many, and the N are some of them. Parameters are those of the paper's Table 3 where nothing else
is said: ε = 0.1, which each owner spends; k = 75 grams of 1 to 3 symbols; trees of height 7, for
both lists, since a public number must not be read off the data. The explanations are about the
whole run, also in a quick one."""
BARS = """Error bars and ± are one standard deviation over the draws, to either side; where
nothing was drawn twice there are none."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, what we find of it, whether that agrees, and why; nothing if not measured."""

    claim: Claim
    verdict: Verdict
    ours: str
    why: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Section:
    """An experiment and what was measured; `pictures` are SVGs by the names of their files.

    A picture that is not given is drawn where it is needed.
    """

    experiment: Experiment
    measured: Measured
    pictures: Mapping[str, str] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """Where it is in the paper, and what it is about."""
        return heading(self.experiment)

    def shown(self) -> Iterator[tuple[Plot | Table, str]]:
        """What this run has values for, and the name of its picture if it is one."""
        for one in self.experiment.shown:
            values = one.values if isinstance(one, Table) else (one.y,)
            if any(self._has(name) for name in values):
                yield one, "" if isinstance(one, Table) else figure_name(self.experiment, one)

    def _has(self, name: str) -> bool:
        frame = self.measured.frame
        if name in frame.columns and not frame[name].dtype.is_numeric():
            return frame[name].count() > 0
        return with_values(self.measured, name).frame.height > 0

    def findings(self) -> Iterator[Finding]:
        """What became of each claim."""
        for number, claim in enumerate(self.experiment.claims, 1):
            anchor = f"{self.experiment.name}-claim-{number}"
            try:
                agrees, ours = claim.ours(self.measured)
            except NotMeasured:
                yield Finding(claim, NOT_MEASURED, "", "", anchor)
            else:
                yield Finding(
                    claim, _verdict(agrees) if claim.paper else OURS, ours, claim.why, anchor
                )


def ordered(sections: Iterable[Section]) -> list[Section]:
    """The paper's tables and figures first, then ours, otherwise as given."""
    return sorted(sections, key=lambda one: one.experiment.where.casefold().startswith(OURS))


def tally(findings: Sequence[Finding]) -> str:
    """How many claims became what."""
    counts = {verdict: sum(one.verdict == verdict for one in findings) for verdict in VERDICTS}
    parts = ", ".join(f"{verdict}: {count}" for verdict, count in counts.items() if count)
    return (
        f"{sum(counts.values())} claims. {parts[:1].upper()}{parts[1:]}." if parts else "No claims."
    )


def _verdict(agrees: bool | None) -> Verdict:
    return "partly" if agrees is None else "agrees" if agrees else "differs"
