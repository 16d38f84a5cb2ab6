"""What attacks name of records as vectors, as Bloom filters and under the veil."""

from functools import cache
from time import perf_counter

import gramlink as gl
from benchmarks.common import markdown
from gramlink.audit.audit import Audit, Outcome, audit
from gramlink.audit.case import Case, Register
from gramlink.lab.datasets import persons, register
from gramlink.lab.experiments.people import proposed
from gramlink.lab.rivals.filtered import filtered

COUNT, SEED = 10_000, 1
COVERAGES = (1.0, 0.9, 0.5)
FILTERS = "Bloom filters"
DRIVERS = 10


@cache
def _audited() -> tuple[Audit, float]:
    people = persons(COUNT, seed=SEED)
    schema = proposed(people)
    ours, theirs = (gl.read_records(one, schema) for one in (people.left, people.right))
    owners = [gl.Owner(name, one, schema, b"key") for name, one in (("a", ours), ("b", theirs))]
    bases = gl.agree(*(owner.mine(None) for owner in owners)).bases
    registers = []
    for coverage in COVERAGES:
        frame = register(COUNT, seed=SEED, coverage=coverage)
        listed = gl.read_records(frame, schema)
        registers.append(Register.of(listed, frame["id_left"].to_list(), ours))
    started = perf_counter()
    case = Case(ours, theirs, schema, bases)
    found = audit(case, registers, {FILTERS: filtered(ours, b"secret")})
    return found, perf_counter() - started


def table() -> str:
    """A row for each encoding and attack."""
    found, seconds = _audited()
    kinds = dict.fromkeys((one.encoding, one.attack) for one in found.outcomes)
    rows = [[*kind, *_cells(found, *kind)] for kind in kinds]
    header = ["what is sent", "attack"]
    header += [f"named, register covers {share:.0%}" for share in COVERAGES]
    header += ["right, of all claims", "sure claims", "right, of these"]
    drivers = [[one.what, f"{one.left} of {one.of}"] for one in found.drivers[:DRIVERS]]
    worst = found.worst("veiled")
    assert worst is not None
    crowds = [[name, str(count)] for name, count in zip(CROWDS, worst.claims.crowds, strict=True)]
    return (
        "## What attacks name\n\n"
        f"Two files of {COUNT:,} generated persons, half in both, eight fields, with the schema "
        "that `gramlink init` proposes. The attacker knows the bases, the parities, and a register "
        f"of {COUNT * 3 // 2:,} persons as they are, of whom the stated share is in the files. "
        "Named: of the records whose persons the register has, the share for whom the attacker's "
        "best guess is right. The columns on claims are for the register that covers all. "
        f"{COUNT:,} records are attacked under the veil, a sample of 300 otherwise. The last two "
        "rows are controls: veils that are weak on purpose. That these attacks fail proves "
        f"nothing. {seconds:.0f} seconds.\n\n"
        + markdown(header, rows)
        + "\nOf the records that the strongest attack names under the veil, how many it still "
        "names if a key is not sent, or a field not shown:\n\n"
        + markdown(["left out", "still named"], drivers)
        + "\nAnonymity sets under the same attack: how many persons of the register are at least "
        "as likely as the right one.\n\n" + markdown(["persons", "records"], crowds)
    )


CROWDS = ("1", "2 to 10", "11 to 100", "101 to 1,000", "more", "all: nothing is seen")


def _cells(found: Audit, encoding: str, attack: str) -> list[str]:
    some = [one for one in found.outcomes if (one.encoding, one.attack) == (encoding, attack)]
    cells = [f"{one.claims.named:.2%}" for one in some]
    first: Outcome = some[0]
    cells += ["–"] * (len(COVERAGES) - len(cells))
    claims = first.claims
    return [*cells, f"{claims.precision:.2%}", str(claims.sure), f"{claims.sure_precision:.0%}"]
