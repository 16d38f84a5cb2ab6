"""The linkage unit: sees encoded records under pseudonyms, no base and no id."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

from gramlink.bundles.bundle import Bundle
from gramlink.deciding.clusters import Clusters, Pair, cluster
from gramlink.deciding.linkage import Linkage, decide_near, decide_scored
from gramlink.encodings.encoding import Compared
from gramlink.engines.local import using_threads
from gramlink.io.steps import logged
from gramlink.matching.pairs import Pairs, Progress
from gramlink.matching.passes import Pass
from gramlink.parties.admission import check_comparable
from gramlink.scoring.score import score

UNLISTED = 0.05  # the probability of a pair that is not even a possible link, at most
LEAST = 1e-6  # as probabilities are written


@dataclass(frozen=True, slots=True)
class LinkageUnit:
    """A linkage unit that holds the bundles of two owners, checked to be comparable."""

    left: Bundle
    right: Bundle

    @classmethod
    def of(cls, one: Bundle, other: Bundle) -> "LinkageUnit":
        """Take the bundles in any order; the one whose owner's name sorts first is the left one."""
        check_comparable((one, other))
        left, right = sorted((one, other), key=lambda bundle: bundle.owner)
        return cls(left, right)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(self.left.settings["fields"])

    @logged("match", lambda pairs: {"pairs": len(pairs)})
    def match(self, progress: Progress | None = None) -> Pairs:
        """All pairs that are near enough in the first field."""
        return self.left.records.near(self.right.records, progress)

    def compare(self) -> Compared:
        """The records of both owners, ready to be compared in all fields."""
        return self.left.records.compare(self.right.records)

    @logged("link", lambda made: {"links": len(made.links), "possible": len(made.possible)})
    def link(
        self,
        rule: str | None = None,
        progress: Progress | None = None,
        *,
        threads: int | None = None,
    ) -> Linkage:
        """The decided links, by pseudonyms; the rule is the schema's unless given.

        Records of one field are judged by their distance, those of several by match weight.
        """
        with using_threads(threads):
            return self._linked(rule or self.left.settings["decide"], progress)

    def _linked(self, rule: str, progress: Progress | None) -> Linkage:
        settings, left, right = self.left.settings, self.left.ids, self.right.ids
        accept, review = settings["accept"], settings["review"]
        if len(self.fields) == 1:
            ours = self.left.records
            pairs, within = self.match(progress), ours.near(ours, progress)
            coverage = settings["recall"] if settings["threshold"] == "calibrated" else 1.0
            sides = left, right
            return decide_near(pairs, within, ours.lengths, *sides, rule, accept, review, coverage)
        compared = self.compare()
        passes = [Pass(one) for one in settings["passes"]] or compared.suited_passes()
        found = compared.candidates(passes, progress)
        scored = score(compared, found)
        return decide_scored(scored, left, right, rule, accept, review)


def link_all(
    bundles: Sequence[Bundle], rule: str | None = None, progress: Progress | None = None
) -> tuple[list[tuple[LinkageUnit, Linkage]], Clusters]:
    """The linkage of each two of several owners, and the clusters that they make.

    A cluster holds at most one record of an owner who says that nobody is in its file twice.
    """
    results, pairs = [], []
    for one, other in combinations(sorted(bundles, key=lambda bundle: bundle.owner), 2):
        unit = LinkageUnit.of(one, other)
        linkage = unit.link(rule, progress)
        results.append((unit, linkage))
        pairs += weighted(linkage, unit.left.owner, unit.right.owner)
    unique = {bundle.owner for bundle in bundles if bundle.unique}
    return results, cluster(pairs, unique, apart(linkage for _, linkage in results))


def weighted(linkage: Linkage, left: str, right: str) -> list[Pair]:
    """Links and possible links between two owners as clusters take them."""
    return [
        ((left, one), (right, other), _log_odds(probability))
        for links in (linkage.links, linkage.possible)
        for one, other, probability in zip(
            links.left, links.right, links.details["match_probability"], strict=True
        )
    ]


def apart(linkages: Iterable[Linkage]) -> float:
    """The log odds of two records that were not even listed.

    They are 0 for records of one field: the typos of two owners add up, so that two records of
    one person may be too far apart to be listed.
    """
    return _log_odds(UNLISTED) if all(linkage.model for linkage in linkages) else 0.0


def _log_odds(probability: float) -> float:
    return log(max(probability, LEAST) / max(1 - probability, LEAST))
