import html.parser
import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from gramlink.deciding.explanation import Explanation, Reason
from gramlink.deciding.linkage import Linkage
from gramlink.deciding.links import Links
from gramlink.errors import InvalidParameter
from gramlink.matching.chance import Gaps
from gramlink.matching.passes import Pass
from gramlink.records.levels import Levels
from gramlink.reports.linkage_page import linkage_page
from gramlink.reports.summary import (
    estimate_lines,
    explanation_lines,
    pass_lines,
    sentences,
    weight_lines,
)
from gramlink.scoring.mixture import Sort
from gramlink.scoring.model import Model

MATCH = Sort(10.0, (np.array([0.95, 0.05, 1]), np.array([0.8, 0.12, 0.08, 1])))
RANDOM = Sort(1000.0, (np.array([0.1, 0.9, 1]), np.array([0.01, 0.05, 0.94, 1])))
GAPS = Gaps(np.array([[False, False], [True, False]]), np.array([0.9, 0.1]))
PASSES = (Pass({"sex": 0, "surname": 1}), Pass({"surname": 0}))
MODEL = Model(("sex", "surname"), (Levels(0), Levels(1)), 1000, GAPS, (MATCH,), RANDOM, (), PASSES)
LINKS = Links(("p1", "p2"), ("q1", "q2"), pl.DataFrame({"match_weight": [12.0, 9.5]}))
LINKAGE = Linkage(
    LINKS,
    Links(("p3",), ("q3",)),
    0.98765,
    0.91234,
    MODEL,
    ((PASSES[0], 12_345, 12_000), (PASSES[1], 7, 0)),
    ((-3, 1000), (9, 1), (12, 1)),
    ("surname is <b>odd</b>",),
)
PLAIN = Linkage(LINKS, Links((), ()))  # of one field


class Page(html.parser.HTMLParser):
    """What a page would load, and whether its tags are closed in order."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self, text):
        super().__init__()
        self.open, self.loaded = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.loaded += [
            value
            for name, value in attrs
            if name in ("src", "href", "xlink:href", "srcset", "data", "action")
        ]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_each_pass_has_a_line_with_its_numbers():
    head, first, second = pass_lines(LINKAGE)
    assert head.split() == ["pass", "found", "added"]
    assert first.startswith("sex equal, surname within 1 ")
    assert first.split()[-2:] == ["12,345", "12,000"]
    assert second.split()[-2:] == ["7", "0"]
    assert len(head) == len(first) == len(second)
    assert list(pass_lines(PLAIN)) == []


def test_each_field_has_a_line_of_weights_below_the_names_of_its_levels():
    head, sex, surname = weight_lines(MODEL)
    assert re.split(r"\s{2,}", head) == ["field", "equal", "within 1", "farther", "missing"]
    assert surname.split() == ["surname", "+6.3", "+1.3", "-3.6", "+0.0"]
    assert sex.split() == ["sex", "+3.2", "-4.2", "+0.0"]
    # there is no "within 1" of sex
    column = head.index("within 1")
    assert sex[column : column + 8].strip() == ""


def test_estimates_and_warnings_are_said_where_there_are_any():
    assert list(estimate_lines(LINKAGE)) == [
        "estimated precision 0.9877, recall 0.9123",
        "warning: surname is <b>odd</b>",
    ]
    assert list(estimate_lines(PLAIN)) == []


def explanation(**changes):
    reasons = (Reason("sex", "equal", 1.0, -0.25), Reason("surname", "equal", 9.0, 3.0))
    parts = {
        "together": 0.5, "related": -4.0, "weight": 9.25, "prior": -10.0, "rivals": -2.0,
        "probability": 0.1294,
    }  # fmt: skip
    return Explanation(reasons, **{**parts, **changes})


def test_an_explanation_is_a_step_for_each_reason_and_their_sum():
    lines = list(explanation_lines(explanation()))
    steps = lines[lines.index("") + 2 :]
    assert steps[0].split()[:3] == ["sex", "equal", "+0.8"]
    assert steps[1].split()[:6] == ["surname", "equal,", "a", "rare", "value", "+12.0"]
    bits = [next(word for word in line.split() if word[0] in "+-") for line in steps[2:8]]
    assert bits == ["+0.5", "-4.0", "-10.0", "-2.0", "-2.8", "+9.2"]
    assert steps[-1].split() == ["probability", "0.1294"]


def test_a_waterfall_falls_where_something_is_taken_away():
    lines = list(explanation_lines(explanation()))
    bars = [line[54:] for line in lines[lines.index("") + 2 :][:6]]
    assert [set(bar.strip()) for bar in bars] == [{"+"}, {"+"}, {"+"}, {"-"}, {"-"}, {"-"}]
    for one, other in pairwise(bars[:3]):  # each begins where one ends
        assert len(one) - 1 == len(other) - len(other.lstrip())


def test_an_explanation_begins_in_words():
    said = " ".join(list(explanation_lines(explanation()))[:3])
    assert "probably not one person, with a probability of 0.1294 (equal: sex, surname)" in said
    assert "relatives often look like this, which takes away 4.0 bits" in said
    assert "another candidate suits one of the two records as well or better" in said
    (alone,) = sentences(explanation(related=-0.1, rivals=0.0, probability=0.97))
    assert alone.startswith("probably one person")


@pytest.fixture(scope="module")
def page():
    return linkage_page("A & B", LINKAGE, {"hospital": "3 records"})


def test_the_page_is_whole_and_loads_nothing(page):
    parsed = Page(page)
    assert not parsed.open
    assert not [one for one in parsed.loaded if not one.startswith("#")]
    assert not re.findall(r"<script|<link|<img|@import|url\((?!#)", page)


def test_the_page_says_what_was_found(page):
    for said in ("A &amp; B", "3 records", "0.9877", "0.9123", "12,345", "within 1"):
        assert said in page
    assert "surname is &lt;b&gt;odd&lt;/b&gt;" in page
    assert page.count("<svg") == 2


def test_the_page_holds_no_pseudonym(page):
    assert not re.findall(r"\b[pq][123]\b", page)


def test_the_page_knows_nothing_of_scores_and_messages(page):
    assert "<h2>Result</h2>" not in page
    assert "Who sent what to whom" not in page


def test_a_line_is_drawn_at_the_lightest_link(page):
    assert page.count('class="line"') == 1
    assert "The dashed line is at the lightest link, 9.5 bits." in page
    none = Links((), (), pl.DataFrame({"match_weight": []}, schema={"match_weight": pl.Float64}))
    bare = Linkage(none, none, None, None, MODEL, (), LINKAGE.histogram)
    assert "lightest" not in linkage_page("x", bare, {})


def test_a_page_without_links_or_candidates_can_be_drawn():
    none = Links((), (), pl.DataFrame({"match_weight": []}, schema={"match_weight": pl.Float64}))
    page = linkage_page("x", Linkage(none, none, None, 0.0, MODEL), {})
    assert page.count("<svg") == 1
    assert "no pairs were compared" in page


def test_there_is_no_page_about_one_field():
    with pytest.raises(InvalidParameter, match="no model to show"):
        linkage_page("x", PLAIN, {})
