"""The histogram that reports and the server's pages share."""

import re
from html.parser import HTMLParser
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from gramlink.reports.histogram import Histogram
from gramlink.reports.page import templates


def drawn(bins, line=None, title="hospital and registry"):
    macros = templates("reports").get_template("reports/histogram.html").module
    return str(macros.histogram(Histogram.of(bins, line), "weights", title))


class Figure(HTMLParser):
    """The elements of a figure, and its text."""

    def __init__(self, figure):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(figure)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def of(self, kind):
        return [attrs for _, attrs in self.elements if attrs.get("class") == kind]


BINS = st.dictionaries(st.integers(-2000, 2000), st.integers(1, 10**12), min_size=1, max_size=80)


@given(BINS)
@settings(max_examples=60, deadline=None)
def test_the_histogram_has_a_bar_within_the_picture_for_each_weight(bins):
    figure = drawn(bins.items())
    parsed = Figure(figure)
    bars = parsed.of("bar")
    assert len(bars) == len(bins)
    for bar in bars:
        x, y, width, height = (float(bar[key]) for key in ("x", "y", "width", "height"))
        assert height > 0
        assert 0 <= x <= x + width <= 480
        assert 0 <= y <= y + height <= 260
    heights = [float(bar["height"]) for bar in bars]
    counts = [count for _, count in sorted(bins.items())]
    for one, other in product(range(len(bars)), repeat=2):
        if counts[one] >= counts[other]:
            assert heights[one] >= heights[other]
    assert f"{sum(bins.values()):,} pairs" in parsed.text
    assert len(re.findall(r'text-anchor="middle">−?[\d,]+<', figure)) <= 7
    assert all(f"{count:,}" in parsed.text for count in counts)


@given(BINS, st.floats(-5000, 5000))
@settings(max_examples=60, deadline=None)
def test_the_line_lies_between_the_axes_and_right_of_what_is_lighter(bins, weight):
    (line,) = Figure(drawn(bins.items(), weight)).of("line")
    assert line["x1"] == line["x2"]
    assert 104 <= float(line["x1"]) <= 466
    picture = Histogram.of(bins.items(), weight)
    for bar, (lower, _) in zip(picture.bars, picture.bins, strict=True):
        assert (bar.x + bar.width < picture.line_at) or lower + 1 > weight


def test_there_is_a_line_only_where_one_is_asked_for():
    assert "line" not in {attrs.get("class") for _, attrs in Figure(drawn([(1, 2)])).elements}
    assert "lightest link" not in drawn([(1, 2)])
    assert "lightest link, −0.3 bits" in drawn([(-1, 2)], -0.25001)


def test_the_picture_is_said_in_words_and_in_a_table():
    parsed = Figure(drawn([(8, 400), (-6, 90_000), (3, 0)]))
    (svg,) = [attrs for tag, attrs in parsed.elements if tag == "svg"]
    ids = {attrs["id"] for _, attrs in parsed.elements if "id" in attrs}
    assert set(svg["aria-labelledby"].split()) <= ids
    assert "90,400 pairs from -6 to 9 bits; most, 90,000, have -6 to -5 bits; above 0 bits" in (
        parsed.text
    )
    assert re.findall(r"(\S+ to \S+)\s+90,000", parsed.text) == ["−6 to −5"]
    assert "no pairs were compared" in drawn([])
    assert "no pairs were compared" in drawn([(3, 0)])
