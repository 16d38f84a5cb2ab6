"""The story of a demo of names: one page with pictures, which opens without a network."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gramlink.embedding.vectors import Vectors
from gramlink.lab.scores import Scores
from gramlink.reports.page import templates
from gramlink.reports.picture import BLUE, GREY, ORANGE, picture

Ints = npt.NDArray[np.int64]

SAMPLED = 1000  # left records that the pictures of distances look at


@dataclass(frozen=True, slots=True)
class Message:
    """What one party sent another."""

    sender: str
    reader: str
    what: str
    file: str
    size: int
    cost: str


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """What the page tells. `truth[i]` is the right row that matches left row i."""

    choices: dict[str, str]
    messages: tuple[Message, ...]
    scores: tuple[tuple[str, Scores], ...]
    vectors: tuple[Vectors, Vectors]
    truth: Ints
    thresholds: Ints
    paper: Ints
    seconds: float
    private: bool


def story_page(story: Story) -> str:
    """The page as HTML, pictures included."""
    distances = _Distances.of(story)
    pictures = (
        (
            "Distances",
            "How far each record is from its true match, and from the nearest other record. "
            "Where the two overlap, no threshold can tell them apart.",
            picture(lambda axes: _draw_distances(axes, distances)),
        ),
        (
            "Thresholds",
            "How far away a match may be, for each record: as sent, rounded up to whole squared "
            "distances so that they reveal less of the name, and by the paper's Algorithm 2.",
            picture(lambda axes: _draw_thresholds(axes, story)),
        ),
        (
            "Precision and recall over thresholds",
            "With one global threshold for all records, and every pair within it linked.",
            picture(lambda axes: _draw_curve(axes, distances)),
        ),
    )
    template = templates("lab").get_template("lab/names.html")
    return template.render(story=story, pictures=pictures, sampled=len(distances.rows))


@dataclass(frozen=True, slots=True, eq=False)
class _Distances:
    """Distances of some left records: to the true match, the nearest other, and a curve."""

    rows: Ints
    true: npt.NDArray[np.float64]
    nearest: npt.NDArray[np.float64]
    limits: npt.NDArray[np.float64]
    within: Ints  # how many pairs lie within each limit

    @classmethod
    def of(cls, story: Story) -> "_Distances":
        left, right = story.vectors
        source = np.random.default_rng(0)
        present = np.flatnonzero(~left.missing)
        rows = np.sort(source.permutation(present)[:SAMPLED])
        # whole numbers far below 2^24: exact in float32, and fast
        x = left.coordinates[rows].astype(np.float32)
        y = right.coordinates.astype(np.float32)
        norms = (y**2).sum(axis=1)
        true, nearest = np.empty(len(rows)), np.empty(len(rows))
        largest = int(np.sqrt(norms.max(initial=1.0)) + np.sqrt((x**2).sum(axis=1).max()) + 2) ** 2
        counts = np.zeros(largest + 1, np.int64)
        for i, row in enumerate(rows):
            squared = norms - 2 * (y @ x[i]) + x[i] @ x[i]
            counts += np.bincount(squared.astype(np.int64), minlength=largest + 1)
            true[i] = squared[story.truth[row]]
            squared[story.truth[row]] = np.inf
            nearest[i] = squared.min()
        limits = np.sqrt(np.arange(largest + 1)) / left.scale
        return cls(
            rows,
            np.sqrt(true) / left.scale,
            np.sqrt(nearest) / left.scale,
            limits,
            np.cumsum(counts),
        )


def _draw_distances(axes: Any, distances: _Distances) -> None:
    top = float(np.quantile(distances.nearest, 0.995)) + 0.5
    edges = np.arange(0, max(top, distances.true.max()) + 0.25, 0.25)
    axes.hist(distances.nearest, edges, color=ORANGE, alpha=0.55, label="nearest other record")
    axes.hist(distances.true, edges, color=BLUE, alpha=0.75, label="true match")
    axes.set(xlabel="distance", ylabel="records")
    axes.legend(frameon=False)


def _draw_thresholds(axes: Any, story: Story) -> None:
    scale = story.vectors[0].scale
    sent, paper = np.sqrt(story.thresholds) / scale, np.sqrt(story.paper) / scale
    edges = np.arange(0, max(sent.max(), paper.max(), 0.5) + 0.2, 0.1) - 0.05
    axes.hist(sent, edges, color=BLUE, alpha=0.8, label="as sent")
    axes.hist(paper, edges, color=ORANGE, alpha=0.6, label="the paper's, not rounded")
    axes.set(xlabel="threshold (distance)", ylabel="records")
    axes.legend(frameon=False)


def _draw_curve(axes: Any, distances: _Distances) -> None:
    found = np.searchsorted(np.sort(distances.true), distances.limits, side="right")
    shown = distances.limits <= max(np.quantile(distances.true, 0.999) * 1.5, 1)
    limits, found, pairs = distances.limits[shown], found[shown], distances.within[shown]
    precision = found / np.maximum(pairs, 1)
    recall = found / len(distances.rows)
    f1 = 2 * found / (pairs + len(distances.rows))
    axes.step(limits, precision, where="post", color=BLUE, label="precision")
    axes.step(limits, recall, where="post", color=ORANGE, label="recall")
    axes.step(limits, f1, where="post", color=GREY, linestyle="--", label="F1")
    axes.set(xlabel="global threshold (distance)", ylim=(0, 1.03))
    axes.legend(frameon=False)
