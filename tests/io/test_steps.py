import logging

import pytest

from gramlink.io.steps import logged, note


@pytest.fixture
def told(caplog):
    """The levels and messages that were logged."""
    caplog.set_level(logging.DEBUG, "gramlink")
    return lambda: [(one.levelname, one.getMessage()) for one in caplog.records]


def test_a_step_is_told_with_its_counts(told):
    note("write", bytes=12345)
    note("read", 1.5, records=2)
    assert told() == [("DEBUG", "write: bytes 12,345"), ("INFO", "read: records 2, 1.500 s")]


def test_what_is_no_number_cannot_be_logged():
    logging.getLogger("gramlink").setLevel(logging.DEBUG)
    try:
        with pytest.raises(ValueError, match="format code"):
            note("read", records="Miller")
    finally:
        logging.getLogger("gramlink").setLevel(logging.NOTSET)


def test_a_function_is_told_when_it_begins_and_ends(told):
    step = logged("count", lambda names: {"names": len(names)})(lambda *names: names)
    assert step("Miller", "Nakamura") == ("Miller", "Nakamura")
    (first, begins), (second, ends) = told()
    assert (first, begins) == ("DEBUG", "count begins")
    assert second == "INFO"
    assert ends.startswith("count: names 2, 0.0")


def test_a_function_that_fails_is_told_without_the_reason(told):
    @logged("read")
    def fails():
        raise ValueError("Miller")

    with pytest.raises(ValueError, match="Miller"):
        fails()
    assert told()[1][1].startswith("read is stopped: 0.0")
    assert "Miller" not in str(told())
