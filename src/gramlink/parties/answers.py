"""How the linkage unit takes bundles, and what it answers to each owner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.results import Results
from gramlink.deciding.clusters import Clusters
from gramlink.deciding.linkage import Linkage
from gramlink.deciding.links import Links
from gramlink.errors import Mismatch
from gramlink.matching.pairs import Progress
from gramlink.parties.linkage_unit import LinkageUnit, link_all
from gramlink.records.schema import differences

Linked = tuple[LinkageUnit, Linkage]


def admit(
    bundle: Bundle,
    *,
    exchange: str,
    owner: str,
    owners: Sequence[str],
    settings: Mapping[str, Any],
    reply: str,
) -> None:
    """Refuse a bundle that is not this owner's for this exchange, and say what differs."""
    facts = {
        "exchange": (bundle.exchange, exchange),
        "owner": (bundle.owner, owner),
        "owners": (sorted(bundle.owners), sorted(owners)),
        "key to reply to": (bundle.reply.key if bundle.reply else None, reply),
    }
    for what, (found, expected) in facts.items():
        if found != expected:
            raise Mismatch(
                f"the bundle's {what} is {_said(found)}, not {_said(expected)}",
                hint="embed for this exchange, with the key that it knows",
            )
    different = differences(bundle.settings, dict(settings))
    if different:
        raise Mismatch(
            f"the bundle and the exchange differ in {'; '.join(different)}",
            hint="use the linkage.toml of the exchange",
        )
    if not bundle.ids:
        raise Mismatch("the bundle has no rows", hint="is the data file empty?")
    if owner != max(owners) and not bundle.records.leads:
        raise Mismatch(
            f"the bundle of {owner}, who is left to another owner, has no thresholds",
            hint="embed again, with the projection of all owners",
        )


def _said(value: object) -> str:
    return str(value) if value else "none"


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What goes back to each owner, and what the unit may keep: numbers, no pseudonym."""

    results: dict[str, Results]
    summary: dict[str, Any]


def answer(
    bundles: Sequence[Bundle],
    returns: Mapping[str, str],
    *,
    created: str = "",
    progress: Progress | None = None,
) -> Answers:
    """Link all bundles, and sort what is found by who may have it.

    Privacy: an owner gets links of its own records only, and their weights only if `returns`
    says so for it.
    """
    linked, clusters = link_all(bundles, progress=progress)
    counts = tuple(_count(unit, linkage) for unit, linkage in linked)
    results = {
        bundle.owner: Results(
            owner=bundle.owner,
            owners=tuple(sorted(one.owner for one in bundles)),
            projection=bundle.projection,
            returns=returns[bundle.owner],
            counts=tuple(one for one in counts if bundle.owner in (one["left"], one["right"])),
            tables=_tables(bundle.owner, linked, clusters, returns[bundle.owner]),
            exchange=bundle.exchange,
            created=created,
        )
        for bundle in bundles
    }
    pairs = [facts(unit, linkage) for unit, linkage in linked]
    return Answers(results, {"pairs": pairs, "clusters": len(clusters)})


def _tables(
    owner: str, linked: Sequence[Linked], clusters: Clusters, returns: str
) -> dict[str, pl.DataFrame]:
    if returns == "counts":
        return {}
    own = [
        (unit, linkage) for unit, linkage in linked if owner in (unit.left.owner, unit.right.owner)
    ]
    if len(linked) == 1:
        (_, linkage) = own[0]
        tables = {"links": _frame(linkage.links, returns)}
        return (
            {**tables, "possible": _frame(linkage.possible, returns)} if linkage.model else tables
        )
    possible = [
        _frame(linkage.possible, returns).with_columns(
            owner_left=pl.lit(unit.left.owner), owner_right=pl.lit(unit.right.owner)
        )
        for unit, linkage in own
    ]
    frame = clusters.to_polars()
    concerned = frame.filter(pl.col("owner") == owner)["cluster"].implode()
    return {
        # numbered anew: the numbers of all would tell how many the others have
        "clusters": frame.filter(pl.col("cluster").is_in(concerned)).with_columns(
            pl.col("cluster").rank("dense").cast(pl.Int64)
        ),
        "possible": pl.concat(possible, how="diagonal"),
    }


def _frame(links: Links, returns: str) -> pl.DataFrame:
    return (links if returns == "weights" else links.bare).to_polars()


def _count(unit: LinkageUnit, linkage: Linkage) -> dict[str, Any]:
    return {
        "left": unit.left.owner,
        "right": unit.right.owner,
        "links": len(linkage.links),
        "possible": len(linkage.possible),
        "precision": linkage.precision,
        "recall": linkage.recall,
    }


def facts(unit: LinkageUnit, linkage: Linkage) -> dict[str, Any]:
    """What is known of a linkage of two owners, without any record."""
    return {
        **_count(unit, linkage),
        "rows": {bundle.owner: len(bundle.ids) for bundle in (unit.left, unit.right)},
        "passes": [
            {"pass": dict(one.edits), "found": found, "added": added}
            for one, found, added in linkage.passes
        ],
        "weights": linkage.model.weights if linkage.model else {},
        "histogram": [list(one) for one in linkage.histogram],
        "warnings": list(linkage.warnings),
    }
