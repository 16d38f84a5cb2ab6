"""The share of the true top k that each private miner finds."""

from fractions import Fraction
from statistics import mean, stdev

import gramlink as gl
from benchmarks.common import markdown, names, schema
from benchmarks.speed import MINERS

DRAWS = 20
EPSILONS = ("0.1", "1")


def table() -> str:
    """A row for each miner, a column for each size and epsilon."""
    sizes = {"149,910": names(), "5,000": names(5000)}
    truth = {
        size: set(gl.mine_field(strings, schema(miner="exact").fields[0], gl.Budget(0)).grams)
        for size, strings in sizes.items()
    }
    columns = [(size, epsilon) for size in sizes for epsilon in EPSILONS]
    rows = []
    for miner in MINERS:
        row = [miner]
        for size, epsilon in columns:
            shares = []
            for _ in range(DRAWS):
                budget = gl.Budget(Fraction(epsilon))
                found = gl.mine_field(sizes[size], schema(miner=miner).fields[0], budget)
                shares.append(len(truth[size] & set(found.grams)) / len(truth[size]))
            row.append(f"{mean(shares):.3f} ± {stdev(shares):.3f}")
        rows.append(row)
    return (
        f"## Mining utility\n\nShare of the true top 75 grams of NAMES that a miner finds: mean "
        f"and standard deviation of {DRAWS} draws of noise. k = 75, grams of 1 to 3 symbols, "
        "height 7; the alphabet is A to Z and the catch-all.\n\n"
        + markdown(["miner", *(f"N = {size}, ε = {epsilon}" for size, epsilon in columns)], rows)
    )
