"""A demo of one field: a bundled list of names, and a mistyped copy of it."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from gramlink.deciding.links import decide
from gramlink.embedding.projection import Projection
from gramlink.embedding.thresholds import thresholds
from gramlink.embedding.vectors import embed
from gramlink.errors import InvalidParameter
from gramlink.lab.datasets import cities, corrupt, sample, surnames
from gramlink.lab.demo.stage import A, B, Stage, scored
from gramlink.lab.demo.story import Story, story_page
from gramlink.lab.rivals.edit_distance import within_edits
from gramlink.matching.pairs import match
from gramlink.mining.miners import price
from gramlink.parties.linkage_unit import LinkageUnit
from gramlink.parties.owner import Owner
from gramlink.records.reading import Records
from gramlink.records.schema import Schema, checked_schema
from gramlink.records.strings import Strings

LISTS = {"surnames": surnames, "cities": cities}

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


class NamesDemo(Stage):
    """Link a list of names with a mistyped copy."""

    def run(self) -> Callable[[], str]:
        """All steps; returns what writes the report, which needs matplotlib."""
        schema = self._prepare()
        one, other = self.owners(schema)
        projection = self.share_bases(one, other)
        _, unit = self.link(one, other, projection)
        story = self._evaluate(one, other, projection, unit)
        return lambda: story_page(story)

    def _prepare(self) -> Schema:
        """Two files of records, the truth and the schema, in the demo's own folder."""
        c = self.choices
        if c.data not in LISTS:
            raise InvalidParameter(f"no list {c.data!r}", hint="one of " + ", ".join(LISTS))
        schema = checked_schema(
            fields=({"name": "name", "miner": c.miner, "size": c.size},), encoding=c.encoding,
            epsilon=c.epsilon, edits=c.edits, threshold=c.threshold, decide=c.decide,
            errors=c.errors,
        )  # fmt: skip
        names = sample(LISTS[c.data](), c.count, c.seed)
        texts = Strings.of(names, schema["name"].spelling)
        typed = list(corrupt(texts, c.edits, seed=c.seed, model=c.errors))
        self.take_folder()
        toml = _SCHEMA.format(
            epsilon=c.epsilon, edits=c.edits, threshold=c.threshold, decide=c.decide,
            errors=c.errors, miner=c.miner, size=c.size,
        )  # fmt: skip
        self.write("linkage.toml", toml.encode())
        # Neither file's order nor its ids reveal anything about the other's.
        order = np.random.default_rng(c.seed).permutation(c.count)
        left = pl.DataFrame({"id": [f"A{i:06d}" for i in range(c.count)], "name": names})
        right = pl.DataFrame(
            {"id": [f"B{i:06d}" for i in range(c.count)], "name": [typed[i] for i in order]}
        )
        truth = pl.DataFrame({"id_left": left["id"].gather(order), "id_right": right["id"]})
        for file, frame in ((f"{A}.csv", left), (f"{B}.csv", right), ("truth.csv", truth)):
            self.write(file, frame.write_csv().encode())
        self.say(
            f"{c.count:,} {c.data} at {A}; at {B} the same, shuffled, "
            f"each with up to {c.edits} random {'edit' if c.edits == 1 else 'edits'}."
        )
        return schema

    def _evaluate(
        self, one: Owner, other: Owner, projection: Projection, unit: LinkageUnit
    ) -> Story:
        c, schema = self.choices, one.schema
        self.step("How good is it? Only the demo knows the truth, and both sides' names.")
        truth = list(pl.read_csv(c.folder / "truth.csv").iter_rows())
        ours = self.translated(one, other)
        base, left, right = projection.bases["name"], one.records["name"], other.records["name"]
        x, y = embed(left, base), embed(right, base)
        by_paper = schema.model_copy(update={"threshold": "paper"})
        paper = thresholds(left, base, schema["name"], by_paper)[:, -1]
        ids = one.records.ids, other.records.ids
        with self.bar("the paper's rule") as progress:
            theirs = decide(match(x, paper, y, progress), *ids, "all")
        by_text = decide(within_edits(left, right, c.edits), *ids, "one-to-one")
        rows = (
            (f"gramlink: {c.threshold}, {c.decide}", scored(ours, truth)),
            ("the paper's rule: Algorithm 2, all pairs", scored(theirs, truth)),
            ("edit distance on plain text, one-to-one", scored(by_text, truth)),
        )
        self.show_scores(rows)
        of_ours = rows[0][1]
        self.facts |= {
            "records": c.count,
            "encoding": c.encoding,
            "links": of_ours.links,
            "precision": of_ours.precision,
            "recall": of_ours.recall,
            "f1": of_ours.f1,
        }
        privacy = self.privacy(schema)
        self.say(f"   N = {c.count:,}, k = {c.size}, {privacy}, edits <= {c.edits}")
        return Story(
            choices=self._listed(privacy), messages=tuple(self.messages), scores=rows,
            vectors=(x, y), truth=_rows(one.records, other.records, truth),
            thresholds=_in_order(unit, one), paper=paper, seconds=self.seconds,
            private=price(schema) is not None,
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


def _rows(one: Records, other: Records, truth: list[tuple[str, str]]) -> npt.NDArray[np.int64]:
    """For each left row, the row of its true match."""
    place = {name: row for row, name in enumerate(other.ids)}
    partner = {left: place[right] for left, right in truth}
    return np.array([partner[name] for name in one.ids], np.int64)


def _in_order(unit: LinkageUnit, one: Owner) -> npt.NDArray[np.int64]:
    """The thresholds sent, in the order of the owner's records."""
    rows = unit.left.rows()
    sent = dict(zip(rows["id"], rows["name.thresholds"].arr.last(), strict=True))
    return np.array([sent[name] for name in one.pseudonyms], np.int64)
