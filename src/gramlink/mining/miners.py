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
contains it, so one record changes a gram's count by at most 1.
"""

from fractions import Fraction

import numpy as np

from gramlink.errors import BudgetExceeded, InvalidParameter, Mismatch
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

    Privacy: spends the budget, which a ledger charges before handing it out. Whoever has a ledger
    charged calls `rehearse` first.
    """
    _check_left(field, budget)
    found: Estimates = MINERS[field.miner](strings, field, budget)
    return found


def rehearse(strings: Strings, field: Field, budget: Budget) -> None:
    """Mine no records with these settings, so that what must fail fails before it is paid for.

    Privacy: reads no record and draws no noise.
    """
    if field.miner in FREE:
        return
    _check_left(field, budget)
    if not field.symbols.startswith(strings.symbols):
        raise Mismatch(
            f"the column {field.name} was read with another alphabet than it is to be mined with",
            hint="read the records with the schema that they are mined with",
        )
    try:
        MINERS[field.miner](strings.take(np.empty(0, np.int64)), field, budget.rehearsal())
    except (InvalidParameter, BudgetExceeded) as error:
        raise type(error)(f"{field.name} cannot be mined: {error}", hint=error.hint) from error


def _check_left(field: Field, budget: Budget) -> None:
    if budget.left <= 0 and field.miner not in FREE:
        raise BudgetExceeded(f"{field.miner} needs a budget above 0")


def read_again(estimates: Estimates, field: Field) -> Estimates:
    """Other grams from the same prefix tree: another size, q_min or q_max.

    Privacy: reads released counts only, so it costs nothing.
    """
    if estimates.tree is None:
        raise InvalidParameter(
            "these grams do not come from a prefix tree",
            hint='mine with miner = "tree-linear" if you want to read grams again',
        )
    grams = estimates.tree.grams(field.q_min, field.q_max, GRID)
    return top(grams, field.size, estimates.tree)
