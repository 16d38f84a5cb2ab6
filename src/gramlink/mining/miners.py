"""Miners: functions from a column of strings to its most frequent grams.

| name | cost | |
|---|---|---|
| levelgram | ε | ours, the default |
| tree-linear, tree-exponential, tree-adaptive, tree-hybrid | ε | the paper's second miner |
| fpm | ε | the paper's first miner |
| public | 0 | the schema's own grams |
| random | 0 | random grams, for experiments |
| exact | no privacy | the true top k, for experiments |

All counts are document frequencies: a record counts once for a gram, however often it
holds it, so one record changes a gram's count by at most 1.
"""

from collections.abc import Callable
from fractions import Fraction

from gramlink.errors import BudgetExceeded, InvalidParameter
from gramlink.mining.estimates import GRID, Estimates, top
from gramlink.mining.fpm import fpm
from gramlink.mining.levelgram import levelgram
from gramlink.mining.prefix_tree import prefix_tree
from gramlink.mining.prefixes import Tree
from gramlink.mining.unaccounted import exact, public, random_grams
from gramlink.privacy.budget import Budget
from gramlink.records.fields import Field
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings

__all__ = [
    "EXPERIMENTAL",
    "GRID",
    "MINERS",
    "Estimates",
    "Tree",
    "mine_field",
    "price",
    "read_again",
    "top",
]

Miner = Callable[[Strings, Field, Budget], Estimates]

MINERS: dict[str, Miner] = {
    "levelgram": levelgram,
    "tree-linear": prefix_tree,
    "tree-exponential": prefix_tree,
    "tree-adaptive": prefix_tree,
    "tree-hybrid": prefix_tree,
    "fpm": fpm,
    "public": public,
    "random": random_grams,
    "exact": exact,
}


# the linkage unit could make the random base, too, and the exact one has no privacy
EXPERIMENTAL = ("random", "exact")
FREE = ("public", *EXPERIMENTAL)  # they draw no noise


def price(schema: Schema) -> Fraction | None:
    """What mining costs: epsilon, 0 where no record is read, None for no privacy."""
    if any(field.mined and field.miner == "exact" for field in schema.fields):
        return None
    return sum(schema.costs.values(), Fraction(0))


def mine_field(strings: Strings, field: Field, budget: Budget) -> Estimates:
    """The field's most frequent grams, by the miner that the field names.

    Privacy: spends the budget; one from a ledger was charged before it could be had.
    """
    if budget.left <= 0 and field.miner not in FREE:
        raise BudgetExceeded(f"{field.miner} needs a budget above 0")
    return MINERS[field.miner](strings, field, budget)


def read_again(estimates: Estimates, field: Field) -> Estimates:
    """Other grams from the same prefix tree: another size, q_min or q_max.

    Privacy: reads released counts only, so it costs nothing.
    """
    if estimates.tree is None:
        raise InvalidParameter(
            "these grams were not read off a prefix tree",
            hint='mine with miner = "tree-linear" to be able to read them again',
        )
    grams = estimates.tree.grams(field.q_min, field.q_max, GRID)
    return top(grams, field.size, estimates.tree)
