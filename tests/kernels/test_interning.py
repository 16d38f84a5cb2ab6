import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gramlink.kernels import interning
from gramlink.kernels.interning import intern_rows

ROWS = st.integers(1, 4).flatmap(
    lambda width: st.integers(0, 40).flatmap(
        lambda count: arrays(np.uint8, (count, width), elements=st.integers(0, 2))
    )
)


def check(rows, kinds, firsts):
    known = {}
    for row, kind in zip(map(tuple, rows.tolist()), kinds.tolist(), strict=True):
        assert known.setdefault(row, len(known)) == kind  # numbered as kinds appear
    assert len(firsts) == len(known)
    for kind, first in enumerate(firsts.tolist()):
        assert known[tuple(rows[first].tolist())] == kind
        assert kinds[:first].tolist().count(kind) == 0


@settings(deadline=None, max_examples=60)
@given(rows=ROWS)
def test_equal_rows_and_no_others_have_equal_numbers(rows):
    check(rows, *intern_rows(rows))


@pytest.mark.parametrize("few", [1, 2, 5])
@settings(deadline=None, max_examples=30)
@given(rows=ROWS)
def test_rows_whose_hashes_collide_are_told_apart(few, rows):
    def colliding(rows, limits):  # noqa: ARG001
        return (rows.sum(axis=1) % few).astype(np.uint64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interning, "hashes", colliding)
        check(rows, *intern_rows(rows))


@pytest.mark.parametrize("value", [0, 2**64 - 1, 2**63])
def test_a_slot_at_the_end_of_the_table_is_followed_by_the_first(value, monkeypatch):
    monkeypatch.setattr(interning, "hashes", lambda rows, _: np.full(len(rows), value, np.uint64))
    rows = np.random.default_rng(1).integers(0, 2, (64, 8)).astype(np.uint8)
    check(rows, *intern_rows(rows))


def test_many_rows_are_interned_exactly():
    rows = np.random.default_rng(2).integers(0, 3, (20_000, 6)).astype(np.uint8)
    kinds, firsts = intern_rows(rows)
    different, expected = np.unique(rows, axis=0, return_inverse=True)
    assert len(firsts) == len(different)
    assert np.array_equal(different[expected.ravel()], rows[firsts][kinds])
