import html.parser
import re
import statistics
import sys
from itertools import pairwise

import polars as pl
import pytest

from gramlink.errors import GramlinkError
from gramlink.lab.experiments.experiment import (
    Claim,
    Experiment,
    Measured,
    NotMeasured,
    Plot,
    Table,
)
from gramlink.lab.experiments.report.drawings import as_png, as_svg, draw, figure_name
from gramlink.lab.experiments.report.looks import LOOKS, looks_of
from gramlink.lab.experiments.report.page import report
from gramlink.lab.experiments.report.publication import publish
from gramlink.lab.experiments.report.reproduced import page
from gramlink.lab.experiments.report.sections import Section
from gramlink.lab.experiments.report.tables import Cells, as_markdown, rows_of
from gramlink.lab.experiments.report.words import facts, said

GRID = {
    "data": ("NAMES",), "count": (5000,), "edits": (0, 1), "miner": ("exact", "fpm"),
    "epsilon": ("0.05", "0.1", "1"), "size": (75,), "threshold": ("paper",), "draw": range(3),
}  # fmt: skip
LINES = Plot("epsilon", "f1", "miner", "ε of one owner", "F1", ("data", "edits"), x_log=True)
CELLS = Table(("miner", "epsilon"), ("f1", "links"), ("edits",))


def experiment(*shown, grid=GRID, where="Figure 7", **more):
    settings = {"title": "privacy & <utility>", "about": "What <b>ε</b> does.", **more}
    return Experiment("eps", where=where, measure=lambda **_: [], shown=shown, full=(grid,),
                      quick=(grid,), tiny=(grid,), **settings)  # fmt: skip


def measured(one, **columns):
    rows = [{**point, "f1": _f1(point), "links": 4000 + 7 * i} for i, point in enumerate(_all(one))]
    return Measured(pl.DataFrame(rows).with_columns(**columns))


def _all(one):
    return one.points("full")


def _f1(point):
    return float(point["epsilon"]) / 2 + 0.1 * point["edits"] + 0.01 * point["draw"] ** 2


def claim(found, name="it <falls>"):
    return Claim(name, "F1 is > 0.9.", found, "Fewer grams.")


def missing(_):
    raise NotMeasured("there is no such point")


class Page(html.parser.HTMLParser):
    """What a page links to and names, and whether its tags are closed in order."""

    VOID = ("meta", "br", "li")

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.ids, self.text = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "xlink:href", "srcset")]
        self.ids += [v for k, v in attrs if k == "id"]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert tag in self.VOID or self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


ONE = experiment(LINES, CELLS)
FOUND = measured(ONE)


@pytest.fixture(scope="module")
def figure():
    return draw(ONE, LINES, FOUND)


@pytest.fixture(scope="module")
def sections():
    claims = (
        claim(lambda m: (None, f"It is {m.mean('f1', miner='fpm'):.2f} & less.")),
        claim(missing, "it rises"),
    )
    theirs = experiment(LINES, CELLS, claims=claims)
    ours = experiment(CELLS, where="ours", claims=(claim(lambda _: (True, "Yes."), "ours"),))
    svg = as_svg(draw(theirs, LINES, FOUND))
    return [Section(ours, FOUND), Section(theirs, FOUND, {figure_name(theirs, LINES): svg})]


def test_bars_are_one_standard_deviation_over_the_draws(figure):
    sd = statistics.stdev(0.01 * draw**2 for draw in range(3))
    line = figure.axes[0].containers[0]
    for bottom, top in line.lines[2][0].get_segments():
        assert top[1] - bottom[1] == pytest.approx(2 * sd)
    assert line.lines[0].get_xdata() == pytest.approx([0.05, 0.1, 1])
    assert line.lines[0].get_ydata()[0] == pytest.approx(0.025 + 0.05 / 3)


def test_there_are_no_bars_without_a_second_draw():
    once = Measured(FOUND.frame.filter(pl.col("draw") == 0))
    assert not draw(ONE, LINES, once).axes[0].containers[0].lines[2]


