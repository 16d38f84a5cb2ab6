"""Exact numbers, as people write them."""

from decimal import Decimal
from fractions import Fraction

from gramlink.errors import InvalidParameter


def fraction(value: object) -> Fraction:
    """An exact fraction from a number or a text such as 0.1 or 1/3.

    >>> fraction("0.1"), fraction(Decimal("0.25"))
    (Fraction(1, 10), Fraction(1, 4))
    """
    if isinstance(value, Fraction):
        return value
    text = str(value)  # a float is read as it is printed: whoever writes 0.1 means one tenth
    try:
        if len(text) > 100 or ("/" not in text and abs(Decimal(text).adjusted()) > 30):
            raise ValueError
        return Fraction(text)
    except (ValueError, ArithmeticError) as error:
        raise InvalidParameter(
            f"{text[:100]} is not a number of a sensible size", hint="write 0.1 or 1/10"
        ) from error


def spent_epsilon(value: object) -> Fraction | None:
    """What a file says was spent: a cost, or None where there is no privacy."""
    if value is None:
        return None
    epsilon = fraction(value)
    if epsilon < 0:
        raise InvalidParameter(f"epsilon {epsilon} cannot have been spent")
    return epsilon


def positive_epsilon(value: object) -> Fraction:
    """An epsilon that buys some privacy and some noise."""
    epsilon = fraction(value)
    if epsilon <= 0:
        raise InvalidParameter(
            f"epsilon must be above 0, not {value}", hint="common values lie between 0.1 and 2"
        )
    return epsilon
