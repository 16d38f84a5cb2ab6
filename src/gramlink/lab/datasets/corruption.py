"""Typos on purpose: a corrupted copy of a list, with the truth known."""

import numpy as np

from gramlink.embedding.typos import MODELS
from gramlink.errors import InvalidParameter
from gramlink.records.strings import LONGEST, Strings


def corrupt(
    strings: Strings, edits: int, *, seed: int, exactly: bool = False, model: str = "uniform"
) -> Strings:
    """A copy in which each text has had random edits: up to `edits`, or exactly that many.

    An edit inserts, deletes or substitutes one symbol, all equally likely. Later edits may undo
    earlier ones, so the edit distance is at most the number of edits. `model` is "uniform"
    or "keyboard" (neighbouring keys and letters that look alike).

    >>> names = Strings.of(["MARIA", "ANNA"], "AIMNR*")
    >>> list(corrupt(names, 0, seed=1))
    ['MARIA', 'ANNA']
    """
    from gramlink.kernels import edits as kernels

    if edits < 0:
        raise InvalidParameter(f"edits must not be negative, but are {edits}")
    if model not in MODELS:
        raise InvalidParameter(f"no error model {model!r}", hint="one of " + ", ".join(MODELS))
    typos = MODELS[model](strings.symbols)
    source = np.random.default_rng(seed)
    numbers = source.integers(edits if exactly else 0, edits + 1, len(strings))
    texts, lengths = kernels.corrupt(
        strings.codes,
        strings.offsets,
        numbers,
        int(source.integers(2**63)),
        typos.substitutes,
        typos.insertions,
    )
    lengths = np.minimum(lengths, LONGEST)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    filled = np.arange(texts.shape[1]) < lengths[:, None]
    return Strings(texts[filled], offsets, strings.symbols)
