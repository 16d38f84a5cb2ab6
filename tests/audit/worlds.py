"""Generated owners and registers to attack, the same each time: no noise is drawn."""

from functools import cache

from gramlink.audit.case import Case, Register
from gramlink.embedding.projection import agree
from gramlink.lab.datasets import persons, register
from gramlink.parties.owner import Owner
from gramlink.records.reading import read_records
from gramlink.records.schema import checked_schema

STREETS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789"
TEXTS = {"given_name": {}, "surname": {}, "street": {"alphabet": STREETS}, "city": {}}
FIELDS = (
    *({"name": name, "miner": "exact", **more} for name, more in TEXTS.items()),
    {"name": "sex", "kind": "category", "length": 1},
    {"name": "date_of_birth", "kind": "date"},
    {"name": "postcode", "kind": "digits"},
    {"name": "phone", "kind": "digits"},
)
SCHEMA = checked_schema(fields=FIELDS, edits=2)


@cache
def case(count, seed=1):
    people = persons(count, seed=seed)
    ours, theirs = (read_records(one, SCHEMA) for one in (people.left, people.right))
    owners = [Owner(name, one, SCHEMA, b"key") for name, one in (("a", ours), ("b", theirs))]
    projection = agree(*(owner.mine(None) for owner in owners))  # exact: without noise
    return Case(ours, theirs, SCHEMA, projection.bases)


@cache
def registered(count, coverage=1.0, seed=1):
    frame = register(count, seed=seed, coverage=coverage)
    ours = case(count).ours
    return Register.of(read_records(frame, SCHEMA), frame["id_left"].to_list(), ours)


@cache
def foreign(count):
    """A register of other persons, in which each record is said to be of some person or other."""
    frame = register(count, seed=99)
    return Register.of(read_records(frame, SCHEMA), frame["id_left"].to_list(), case(count).ours)
