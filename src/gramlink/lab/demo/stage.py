"""The stage of a demo: its folder, what it prints, and the steps that all demos share."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import polars as pl

from gramlink.bundles.bundle import Bundle
from gramlink.bundles.pseudonyms import owner_key
from gramlink.deciding.linkage import Linkage
from gramlink.deciding.links import Links
from gramlink.embedding.projection import Projection, agree
from gramlink.encodings.encoding import encoding_of
from gramlink.encodings.secret import SIZE, Secret
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.io.files import written_whole
from gramlink.lab.demo.story import Message
from gramlink.lab.scores import Scores, score
from gramlink.matching.pairs import Progress
from gramlink.mining.mined import Mined
from gramlink.mining.miners import EXPERIMENTAL, price
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.one_process import new_secret
from gramlink.parties.owner import Owner
from gramlink.privacy.budget import shown
from gramlink.privacy.ledger import Ledger
from gramlink.records.choices import VECTORS
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema

Bar = AbstractContextManager[Progress | None]

A, B, UNIT = "hospital", "registry", "linkage unit"


@dataclass(frozen=True, slots=True)
class Choices:
    """What a demo links, and how."""

    data: str = "surnames"
    count: int = 5000
    edits: int = 1
    epsilon: Fraction = Fraction(1)
    size: int = 1000
    miner: str = "levelgram"
    threshold: str = "calibrated"
    decide: str = "one-to-one"
    errors: str = "uniform"
    seed: int = 1
    folder: Path = Path("gramlink-demo")
    encoding: str = VECTORS


@dataclass(slots=True)
class Stage:
    """One run of a demo. `say` prints a line, `bar` shows progress while it lasts."""

    choices: Choices
    say: Callable[[str], None]
    bar: Callable[[str], Bar]
    messages: list[Message] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)  # what came of it, for a program
    started: float = field(default_factory=perf_counter)

    @property
    def seconds(self) -> float:
        """How long the demo has taken so far."""
        return perf_counter() - self.started

    def take_folder(self) -> None:
        """A new folder, or an earlier demo's; any other is refused, lest its files be replaced."""
        folder = self.choices.folder
        folder.mkdir(parents=True, exist_ok=True)
        mark = folder / ".gramlink-demo"
        if any(folder.iterdir()) and not mark.exists():
            raise InvalidParameter(
                f"{folder} holds files that are not from a demo",
                hint="name a new one with --output",
            )
        mark.touch()
        # a run over public data starts with a new budget
        for stale in ("ledger", "key", "mined.json"):
            for name in (A, B):
                (folder / f"{name}.{stale}").unlink(missing_ok=True)

    def step(self, text: str) -> None:
        """Announce a step."""
        self.say("")
        self.say(text)

    def write(self, file: str, content: bytes) -> None:
        """Write a file of the demo."""
        with written_whole(self.choices.folder / file) as target:
            target.write(content)

    def send(
        self, sender: str, reader: str, what: str, file: str, content: bytes, cost: str
    ) -> None:
        """Write what one party sends another, and say so."""
        self.write(file, content)
        self.tell(Message(sender, reader, what, file, len(content), cost))

    def tell(self, message: Message) -> None:
        """Say what one party sends another."""
        self.messages.append(message)
        who = f"{message.sender} -> {message.reader}"
        self.say(f"   {who:<26} {message.what:<44} {message.size:>11,} bytes   {message.cost}")

    def deliver(self, bundle: Bundle, what: str) -> Bundle:
        """The bundle as the linkage unit gets it: read from a file, if one may be written.

        Grams for experiments, which the unit could know, must not leave this process.
        """
        hidden = encoding_of(bundle.records.name).hides_grams
        cost = "hidden by the owners' secret" if hidden else "not covered by ε"
        if self.choices.miner in EXPERIMENTAL and not hidden:
            size = int(bundle.rows().estimated_size())
            self.tell(Message(bundle.owner, UNIT, what, "(not written)", size, cost))
            return bundle
        packed = bundle.to_bytes()
        self.send(bundle.owner, UNIT, what, f"{bundle.owner}.bundle", packed, cost)
        return Bundle.from_bytes(packed, f"{bundle.owner}.bundle")

    def owners(self, schema: Schema) -> tuple[Owner, Owner]:
        """Both owners, each with its own file."""
        self.step("Each owner reads its records; nobody else ever does.")
        found = []
        for name in (A, B):
            path = self.choices.folder / f"{name}.csv"
            records = read_records(path, schema)
            self.say(f"   {name:<14} {len(records):>8,} records          {path.name}")
            key = owner_key(self.choices.folder / f"{name}.key")
            found.append(Owner(name, records, schema, key))
        return found[0], found[1]

    def share_bases(self, one: Owner, other: Owner) -> Projection:
        """Each owner mines, sends what it mined to the other, and merges both."""
        schema, cost = one.schema, price(one.schema)
        mined_fields = [field for field in schema.fields if field.mined]
        miners = ", ".join(sorted({field.miner for field in mined_fields}))
        self.step(f"Each owner mines its frequent grams with {miners}.")
        if len(mined_fields) > 1:
            split = ", ".join(f"{n} {shown(e)}" for n, e in schema.costs.items() if e)
            self.say(f"   ε is split: {split}; the other fields have public bases, at no cost")
        for owner, reader in ((one, B), (other, A)):
            ledger = Ledger(
                self.choices.folder / f"{owner.name}.ledger", owner.name, schema.epsilon
            )
            experiment = any(field.miner in EXPERIMENTAL for field in mined_fields)
            mined = owner.mine(None if experiment else ledger)
            grams = sum(len(found.grams) for found in mined.fields.values())
            what = f"{grams} grams" + (" with noisy counts" if cost else "")
            spent = "no privacy" if cost is None else f"ε = {shown(cost)}"
            self.send(owner.name, reader, what, f"{owner.name}.mined.json", mined.to_json(), spent)
        if cost:
            self.say("   The cost was written to each owner's ledger before any noise was drawn.")
        self.step("Each owner merges both into the same base, and they compare fingerprints.")
        received = [
            Mined.from_json((self.choices.folder / f"{name}.mined.json").read_bytes(), name)
            for name in (A, B)
        ]
        projection, theirs = agree(*received), agree(*reversed(received))
        if projection.digest != theirs.digest:
            raise Mismatch("the two owners merged into different bases")
        self.write("projection.json", projection.to_json())
        for name in projection.mined:
            grams_of = projection.bases[name].grams
            self.say(f"   {name}: {len(grams_of)} grams: {' '.join(grams_of[:12])} ...")
        self.say(f"   fingerprint {projection.fingerprint}; the {UNIT} never sees the base")
        return projection

    def agree_on_secret(self, schema: Schema, projection: Projection) -> Secret | None:
        """The owners' secret, if their encoding needs one, and what they send each other for it."""
        secret = new_secret(projection, schema)
        if secret:
            self.step("Each owner contributes random bytes to a secret, for this exchange only.")
            for name, reader in ((A, B), (B, A)):
                what = "a contribution to their secret"
                self.tell(Message(name, reader, what, "(not written)", SIZE, "-"))
        return secret

    def link(self, one: Owner, other: Owner, projection: Projection) -> tuple[Linkage, LinkageUnit]:
        """Each owner sends its bundle; the linkage unit links, and sends links back."""
        secret = self.agree_on_secret(one.schema, projection)
        (left,) = projection.left
        encoding = encoding_of(one.schema.encoding)
        if secret:
            self.step("Each owner veils its records: two can be compared only if they share a key,")
            self.say("such as a name and a date of birth, which only the owners can compute.")
        else:
            self.step(f"Each owner embeds its records; {left} adds thresholds to each.")
        received = []
        for owner in (one, other):
            what = f"{len(owner.records):,} records as {encoding.shown_as}"
            what += ", thresholds" if owner.name == left and not secret else ""
            received.append(self.deliver(owner.embed(projection, secret=secret), what))
        self.step(f"The {UNIT} finds the pairs that may match and decides.")
        unit = LinkageUnit.of(*received)
        with self.bar("matching") as progress:
            linkage = unit.link(progress=progress)
        for name in (A, B):
            text = linkage.links.bare.to_polars().write_csv().encode()
            what = f"{len(linkage.links):,} links, without details"
            self.send(UNIT, name, what, f"links-for-{name}.csv", text, "-")
        return linkage, unit

    def translated(self, one: Owner, other: Owner) -> Links:
        """The links that came back, with both owners' own ids: only a demo has both keys."""
        back = pl.read_csv(self.choices.folder / f"links-for-{A}.csv", infer_schema=False)
        return one.translate(
            other.translate(Links(tuple(back["id_left"]), tuple(back["id_right"])))
        )

    def show_scores(self, rows: tuple[tuple[str, Scores], ...]) -> None:
        """A line for each method."""
        self.say(f"   {'':<42} {'links':>8} {'precision':>10} {'recall':>8} {'F1':>8}")
        for name, s in rows:
            numbers = f"{s.links:>8,} {s.precision:>10.4f} {s.recall:>8.4f} {s.f1:>8.4f}"
            self.say(f"   {name:<42} {numbers}")

    def privacy(self, schema: Schema) -> str:
        """What mining costs, in words."""
        cost = price(schema)
        return "no privacy" if cost is None else f"ε = {shown(cost)} per owner"


def scored(links: Links, truth: list[tuple[str, str]]) -> Scores:
    """How good links are against the truth."""
    return score(zip(links.left, links.right, strict=True), truth)
