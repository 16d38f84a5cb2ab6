"""A server that is running, and two owners with data of their own."""

import pytest

from end_to_end.processes import Party, Server, kept
from gramlink.lab.datasets.persons import persons

TOML = """\
epsilon = 20
encoding = "{encoding}"

[fields.given_name]
size = 40

[fields.surname]
size = 60

[fields.date_of_birth]
kind = "date"

[fields.postcode]
kind = "digits"
"""


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "unit"
    folder.mkdir()
    found = Server(folder)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def encoding():
    """How the owners encode their records, unless a test says otherwise."""
    return "veiled"  # which takes all the steps of others, and some more


@pytest.fixture
def two(server, tmp_path, encoding):
    """A hospital and a registry, who share half of their persons, and an exchange of theirs."""
    people = persons(300, seed=5)
    schema = tmp_path / "linkage.toml"
    schema.write_text(TOML.format(encoding=encoding))
    tokens = server.create("stroke", schema, "hospital", "registry")
    parties = []
    for name, frame in (("hospital", people.left), ("registry", people.right)):
        folder = tmp_path / name
        folder.mkdir()
        frame.write_csv(folder / f"{name}.csv")
        parties.append(Party(name, folder, tokens[name], "stroke"))
    one, other = parties
    one.peers, other.peers = [other.work / "recipient"], [one.work / "recipient"]
    with kept(one):
        yield parties
    for party in parties:
        if party.process and party.process.poll() is None:
            party.kill()
