"""How many vectors the base and a public list of names give away."""

import numpy as np

import gramlink as gl
from benchmarks.common import LETTERS, markdown, names, schema

COUNT = 5000


def _named(strings: gl.Strings, listed: gl.Strings, base: gl.Base) -> float:
    """The share of vectors named right by taking, at random, a listed name of the same vector."""
    vectors, dictionary = gl.embed(strings, base).counts, gl.embed(listed, base).counts
    found, counts = np.unique(dictionary, axis=0, return_counts=True)
    number = {row.tobytes(): count for row, count in zip(found, counts.tolist(), strict=True)}
    return float(np.mean([1 / number[row.tobytes()] for row in vectors]))


def table() -> str:
    """A row for each base."""
    settings = schema(LETTERS)
    strings, listed = names(COUNT), names()
    rows = []
    for size in (25, 75, 150, 1000):
        field = settings.fields[0].model_copy(update={"size": size})
        base = gl.Base(gl.mine_field(strings, field, gl.Budget(settings.epsilon)).grams)
        rows.append([str(size), f"{_named(strings, listed, base):.1%}"])
    return (
        f"## What a base would give away\n\nThe share of {COUNT:,} surnames that can be named "
        "correctly by anyone who holds their vectors, the base and the public list of 149,910 "
        "surnames, by looking each "
        "vector up. The base is mined from the surnames with levelgram at ε = 1. This is why the "
        "linkage unit never gets the base.\n\n" + markdown(["k", "named"], rows)
    )
