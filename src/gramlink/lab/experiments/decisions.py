"""Ours: threshold policies and rules for deciding as N grows, and padding of strings."""

from gramlink.lab.experiments.data import CITIES, MOST, SMALL
from gramlink.lab.experiments.experiment import Claim, Experiment, Grid, Measured, Plot, Row, typos
from gramlink.lab.experiments.linkage import linked

COUNTS = (1000, 2000, 5000, 10_000, 20_000, 50_000, MOST)
WITH_2_EDITS = {  # up to which N
    ("paper", "all"): MOST,
    ("paper", "one-to-one"): MOST,
    ("worst-case", "all"): 20_000,
    ("worst-case", "one-to-one"): 5000,
    ("calibrated", "all"): MOST,
    ("calibrated", "one-to-one"): 20_000,
}
HELD: Grid = {"miner": ("levelgram",), "epsilon": ("1",), "size": (75,)}


def _two_edits(threshold: str, rule: str, most: int) -> Grid:
    return {
        "data": ("NAMES",), "count": [n for n in COUNTS if n <= most], "edits": (2,), **HELD,
        "threshold": (threshold,), "decide": (rule,), "draw": range(3),
    }  # fmt: skip


def by_policy(threshold: str, decide: str, **settings: str | int) -> list[Row]:
    """A linkage under a threshold policy and a rule for deciding."""
    rows = linked(threshold=threshold, decide=decide, **settings)  # type: ignore[arg-type]
    return [{**row, "policy": f"{threshold}, {decide}"} for row in rows]


def _policies(m: Measured) -> tuple[bool | None, str]:
    parts = []
    for edits in m.values("edits"):
        count = max(m.values("count", edits=edits, policy="calibrated, one-to-one"))
        for at in (SMALL, count):
            f1 = {
                policy: m.mean("f1", edits=edits, count=at, policy=policy)
                for policy in ("paper, all", "paper, one-to-one", "calibrated, one-to-one")
            }
            shown = ", ".join(f"{policy} {value:.2f}" for policy, value in f1.items())
            parts.append(f"up to {typos(edits)}, N = {at:,}: {shown}")
    return None, "; ".join(parts) + "."


POLICIES = Experiment(
    name="policies",
    where="ours",
    title="threshold policies and rules of deciding as N grows",
    about="F1 on NAMES against N. Algorithm 2 misses true pairs at every N; keeping all pairs "
    "within a threshold makes wrong links, and more of them as N grows. With 2 edits a line ends "
    "where there are too many pairs to decide in memory, or to count in a minute or two: on all "
    "of NAMES, calibrated thresholds leave almost 10⁹ pairs, worst-case ones 10¹⁰.",
    measure=by_policy,
    shown=(
        Plot(
            x="count", y="f1", series="policy", panels=("data", "edits"), x_log=True,
            x_label="N (records of each owner)", y_label="F1",
        ),
        Plot(
            x="count", y="recall", series="policy", panels=("data", "edits"), x_log=True,
            x_label="N (records of each owner)", y_label="recall",
        ),
    ),
    full=(
        {"data": ("NAMES",), "count": COUNTS, "edits": (1,), **HELD,
         "threshold": ("paper", "worst-case", "calibrated"), "decide": ("all", "one-to-one"),
         "draw": range(3)},
        *(_two_edits(*policy, most) for policy, most in WITH_2_EDITS.items()),
    ),
    quick=(
        {"data": ("NAMES",), "count": (1000, 5000, 20_000), "edits": (1,), **HELD,
         "threshold": ("paper", "worst-case", "calibrated"), "decide": ("all", "one-to-one"),
         "draw": (0,)},
    ),
    tiny=(
        {"data": ("NAMES",), "count": (100, 200), "edits": (1,), **HELD,
         "threshold": ("paper", "worst-case", "calibrated"), "decide": ("all", "one-to-one"),
         "draw": (0,)},
    ),
    claims=(
        Claim(
            "calibrated thresholds and one-to-one",
            "",
            _policies,
            "Algorithm 2 counts the grams that an edit loses but not those that it gains. Deciding "
            "one-to-one takes the nearest pairs first here, so a wider threshold costs little; "
            "gramlink itself weighs all pairs together, which is better still (see the rivals).",
        ),
    ),
)  # fmt: skip


def _padding(m: Measured) -> tuple[bool | None, str]:
    parts = []
    for data in m.values("data"):
        for edits in (1, 2):
            off, on = (
                m.mean("f1", data=data, edits=edits, padded=padded, policy="calibrated, one-to-one")
                for padded in ("no", "yes")
            )
            parts.append(f"{data}, {typos(edits)}: {off:.3f} without marks, {on:.3f} with them")
    said = "Calibrated, one-to-one. " + "; ".join(parts) + "."
    return None, said


_PADDED: Grid = {"edits": (0, 1, 2), "padded": ("no", "yes"), **HELD}

PADDING = Experiment(
    name="padding",
    where="ours",
    title="marks at the start and the end of strings",
    about="Other tools of this field pad strings before cutting them into grams, so that the first "
    "and last letters weigh as much as the others. Here a mark is put before and after each "
    "string, k stays the same, and typos never touch the marks. Marks alone are no grams.",
    measure=by_policy,
    shown=(
        Plot(
            x="edits", y="f1", series="padded", panels=("policy", "data", "count"),
            x_label="edits, up to", y_label="F1",
        ),
    ),
    full=tuple(
        {"data": (data,), "count": (count,), **_PADDED, "threshold": (threshold,),
         "decide": (decide,), "draw": range(5)}
        for threshold, decide in (("paper", "all"), ("calibrated", "one-to-one"))
        for data, count in (("NAMES", SMALL), ("CITIES", CITIES))
    ),
    quick=tuple(
        {"data": (data,), "count": (2000,), **_PADDED, "threshold": (threshold,),
         "decide": (decide,), "draw": (0,)}
        for threshold, decide in (("paper", "all"), ("calibrated", "one-to-one"))
        for data in ("NAMES", "CITIES")
    ),
    tiny=(
        {"data": ("NAMES",), "count": (100,), **_PADDED, "threshold": ("calibrated",),
         "decide": ("one-to-one",), "draw": (0,)},
    ),
    claims=(
        Claim(
            "with marks and without",
            "",
            _padding,
            "Grams with a mark say how a string begins and ends, which is worth more than the rare "
            "grams whose place they take. gramlink marks text unless a schema says otherwise.",
        ),
    ),
    labels={"yes": "with marks", "no": "without marks"},
)  # fmt: skip
