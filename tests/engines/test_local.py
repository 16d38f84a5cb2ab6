import os
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlink.engines.local import VARIABLE, in_order, thread_count, using_threads
from gramlink.errors import InvalidParameter


@given(chunks=st.lists(st.integers()), threads=st.integers(1, 4), ahead=st.integers(0, 5))
def test_results_come_in_the_order_of_the_chunks(chunks, threads, ahead):
    with using_threads(threads):
        assert list(in_order(lambda n: 2 * n, chunks, ahead=ahead)) == [2 * n for n in chunks]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_no_more_chunks_are_taken_than_there_are_threads_for_and_some_ahead(threads):
    taken = 0

    def chunks():
        nonlocal taken
        for n in range(50):
            taken += 1
            yield n

    with using_threads(threads):
        for done, _ in enumerate(in_order(str, chunks(), ahead=2), 1):
            assert taken - done < threads + 2


def test_what_comes_back_can_decide_on_the_next_chunks():
    def chunks():
        while total < 100:
            yield 7

    total = 0
    with using_threads(2):
        for result in in_order(lambda n: n, chunks()):
            total += result
    assert 100 <= total <= 100 + 4 * 7


def test_an_error_of_a_step_is_raised_and_the_rest_is_left():
    done = []

    def step(n):
        if n == 3:
            raise ValueError("three")
        done.append(n)
        return n

    with using_threads(2), pytest.raises(ValueError, match="three"):
        list(in_order(step, range(1000)))
    assert len(done) < 20


def test_steps_run_side_by_side():
    both = threading.Barrier(2, timeout=30)
    with using_threads(2):
        list(in_order(lambda _: both.wait(), range(2)))  # alone, one would wait for ever


def test_one_thread_is_the_callers_own():
    with using_threads(1):
        found = set(in_order(lambda _: threading.current_thread(), range(5)))
    assert found == {threading.current_thread()}


def test_a_generator_that_is_left_ends_its_threads():
    with using_threads(2):
        results = in_order(lambda n: time.sleep(0.01) or n, range(100))
        assert next(results) == 0
        results.close()
    assert not [one for one in threading.enumerate() if one.name.startswith("gramlink")]


def test_threads_are_as_asked_for_else_as_the_environment_says(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert thread_count() >= 1
    monkeypatch.setenv(VARIABLE, "3")
    assert thread_count() == 3
    with using_threads(2):
        assert thread_count() == 2
        with using_threads(None):
            assert thread_count() == 2
    assert thread_count() == 3


def test_steps_use_as_many_threads_within_as_their_caller():
    with using_threads(2):
        assert list(in_order(lambda _: thread_count(), range(3))) == [2, 2, 2]


@pytest.mark.parametrize("count", ["0", "-1", "two", "1.5", "5000"])
def test_a_number_of_threads_that_makes_no_sense_is_refused(count, monkeypatch):
    monkeypatch.setenv(VARIABLE, count)
    with pytest.raises(InvalidParameter, match=f"{VARIABLE} must be a number from 1 to 1024, not"):
        thread_count()
    with pytest.raises(InvalidParameter, match="threads must be a number"), using_threads(count):
        pass


@pytest.mark.parametrize("threads", ["1", "3"])
def test_libraries_use_as_many_threads_as_the_environment_says(threads):
    code = (
        "import gramlink, polars, numba;"
        "print(polars.thread_pool_size(), numba.config.NUMBA_NUM_THREADS)"
    )
    others = ("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
    kept = {name: value for name, value in os.environ.items() if name not in others}
    said = subprocess.check_output([sys.executable, "-c", code], env={**kept, VARIABLE: threads})
    assert said.decode().split() == [threads, threads]


def test_a_number_of_threads_that_makes_no_sense_does_not_keep_the_package_from_being_imported():
    code = "import gramlink, polars"
    for threads in ("0", "two", "-1"):
        subprocess.check_call([sys.executable, "-c", code], env={**os.environ, VARIABLE: threads})
