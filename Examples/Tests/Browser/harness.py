"""Starts the backend and the app, opens the page in Chromium, and lets a test see and do what a person can.

Every test has fresh processes, a fresh database and a fresh browser context: no test depends on another.
"""

import json
import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ARTEFACTS = Path(__file__).resolve().parents[2] / "Artefacts"
START_SECONDS = 15
# Room for the pause in typing (0.8 s), a request and a busy machine.
ANSWER_MILLISECONDS = 8_000
# Room for two retries with the delays that the server asks for.
RETRY_MILLISECONDS = 30_000

GOOD_PASSWORD = "correct horse battery 7!"


class HarnessError(Exception):
    """The processes under test could not be started or asked."""


# Those of them that browsers do not ask: https://fetch.spec.whatwg.org/#port-blocking.
BLOCKED_PORTS = {10_080}


def free_port():
    """None that the system gives to whoever asks for any: on Linux those begin at 32768. So nobody gets it meanwhile."""
    while True:
        port = random.randrange(10_000, 32_768)
        if port in BLOCKED_PORTS:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def poll(question, seconds, complaint):
    """Asks until the answer is true, and fails with the complaint after the deadline."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise HarnessError(complaint())
        time.sleep(0.02)


class Process:
    """One of the two programs, with its output kept for the report of a failure."""

    def __init__(self, name, program, environment, ready_url, log_path):
        self.name = name
        self.program = program
        self.environment = environment
        self.ready_url = ready_url
        self.log_path = log_path
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [self.program], env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        poll(self._answers, START_SECONDS, lambda: f"The {self.name} did not answer {self.ready_url}.\n{self.output()}")

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def kill(self):
        """Ends it at once, with no chance to put anything in order."""
        self.process.kill()
        self.process.wait()
        self.process = None

    def output(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def _answers(self):
        if self.process.poll() is not None:
            raise HarnessError(f"The {self.name} ended with code {self.process.returncode}.\n{self.output()}")
        try:
            urllib.request.urlopen(self.ready_url, timeout=2).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True


class Servers:
    """The backend and the app, on ports of their own."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="rebound-browser-"))
        backend_port, app_port = free_port(), free_port()
        self.backend_url = f"http://127.0.0.1:{backend_port}"
        self.app_url = f"http://127.0.0.1:{app_port}"
        environment = {
            "BACKEND_PORT": str(backend_port),
            "APP_PORT": str(app_port),
            "BACKEND_URL": self.backend_url,
            # A file, not memory: an account must outlive a restart of the backend in the middle of a test.
            "BACKEND_DATABASE": str(self.directory / "accounts.sqlite"),
        }
        self.backend = Process(
            "backend",
            os.environ["BACKEND_BIN"],
            environment,
            f"{self.backend_url}/control/requests",
            self.directory / "backend.log",
        )
        self.app = Process("app", os.environ["APP_BIN"], environment, self.app_url, self.directory / "app.log")

    def start(self):
        self.backend.start()
        self.app.start()

    def stop(self):
        self.app.stop()
        self.backend.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def requests(self, path):
        """The requests for a path that the backend has got, oldest first."""
        with urllib.request.urlopen(f"{self.backend_url}/control/requests", timeout=5) as response:
            every = json.load(response)["requests"]
        return [request for request in every if request["target"].split("?")[0] == path]

    def ask(self, target):
        """Sends a request to the backend past the app, and waits for the answer."""
        urllib.request.urlopen(f"{self.backend_url}{target}", timeout=30).close()

    def zoo(self, failures, delay=0, seed=1):
        """How the zoo behaves until all faults are cleared; else it takes up to five seconds and fails now and then."""
        body = json.dumps({"seed": seed, "failures": failures, "longestDelayMilliseconds": delay}).encode()
        request = urllib.request.Request(
            f"{self.backend_url}/control/animals",
            data=body,
            headers={"Content-Type": "application/json"},
            method="POST",
        )
        urllib.request.urlopen(request, timeout=5).close()

    def fail(self, path, fault, **details):
        """Makes the backend fail on a path; `times=None` means until further notice."""
        body = json.dumps({"path": path, "fault": fault, **details}).encode()
        request = urllib.request.Request(
            f"{self.backend_url}/control/faults",
            data=body,
            headers={"Content-Type": "application/json"},
            method="POST",
        )
        urllib.request.urlopen(request, timeout=5).close()


class Browser:
    """One Chromium for the whole run; contexts keep the tests apart."""

    _playwright = None
    _browser = None

    @classmethod
    def get(cls):
        if cls._browser is None:
            cls._playwright = sync_playwright().start()
            cls._browser = cls._playwright.chromium.launch(
                executable_path=os.environ["CHROMIUM"],
                args=["--no-sandbox", "--disable-dev-shm-usage"],
            )
        return cls._browser

    @classmethod
    def close(cls):
        if cls._browser is not None:
            cls._browser.close()
            cls._playwright.stop()
            cls._browser = cls._playwright = None


