"""Tears: a ledger's last line that was cut short, and what it counts as.

A power cut can tear the line that is being written, and a fault of the disk one that was written
whole; the two look the same. So what a torn line says counts, at its worst: a charge is spent, a
bundle was shown, a lower limit holds, and no charge is drawn for that waited for its release. What
a line is about stands at its start, so that little of a line is enough. If even that is gone, the
owner says what counts. The torn line stays, and an entry after it says what it counts as.
"""

import json
from typing import Any

from gramlink.privacy.exposure import UNSEALED

UNKNOWN = {"epsilon": "0", "unit": UNSEALED}  # of a line of which too little is left to tell


def loss(line: bytes) -> dict[str, Any] | None:
    """What a line that was cut short counts as; None if too little of it is left.

    >>> loss(b'{"entry": 3, "kind": "charge", "epsilon": "1/10", "what": "mi')
    {'epsilon': '1/10'}
    >>> loss(b'{"entry": 3, "kind": "charge", "epsilon": "1/1')
    """
    match _begun(line.decode("utf-8", "replace")):
        case {"kind": "charge", "epsilon": str(cost)}:
            return {"epsilon": cost}
        case {"kind": "release"}:
            return {"epsilon": "0"}
        case {"kind": "exposure", **rest}:
            return {"epsilon": "0", "unit": rest.get("unit", UNSEALED)}
        case {"kind": "allow", "allowance": amount}:
            return {"epsilon": "0", "allowance": amount}
        case {"kind": "limit", "exposures": most}:
            return {"epsilon": "0", "exposures": most}
    return None


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
