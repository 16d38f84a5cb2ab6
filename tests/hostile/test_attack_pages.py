"""Names that would be markup, or code, or that are far too long, on every page."""

import re
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import gramlink
from gramlink.bundles.sealing import new_identity
from gramlink.deciding.linkage import Linkage
from gramlink.deciding.links import Links
from gramlink.embedding.vectors import Vectors
from gramlink.exchange import wire
from gramlink.lab.demo.story import Message, Story, story_page
from gramlink.lab.experiments.experiment import Claim, Experiment, Measured, Plot, Table
from gramlink.lab.experiments.report.page import report
from gramlink.lab.experiments.report.sections import Section
from gramlink.lab.scores import Scores
from gramlink.matching.chance import Gaps
from gramlink.matching.passes import Pass
from gramlink.records.levels import Levels
from gramlink.records.quality import FieldQuality, Identical, Quality, Worst
from gramlink.records.reading import Problem
from gramlink.reports.audit_page import audit_page
from gramlink.reports.check_page import check_page
from gramlink.reports.linkage_page import linkage_page, linkage_shown
from gramlink.reports.page import templates
from gramlink.scoring.mixture import Sort
from gramlink.scoring.model import Model
from gramlink.server import pages

HOSTILE = {
    "a script": "<script>alert(1)</script>",
    "an event": '"><img src=x onerror=alert(1)>',
    "a single quote": "' onmouseover='alert(1)' x='",
    "the end of everything": "</title></style></svg></td></div></main><b>",
    "a comment": "--><i>x</i><!--",
    "an entity": "&lt;i&gt;&#60;i&#62;",
    "a template": "{{ 7 * 7 }}{% raw %}{{ view }}{# <i> #}",
    "an address": "javascript:alert(1)//../../<i>",
    "mathematics": "$\\frac{1}$ $<i>$",
    "far too long": "A" * 3000 + "<i>",
}
KEY = new_identity().recipient
NUMBERS = {"links": 4, "possible": 1, "precision": 0.9, "recall": 0.8}
OPERATOR = wire.TokenInfo(
    role="operator", exchange=None, party=None, expires="2030-01-01T00:00:00Z"
)


def told(model, **content):
    """What a unit says, unchecked: pages escape what is shown, whatever else has been checked."""
    return model.model_construct(**content)


def exchange(text, stage, state="refused", operator=True):
    """An exchange in whose every word an attacker has a say; the second party lags behind."""
    names = (f"{text} 1", f"{text} 2")
    return told(
        wire.ExchangeInfo,
        name=text,
        created=text,
        stage=stage,
        reason=text,
        parties=(
            party(text, names, state),
            party(text, names[::-1], "uploading", late=stage),
        ),
        progress=told(wire.Progress, step=text, done=1, total=0 if stage == "failed" else 2),
        summary=summary(text, names, stage) if operator else told(wire.PartySummary, **NUMBERS),
        erase=text,
        erased=text if stage == "failed" else None,
    )


def party(text, names, state, late=""):
    results = {"ready": True, "bytes": 9, "sha256": text}
    known = {"rows": 7, "epsilon": "1/10", "created": text, "bytes": 9, "sha256": text}
    return told(
        wire.PartyInfo,
        name=names[0],
        returns="links",
        recipient=None if late == "joining" else KEY,
        mined_sent_to=() if late == "mined" else names[1:],
        bundle=told(wire.BundleInfo, state=state, reason=text, offset=3, size=9, **known),
        results=told(wire.ResultsInfo, fetched=None if late == "done" else text, **results),
        token=told(wire.PartyToken, expires=text, revoked=None),
    )


def summary(text, names, stage):
    found = told(wire.PassFound, edits={text: 1, f"{text} 2": 0}, found=5, added=4)
    pair = told(
        wire.PairSummary,
        left=names[0],
        right=names[1],
        histogram=((-6, 90), (3, 1)),
        warnings=(text,),
        passes=(found,),
        **NUMBERS,
    )
    # many are folded away
    pairs = (pair,) * (5 if stage == "failed" else 2)
    return told(wire.Summary, pairs=pairs, clusters=3)


def party_page(text, stage, state="refused", place=1):
    name = f"{text} {place}"
    viewer = told(wire.TokenInfo, role="party", exchange=text, party=name, expires=text)
    return pages.exchange_page(exchange(text, stage, state, operator=False), viewer)


def home(text):
    limits = told(wire.Limits, bundle_bytes=2**32, mined_bytes=2**26)
    key = SimpleNamespace(key=text)
    unit = told(wire.UnitInfo, gramlink=text, recipient=key, fingerprint=text, limits=limits)
    return pages.operator_home(listed(text), unit, OPERATOR)


def listed(text):
    """A page of a list in which there are more exchanges."""
    parties = [
        told(wire.PartyGlance, name=f"{text} {place}", results="none", **far)
        for place, far in enumerate(({"bundle": "refused"}, {"bundle": "none", "withdrawn": True}))
    ]
    ages = {"created": text, "erase": text, "erased": text}
    one = told(
        wire.ExchangeGlance, name=text, stage="bundles", reason=text, parties=parties, **ages
    )
    return told(wire.ExchangeList, exchanges=(one,), total=2, next=text)


def log(text):
    entry = dict.fromkeys(("time", "who", "what", "exchange", "detail", "hash"), text)
    entries = (told(wire.LogEntry, number=1, **entry),)
    return pages.log_page(told(wire.LogInfo, entries=entries, intact=True), OPERATOR)


