"""The demo: three parties link a bundled list of names with a mistyped copy, step by step.

Each party is a role of its own and gets nothing but the bytes that the others send it. All
files stay in one folder, so that every step can be read, or run again by hand.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.baselines.edit_distance import within_edits
from gramlink.bundle import Bundle
from gramlink.datasets import cities, corrupt, sample, surnames
from gramlink.embedding import embed
from gramlink.errors import InvalidParameter, Mismatch
from gramlink.evaluation import Scores, score
from gramlink.evaluation.report import Message, Story
from gramlink.files import written_whole
from gramlink.ledger import Ledger
from gramlink.links import Links, decide
from gramlink.matching import Progress, match
from gramlink.mined import Mined
from gramlink.mining import EXPERIMENTAL, price
from gramlink.privacy import shown
from gramlink.projection import Projection, agree
from gramlink.pseudonyms import owner_key, pseudonyms
from gramlink.records import Records, read_records
from gramlink.roles import LinkageUnit, Owner
from gramlink.schema import Schema, checked_schema
from gramlink.strings import Strings
from gramlink.thresholds import thresholds

Bar = AbstractContextManager[Progress | None]

LISTS = {"surnames": surnames, "cities": cities}
A, B, UNIT = "hospital", "registry", "linkage unit"

_SCHEMA = """\
# The demo's schema; `gramlink init` proposes one with a comment on every setting.
epsilon = "{epsilon}"
edits = {edits}
threshold = "{threshold}"
decide = "{decide}"
errors = "{errors}"

[fields.name]
alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ "
miner = "{miner}"
size = {size}
"""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the demo links, and how."""

    data: str = "surnames"
    count: int = 5000
    edits: int = 1
    epsilon: Fraction = Fraction(1)
    size: int = 75
    miner: str = "levelgram"
    threshold: str = "calibrated"
    decide: str = "one-to-one"
    errors: str = "uniform"
    seed: int = 1
    folder: Path = Path("gramlink-demo")


