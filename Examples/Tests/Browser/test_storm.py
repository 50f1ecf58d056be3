"""The page of a storm, as it was written: by itself, in a browser that reaches nobody."""

import json
import unittest
from pathlib import Path

from playwright.sync_api import expect

from harness import Browser

PAGE = Path(__file__).resolve().parents[3] / "Storm" / "Results" / "storm.html"
AUDIT = Path(__file__).parent / "audit.js"


class StormPage(unittest.TestCase):
    def open(self, **options):
        context = Browser.get().new_context(**{"viewport": {"width": 1200, "height": 860}, **options})
        self.addCleanup(context.close)
        page = context.new_page()
        self.requests, self.complaints = [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(PAGE.as_uri())
        return page

    def test_asks_for_nothing_but_itself_and_complains_of_nothing(self):
        self.open()
        self.assertEqual(self.requests, [PAGE.as_uri()])
        self.assertEqual(self.complaints, [])

    def test_a_row_shows_and_hides_its_picture_by_key(self):
        page = self.open()
        button = page.get_by_role("button", name="no retry")
        picture = page.get_by_role("figure").filter(has=page.locator("figcaption", has_text="no retry"))
        button.focus()
        page.keyboard.press("Enter")
        expect(picture).to_be_hidden()
        expect(button).to_have_attribute("aria-expanded", "false")
        page.keyboard.press("Enter")
        expect(picture).to_be_visible()
        expect(button).to_have_attribute("aria-expanded", "true")

    def test_the_pointer_over_a_picture_shows_the_figures_of_that_second(self):
        page = self.open()
        figure = page.get_by_role("figure").first
        series = json.loads(figure.locator("script").text_content())
        box = figure.locator("svg").bounding_box()
        second = 50
        page.mouse.move(box["x"] + box["width"] * (second + 0.5) / len(series["offered"]), box["y"] + 20)
        expect(figure.locator("output")).to_have_text(
            f"{second} s: got {series['offered'][second]}, answered {series['served'][second]}, "
            f"for nobody {series['wasted'][second]}, given up {series['givenUp'][second]}"
        )

    def test_passes_the_audit_in_the_light_and_in_the_dark_and_fits_a_phone(self):
        for scheme in ("light", "dark"):
            with self.subTest(scheme):
                page = self.open(color_scheme=scheme, viewport={"width": 360, "height": 740})
                self.assertEqual(page.evaluate(AUDIT.read_text()), [])
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 360)


if __name__ == "__main__":
    unittest.main()