def check(text):
    problem = Problem(text, text, 3, (1, 2))
    field = FieldQuality(
        text, "text", (text, text), 9, 8, 1, 1, 1, 1, Fraction(1, 3), (problem,), (problem,)
    )
    same = Identical(3, 2, ((1, 2),))
    return check_page(Quality(text, 9, (field,), 5, 1, 0, (Worst(1, (text,)),), same, True))


def audit(text):
    attack = {
        "encoding": "veiled", "attack": text, "register": 1.0, "named": 0.1, "precision": 0.2,
        "control": True, "anonymity": [1, 2, 3, 4, 5, 6],
    }  # fmt: skip
    facts = {
        "records": 9,
        "attacks": [attack],
        "drivers": [{"without": text, "named": 1, "of": 2}],
        "made_up": [text],
        "advice": [text],
        "about": {text: text},
        "no_proof": text,
    }
    return audit_page(text, facts)


def linkage(text):
    sort = Sort(10.0, (np.array([0.95, 0.05, 1]), np.array([0.8, 0.12, 0.08, 1])))
    gaps = Gaps(np.zeros((1, 2), np.bool_), np.ones(1))
    passes = (Pass({text: 0, f"{text} 2": 1}),)
    names = (text, f"{text} 2")
    model = Model(names, (Levels(0), Levels(1)), 1000, gaps, (sort,), sort, (), passes)
    links = Links(("p",), ("q",), pl.DataFrame({"match_weight": [9.5]}))
    bins = ((-3, 10), (9, 1))
    return Linkage(links, links, 0.9, 0.8, model, ((passes[0], 5, 4),), bins, (text,))


SCORES = (2, 2, 1)


def persons(text):
    shown = linkage_shown(text, linkage(text), {text: text})
    message = Message(text, text, text, text, 7, text)
    template = templates("lab").get_template("lab/persons.html")
    return template.render(shown, scores=[(text, Scores(*SCORES))], messages=[message])


def names(text):
    vectors = Vectors(np.eye(3, dtype=np.uint8), (1, 1, 1), np.zeros(3, bool))
    message = Message(text, text, text, text, 7, text)
    limits = np.ones(3, np.int64)
    return story_page(
        Story(
            choices={text: text}, messages=(message,), scores=((text, Scores(*SCORES)),),
            vectors=(vectors, vectors), truth=np.arange(3), thresholds=limits, paper=limits,
            seconds=1.0, private=True,
        )
    )  # fmt: skip


def experiments(text):
    grid = {"data": (text,), "method": (text,), "epsilon": ("0.1", "1"), "draw": range(2)}
    claim = Claim(text, text, lambda _: (True, text), text)
    plot = Plot("epsilon", "f1", "data", "ε", "F1")
    one = Experiment(
        "eps", where=f"Figure {text}", title=text, about=text, measure=lambda **_: [],
        shown=(plot, Table(("data",), ("f1",))), full=(grid,), quick=(grid,), tiny=(grid,),
        claims=(claim,),
    )  # fmt: skip
    rows = [{**point, "f1": 0.5} for point in one.points("full")]
    return report([Section(one, Measured(pl.DataFrame(rows)), {"eps-f1": "<svg ></svg>"})],
                  {text: text})  # fmt: skip


PACKAGES = ("reports", "server", "lab")
STAGES = ("joining", "mined", "bundles", "linking", "done", "failed")
PAGES = {
    "sign in": pages.sign_in,
    "problem": lambda text: pages.problem_page(404, text, text),
    "home": home,
    "log": log,
    **{
        f"operator, {stage}": lambda text, stage=stage: pages.exchange_page(
            exchange(text, stage), OPERATOR
        )
        for stage in STAGES
    },
    **{f"party, {stage}": lambda text, stage=stage: party_page(text, stage) for stage in STAGES},
    "a party that waits": lambda text: party_page(text, "bundles", "accepted"),
    "a party that is late": lambda text: party_page(text, "mined", place=2),
    "check": check,
    "audit": audit,
    "linkage": lambda text: linkage_page(text, linkage(text), {text: text}),
    "demo of persons": persons,
    "demo of names": names,
    "experiments": experiments,
}


class Parsed(HTMLParser):
    """The elements of a page with the names of their attributes, and all that they hold."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.scripts, self.held = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        # how matplotlib draws a letter depends on the letter
        if tag not in ("path", "use", "defs", "g", "clippath", "rect"):
            self.elements.append((tag, sorted(key for key, _ in attrs)))
        if tag == "script":
            self.scripts.append(dict(attrs))
        self.held += [value for _, value in attrs if value]

    def handle_data(self, data):
        self.held.append(data)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_no_element_and_no_attribute_comes_from_what_is_shown(page, text):
    made = page(text)
    parsed = Parsed(made)
    assert parsed.elements == harmless(page)
    assert all(one == {"type": "module", "src": "/static/page.js"} for one in parsed.scripts)
    assert any(_flat(text) in _flat(one) for one in parsed.held), "it is shown as it is"
    assert made.count("<!doctype") == 1


@cache
def harmless(page):
    return Parsed(page("plain")).elements


def _flat(text):
    return re.sub(r"\s+", " ", text)


def test_every_template_is_attacked():
    for package in PACKAGES:
        templates(package).cache.clear()
    for page in PAGES.values():
        page("plain")
    used = {name for package in PACKAGES for _, name in templates(package).cache}
    root = Path(gramlink.__file__).parent
    every = root.glob("*/templates/*")
    assert used == {f"{file.parent.parent.name}/{file.name}" for file in every}
