"""A real browser on a real server. Skipped where there is no Chromium."""

import shutil
from dataclasses import dataclass, field

import pytest

from browser.serving import served

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60_000  # milliseconds for what takes a few, but on a machine that is busy
# looks for what changed several times a second, where a person's page does every two seconds
OFTEN = """() => {
  if (!document.getElementById("main").dataset.poll) return;
  document.getElementById("main").dataset.poll = 200;
  document.dispatchEvent(new Event("visibilitychange"));
}"""
VIOLATIONS = (
    "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.blockedURI))"
)


@pytest.fixture(scope="module")
def browser():
    """One Chromium for a module: no longer, as its event loop is in the way of other tests."""
    if not CHROMIUM:
        pytest.skip("there is no chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def server(browser, tmp_path_factory):  # noqa: ARG001  # where there is no browser, none is needed
    """One linkage unit for a module."""
    with served(tmp_path_factory.mktemp("unit") / "data") as one:
        yield one


@dataclass
class Visits:
    """Opens pages, and keeps what the browser complains about and whom it asks."""

    browser: object
    server: object
    contexts: list = field(default_factory=list)
    complaints: list = field(default_factory=list)
    hosts: set = field(default_factory=set)
    expected: tuple = ()

    def open(self, path="/", token=None, **options):
        """A page in a browser of its own, signed in by its cookie."""
        options.setdefault("viewport", {"width": 1200, "height": 800})
        context = self.browser.new_context(base_url=self.server.url, **options)
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(VIOLATIONS)
        if token:
            context.add_cookies([{"name": "gramlink", "value": token, "url": self.server.url}])
        page = context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.hosts.add(request.url))
        page.goto(path)
        page.evaluate(OFTEN)
        return page

    def expect(self, *complaints):
        """Let the browser complain of this, as the test asks for it."""
        self.expected += complaints

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def end(self):
        for context in self.contexts:
            context.close()
        found = [one for one in self.complaints if not any(part in one for part in self.expected)]
        assert not found, found
        elsewhere = {
            url for url in self.hosts if not url.startswith((self.server.url, "data:,", "blob:"))
        }
        assert not elsewhere, elsewhere


@pytest.fixture
def visit(browser, server):
    """Visits that must end without a complaint and without a request to another host."""
    visits = Visits(browser, server)
    yield visits
    visits.end()