unittest.addModuleCleanup(Browser.close)


class PageTestCase(unittest.TestCase):
    """A test that has the page open before it begins, and that fails when the page complained in the console."""

    context_options = {}

    def run(self, result=None):
        self._result = result
        return super().run(result)

    def setUp(self):
        self.servers = Servers()
        self.addCleanup(self.servers.stop)
        self.servers.start()
        self.complaints = []
        self.expected_complaints = []
        options = {"viewport": {"width": 1200, "height": 860}, "color_scheme": "light", **self.context_options}
        context = Browser.get().new_context(**options)
        self.addCleanup(context.close)
        self.page = self.open_page(context)
        self.addCleanup(self._keep_evidence)

    def tearDown(self):
        expected = re.compile("|".join(self.expected_complaints) or "$^")
        unexpected = [text for text in self.complaints if not expected.search(text)]
        self.assertEqual(unexpected, [], "The page complained in the console.")

    def open_page(self, context):
        page = context.new_page()
        page.set_default_timeout(ANSWER_MILLISECONDS)
        page.on("console", self._keep_console_message)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        page.goto(self.servers.app_url)
        expect(page.locator("#connection")).to_have_text("Connected", timeout=ANSWER_MILLISECONDS)
        return page

    def allow_complaint(self, pattern):
        self.expected_complaints.append(pattern)

    def shot(self, name):
        """Keeps what the person sees at this moment."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{name}.png", animations="disabled")

    def audit(self):
        """Fails if the page as it stands is hard to use for people who cannot see it well or at all."""
        script = (Path(__file__).parent / "audit.js").read_text()
        self.assertEqual(self.page.evaluate(script), [])

    def _keep_console_message(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _keep_evidence(self):
        found = [*self._result.failures, *self._result.errors]
        if not any(test is self for test, _ in found):
            return
        self.shot(f"failed-{self._testMethodName}")
        for process in (self.servers.backend, self.servers.app):
            print(f"\n--- output of the {process.name} ---\n{process.output()}")

    # What a person sees

    def field(self, label):
        return self.page.get_by_role("textbox", name=label, exact=True)

    @property
    def user_name(self):
        return self.field("User name")

    @property
    def password(self):
        return self.field("Password")

    @property
    def confirmation(self):
        return self.field("Repeat the password")

    @property
    def submit(self):
        return self.page.locator("#submit")

    @property
    def alert(self):
        return self.page.get_by_role("alertdialog")

    @property
    def banner(self):
        return self.page.locator("#banner")

    @property
    def toast(self):
        return self.page.locator("#toast-region .toast")

    @property
    def full_screen(self):
        return self.page.locator("#full-screen")

    @property
    def attempts(self):
        return self.page.locator(".attempt")

    def heading(self, text):
        return self.page.get_by_role("heading", name=text)

    def message(self, field):
        """The message beneath a field, found the way a screen reader finds it."""
        return self.page.locator(f"#{field.get_attribute('aria-describedby')}")

    def state(self, field):
        """The mark inside a field: spinner, tick or nothing, by its words."""
        return self.page.locator(f"#{field.get_attribute('id')}-state")

    def see_message(self, field, text, timeout=ANSWER_MILLISECONDS):
        expect(self.message(field)).to_have_text(text, timeout=timeout)
        expect(self.message(field)).to_be_visible()
        expect(field).to_have_attribute("aria-invalid", "true")

    def see_available(self, timeout=ANSWER_MILLISECONDS):
        expect(self.state(self.user_name)).to_have_text("Available", timeout=timeout)
        expect(self.message(self.user_name)).to_have_text("")
        expect(self.user_name).to_have_attribute("aria-invalid", "false")

    def see_no_surface(self):
        """Nothing stands in the person's way or asks for attention."""
        expect(self.alert).to_be_hidden()
        expect(self.banner).to_be_hidden()
        expect(self.toast).to_be_hidden()
        expect(self.full_screen).to_be_hidden()

    # What a person does

    def type_into(self, field, text):
        field.focus()
        field.press_sequentially(text, delay=20)

    def replace(self, field, text):
        field.focus()
        field.press("ControlOrMeta+a")
        field.press_sequentially(text, delay=20)

    def type_passwords(self, password=GOOD_PASSWORD):
        self.type_into(self.password, password)
        self.type_into(self.confirmation, password)

    def fill_form(self, name):
        self.type_into(self.user_name, name)
        self.type_passwords()
        self.see_available()
        expect(self.submit).to_be_enabled()
