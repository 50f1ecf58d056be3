"""The animals as a person meets them: progress, an alert for each kind of failure, and time travel."""

import tempfile
import unittest
from pathlib import Path

from playwright.sync_api import expect

from harness import PageTestCase

ANIMALS = "/animals/random"


class Animals(PageTestCase):
    def setUp(self):
        super().setUp()
        self.servers.zoo(failures=0)
        self.page.get_by_role("tab", name="Animals").click()
        expect(self.page.get_by_role("heading", name="Animals", exact=True)).to_be_visible()

    @property
    def fetch(self):
        return self.page.locator("#fetch")

    @property
    def name(self):
        return self.page.locator("#animal-name")

    @property
    def progress(self):
        return self.page.get_by_role("progressbar", name="Looking for an animal")

    @property
    def steps(self):
        return self.page.locator("#steps > li")

    @property
    def slider(self):
        return self.page.get_by_role("slider", name="Step")

    def see_animal(self):
        expect(self.name).not_to_have_text("")
        expect(self.progress).to_be_hidden()
        expect(self.fetch).to_be_enabled()

    def see_steps(self, *texts):
        expect(self.steps).to_have_count(len(texts))
        for step, text in zip(self.steps.all(), reversed(texts)):
            expect(step).to_contain_text(text)

    def test_an_animal_comes_with_its_fact(self):
        self.fetch.click()
        self.see_animal()
        self.see_steps("fetch", "fetched")
        self.see_no_surface()
        self.shot("animals-light")

    def test_progress_shows_while_the_zoo_takes_its_time(self):
        self.servers.fail(ANIMALS, "none", latencyMilliseconds=1500, times=1)
        self.fetch.click()
        expect(self.progress).to_be_visible()
        expect(self.fetch).to_have_attribute("aria-disabled", "true")
        self.fetch.click(force=True)
        self.see_animal()
        self.assertEqual(len(self.servers.requests(ANIMALS)), 1)

    def test_a_double_click_asks_for_one_animal(self):
        self.servers.fail(ANIMALS, "none", latencyMilliseconds=1500, times=1)
        self.fetch.dblclick()
        self.see_animal()
        self.see_steps("fetch", "fetched")
        self.assertEqual(len(self.servers.requests(ANIMALS)), 1)

    def test_a_broken_connection_has_its_own_alert_and_ends_the_progress(self):
        self.servers.fail(ANIMALS, "drop", times=1)
        self.fetch.click()
        expect(self.alert.get_by_role("heading")).to_have_text("No connection to the zoo")
        expect(self.progress).to_be_hidden()
        self.shot("animals-alert")
        self.alert.get_by_role("button", name="Not now").click()
        expect(self.alert).to_be_hidden()
        self.see_steps("fetch", "failed: network", "dismissAlert")
        expect(self.fetch).to_be_enabled()

    def test_a_connection_that_breaks_once_is_seen_also_after_an_animal_has_come(self):
        self.fetch.click()
        self.see_animal()
        self.servers.fail(ANIMALS, "drop", times=1)
        self.fetch.click()
        expect(self.alert.get_by_role("heading")).to_have_text("No connection to the zoo")
        self.alert.get_by_role("button", name="Not now").click()
        self.see_steps("fetch", "fetched", "fetch", "failed: network", "dismissAlert")

    def test_a_failing_zoo_has_another_alert_with_its_reason(self):
        # A seed that draws one failure of each kind.
        self.servers.zoo(failures=1, seed=6)
        self.fetch.click()
        expect(self.alert.get_by_role("heading")).to_have_text("No connection to the zoo")
        self.alert.get_by_role("button", name="Try again").click()
        expect(self.alert.get_by_role("heading")).to_have_text("Something is wrong at the zoo")
        expect(self.alert).to_contain_text("The animals got loose")
        self.alert.get_by_role("button", name="Not now").click()
        expect(self.alert).to_be_hidden()

    def test_trying_again_from_the_alert_brings_an_animal(self):
        self.servers.fail(ANIMALS, "drop", times=1)
        self.fetch.click()
        self.alert.get_by_role("button", name="Try again").click()
        self.see_animal()
        expect(self.alert).to_be_hidden()

    def test_escape_dismisses_the_alert_for_good(self):
        self.servers.fail(ANIMALS, "drop", times=1)
        self.fetch.click()
        expect(self.alert).to_be_visible()
        self.page.keyboard.press("Escape")
        expect(self.alert).to_be_hidden()
        self.see_steps("fetch", "failed: network", "dismissAlert")

    def test_the_slider_goes_back_in_time_and_forward_again(self):
        self.fetch.click()
        self.see_animal()
        first = self.name.inner_text()
        self.slider.focus()
        self.page.keyboard.press("Home")
        expect(self.name).to_have_text("")
        expect(self.page.locator("#step-text")).to_have_text("Step 0 of 2")
        self.shot("animals-travelling")
        self.page.get_by_role("button", name="Back to now").click()
        expect(self.name).to_have_text(first)
        expect(self.page.locator("#step-text")).to_have_text("Now: step 2")
        self.assertEqual(len(self.servers.requests(ANIMALS)), 1, "Time travel has no effects.")

    def test_a_load_that_time_travel_cut_off_leaves_nobody_waiting(self):
        self.servers.fail(ANIMALS, "none", latencyMilliseconds=3000, times=1)
        self.fetch.click()
        expect(self.progress).to_be_visible()
        self.slider.focus()
        self.page.keyboard.press("Home")
        self.page.get_by_role("button", name="Back to now").click()
        expect(self.progress).to_be_hidden()
        self.fetch.click()
        self.see_animal()

    def test_a_saved_session_replays_to_the_same_end_in_another_window(self):
        self.servers.fail(ANIMALS, "drop", times=1)
        self.fetch.click()
        self.alert.get_by_role("button", name="Not now").click()
        self.fetch.click()
        self.see_animal()
        name = self.name.inner_text()
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name="Save this session").click()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "animals.json"
            download.value.save_as(file)
            other = self.open_page(self.page.context.browser.new_context())
            self.addCleanup(other.context.close)
            other.get_by_role("tab", name="Animals").click()
            other.locator("#import").set_input_files(file)
            expect(other.locator("#animal-name")).to_have_text(name)
            expect(other.locator("#steps > li")).to_have_count(5)
        self.assertEqual(len(self.servers.requests(ANIMALS)), 2, "A replay asks the zoo for nothing.")

    def test_a_session_replayed_over_another_one_shows_its_own_changes(self):
        self.fetch.click()
        self.see_animal()
        name = self.name.inner_text()
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name="Save this session").click()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "animals.json"
            download.value.save_as(file)
            file.write_text(file.read_text().replace(name, "Quagga"))
            self.page.locator("#import").set_input_files(file)
            expect(self.name).to_have_text("Quagga")
        expect(self.steps.first.locator(".step-changes")).to_contain_text("Quagga")
        expect(self.steps.first).not_to_contain_text(name)

    def test_a_file_that_is_no_session_is_refused_in_words(self):
        self.allow_complaint("400")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "wrong.json"
            file.write_text("[]")
            self.page.locator("#import").set_input_files(file)
            expect(self.page.locator("#travel-note")).to_contain_text("no session of this program")

    def test_a_file_that_cannot_be_read_is_told_in_words(self):
        self.page.evaluate("() => { Blob.prototype.text = () => Promise.reject(new Error('gone')) }")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "gone.json"
            file.write_text("{}")
            self.page.locator("#import").set_input_files(file)
            expect(self.page.locator("#travel-note")).to_have_text("This file can't be read.")

    def test_the_fault_panel_makes_the_zoo_fail_and_well_again(self):
        self.page.get_by_text("Make the server fail").click()
        self.page.get_by_label("Which requests").select_option(label="Animals")
        self.page.get_by_label("How many times").fill("")
        self.page.get_by_role("button", name="Dropped connection").click()
        expect(self.page.locator("#fault-note")).to_have_text("Set: Dropped connection (animals, until cleared).")
        self.fetch.click()
        expect(self.alert.get_by_role("heading")).to_have_text("No connection to the zoo")
        self.alert.get_by_role("button", name="Not now").click()
        self.page.get_by_role("button", name="Clear all faults").click()
        expect(self.page.locator("#fault-note")).to_have_text("All faults are cleared.")
        self.servers.zoo(failures=0)
        self.fetch.click()
        self.see_animal()

    def test_the_tab_is_kept_over_a_reload(self):
        self.page.reload()
        expect(self.page.get_by_role("heading", name="Animals", exact=True)).to_be_visible()


class AnimalsForAll(PageTestCase):
    context_options = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}

    def test_the_page_fits_a_phone_in_the_dark_and_passes_the_audit(self):
        self.servers.zoo(failures=1, seed=6)
        self.page.get_by_role("tab", name="Animals").click()
        self.page.locator("#fetch").click()
        expect(self.page.locator("#steps > li").first).to_be_visible()
        expect(self.alert.get_by_role("heading")).to_have_text("No connection to the zoo")
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 360)
        self.audit()
        self.shot("animals-dark-phone")

    def test_tabs_are_walked_with_the_arrow_keys(self):
        self.page.get_by_role("tab", name="Sign up").focus()
        self.page.keyboard.press("ArrowLeft")
        expect(self.page.get_by_role("tab", name="Animals")).to_be_focused()
        expect(self.page.get_by_role("heading", name="Animals", exact=True)).to_be_visible()
        self.page.keyboard.press("ArrowRight")
        expect(self.page.get_by_role("heading", name="Create an account")).to_be_visible()


if __name__ == "__main__":
    unittest.main()
