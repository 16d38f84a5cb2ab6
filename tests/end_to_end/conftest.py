"""A server that is running, and two owners with data of their own."""

import pytest

from end_to_end.processes import Party, Server
from gramlink.lab.datasets.persons import persons

TOML = """\
epsilon = 40

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
def two(server, tmp_path):
    """A hospital and a registry, who share half of their persons, and an exchange of theirs."""
    people = persons(300, seed=5)
    schema = tmp_path / "linkage.toml"
    schema.write_text(TOML)
    tokens = server.create("stroke", schema, "hospital", "registry")
    parties = []
    for name, frame in (("hospital", people.left), ("registry", people.right)):
        folder = tmp_path / name
        folder.mkdir()
        frame.write_csv(folder / f"{name}.csv")
        parties.append(Party(name, folder, tokens[name], "stroke"))
    yield parties
    for party in parties:
        if party.process and party.process.poll() is None:
            party.kill()
