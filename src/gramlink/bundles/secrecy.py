"""Secrecy: the linkage unit must not be able to know which grams are counted for it.

Whoever knows the grams can read most values off their counts, unless these are hidden even from
those who know the grams, as the veiled encoding hides them. So whatever leaves a process as a
bundle, or is read as one, counts grams that were mined under noise, and public ones in an order
that follows from these. Within one process there is nobody to keep them from, so the miners for
experiments may be used: the bytes of a bundle are the border.
"""

from collections.abc import Mapping
from typing import Any

from gramlink.encodings.encoding import encoding_of
from gramlink.errors import InvalidSchema
from gramlink.mining.miners import FREE
from gramlink.records.choices import MINERS, VECTORS
from gramlink.records.schema import Schema

SECRET = MINERS.keys() - set(FREE)


def check_secrecy(settings: Mapping[str, Any]) -> None:
    """Refuse settings from which the linkage unit could tell the grams, and name the field.

    >>> check_secrecy({"fields": {"surname": {"kind": "text", "miner": "levelgram"}}})
    >>> check_secrecy({"fields": {"born": {"kind": "date"}}})
    Traceback (most recent call last):
    ...
    gramlink.errors.InvalidSchema: the linkage unit could know all grams, because no field is mined
    """
    if exposed := _exposed(settings):
        raise exposed


def secrecy_warnings(schema: Schema) -> tuple[str, ...]:
    """What `check_secrecy` would refuse, and what else a schema shows that it need not.

    >>> from gramlink.records.fields import Field
    >>> secrecy_warnings(Schema(fields=(Field(name="surname"),)))
    ()
    """
    warnings = encoding_of(schema.encoding).warnings(schema)
    exposed = _exposed(schema.agreed)
    if exposed is None:
        return warnings
    return (*warnings, f"between organisations, {exposed}; {exposed.hint}")


def _exposed(settings: Mapping[str, Any]) -> InvalidSchema | None:
    """Why the linkage unit could tell the grams and read records by them, or None."""
    if encoding_of(settings.get("encoding", VECTORS)).hides_grams:
        return None
    mined = {
        name: field.get("miner")
        for name, field in settings["fields"].items()
        if field.get("kind") == "text"
    }
    for name, miner in mined.items():
        if miner not in SECRET:
            return InvalidSchema(
                f"the linkage unit could know the grams of {name}, whose miner is {miner}",
                hint="all owners: leave out `miner` in linkage.toml, or choose one that adds noise",
            )
    if not mined:
        return InvalidSchema(
            "the linkage unit could know all grams, because no field is mined",
            hint="all owners: add a field of kind text to linkage.toml, such as a surname",
        )
    return None
