"""The same records have the same links, however the work is cut up."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from gramlink.kernels import jit
from gramlink.lab.datasets import persons
from gramlink.matching import join, passes
from gramlink.parties.one_process import deduplicate, link
from gramlink.records.fields import Field
from gramlink.records.reading import read_records
from gramlink.records.schema import Schema

PERSON = Schema(
    fields=(
        Field(name="given_name", miner="exact"),
        Field(name="surname", miner="exact"),
        Field(name="date_of_birth", kind="date"),
        Field(name="postcode", kind="digits"),
    )
)
SCHEMAS = {"persons": PERSON, "surnames": Schema(fields=(PERSON["surname"],))}
COUNT = 400


@cache
def people():
    return persons(COUNT, seed=4)


@pytest.fixture(autouse=True)
def _some_threads(monkeypatch):
    """As many threads as asked for, also where the tests are given one."""
    monkeypatch.delenv("GRAMLINK_THREADS", raising=False)


def linked(name, order=None, threads=None):
    left, right = people().left, people().right
    if order is not None:
        left, right = (file.sample(fraction=1, shuffle=True, seed=order) for file in (left, right))
    return set(link(left, right, SCHEMAS[name], threads=threads).to_polars().rows())


def duplicates(order=None, threads=None):
    left = people().left
    again = left.head(50).with_columns(id=pl.col("id") + "-again")
    both = pl.concat([left, again])
    if order is not None:
        both = both.sample(fraction=1, shuffle=True, seed=order)
    found = deduplicate(read_records(both, PERSON), PERSON, threads=threads)
    return set(found.links.to_polars().rows())


@cache
def expected(name):
    return linked(name, threads=1)


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("threads", [2, 3])
def test_the_number_of_threads_does_not_matter(name, threads):
    assert linked(name, threads=threads) == expected(name)


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("size", [1, 7, 50])
def test_the_size_of_the_chunks_does_not_matter(name, size, monkeypatch):
    monkeypatch.setattr(passes, "CHUNK_PAIRS", size)
    for block in ("FIRST_BLOCK", "LAST_BLOCK"):
        monkeypatch.setattr(join, block, size)
    assert linked(name, threads=2) == expected(name)


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("order", [1, 2])
def test_the_order_of_the_rows_does_not_matter(name, order):
    assert linked(name, order) == expected(name)


@pytest.mark.parametrize("order", [1, 2])
def test_the_order_of_the_rows_does_not_matter_for_duplicates(order, monkeypatch):
    from gramlink.matching import chance

    monkeypatch.setattr(chance, "RANDOM_PAIRS", 1000)  # of which positions would decide
    assert duplicates(order, threads=2) == duplicates(threads=1)


def test_the_threads_of_kernels_and_frames_do_not_matter():
    code = "import json, test_same_links as here; print(json.dumps(list(here.linked('persons'))))"
    variables = dict.fromkeys(("GRAMLINK_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "2")
    printed = subprocess.check_output(
        [sys.executable, "-c", code], env={**os.environ, **variables}, cwd=Path(__file__).parent
    )
    assert set(map(tuple, json.loads(printed))) == expected("persons")


def test_kernels_use_the_threads_that_are_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(jit.numba, "set_num_threads", asked.append)
    linked("surnames", threads=1)
    assert set(asked) == {1}