@dataclass(slots=True)
class Demo:
    """One run of the demo. `say` prints a line, `bar` shows progress while it lasts."""

    choices: Choices
    say: Callable[[str], None]
    bar: Callable[[str], Bar]
    messages: list[Message] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    def run(self) -> Story:
        """All steps; returns what the report shows."""
        schema = self._prepare()
        self._step("Each owner reads its records; nobody else ever does.")
        one, other = (self._owner(name, schema) for name in (A, B))
        projection = self._share_a_base(one, other)
        links, unit = self._link(one, other, projection)
        return self._evaluate(one, other, projection, links, unit)

    def _prepare(self) -> Schema:
        """Two files of records, the truth and the schema, in a folder of the demo's own."""
        c = self.choices
        if c.data not in LISTS:
            raise InvalidParameter(f"no list {c.data!r}", hint="one of " + ", ".join(LISTS))
        schema = checked_schema(
            fields=({"name": "name", "miner": c.miner, "size": c.size},),
            epsilon=c.epsilon, edits=c.edits, threshold=c.threshold, decide=c.decide,
            errors=c.errors,
        )  # fmt: skip
        names = sample(LISTS[c.data](), c.count, c.seed)
        texts = Strings.of(names, schema.field.symbols)
        typed = list(corrupt(texts, c.edits, seed=c.seed, model=c.errors))
        self._take_folder()
        toml = _SCHEMA.format(
            epsilon=c.epsilon, edits=c.edits, threshold=c.threshold, decide=c.decide,
            errors=c.errors, miner=c.miner, size=c.size,
        )  # fmt: skip
        self._write("linkage.toml", toml.encode())
        # Neither file's order nor its ids say anything of the other's.
        order = np.random.default_rng(c.seed).permutation(c.count)
        left = pl.DataFrame({"id": [f"A{i:06d}" for i in range(c.count)], "name": names})
        right = pl.DataFrame(
            {"id": [f"B{i:06d}" for i in range(c.count)], "name": [typed[i] for i in order]}
        )
        truth = pl.DataFrame({"id_left": left["id"].gather(order), "id_right": right["id"]})
        for file, frame in ((f"{A}.csv", left), (f"{B}.csv", right), ("truth.csv", truth)):
            self._write(file, frame.write_csv().encode())
        self.say(
            f"{c.count:,} {c.data} at {A}; at {B} the same, shuffled, "
            f"each with up to {c.edits} random {'edit' if c.edits == 1 else 'edits'}."
        )
        return schema

    def _take_folder(self) -> None:
        """A new folder, or that of an earlier demo; no other, whose files it would replace."""
        folder = self.choices.folder
        folder.mkdir(parents=True, exist_ok=True)
        mark = folder / ".gramlink-demo"
        if any(folder.iterdir()) and not mark.exists():
            raise InvalidParameter(
                f"{folder} holds files that are not a demo's", hint="name a new one with --output"
            )
        mark.touch()
        for stale in ("ledger", "key"):  # a run over public lists starts with a new budget
            for name in (A, B):
                (folder / f"{name}.{stale}").unlink(missing_ok=True)

    def _owner(self, name: str, schema: Schema) -> Owner:
        path = self.choices.folder / f"{name}.csv"
        records: Records = read_records(path, schema)
        self.say(f"   {name:<14} {len(records):>8,} records          {path.name}")
        key = owner_key(self.choices.folder / f"{name}.key")
        return Owner(name, records, schema, key)

    def _share_a_base(self, one: Owner, other: Owner) -> Projection:
        schema = one.schema
        self._step(f"Each owner mines its frequent grams with {schema.field.miner}.")
        cost = price(schema.field, schema.epsilon)
        for owner, reader in ((one, B), (other, A)):
            ledger = Ledger(
                self.choices.folder / f"{owner.name}.ledger", owner.name, schema.epsilon
            )
            mined = owner.mine(None if schema.field.miner in EXPERIMENTAL else ledger)
            what = f"{len(mined.fields['name'].grams)} grams" + (
                " with noisy counts" if cost else ""
            )
            spent = "no privacy" if cost is None else f"ε = {shown(cost)}"
            self._send(owner.name, reader, what, f"{owner.name}.mined.json", mined.to_json(), spent)
        if cost:
            self.say("   The cost was written to each owner's ledger before any noise was drawn.")
        self._step("Each owner merges both into the same base, and they compare fingerprints.")
        received = [
            Mined.from_json((self.choices.folder / f"{name}.mined.json").read_bytes(), name)
            for name in (A, B)
        ]
        projection, theirs = agree(*received), agree(*reversed(received))
        if projection.digest != theirs.digest:
            raise Mismatch("the two owners merged into different bases")
        self._write("projection.json", projection.to_json())
        grams = projection.bases["name"].grams
        self.say(f"   {len(grams)} grams: {' '.join(grams[:12])} ...")
        self.say(f"   fingerprint {projection.fingerprint}; the {UNIT} never sees the base")
        return projection

    def _link(self, one: Owner, other: Owner, projection: Projection) -> tuple[Links, LinkageUnit]:
        self._step(f"Each owner embeds its records; {projection.left} adds a threshold to each.")
        received = []
        for owner in (one, other):
            packed = owner.embed(projection).to_bytes()
            what = f"{len(owner.records):,} vectors of gram counts"
            what += ", thresholds" if owner.name == projection.left else ""
            self._send(owner.name, UNIT, what, f"{owner.name}.bundle", packed, "not covered by ε")
            received.append(Bundle.from_bytes(packed, f"{owner.name}.bundle"))
        self._step(f"The {UNIT} finds the pairs within the thresholds and decides.")
        unit = LinkageUnit.of(*received)
        with self.bar("matching") as progress:
            links = unit.link(progress=progress)
        for name in (A, B):
            text = links.to_polars().write_csv().encode()
            what = f"{len(links):,} links, without distances"
            self._send(UNIT, name, what, f"links-for-{name}.csv", text, "-")
        return links, unit

    def _evaluate(
        self, one: Owner, other: Owner, projection: Projection, links: Links, unit: LinkageUnit
    ) -> Story:
        c, schema = self.choices, one.schema
        self._step("How good is it? Only the demo knows the truth, and both sides' names.")
        frame = pl.read_csv(c.folder / "truth.csv")
        truth = list(frame.iter_rows())
        back = pl.read_csv(c.folder / f"links-for-{A}.csv", infer_schema=False)
        received = Links(tuple(back["id_left"]), tuple(back["id_right"]), links.squared)
        ours = one.translate(other.translate(received))
        base, left, right = projection.bases["name"], one.records["name"], other.records["name"]
        x, y = embed(left, base), embed(right, base)
        paper = thresholds(left, base, schema.model_copy(update={"threshold": "paper"}))
        with self.bar("the paper's rule") as progress:
            by_paper = decide(
                match(x, paper, y, progress), one.records.ids, other.records.ids, "all"
            )
        by_text = decide(
            within_edits(left, right, c.edits), one.records.ids, other.records.ids, "one-to-one"
        )
        rows = (
            (f"gramlink: {c.threshold}, {c.decide}", _scored(ours, truth)),
            ("the paper's rule: Algorithm 2, all pairs", _scored(by_paper, truth)),
            ("edit distance on plain text, one-to-one", _scored(by_text, truth)),
        )
        self.say(f"   {'':<42} {'links':>8} {'precision':>10} {'recall':>8} {'F1':>8}")
        for name, s in rows:
            numbers = f"{s.links:>8,} {s.precision:>10.4f} {s.recall:>8.4f} {s.f1:>8.4f}"
            self.say(f"   {name:<42} {numbers}")
        cost = price(schema.field, schema.epsilon)
        privacy = "no privacy" if cost is None else f"ε = {shown(cost)} per owner"
        self.say(f"   N = {c.count:,}, k = {c.size}, {privacy}, edits <= {c.edits}")
        return Story(
            choices=self._listed(privacy), messages=tuple(self.messages), scores=rows,
            vectors=(x, y), truth=_rows(one.records, other.records, truth),
            thresholds=_in_order(unit, one), paper=paper, seconds=perf_counter() - self.started,
            private=price(schema.field, schema.epsilon) is not None,
        )  # fmt: skip

    def _listed(self, privacy: str) -> dict[str, str]:
        c = self.choices
        return {
            "records": f"{c.count:,} {c.data} at each owner",
            "typos": f"up to {c.edits}, {c.errors}",
            "cost": privacy,
            "base": f"k = {c.size}, grams of 1 to 3 symbols, {c.miner}",
            "threshold": c.threshold,
            "deciding": c.decide,
            "seed of the data": str(c.seed),
        }

    def _step(self, text: str) -> None:
        self.say("")
        self.say(text)

    def _send(
        self, sender: str, reader: str, what: str, file: str, content: bytes, cost: str
    ) -> None:
        self._write(file, content)
        self.messages.append(Message(sender, reader, what, file, len(content), cost))
        who = f"{sender} -> {reader}"
        self.say(f"   {who:<26} {what:<44} {len(content):>11,} bytes   {cost}")

    def _write(self, file: str, content: bytes) -> None:
        with written_whole(self.choices.folder / file) as target:
            target.write(content)


def _scored(links: Links, truth: list[tuple[str, str]]) -> Scores:
    return score(zip(links.left, links.right, strict=True), truth)


def _rows(one: Records, other: Records, truth: list[tuple[str, str]]) -> npt.NDArray[np.int64]:
    """For each left row, the row of its true match."""
    place = {name: row for row, name in enumerate(other.ids)}
    partner = {left: place[right] for left, right in truth}
    return np.array([partner[name] for name in one.ids], np.int64)


def _in_order(unit: LinkageUnit, one: Owner) -> npt.NDArray[np.int64]:
    """The thresholds that were sent, in the order of the owner's records."""
    limits = unit.left.thresholds
    sent = dict(zip(unit.left.ids, [] if limits is None else limits.tolist(), strict=True))
    return np.array([sent[name] for name in pseudonyms(one.records.ids, one.key)], np.int64)
