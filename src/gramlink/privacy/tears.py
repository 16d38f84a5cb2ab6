"""Tears: a ledger's last line that was cut short, and what it counts as.

A power cut can tear the line that is being written, and a fault of the disk one that was written
whole; the two look the same. So what a torn line says counts, at its worst: a charge is spent, a
bundle was shown, a lower limit holds, and no charge is drawn for that waited for its release. What
a line is about stands at its start, so that little of a line is enough. If even that is gone, the
owner says what counts. The torn line stays, and an entry after it says what it counts as.
"""

import json
from fractions import Fraction
from typing import Any

from gramlink.errors import InvalidParameter
from gramlink.privacy.exposure import UNSEALED
from gramlink.privacy.numbers import fraction

_UNKNOWN = {"epsilon": "0", "unit": UNSEALED}  # of a line of which too little is left to tell


def loss(line: bytes) -> dict[str, Any] | None:
    """What a line that was cut short counts as; None if too little of it is left.

    >>> loss(b'{"entry": 3, "kind": "charge", "epsilon": "1/10", "what": "mi')
    {'epsilon': '1/10'}
    >>> loss(b'{"entry": 3, "kind": "charge", "epsilon": "1/1')
    """
    match _begun(line.decode("utf-8", "replace")):
        case {"kind": "charge", "epsilon": str(cost)} if _is_cost(cost):
            return {"epsilon": cost}
        case {"kind": "release"}:
            return {"epsilon": "0"}
        case {"kind": "exposure", **rest}:
            return {"epsilon": "0", "unit": rest.get("unit", UNSEALED)}
        case {"kind": "allow", "allowance": str(amount)} if _is_cost(amount):
            return {"epsilon": "0", "allowance": amount}
        case {"kind": "limit", "exposures": int(most)} if most >= 0:
            return {"epsilon": "0", "exposures": most}
    return None


def least(lines: bytes) -> tuple[dict[str, Any], bool]:
    r"""What lines that cannot be read count as at least, and whether they all tell what they are.

    >>> least(b'{"kind": "release", "of"\n{"kind": "charge", "epsilon": "2", "what": "mi')
    ({'epsilon': '2'}, True)
    """
    found = [loss(line) for line in lines.split(b"\n")]
    told = [one or _UNKNOWN for one in found]
    if len(told) == 1:
        return told[0], found[0] is not None
    count: dict[str, Any] = {"epsilon": str(sum(fraction(one["epsilon"]) for one in told))}
    if any("unit" in one for one in told):
        count["unit"] = UNSEALED  # which counts for every unit
    if allowances := [fraction(one["allowance"]) for one in told if "allowance" in one]:
        count["allowance"] = str(min(allowances))
    if limits := [one["exposures"] for one in told if "exposures" in one]:
        count["exposures"] = min(limits)
    return count, None not in found


def _is_cost(text: str) -> bool:
    try:
        return fraction(text) >= Fraction(0)
    except InvalidParameter:
        return False


def _begun(text: str) -> dict[str, Any]:
    """The names and values that are whole in a JSON object that was cut short."""
    found: dict[str, Any] = {}
    decoder, place = json.JSONDecoder(), 1
    try:
        while True:
            name, end = decoder.raw_decode(text, place)
            value, end = decoder.raw_decode(text, end + len(": "))
            if text[end] != ",":  # a number may go on
                return found
            if name in found:
                return {}
            found[name] = value
            place = end + len(", ")
    except (ValueError, IndexError, TypeError, RecursionError):
        return found
