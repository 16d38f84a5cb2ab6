"""Admission: whether a bundle may be linked, and with which others."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.sealing import Recipient
from gramlink.errors import Mismatch
from gramlink.io.files import digest
from gramlink.io.names import alike
from gramlink.parties.agreement import check_facts, check_sender
from gramlink.records.schema import differences


@dataclass(frozen=True, slots=True)
class Basis:
    """What an owner's records were encoded with; it must be the same for all owners."""

    owner: str
    projection: str
    shape: str  # the digest of the encoding and its shape
    secret: str = ""  # the same for owners who share a secret

    @classmethod
    def of(cls, bundle: Bundle) -> "Basis":
        """The basis of a bundle."""
        shape = digest([bundle.records.name, bundle.records.shape])
        return cls(bundle.owner, bundle.projection, shape, bundle.records.secret_check)

    def check(self, other: "Basis") -> None:
        """Refuse a basis that cannot be compared with this one."""
        if self.projection != other.projection:
            raise Mismatch(
                f"{self.owner} and {other.owner} embedded with different projections",
                hint="have them compare the fingerprints that `gramlink merge` printed",
            )
        if self.secret != other.secret:
            raise Mismatch(
                f"{self.owner} and {other.owner} encoded their records with different secrets",
                hint="all owners must embed with the same contributions; if any of them is lost or "
                "was replaced, they agree on a new exchange and contribute anew",
            )
        if self.shape != other.shape:
            raise Mismatch(
                f"{self.owner} and {other.owner} encoded their records differently",
                hint="both owners must use the same version of gramlink and the same projection",
            )


def check_bundle(bundle: Bundle) -> None:
    """Refuse a bundle that contradicts itself, or has nothing to link."""
    if bundle.owner not in bundle.owners or len(bundle.owners) < 2:
        raise Mismatch(
            f"the bundle does not name its owner, {bundle.owner}, among two or more owners",
            hint="embed again, with the projection of all owners",
        )
    if alike(bundle.owners):
        raise Mismatch(f"the bundle names {' and '.join(alike(bundle.owners))} as two owners")
    if not bundle.ids:
        raise Mismatch("the bundle has no rows", hint="is the data file empty?")
    if bundle.owner != max(bundle.owners) and not bundle.records.leads:
        raise Mismatch(
            f"the bundle of {bundle.owner}, who is left to another owner, has no thresholds",
            hint="embed again, with the projection of all owners",
        )


def check_address(bundle: Bundle) -> Recipient:
    """Whom to seal the results to; a bundle that names no key or no exchange is refused."""
    if not bundle.exchange:
        raise Mismatch("the bundle does not name its exchange", hint="embed with --exchange")
    if bundle.reply is None:
        raise Mismatch(
            "the bundle does not say which key to seal the results to", hint="embed with --to"
        )
    return bundle.reply


def check_signed(bundle: Bundle, keys: Mapping[str, Collection[Recipient]]) -> None:
    """Refuse a bundle that its owner did not sign, by the keys that are known to be each owner's.

    Its results go back to the key that signed it, and to no other.
    """
    check_sender("the bundle", bundle.sender, bundle.owner, keys.get(bundle.owner, ()))
    if bundle.reply not in (None, bundle.sender):
        raise Mismatch(
            f"the bundle of {bundle.owner} asks for results sealed to a key that did not sign it",
            hint="embed again, with the identity that the linkage unit knows",
        )


def check_comparable(bundles: Sequence[Bundle]) -> None:
    """Refuse bundles that were not made to be linked with each other, and say what differs."""
    for bundle in bundles:
        check_bundle(bundle)
    for owner in alike(bundle.owner for bundle in bundles):
        raise doubled(owner)
    first, *others = sorted(bundles, key=lambda bundle: bundle.owner)
    for other in others:
        _check_two(first, other)


def doubled(owner: str) -> Mismatch:
    """What to raise when two bundles' owners have the same name, or names that look alike."""
    return Mismatch(
        f"there are two bundles from {owner}; keep one", hint="each owner sends one bundle"
    )


def _check_two(one: Bundle, other: Bundle) -> None:
    both = f"{one.owner} and {other.owner}"
    different = differences(one.settings, other.settings)
    if different:
        raise Mismatch(
            f"{both} differ in {'; '.join(different)}",
            hint="both owners must mine and embed with the same linkage.toml",
        )
    if one.exchange != other.exchange:
        raise Mismatch(
            f"{both} embedded for different exchanges, "
            f"{one.exchange or 'none'} and {other.exchange or 'none'}",
            hint="have them embed again with the same --exchange",
        )
    if set(one.owners) != set(other.owners):
        raise Mismatch(
            f"the bundles of {both} do not name the same owners",
            hint="have them compare the fingerprints that `gramlink merge` printed",
        )
    Basis.of(one).check(Basis.of(other))


def check_complete(bundles: Sequence[Bundle]) -> None:
    """Refuse bundles that cannot be linked, or that do not come from all owners yet."""
    check_comparable(bundles)
    missing = {name for bundle in bundles for name in bundle.owners} - {
        bundle.owner for bundle in bundles
    }
    if missing:
        raise Mismatch(f"there is no bundle from {', '.join(sorted(missing))}", hint="wait for it")


def admit(
    bundle: Bundle,
    *,
    exchange: str,
    owner: str,
    owners: Sequence[str],
    settings: Mapping[str, Any],
    key: Recipient,
) -> None:
    """Refuse a bundle that is not this owner's for this exchange, and say what differs.

    The key is the one that the owner joined with: it must have signed the bundle.
    """
    check_facts(
        "the bundle",
        {
            "exchange": (bundle.exchange, exchange),
            "owner": (bundle.owner, owner),
            "owners": (sorted(bundle.owners), sorted(owners)),
            "key to reply to": (bundle.reply.key if bundle.reply else None, key.key),
        },
        hint="embed again for this exchange, with the key that it knows",
    )
    different = differences(bundle.settings, dict(settings))
    if different:
        raise Mismatch(
            f"the bundle and the exchange differ in {'; '.join(different)}",
            hint="use the linkage.toml of the exchange",
        )
    check_bundle(bundle)
    check_signed(bundle, {owner: [key]})
