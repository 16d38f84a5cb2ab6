"""Agreement: whether something that came is what was agreed on."""

from collections.abc import Mapping

from gramlink.errors import Mismatch


def check_facts(thing: str, facts: Mapping[str, tuple[object, object]], *, hint: str) -> None:
    """Refuse a thing of which a fact, as found, is not as it was expected.

    >>> check_facts("the bundle", {"owner": ("clinic", "clinic")}, hint="")
    >>> check_facts("the bundle", {"owner": ("clinic", "office")}, hint="")
    Traceback (most recent call last):
    ...
    gramlink.errors.Mismatch: the bundle's owner is clinic, not office
    """
    for what, (found, expected) in facts.items():
        if found != expected:
            whose = f"{thing}'" if thing.endswith("s") else f"{thing}'s"
            verb = "are" if what.endswith("s") else "is"
            raise Mismatch(
                f"{whose} {what} {verb} {_said(found)}, not {_said(expected)}", hint=hint
            )


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value else "none"
