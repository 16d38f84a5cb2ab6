"""The linkage unit: sees vectors and thresholds, no base and no id."""

from dataclasses import dataclass

from gramlink.bundle import Bundle
from gramlink.errors import Mismatch
from gramlink.links import Links, decide
from gramlink.matching import Pairs, Progress, match
from gramlink.schema import differences


@dataclass(frozen=True, slots=True)
class LinkageUnit:
    """A linkage unit that holds the bundles of both owners, checked to be comparable."""

    left: Bundle
    right: Bundle

    @classmethod
    def of(cls, one: Bundle, other: Bundle) -> "LinkageUnit":
        """Take the bundles in any order; the one with thresholds is the left one."""
        if one.owner == other.owner:
            raise Mismatch(f"both bundles are of {one.owner}")
        different = differences(one.settings, other.settings)
        if different:
            raise Mismatch(
                f"{one.owner} and {other.owner} differ in {'; '.join(different)}",
                hint="both owners must mine and embed with the same linkage.toml",
            )
        if one.projection != other.projection:
            raise Mismatch(
                f"{one.owner} and {other.owner} embedded with different projections",
                hint="let them compare the fingerprints that `gramlink merge` printed",
            )
        with_thresholds = [bundle for bundle in (one, other) if bundle.thresholds is not None]
        if len(with_thresholds) != 1:
            raise Mismatch("exactly one of the two bundles must carry thresholds")
        left = with_thresholds[0]
        return cls(left, other if left is one else one)

    def match(self, progress: Progress | None = None) -> Pairs:
        """All pairs within the left owner's thresholds."""
        assert self.left.thresholds is not None  # noqa: S101  # `of` has seen to it
        return match(self.left.vectors, self.left.thresholds, self.right.vectors, progress)

    def link(self, rule: str | None = None, progress: Progress | None = None) -> Links:
        """The decided links, by pseudonyms; the rule is the schema's unless given."""
        rule = rule or self.left.settings["decide"]
        scale = self.left.vectors.scale
        return decide(self.match(progress), self.left.ids, self.right.ids, rule, scale)
