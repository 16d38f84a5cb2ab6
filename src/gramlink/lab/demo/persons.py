"""A demo of several fields: two files of generated persons that partly overlap."""

from collections.abc import Callable

import polars as pl

from gramlink.audit.audit import named
from gramlink.audit.case import Case, Register
from gramlink.deciding.linkage import Linkage
from gramlink.embedding.projection import Projection
from gramlink.lab.datasets import persons, register
from gramlink.lab.demo.stage import UNIT, A, B, Stage, scored
from gramlink.parties.owner import Owner
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema, load_schema
from gramlink.reports.linkage_page import linkage_shown
from gramlink.reports.page import templates
from gramlink.reports.summary import estimate_lines, pass_lines, weight_lines

_SCHEMA = """\
# The demo's schema; `gramlink init` proposes one with a comment on every setting.
epsilon = "{epsilon}"
edits = {edits}
threshold = "{threshold}"
decide = "{decide}"
encoding = "{encoding}"
errors = "{errors}"

[fields.given_name]
miner = "{miner}"
size = {size}

[fields.surname]
miner = "{miner}"
size = {size}

[fields.sex]
kind = "category"
length = 1

[fields.date_of_birth]
kind = "date"

[fields.street]
alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789"
miner = "{miner}"
size = {size}

[fields.city]
miner = "{miner}"
size = {size}

[fields.postcode]
kind = "digits"

[fields.phone]
kind = "digits"
"""


class PersonsDemo(Stage):
    """Link two files of persons, half of whom are in both."""

    def run(self) -> Callable[[], str]:
        """All steps; returns what writes the report, which needs matplotlib."""
        schema = self._prepare()
        one, other = self.owners(schema)
        projection = self.share_bases(one, other)
        linkage, _ = self.link(one, other, projection)
        made = self._evaluate(one, other, linkage)
        self._attack(one, other, projection)
        return made

    def _prepare(self) -> Schema:
        """Two files of records, the truth and the schema, in the demo's own folder."""
        c = self.choices
        people = persons(c.count, seed=c.seed)
        self.take_folder()
        toml = _SCHEMA.format(
            epsilon=c.epsilon, edits=c.edits, threshold=c.threshold, decide=c.decide,
            encoding=c.encoding, errors=c.errors, miner=c.miner, size=c.size,
        )  # fmt: skip
        self.write("linkage.toml", toml.encode())
        files = ((f"{A}.csv", people.left), (f"{B}.csv", people.right), ("truth.csv", people.truth))
        for file, frame in files:
            self.write(file, frame.write_csv().encode())
        self.say(
            f"{c.count:,} generated persons at {A} and at {B}; {len(people.truth):,} are in both, "
            "with typos,"
        )
        self.say("nicknames, married names, moves and missing values; households share addresses.")
        return load_schema(c.folder / "linkage.toml")

    def _attack(self, one: Owner, other: Owner, projection: Projection) -> None:
        """What a linkage unit could name that has a register of everybody, and the bases."""
        c = self.choices
        self.step(f"What could a curious {UNIT} name, with a register of everybody and the bases?")
        frame = register(c.count, seed=c.seed, coverage=1.0)
        listed = read_records(frame, one.schema)
        known = Register.of(listed, frame["id_left"].to_list(), one.records)
        case = Case(one.records, other.records, one.schema, projection.bases)
        with self.bar("attacking"):
            shares = named(case, known)
        for encoding, share in shares.items():
            sent = " (sent here)" if encoding == c.encoding else ""
            self.say(f"   {encoding + sent:<24} {share:>8.2%} of the records of {one.name}")
        self.say("   by the strongest attack that we know; `gramlink audit` has all of them, and")
        self.say("   tries them on your own records. That attacks fail is not a proof.")
        self.facts["named"] = shares

    def _evaluate(self, one: Owner, other: Owner, linkage: Linkage) -> Callable[[], str]:
        c, schema, model = self.choices, one.schema, linkage.model
        assert model is not None  # noqa: S101  # there are several fields
        self.write("model.json", model.to_json())
        self.say("")
        for line in pass_lines(linkage):
            self.say(f"   {line}")
        self.step("What each field adds to the match weight, learnt without labels, in bits:")
        for line in weight_lines(model):
            self.say(f"   {line}")
        self.step("How good is it? Only the demo knows the truth.")
        truth = list(pl.read_csv(c.folder / "truth.csv", infer_schema=False).iter_rows())
        scores = scored(self.translated(one, other), truth)
        rows = ((f"gramlink: {len(schema.fields)} fields, {c.decide}", scores),)
        self.show_scores(rows)
        for line in estimate_lines(linkage):
            self.say(f"   {line}, from the links alone" if "estimated" in line else f"   {line}")
        self.say(f"   {len(linkage.possible):,} possible links are left for review")
        self.facts |= {
            "records": c.count,
            "encoding": c.encoding,
            "links": scores.links,
            "precision": scores.precision,
            "recall": scores.recall,
            "f1": scores.f1,
            "estimated": {"precision": linkage.precision, "recall": linkage.recall},
        }
        privacy = self.privacy(schema)
        self.say(f"   N = {c.count:,}, k = {c.size}, {privacy}, edits <= {c.edits}")
        facts = {
            "records": f"{c.count:,} generated persons at each owner, {len(truth):,} in both",
            "cost": privacy,
            "base": f"k = {c.size} for text, {c.miner}; public for the other kinds",
            "what the unit gets": c.encoding,
            "edits": f"up to {c.edits}",
            "deciding": c.decide,
            "seed of the data": str(c.seed),
            "seconds": f"{self.seconds:.0f}",
        }

        def page() -> str:
            for encoding, share in self.facts["named"].items():
                facts[f"a curious unit names, {encoding}"] = f"{share:.2%}"
            shown = linkage_shown("gramlink demo: persons", linkage, facts)
            template = templates("lab").get_template("lab/persons.html")
            return template.render(shown, scores=rows, messages=self.messages)

        return page
