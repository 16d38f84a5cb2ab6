"""Claims: whom an attacker takes each record for, and how many of the claims are right."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

SURE = 0.5
STEPS = (1, 10, 100, 1000)


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """For each record the person of the register who is likeliest, with a confidence.

    `alike` is how many persons of the register are at least as likely as the right one: the
    record's anonymity set. It is 0 where the register does not have the person.
    """

    records: Ints
    persons: Ints  # -1 where nothing is claimed
    confidence: Floats
    alike: Ints
    truth: Ints = field(repr=False)

    @classmethod
    def of(cls, chances: Iterable[Floats | None], records: Ints, truth: Ints) -> "Claims":
        """The claims that follow from chances, judged by the truth, which no attack sees."""
        persons, confidence = np.full(len(records), -1), np.zeros(len(records))
        alike = np.zeros(len(records), np.int64)
        for place, (one, whose) in enumerate(zip(chances, truth[records].tolist(), strict=True)):
            if one is None:
                continue
            persons[place] = one[:-1].argmax()
            confidence[place] = one[persons[place]]
            if whose >= 0:
                alike[place] = int((one[:-1] >= one[whose] * (1 - 1e-9)).sum())
        return cls(records, persons, confidence, alike, truth[records])

    @property
    def right(self) -> Bools:
        """Which of them are right."""
        return np.asarray((self.persons == self.truth) & (self.truth >= 0))

    @property
    def covered(self) -> int:
        """How many of the records are of persons in the register."""
        return int((self.truth >= 0).sum())

    @property
    def named(self) -> float:
        """The share of the records in the register whose best claim is right, luck included."""
        return float(self.right.sum() / max(self.covered, 1))

    @property
    def precision(self) -> float:
        """The share of all claims that are right."""
        return float(self.right.sum() / max((self.persons >= 0).sum(), 1))

    @property
    def sure(self) -> int:
        """How many claims the attacker takes to be more likely right than wrong."""
        return int((self.confidence > SURE).sum())

    @property
    def sure_precision(self) -> float:
        """The share of these that are right."""
        return float(self.right[self.confidence > SURE].sum() / max(self.sure, 1))

    @property
    def crowds(self) -> tuple[int, ...]:
        """Records in the register by their anonymity set: 1, up to 10, 100, 1,000, more, or none.

        None: the attack sees nothing of the record, so that everybody is as likely.
        """
        known = self.truth >= 0
        found = np.searchsorted(STEPS, self.alike[known & (self.persons >= 0)])
        counts = np.bincount(found, minlength=len(STEPS) + 1).tolist()
        return (*counts, int((known & (self.persons < 0)).sum()))
