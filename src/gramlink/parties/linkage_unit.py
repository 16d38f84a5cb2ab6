"""The linkage unit: sees vectors and thresholds, no base and no id."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from gramlink.bundles.bundle import Bundle
from gramlink.deciding.clusters import Clusters, Record, cluster
from gramlink.deciding.linkage import Linkage, decide_scored
from gramlink.deciding.links import Links, decide
from gramlink.matching.comparison import Comparison
from gramlink.matching.pairs import Pairs, Progress, match
from gramlink.matching.pass_choice import chosen_passes
from gramlink.matching.passes import Pass, candidates
from gramlink.parties.admission import check_comparable
from gramlink.scoring.score import score


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
        return tuple(self.left.fields)

    def match(self, progress: Progress | None = None) -> Pairs:
        """All pairs within the left owner's thresholds of the first field."""
        ours, theirs = (bundle.fields[self.fields[0]] for bundle in (self.left, self.right))
        assert ours.thresholds is not None  # noqa: S101  # `of` has seen to it
        return match(ours.vectors, ours.thresholds[:, -1], theirs.vectors, progress)

    def compare(self) -> Comparison:
        """The records of both owners, ready to be compared in all fields."""
        return Comparison.of(self.left.fields, self.right.fields)

    def link(self, rule: str | None = None, progress: Progress | None = None) -> Linkage:
        """The decided links, by pseudonyms; the rule is the schema's unless given.

        Records of one field are linked by distance, those of several by match weight.
        """
        settings = self.left.settings
        rule = rule or settings["decide"]
        left, right = self.left.ids, self.right.ids
        if len(self.fields) == 1:
            scale = self.left.fields[self.fields[0]].vectors.scale
            links = decide(self.match(progress), left, right, rule, scale)
            return Linkage(links, Links((), ()))
        comparison = self.compare()
        passes = [Pass(one) for one in settings["passes"]] or chosen_passes(comparison)
        found = candidates(comparison, passes, progress)
        scored = score(comparison, found, unique=self.left.unique)
        return decide_scored(scored, left, right, rule, settings["accept"], settings["review"])


def link_all(
    bundles: Sequence[Bundle], rule: str | None = None, progress: Progress | None = None
) -> tuple[list[tuple[LinkageUnit, Linkage]], Clusters]:
    """The linkage of each two of several owners, and the clusters that they make.

    A cluster holds at most one record of an owner who says that nobody is in its file twice.
    """
    results, links = [], []
    for one, other in combinations(sorted(bundles, key=lambda bundle: bundle.owner), 2):
        unit = LinkageUnit.of(one, other)
        linkage = unit.link(rule, progress)
        results.append((unit, linkage))
        links += weighted(linkage.links, unit.left.owner, unit.right.owner)
    return results, cluster(links, {bundle.owner for bundle in bundles if bundle.unique})


def weighted(links: Links, left: str, right: str) -> list[tuple[Record, Record, float]]:
    """Links between two owners as clusters take them: the heaviest, or nearest, first."""
    details = links.details
    weights = details["match_weight"] if "match_weight" in details else -details["distance"]
    return [
        ((left, one), (right, other), weight)
        for one, other, weight in zip(links.left, links.right, weights, strict=True)
    ]
