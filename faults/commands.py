"""The commands that write something, as three parties use them in a veiled exchange by files."""

from collections.abc import Mapping
from dataclasses import dataclass, field

EPSILON = "2"
SCHEMA = """\
epsilon = 2
encoding = "veiled"

[fields.given_name]
size = 40
share = 2

[fields.surname]
size = 60
share = 2

[fields.date_of_birth]
kind = "date"

[fields.postcode]
kind = "digits"
"""


@dataclass(frozen=True, slots=True)
class Command:
    """A command, what it needs, and what must be there once it has run.

    `same` are the files whose bytes are the same at every run; `alters` are those it needs and
    may change, and `drops` those it deletes.
    """

    name: str
    line: tuple[str, ...]
    needs: tuple[str, ...]
    writes: tuple[str, ...]
    same: tuple[str, ...] = ()
    alters: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    other: tuple[str, ...] = ()  # options with which it writes elsewhere, for the same ledger
    force: bool = False  # whether --force writes what is missing beside what is there
    mends: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # else what writes it
    faults: bool = True  # else it only makes what others need

    def mend(self, name: str) -> tuple[str, ...]:
        """What a user does about a missing file if the command says that the others exist."""
        return (*self.line, "--force") if self.force else self.mends.get(name, self.line)


def _keys(owner: str) -> Command:
    return Command(
        "keys new", ("keys", "new", owner), (), (f"{owner}.identity", f"{owner}.recipient"),
        faults=owner == "hospital",
    )  # fmt: skip


def _mine(owner: str) -> Command:
    return Command(
        "mine",
        ("mine", f"{owner}.csv"),
        ("linkage.toml", f"{owner}.csv"),
        (f"{owner}.mined.json", f"{owner}.ledger"),
        other=("--output", "second.mined.json"),
        faults=owner == "hospital",
    )


def _contribute(owner: str) -> Command:
    return Command(
        "contribute",
        ("contribute", owner, "--exchange", "stroke"),
        ("linkage.toml",),
        (f"stroke-{owner}.contribution",),
        faults=owner == "hospital",
    )


def _seal(owner: str, reader: str) -> Command:
    mined, contribution = f"{owner}.mined.json", f"stroke-{owner}.contribution"
    keys = (f"{owner}.identity", f"{reader}.recipient")
    return Command(
        "seal",
        ("seal", mined, "--contribution", contribution, "--to", keys[1], "--identity", keys[0]),
        (mined, contribution, *keys),
        (f"{mined}.age",),
        faults=owner == "hospital",
    )


def _embed(owner: str, other: str) -> Command:
    own, ledger = f"stroke-{owner}.contribution", f"{owner}.ledger"
    return Command(
        "embed",
        ("embed", f"{owner}.csv", "--to", "unit.recipient", "--exchange", "stroke",
         "--from", f"{other}.recipient"),
        ("linkage.toml", f"{owner}.csv", "projection.json", own, f"{other}.mined.json.age",
         f"{owner}.mined.json", ledger, f"{owner}.identity", "unit.recipient",
         f"{other}.recipient"),
        (f"{owner}.bundle.age", f"{owner}.key", own, ledger),
        alters=(own, ledger),
        faults=owner == "hospital",
    )  # fmt: skip


_ANSWERS = tuple(f"outbox/stroke-{owner}.results.age" for owner in ("hospital", "registry"))
_RECEIPTS = tuple(f"outbox/{owner}.bundle.age.receipt.txt" for owner in ("hospital", "registry"))
_SECRETS = ("stroke-hospital.contribution", "hospital.mined.json.age", "registry.mined.json.age")
_LEDGER = ("ledger", "hospital.ledger")

