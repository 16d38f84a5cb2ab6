"""What an audit lets an owner do: one sentence each."""

from gramlink.audit.audit import VECTORS, VEILED, Audit
from gramlink.records.choices import VECTORS as PAPERS

MUCH = 0.005  # named under the veil
NO_PROOF = "That these attacks fail is not a proof: others may know more, or try harder."


def advice(audit: Audit, encoding: str) -> list[str]:
    """What to change, the most important first."""
    shares = {}
    for name in (VEILED, VECTORS):
        worst = audit.worst(name)
        shares[name] = worst.claims.named if worst else 0.0
    found = []
    if encoding == PAPERS:
        found.append(
            f"whoever receives these vectors names {shares[VECTORS]:.1%} of the records; with "
            f'encoding = "veiled" in linkage.toml it would be {shares[VEILED]:.2%}'
        )
    if shares[VEILED] > MUCH:
        first = audit.drivers[0]
        found.append(
            f"under the veil {shares[VEILED]:.2%} are named, which is much; without "
            f"{first.what} it would be {first.left} of these {first.of} records"
        )
    found.append("exchange the same persons seldom: what exchanges show of them adds up")
    return found
