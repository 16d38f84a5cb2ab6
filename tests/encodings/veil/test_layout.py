import numpy as np
from hypothesis import given

from reference import veil as definition
from veiling import DEFINED, NAMES, SOME_KEYS, layout_of


@given(keys=SOME_KEYS)
def test_a_row_has_a_tag_and_a_cell_for_each_field_that_its_key_does_not_fix(keys):
    layout = layout_of(keys)
    at = 0
    for number, key in enumerate(keys):
        shown = [NAMES.index(field.name) for field in definition.shown(key, DEFINED)]
        assert layout.starts[number] == at
        assert layout.shown[number].tolist() == shown
        filled = layout.cells[number].tolist()
        assert filled == shown + [-1] * (len(filled) - len(shown))
        assert filled[-1] == -1
        at += 8 + 9 * len(shown)
    assert layout.starts[-1] == layout.width == at


@given(keys=SOME_KEYS)
def test_tags_are_the_first_bytes_of_a_row_and_repeated_if_two_are_the_same(keys):
    layout = layout_of(keys)
    rows = np.random.default_rng(1).integers(0, 256, (5, layout.width)).astype(np.uint8)
    assert not layout.repeated(rows)
    for key in range(len(keys)):
        start = layout.starts[key]
        found = layout.tags(rows, key)
        expected = [int.from_bytes(row[start : start + 8].tobytes(), "little") for row in rows]
        assert found.tolist() == expected
        torn = rows.copy()
        torn[4, start : start + 8] = torn[0, start : start + 8]
        assert layout.repeated(torn)


def test_no_records_repeat_nothing():
    layout = layout_of([[["sex", "whole"]]])
    assert not layout.repeated(np.empty((0, layout.width), np.uint8))
