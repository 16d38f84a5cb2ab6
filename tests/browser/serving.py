"""A linkage unit in a process of its own, and calls to it beside the browser."""

import hashlib
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from gramlink.bundles.sealing import Recipient, new_identity, seal

TOML = "epsilon = 20\n[fields.surname]\nsize = 40\n[fields.born]\nkind = 'date'\n"
GRAMLINK = "from gramlink.cli import main; main()"


@dataclass(frozen=True)
class Server:
    """The address of a unit that runs, and its operator's token."""

    url: str
    token: str
    folder: Path

    def call(self, method, path, token=None, *, body=None, **content):
        """An answer of the API: what its JSON says, else its bytes."""
        if content:
            body = json.dumps(content).encode()
        headers = {"Authorization": f"Bearer {token or self.token}"}
        request = urllib.request.Request(self.url + path, data=body, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            data = answer.read()
            kind = answer.headers.get("Content-Type", "")
        return json.loads(data) if data and kind.startswith("application/json") else data

    def make(self, name, parties=("hospital", "registry"), **content):
        """An exchange, with a token and an identity for each party."""
        asked = {"name": name, "schema": TOML, "parties": list(parties), "token_days": 9}
        tokens = self.call("POST", "/api/exchanges", **{**asked, **content})["tokens"]
        return Exchange(self, name, tokens, {party: new_identity() for party in parties})


@dataclass(frozen=True)
class Exchange:
    """An exchange that the test takes through its stages."""

    server: Server
    name: str
    tokens: dict
    identities: dict

    @property
    def page(self):
        return f"/exchanges/{self.name}"

    def call(self, method, path, party, **content):
        full = f"/api/exchanges/{self.name}{path}"
        return self.server.call(method, full, self.tokens[party], **content)

    def join(self, *parties):
        for party in parties or self.tokens:
            key = self.identities[party].recipient.key
            self.call("PUT", "/recipient", party, body=key.encode())
        return self

    def send_mined(self, sender, to, content=b"mined"):
        """Send what a party mined, sealed."""
        sealed = seal(content, [self.identities[to].recipient])
        self.call("PUT", f"/mined/{quote(to)}", sender, body=sealed)
        return sealed

    def at_bundles(self):
        """Bring it to the stage where bundles are awaited."""
        self.join()
        for sender in self.tokens:
            for to in self.tokens:
                if to != sender:
                    self.send_mined(sender, to)
        return self

    def upload(self, party, content):
        facts = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        self.call("POST", "/upload", party, **facts)
        self.call("PATCH", "/upload?offset=0", party, body=content)

    def view(self):
        return self.server.call("GET", f"/api/exchanges/{self.name}")

    def unit_key(self):
        return Recipient(self.server.call("GET", "/api/unit")["recipient"])


@contextmanager
def served(folder):
    """A unit on a free port of this machine, until the end of the block."""
    command = [
        sys.executable,
        "-u",
        "-c",
        GRAMLINK,
        "unit",
        "serve",
        "--data",
        str(folder),
        "--port",
        "0",
    ]
    output = folder.parent / "server.txt"
    with output.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            url = awaited(process, output)
            yield Server(url, (folder / "operator.token").read_text().strip(), folder)
        finally:
            process.terminate()
            process.wait(60)


def awaited(process, output):
    """The address of a server, once it answers."""
    end = time.monotonic() + 60
    while True:
        assert process.poll() is None, output.read_text()
        assert time.monotonic() < end, output.read_text()
        time.sleep(0.05)
        found = re.search(r"listens at (http://[0-9.:]+)", output.read_text())
        if not found:
            continue
        with suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            urllib.request.urlopen(f"{found[1]}/api/unit", timeout=5).close()
            return found[1]
