"""The reference as `scripts/docs` builds it: links that lead somewhere, a search, and pages that everybody can read.

SITE      the folder; default: .build/docs/site of this checkout
CHROMIUM  the browser
"""

import functools
import http.server
import json
import os
import threading
import unittest
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent.parent
SITE = Path(os.environ.get("SITE", ROOT / ".build/docs/site"))
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


def pages():
    """Yields (path, content) for each page."""
    for file in sorted((SITE / "data").rglob("*.json")):
        yield "/" + file.relative_to(SITE / "data").with_suffix("").as_posix(), json.loads(file.read_text())


def articles():
    """The pages that somebody has written, which are no pages of single symbols, nor lists of what conforms to a protocol."""
    return [
        path
        for path, content in pages()
        if content.get("metadata", {}).get("role") in ("article", "collectionGroup", "collection")
        and not path.endswith("-implementations")
    ]


class Links(unittest.TestCase):
    def test_no_link_leads_nowhere(self):
        known = {path.lower() for path, _ in pages()} | {"/documentation"}
        dead = set()
        count = 0
        for path, content in pages():
            for reference in content.get("references", {}).values():
                url = reference.get("url", "")
                if not url.startswith("/documentation"):
                    continue
                count += 1
                if url.split("#")[0].rstrip("/").lower() not in known:
                    dead.add((path, url))
        self.assertGreater(count, 1_000)
        self.assertEqual(dead, set())

    def test_each_picture_is_there_and_has_words(self):
        pictures = {}
        for path, content in pages():
            for reference in content.get("references", {}).values():
                if reference.get("type") == "image":
                    for variant in reference["variants"]:
                        pictures[variant["url"]] = (path, reference.get("alt"))
        self.assertGreater(len(pictures), 30)
        for url, (path, words) in pictures.items():
            self.assertTrue((SITE / url.lstrip("/")).is_file(), f"{path}: no file {url}")
            self.assertTrue(words, f"{path}: {url} has no words")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        handler = functools.partial(Quiet, directory=SITE)
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.base = f"http://127.0.0.1:{cls.server.server_port}"
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(
            executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"]
        )

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()
        cls.server.shutdown()
        cls.server.server_close()

    def open(self, path, scheme="light", has_navigator=True):
        page = self.browser.new_page(color_scheme=scheme, reduced_motion="reduce")
        self.addCleanup(page.close)
        if not has_navigator:
            page.route("**/index/index.json", lambda route: route.fulfill(json={"interfaceLanguages": {"swift": []}}))
        self.failures = []
        page.on("pageerror", lambda error: self.failures.append(str(error)))
        page.on("response", lambda answer: answer.status >= 400 and self.failures.append(answer.url))
        self.go(page, path)
        return page

    def go(self, page, path):
        page.goto(self.base + path)
        expect(page.locator("h1").first).to_be_visible()
        expect(page.locator(".navigator, main").first).to_be_visible()

    def violations(self, page):
        page.evaluate(AXE)
        found = page.evaluate("axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))")
        return [f"{id}: {html[:120]}" for id, html in found]

    def audit(self, paths, scheme):
        # The list of all pages stands beside each, and is looked at once, by a test of its own.
        page = self.open(paths[0], scheme, has_navigator=False)
        problems = []
        for path in paths:
            self.go(page, path)
            problems += [f"{path}: {violation}" for violation in self.violations(page)]
        self.assertEqual(problems, [])
        self.assertEqual(self.failures, [])

    def test_every_article_passes_the_audit_in_the_light(self):
        paths = articles()
        self.assertGreater(len(paths), 50)
        self.audit(["/documentation/", *paths], "light")

    def test_pages_of_every_kind_pass_the_audit_in_the_dark(self):
        of_kinds = {}
        for path, content in pages():
            metadata = content.get("metadata", {})
            of_kinds.setdefault((metadata.get("role"), metadata.get("symbolKind")), path)
        self.audit(list(of_kinds.values()), "dark")

    def test_the_list_of_pages_passes_the_audit(self):
        page = self.open("/documentation/combine/timing-values")
        expect(page.locator(".navigator-card-item").first).to_be_visible()
        self.assertEqual(self.violations(page), [])
        self.assertEqual(self.failures, [])

    def test_the_search_finds_what_is_in_any_module_by_keyboard_alone(self):
        page = self.open("/documentation/rebound")
        for typed, title in [("debounce", "debounce"), ("CircuitBreakerPolicy", "CircuitBreakerPolicy"), ("WebAPIClient", "WebAPIClient")]:
            expect(page.locator(".navigator-card-item").first).to_be_visible()
            page.keyboard.press("/")
            field = page.locator(".quick-navigation input")
            expect(field).to_be_focused()
            field.fill(typed)
            first = page.locator(".quick-navigation__refs a").first
            expect(first).to_contain_text(title)
            page.keyboard.press("Enter")
            expect(page.locator("h1").first).to_contain_text(title)


if __name__ == "__main__":
    unittest.main()