def test_panels_and_the_legend_are_those_of_the_data(figure):
    assert [axes.get_title().replace("\xa0", " ") for axes in figure.axes] == [
        "NAMES, no edits",
        "NAMES, up to 1 edit",
    ]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["exact (no privacy)", "fpm"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    ticks = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert ticks == ["0.05", "0.1", "1"]


def test_the_legend_and_the_foot_lie_below_all_panels(figure):
    figure.draw_without_rendering()
    lowest = min(axes.get_tightbbox().y0 for axes in figure.axes)
    legend = figure.legends[0].get_window_extent()
    foot = min((text.get_window_extent() for text in figure.texts), key=lambda box: box.y0)
    assert 0 <= foot.y0 < foot.y1 <= legend.y0 < legend.y1 <= lowest


@pytest.mark.parametrize(("panels", "columns"), [(3, 3), (4, 2), (6, 3), (7, 4)])
def test_panels_stand_in_rows_that_leave_none_alone(panels, columns):
    grid = {**GRID, "edits": range(panels), "epsilon": ("0.1", "1"), "miner": ("fpm",)}
    one = experiment(LINES, grid=grid)
    drawn = draw(one, LINES, measured(one))
    assert len(drawn.axes) == panels
    assert drawn.axes[0].get_subplotspec().get_gridspec().ncols == columns


def test_what_was_not_measured_is_not_drawn():
    nothing = pl.when(pl.col("miner") == "fpm").then(None).otherwise(pl.col("f1"))
    left = Measured(FOUND.frame.with_columns(f1=nothing))
    (legend,) = draw(ONE, LINES, left).legends
    assert [text.get_text() for text in legend.get_texts()] == ["exact (no privacy)"]
    with pytest.raises(NotMeasured):
        draw(ONE, LINES, Measured(FOUND.frame.with_columns(f1=pl.lit(float("nan")))))


def test_a_long_axis_of_records_has_plain_numbers_that_do_not_touch():
    counts = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 149_910)
    one = experiment(grid={**GRID, "count": counts, "edits": (0,), "epsilon": ("0.1",)})
    plot = Plot("count", "f1", "miner", "N", "seconds", x_log=True)
    drawn = draw(one, plot, measured(one))
    (axes,) = drawn.axes
    drawn.draw_without_rendering()
    shown = [label for label in axes.get_xticklabels() if label.get_text()]
    assert [shown[0].get_text(), shown[-1].get_text()] == ["1,000", "149,910"]
    boxes = [label.get_window_extent() for label in shown]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


def test_a_miner_looks_the_same_beside_others():
    assert looks_of(["fpm", "new", "newer"])["fpm"] == looks_of(["exact", "fpm"])["fpm"]
    drawn = looks_of([*LOOKS, "new", "newer"]).values()
    assert len(set(drawn)) == len(drawn)


def test_a_picture_is_the_same_each_time(figure):
    first = as_svg(figure)
    assert as_png(figure).startswith(b"\x89PNG")
    assert as_svg(figure) == as_svg(draw(ONE, LINES, FOUND)) == first
    assert first.startswith("<svg ")
    assert 'aria-label="Figure 7: privacy &amp; &lt;utility&gt;"' in first


def test_without_matplotlib_a_hint_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(GramlinkError) as raised:
        draw(ONE, LINES, FOUND)
    assert "gramlink[report]" in raised.value.hint


def test_the_facts_name_what_is_held_fixed():
    assert facts(ONE, FOUND, LINES) == (
        "N = 5,000 · k = 75 · thresholds: paper · 3 draws (seeds 0 to 2; noise cannot be seeded)"
    )
    by_size = Plot("size", "f1", "edits", "k", "F1")
    fixed = FOUND.where(miner="fpm", epsilon="0.1")
    assert facts(ONE, fixed, by_size).startswith(
        "NAMES · N = 5,000 · miner: fpm · ε = 0.1 per owner · thresholds: paper"
    )
    only_f1 = Table(("miner", "epsilon"), ("f1",), ("edits",))
    assert facts(ONE, FOUND, only_f1).startswith("F1 · NAMES · ")


def test_the_facts_say_which_value_goes_with_what_and_what_is_a_mean():
    size = pl.when(pl.col("miner") == "fpm").then(75).otherwise(12)
    assert "k = 12 (exact (no privacy)), 75 (fpm)" in facts(ONE, measured(ONE, size=size), LINES)
    by_size = Plot("size", "f1", "miner", "k", "F1", ("epsilon",))
    assert "up to 0, 1 (mean over these) edits" in facts(ONE, FOUND, by_size)


def test_no_noise_and_no_epsilon_is_named_where_no_miner_is_private():
    public = facts(ONE, FOUND.where(miner="exact"), Plot("size", "f1", "edits", "k", "F1"))
    assert "ε" not in public
    assert public.endswith("3 draws (seeds 0 to 2)")


def test_settings_have_words():
    assert [said("edits", n) for n in (0, 1, 2)] == ["no edits", "up to 1 edit", "up to 2 edits"]
    assert said("padded", "no") == "not padded"
    assert said("padded", "no", {"no": "without marks"}) == "padded: without marks"
    assert said("rounds", 3) == "rounds: 3"


def test_a_table_has_a_column_for_each_value_across():
    header, rows = rows_of(CELLS, FOUND)
    assert header == ["miner", "ε", "F1, no edits", "F1, up to 1 edit", "links, no edits",
                      "links, up to 1 edit"]  # fmt: skip
    assert rows[0] == ["exact (no privacy)", "0.05", "0.042 ± 0.021", "0.142 ± 0.021", "4,007",
                       "4,133"]  # fmt: skip
    assert len(rows) == 6


