"""Secrecy: the linkage unit must not be able to know the grams that are counted for it.

Whoever knows the grams reads most values off their counts. So what leaves a process as a bundle,
or is read as one, counts grams that were mined under noise, and public ones in an order that
follows from these. Within one process all are one, and the miners for experiments may be used:
a bundle's bytes are the border.
"""

from collections.abc import Mapping
from typing import Any

from gramlink.errors import InvalidSchema
from gramlink.mining.miners import FREE
from gramlink.records.choices import MINERS

SECRET = MINERS.keys() - set(FREE)


def check_secrecy(settings: Mapping[str, Any]) -> None:
    """Refuse settings from which the linkage unit could tell the grams, and say of which field.

    >>> check_secrecy({"fields": {"surname": {"kind": "text", "miner": "levelgram"}}})
    >>> check_secrecy({"fields": {"born": {"kind": "date"}}})
    Traceback (most recent call last):
    ...
    gramlink.errors.InvalidSchema: the linkage unit could know all grams, as no field is mined
    """
    mined = {
        name: field.get("miner")
        for name, field in settings["fields"].items()
        if field.get("kind") == "text"
    }
    for name, miner in mined.items():
        if miner not in SECRET:
            raise InvalidSchema(
                f"the linkage unit could know the grams of {name}, whose miner is {miner}",
                hint="all owners: leave out `miner` in linkage.toml, or choose one that adds noise",
            )
    if not mined:
        raise InvalidSchema(
            "the linkage unit could know all grams, as no field is mined",
            hint="all owners: add a field of kind text to linkage.toml, such as a surname",
        )
