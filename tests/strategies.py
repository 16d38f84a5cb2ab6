"""Texts and bases for hypothesis, over alphabets small enough for grams to repeat."""

from collections import Counter

from hypothesis import strategies as st

from gramlink.records.fields import CATCH_ALL, MARKS

AB = "AB" + CATCH_ALL
ABC = "ABC" + CATCH_ALL
WIDE = "".join(map(chr, range(0x100, 0x100 + 254))) + CATCH_ALL
WIDE_TEXT = WIDE[:252] + CATCH_ALL  # as many as a text can have beside marks

REPEATED = st.builds(lambda s, times: s * times, st.sampled_from(AB), st.integers(1, 8))


def texts(symbols: str = AB, max_size: int = 10) -> st.SearchStrategy[str]:
    """Normalised texts: missing ones and repeated symbols included."""
    return st.one_of(st.text(symbols, max_size=max_size), st.text(symbols[0], max_size=max_size))


def lists(symbols: str = AB, max_size: int = 8) -> st.SearchStrategy[list[str]]:
    """Columns of texts."""
    return st.lists(texts(symbols), max_size=max_size)


def bases(symbols: str = AB, longest: int = 6) -> st.SearchStrategy[tuple[str, ...]]:
    """Grams of mixed lengths, or all of one length; some say where a text starts or ends."""

    def grams(low: int, high: int) -> st.SearchStrategy[tuple[str, ...]]:
        start, end = ("", MARKS[0]), ("", MARKS[1])
        marked = st.builds(
            "{}{}{}".format,
            st.sampled_from(start),
            st.text(symbols, min_size=max(low - 2, 1), max_size=high),
            st.sampled_from(end),
        )
        gram = st.one_of(
            st.text(symbols, min_size=low, max_size=high),
            marked.filter(lambda gram: low <= len(gram) <= high),
        )
        return st.lists(gram, min_size=1, max_size=10, unique=True).map(tuple)

    one_length = st.integers(1, longest).flatmap(lambda q: grams(q, q))
    return st.one_of(grams(1, longest), grams(1, min(3, longest)), one_length)


def frequent_grams(names: tuple[str, ...], size: int = 75, longest: int = 3) -> tuple[str, ...]:
    """The grams that most names hold: what mining without noise would find."""
    counts = Counter(
        gram
        for name in names
        for gram in {
            name[start : start + q]
            for q in range(1, longest + 1)
            for start in range(len(name) - q + 1)
        }
    )
    ranked = sorted(counts.items(), key=lambda found: (-found[1], len(found[0]), found[0]))
    return tuple(gram for gram, _ in ranked[:size])
