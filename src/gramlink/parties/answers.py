"""Answers: what goes back to each owner and to nobody else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import polars as pl

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.results import Results, Returns
from gramlink.bundles.sealing import Identity, seal_from
from gramlink.deciding.clusters import Clusters
from gramlink.deciding.linkage import Linkage
from gramlink.deciding.links import Links
from gramlink.errors import InvalidParameter
from gramlink.matching.pairs import Progress
from gramlink.parties.admission import check_address, check_complete
from gramlink.parties.linkage_unit import LinkageUnit, link_all

RETURNS: tuple[str, ...] = get_args(Returns)
Linked = tuple[LinkageUnit, Linkage]


def check_returns(returns: str) -> str:
    """What goes back to an owner, if that is one of the choices."""
    if returns not in RETURNS:
        raise InvalidParameter(
            f"{returns[:100]!r} cannot be returned to an owner",
            hint=f"choose one of {', '.join(RETURNS)}",
        )
    return returns


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What goes back to each owner, and what the unit may keep: numbers, no pseudonym."""

    results: dict[str, Results]
    summary: dict[str, Any]


def sealed(results: Results, bundle: Bundle, unit: Identity) -> bytes:
    """The results for the owner of a bundle, signed by the unit and sealed to the bundle's key.

    Privacy: whoever stores or carries them cannot read them.
    """
    return seal_from(results.to_bytes(), unit, check_address(bundle))


def answer(
    bundles: Sequence[Bundle],
    returns: Mapping[str, str],
    *,
    created: str = "",
    progress: Progress | None = None,
) -> Answers:
    """Link the bundles of all owners, and sort what is found by who may have it.

    Privacy: an owner gets links of its own records only, and their weights only if `returns`
    says so for it.
    """
    for kind in returns.values():
        check_returns(kind)
    check_complete(bundles)
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
        return {
            "links": _frame(linkage.links, returns),
            "possible": _frame(linkage.possible, returns),
        }
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
            {"pass": dict(one.edits), "label": one.label, "found": found, "added": added}
            for one, found, added in linkage.passes
        ],
        "weights": linkage.model.weights if linkage.model else {},
        "histogram": [list(one) for one in linkage.histogram],
        "warnings": list(linkage.warnings),
    }
