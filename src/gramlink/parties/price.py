"""Price: what a ledger may pay for, refused by owners and by linkage units alike."""

from fractions import Fraction

from gramlink.errors import InvalidParameter
from gramlink.mining.miners import EXPERIMENTAL
from gramlink.privacy.budget import shown
from gramlink.records.schema import Schema

MOST_EPSILON = Fraction(20)  # at exp(20), what is released may tell nearly everything of a person


def check_price(schema: Schema, *, insists: bool = False) -> None:
    """Refuse a schema whose mining no ledger should pay for, unless its owner insists.

    >>> from gramlink.records.fields import Field
    >>> check_price(Schema(fields=(Field(name="surname"),), epsilon="1000"))
    Traceback (most recent call last):
    ...
    gramlink.errors.InvalidParameter: epsilon 1000 protects nobody: more than 20 is refused
    """
    experiments = {field.miner for field in schema.fields if field.mined} & set(EXPERIMENTAL)
    if experiments:
        miner = min(experiments)
        raise InvalidParameter(
            f"the {miner} miner offers no privacy, so no ledger can pay for it",
            hint=f"it is for experiments: `gramlink demo --miner {miner}`",
        )
    if schema.epsilon > MOST_EPSILON and not insists:
        raise InvalidParameter(
            f"epsilon {shown(schema.epsilon)} protects nobody: "
            f"more than {shown(MOST_EPSILON)} is refused",
            hint="common values lie between 0.1 and 2; an owner that means it can use --insist "
            "(in Python: Owner(..., insists=True))",
        )
