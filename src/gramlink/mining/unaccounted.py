"""Miners that draw no noise: the true top k, random grams, and a base given by the user."""

import random
from fractions import Fraction
from itertools import chain

from gramlink.mining.estimates import Estimates, top
from gramlink.mining.grams import document_frequencies, spelled
from gramlink.privacy.budget import Budget
from gramlink.records.fields import MARKS, Field
from gramlink.records.strings import Strings


def exact(strings: Strings, field: Field, budget: Budget) -> Estimates:  # noqa: ARG001
    """The true top k. For experiments only, to compare with.

    Privacy: none. The grams of a single record may be among them.
    """
    texts = strings.marked(MARKS) if field.marks else strings
    per_length = (
        zip(spelled(grams, q, field.symbols), counts.tolist(), strict=True)
        for q in range(field.q_min, field.q_max + 1)
        for grams, counts in [document_frequencies(texts, q)]
    )
    found = chain.from_iterable(per_length)
    # every text has marks: they tell nothing by themselves
    return top(((g, Fraction(c)) for g, c in found if g not in MARKS), field.size)


def random_grams(
    strings: Strings,  # noqa: ARG001
    field: Field,
    budget: Budget,  # noqa: ARG001
    seed: int = 0,
) -> Estimates:
    """Random grams of the alphabet, the same for both owners. For experiments only.

    Privacy: reads no record.
    """
    source = random.Random(seed)  # noqa: S311
    lengths = range(field.q_min, field.q_max + 1)
    size = min(field.size, sum(len(field.alphabet) ** q for q in lengths))
    grams: set[str] = set()
    while len(grams) < size:
        grams.add("".join(source.choices(field.alphabet, k=source.choice(lengths))))
    return top(((gram, Fraction(1)) for gram in grams), size)


def public(strings: Strings, field: Field, budget: Budget) -> Estimates:  # noqa: ARG001
    """The grams that the schema itself gives.

    Privacy: reads no record.
    """
    return top(((gram, Fraction(1)) for gram in field.public_grams), len(field.public_grams))