def test_what_is_shown_once_is_the_mean_over_what_varies_across():
    table = Table(("miner", "epsilon"), ("f1",), ("edits",), once=("links",))
    header, rows = rows_of(table, FOUND)
    assert header[2:] == ["F1, no edits", "F1, up to 1 edit", "links"]
    assert rows[0][2:] == ["0.042 ± 0.021", "0.142 ± 0.021", "4,070"]


def test_numbers_have_the_digits_that_mean_something():
    frame = pl.DataFrame(
        {"method": ["a", "b|c"], "seconds": [0.0123456, 1234.5], "bytes_a_record": [75.0, None],
         "average": [7.25, 8.0], "kind": ["one", None]}
    )  # fmt: skip
    table = Table(("method",), ("seconds", "bytes_a_record", "average", "kind"))
    header, rows = rows_of(table, Measured(frame), {"average": "mean length"})
    assert header == ["method", "seconds", "bytes a record", "mean length", "kind"]
    assert rows == [["a", "0.0123", "75.0", "7.250", "one"], ["b|c", "1,234", "–", "8.000", "–"]]
    lines = as_markdown(header, rows).splitlines()
    assert lines[1] == "| --- | ---: | ---: | ---: | --- |"
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {6}
    assert [kind for kind, _ in Cells.of(header, rows).head] == ["", "n", "n", "n", ""]
    assert Cells.of(header, rows).rows[1][1] == ("n", "1,234")
    assert Cells.of(["words"], [["so many " * 5]]).head == (("t", "words"),)
    assert Cells.of(["nothing"], []).rows == ()


def test_the_report_is_whole_and_loads_nothing(sections):
    text = report(sections, {"scale": "<quick>"})
    read = Page(text)
    assert read.open == []
    assert not [link for link in read.links if re.match(r"(https?:)?//|data:|javascript:", link)]
    assert {"data/eps.csv", "data/eps.parquet", "figures/eps-f1.svg", "figures/eps-f1.png"} < set(
        read.links
    )
    assert "<script" not in text
    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    assert '<td class="n">4,007</td>' in text
    for raw in ("<quick>", "<falls>", "<utility>", "What <b>"):
        assert raw in read.text
        assert raw not in text


def test_every_link_within_the_report_leads_somewhere(sections):
    theirs = sections[1]
    read = Page(report([theirs], {}))
    assert len(read.ids) == len(set(read.ids))
    assert {link[1:] for link in read.links if link.startswith("#")} <= set(read.ids)


def test_the_paper_comes_before_ours_on_both_pages(sections):
    for text in (report(sections, {}), page(sections, {})):
        assert text.index("Figure 7: privacy") < text.index("Ours: privacy")


def test_both_pages_say_what_agrees_and_what_was_not_measured(sections):
    read = Page(report(sections, {})).text.replace("\xa0", " ")
    assert "3 claims. Agrees: 1, partly: 1, not measured in this run: 1." in read
    assert "it rises\nVerdict: not measured in this run" in read
    for part in ("F1 is > 0.9.", "It is 0.26 & less.", "Fewer grams.", "k = 75"):
        assert part in read
    text = page(sections, {"scale": "quick"})
    assert "| [Figure 7](#eps) | it \\<falls> | partly |" in text
    assert "### it rises: not measured in this run" in text
    assert text.count("Fewer grams.") == 2  # nothing explains what was not measured
    assert "- **Ours:** It is 0.26 & less." in text
    assert "](figures/eps-f1.png)" in text


def test_tables_in_markdown_have_equally_many_cells_in_each_row(sections):
    text = page(sections, {"a|b": "c"})
    blocks = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    assert len(blocks) == 4
    for block in blocks:
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1


def test_an_experiment_without_any_value_says_so():
    empty = Section(ONE, Measured(FOUND.frame.drop("f1", "links")))
    assert "This was not measured in this run." in report([empty], {})
    assert "This was not measured in this run." in page([empty], {})
    assert "No claims." in page([empty], {})


def test_a_run_leaves_every_file_that_its_pages_lead_to(sections, tmp_path):
    told = []
    publish(sections, "quick", tmp_path, told.append)
    links = Page((tmp_path / "report.html").read_text("utf-8")).links
    written = re.findall(r"\]\((\w+/[^)]+)\)", (tmp_path / "reproduced.md").read_text("utf-8"))
    assert {"figures/eps-f1.png", "figures/eps-f1.svg", "data/eps.parquet"} <= set(links)
    for file in (*written, *(link for link in links if not link.startswith("#"))):
        assert (tmp_path / file).stat().st_size > 100
    assert pl.read_parquet(tmp_path / "data" / "eps.parquet").equals(FOUND.frame)
    assert "report.html" in told[0]
