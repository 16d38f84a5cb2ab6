"""Compiles every kernel, as a program that `make test` runs first.

The tests are many processes, each of which would compile what it is the first to need, or all
of them the same. Here small files go through everything that calls a kernel, so kernels are
compiled for the arrays they get in use; how they are linked does not matter.
"""

import os
from fractions import Fraction
from multiprocessing import get_context

import gramlink as gl
from gramlink.encodings.secret import Secret
from gramlink.lab.experiments.data import copies
from gramlink.lab.experiments.rivals import RIVALS

SIZE = 40
FIELDS = (
    gl.Field(name="surname", miner="exact", size=20),
    gl.Field(name="given_name", miner="exact", size=20),
    gl.Field(name="date_of_birth", kind="date"),
    gl.Field(name="sex", kind="category", length=1),
    gl.Field(name="street", miner="exact", size=20),
    gl.Field(name="city", miner="exact", size=20),
    gl.Field(name="postcode", kind="digits"),
    gl.Field(name="phone", kind="digits"),
)


def link_one_field():
    people = gl.persons(SIZE, seed=1)
    for policy in ("calibrated", "worst-case", "paper"):
        schema = gl.Schema(fields=FIELDS[:1], threshold=policy, edits=1)
        gl.link(people.left, people.right, schema)


def mine():
    names = gl.read_records(gl.persons(SIZE, seed=1).left, gl.Schema(fields=FIELDS[:1]))["surname"]
    for miner in ("levelgram", "tree-linear", "fpm"):
        field = gl.Field(name="surname", miner=miner, q_max=1, height=2)
        gl.mine_field(names, field, gl.Budget(Fraction(1)))


def link_few_fields():
    _link(2, 3, 4)


def link_many_fields():
    _link(5, 6, 7, 8)


def _link(*counts):
    people = gl.persons(SIZE, seed=1)
    for count in counts:
        schema = gl.Schema(fields=FIELDS[:count])
        gl.link(people.left, people.right, schema)
        gl.deduplicate(gl.read_records(people.left, schema), schema)


def veil():
    people = gl.persons(SIZE, seed=1)
    passes = ({"surname": 0}, {"date_of_birth": 0})
    schema = gl.Schema(fields=FIELDS[:4], encoding="veiled", passes=passes)
    secret = Secret(bytes(32))
    sides = [("left", people.left), ("right", people.right)]
    owners = [gl.Owner(name, gl.read_records(file, schema), schema, b"key") for name, file in sides]
    projection = gl.agree(*(owner.mine(None) for owner in owners))
    one, other = (owner.embed(projection, secret=secret).records for owner in owners)
    one.compare(other).candidates(())


def compare_with_rivals():
    both = copies("CITIES", SIZE, edits=1, draw=1)
    for encode in RIVALS.values():
        left, right = encode(both, 1)(both)
        left.near(right, 1, SIZE**2)
        left.between(right)


# those that need other kernels come first, so that two processes seldom compile the same
TASKS = (link_one_field, compare_with_rivals, mine, link_many_fields, link_few_fields, veil)

if __name__ == "__main__":
    with get_context("spawn").Pool(os.cpu_count()) as pool:
        for done in [pool.apply_async(task) for task in TASKS]:
            done.get()
