"""Ours: how good linkage is, against how many records a curious linkage unit can name."""

from gramlink.audit.audit import ALIGNMENT, COMPONENTS, NEAREST, Attack, some_of
from gramlink.audit.case import Case, Register
from gramlink.audit.claims import Claims
from gramlink.audit.seen import Seen
from gramlink.embedding.projection import agree
from gramlink.lab.datasets import persons, register
from gramlink.lab.experiments.experiment import Claim, Experiment, Measured, Row, Table
from gramlink.lab.experiments.people import proposed
from gramlink.lab.rivals.filtered import filtered
from gramlink.lab.scores import score
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.one_process import new_secret
from gramlink.parties.owner import Owner
from gramlink.records.reading import read_records
from gramlink.records.schema import checked_schema

VECTORS, VEILED, EXACT, FILTERS = "vectors", "veiled", "veiled, exact distances", "Bloom filters"
KEY = b"one key for all that is compared"


def shown_and_linked(sent: str, rows: int, count: int, draw: int) -> list[Row]:
    """The share of a hospital's records that the strongest attack names, and F1 of the links."""
    people = persons(count, seed=draw + 1)
    encoding = VECTORS if sent in (VECTORS, FILTERS) else VEILED
    schema = checked_schema(**{**dict(proposed(people, encoding)), "rows": rows or 16})
    ours, theirs = (read_records(side, schema) for side in (people.left, people.right))
    one, other = (Owner(name, side, schema, KEY) for name, side in (("a", ours), ("b", theirs)))
    projection = agree(one.mine(None), other.mine(None))
    case = Case(ours, theirs, schema, projection.bases)
    seen: Seen
    attack: Attack
    match sent:
        case "vectors":
            seen, attack = case.vectors, NEAREST
        case "Bloom filters":
            seen, attack = filtered(ours, KEY), ALIGNMENT
        case "veiled":
            seen, attack = case.veiled(), COMPONENTS
        case _:
            seen, attack = case.exact, COMPONENTS
    frame = register(count, seed=draw + 1, coverage=1.0)
    known = Register.of(read_records(frame, schema), frame["id_left"].to_list(), ours)
    victims = some_of(case, seen)
    chances = attack.chances(seen, case.known(known), victims)
    assert chances is not None  # noqa: S101
    row: Row = {"named": Claims.of(chances, victims, known.truth).named, "f1": None}
    if sent in (VECTORS, VEILED):
        secret = new_secret(projection, schema)
        bundles = (owner.embed(projection, secret=secret) for owner in (one, other))
        links = one.translate(other.translate(LinkageUnit.of(*bundles).link().links))
        pairs = zip(links.left, links.right, strict=True)
        row["f1"] = score(pairs, people.truth.iter_rows()).f1
    return [row]


def _named(m: Measured) -> tuple[bool | None, str]:
    parts = []
    for sent in m.values("sent"):
        for rows in m.values("rows", sent=sent):
            some = m.where(sent=sent, rows=rows)
            told = f", {rows} rows" if rows else ""
            at = "; ".join(
                f"{100 * named:.2f} % of {count:,}"
                for count, named in some.curve("count", "named").items()
            )
            parts.append(f"{sent}{told}: {at}")
    return None, ". ".join(parts) + "."


EXPOSURE = Experiment(
    name="exposure",
    where="ours",
    title="quality against exposure",
    about="Two files of generated persons, half in both, with the schema that gramlink init "
    "proposes, whatever is sent to the linkage unit: ε = 1, k = 75, up to 2 edits. Named is the "
    "share of the records that the strongest attack on what is sent names right: nearest neighbour "
    "with the bases known for vectors, alignment for Bloom filters, fingerprints of shared keys "
    "with bases and parities known for the veil. The attacker has a register of everybody as they "
    "are. Of more than 300 records in vectors or filters, 300 are attacked. Veils differ in their "
    "rows, one for each key; exact distances in place of sketches are a control.",
    measure=shown_and_linked,
    shown=(Table(rows=("sent", "rows"), values=("f1", "named"), across=("count",)),),
    full=(
        {"sent": (VECTORS, FILTERS), "rows": (0,), "count": (10_000,), "draw": range(2)},
        {"sent": (VEILED,), "rows": (4, 8, 16, 32), "count": (10_000,), "draw": range(2)},
        {"sent": (EXACT,), "rows": (16,), "count": (10_000,), "draw": range(2)},
        {"sent": (VECTORS,), "rows": (0,), "count": (30_000,), "draw": range(2)},
        {"sent": (VEILED,), "rows": (16,), "count": (30_000,), "draw": range(2)},
    ),
    quick=(
        {"sent": (VECTORS,), "rows": (0,), "count": (2000,), "draw": (0,)},
        {"sent": (VEILED,), "rows": (8, 16), "count": (2000,), "draw": (0,)},
    ),
    tiny=(
        {"sent": (VECTORS,), "rows": (0,), "count": (300,), "draw": (0,)},
        {"sent": (VEILED,), "rows": (4, 16), "count": (300,), "draw": (0,)},
    ),
    claims=(
        Claim(
            "what a curious unit names",
            "",
            _named,
            "Under the veil the unit sees only pairs that share a key, and of these little that "
            "tells who it is; what it names are mostly pairs of two people who share a rare key.",
        ),
    ),
)
