"""Miners: functions from a column of strings, its field and a budget to its most frequent grams.

| name | cost | |
|---|---|---|
| levelgram | ε | ours, the default |
| tree-linear, tree-exponential, tree-adaptive, tree-hybrid | ε | the paper's second miner |
| fpm | ε | the paper's first miner |
| public | 0 | the schema's own grams |
| random | 0 | random grams, for experiments |
| exact | no privacy | the true top k, for experiments |

A line in `records.choices` gives a miner its name and says what it costs.

All counts are document frequencies: a record counts once for a gram, however often it
holds it, so one record changes a gram's count by at most 1.
"""

from fractions import Fraction

from gramlink.errors import BudgetExceeded, InvalidParameter
from gramlink.mining.estimates import GRID, Estimates, top
from gramlink.privacy.budget import Budget
from gramlink.records.choices import MINERS
from gramlink.records.fields import Field
from gramlink.records.schema import Schema
from gramlink.records.strings import Strings

# the linkage unit could make the random base, too, and the exact one has no privacy
EXPERIMENTAL = tuple(name for name, miner in MINERS.items() if miner.experimental)
FREE = tuple(name for name, miner in MINERS.items() if not miner.noisy)  # they draw no noise


def price(schema: Schema) -> Fraction | None:
    """What mining costs: epsilon, 0 where no record is read, None for no privacy."""
    if any(field.mined and not MINERS[field.miner].private for field in schema.fields):
        return None
    return sum(schema.costs.values(), Fraction(0))


def mine_field(strings: Strings, field: Field, budget: Budget) -> Estimates:
    """The field's most frequent grams, by the miner that the field names.

    Privacy: spends the budget; one from a ledger was charged before it could be had.
    """
    if budget.left <= 0 and field.miner not in FREE:
        raise BudgetExceeded(f"{field.miner} needs a budget above 0")
    found: Estimates = MINERS[field.miner](strings, field, budget)
    return found


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