COMMANDS = (
    *map(_keys, ("hospital", "registry", "unit")),
    Command(
        "init",
        ("init", "hospital.csv", "registry.csv", "-o", "ours.toml", "-o2", "theirs.toml"),
        ("hospital.csv", "registry.csv"),
        ("ours.toml", "theirs.toml"),
        same=("ours.toml", "theirs.toml"),
        force=True,
    ),
    Command(
        "check",
        ("check", "hospital.csv", "--report", "check.html", "--bad-rows", "bad.csv"),
        ("linkage.toml", "hospital.csv"),
        ("check.html", "bad.csv"),
        same=("check.html", "bad.csv"),
        force=True,
    ),
    Command(
        "dedupe",
        ("dedupe", "hospital.csv"),
        ("linkage.toml", "hospital.csv"),
        ("hospital-duplicates.csv",),
        same=("hospital-duplicates.csv",),
        force=True,
    ),
    Command(
        "audit",
        ("audit", "hospital.csv", "--exchanges", "1", "--report", "audit.html"),
        ("linkage.toml", "hospital.csv"),
        ("audit.html", "hospital.audit.json"),
        same=("audit.html",),
        force=True,
    ),
    *map(_mine, ("hospital", "registry")),
    Command(
        "ledger --allow",
        (*_LEDGER, "--allow", "9"),
        ("hospital.ledger",),
        ("hospital.ledger",),
        alters=("hospital.ledger",),
    ),
    *map(_contribute, ("hospital", "registry")),
    _seal("hospital", "registry"),
    _seal("registry", "hospital"),
    Command(
        "merge",
        ("merge", "hospital.mined.json", "registry.mined.json.age",
         "--identity", "hospital.identity", "--from", "registry.recipient"),
        ("hospital.mined.json", "registry.mined.json.age", "hospital.identity",
         "registry.recipient"),
        ("projection.json",),
        same=("projection.json",),
    ),
    _embed("hospital", "registry"),
    _embed("registry", "hospital"),
    Command(
        "ledger --exposures",
        (*_LEDGER, "--exposures", "4"),
        ("hospital.ledger",),
        ("hospital.ledger",),
        alters=("hospital.ledger",),
    ),
    Command(
        "link",
        ("link", "hospital.bundle.age", "registry.bundle.age", "--identity", "unit.identity",
         "--report", "links.html"),
        ("hospital.bundle.age", "registry.bundle.age", "unit.identity"),
        ("links.csv", "links-possible.csv", "links-model.json", "links.html"),
        same=("links.csv", "links-possible.csv", "links-model.json", "links.html"),
    ),
    Command(
        "unit inbox",
        ("unit", "inbox", "inbox", "outbox", "--identity", "unit.identity",
         "--from", "hospital.recipient", "--from", "registry.recipient"),
        ("inbox/hospital.bundle.age", "inbox/registry.bundle.age", "unit.identity",
         "hospital.recipient", "registry.recipient"),
        (*_ANSWERS, *_RECEIPTS, "outbox/stroke-answered.json"),
        same=_RECEIPTS,
    ),
    Command(
        "results",
        ("results", "outbox/stroke-hospital.results.age", "hospital.csv", "--exchange", "stroke",
         "--identity", "hospital.identity", "--from", "unit.recipient"),
        ("linkage.toml", "hospital.csv", "projection.json", "outbox/stroke-hospital.results.age",
         "unit.recipient", "hospital.identity", "hospital.key", *_SECRETS),
        ("hospital-links.csv", "hospital-links-possible.csv"),
        same=("hospital-links.csv", "hospital-links-possible.csv"),
        drops=_SECRETS,
    ),
    Command(
        "unit new",
        ("unit", "new", "stroke", "linkage.toml", "hospital", "registry", "--data", "unit"),
        ("linkage.toml", "unit"),
        ("unit/unit.sqlite3", "stroke-hospital.token", "stroke-registry.token"),
        alters=("unit",),
        mends={
            f"stroke-{party}.token": ("unit", "token", "stroke", party, "--data", "unit")
            for party in ("hospital", "registry")
        },
    ),
)  # fmt: skip
