"""Agreement: whether something received is what was agreed on."""

from collections.abc import Collection, Mapping

from gramlink.bundles.sealing import Recipient
from gramlink.errors import Mismatch


def check_facts(thing: str, facts: Mapping[str, tuple[object, object]], *, hint: str) -> None:
    """Refuse a thing if any fact found about it differs from what was expected.

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


def check_sender(
    thing: str, sender: Recipient | None, who: str, keys: Collection[Recipient]
) -> None:
    """Refuse a thing that is not signed with a key that is known to be this party's."""
    if not keys:
        raise Mismatch(
            f"{thing} claims to be from {who}, whose key is not known here",
            hint=f"ask {who} for its recipient file, and keep it as {who}.recipient",
        )
    if sender is None:
        raise Mismatch(
            f"{thing} is not signed, so anybody could have made it",
            hint=f"ask {who} to make it with --identity",
        )
    if sender not in keys:
        raise Mismatch(
            f"{thing} does not come from the key of {who}, but from {sender.fingerprint}",
            hint=f"call {who}: if this is its new key, ask for the new recipient file",
        )


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value else "none"
