"""What the client did, as a person sees it beside the attempts, and as a collector reads it."""

import re
import unittest
import urllib.request

from playwright.sync_api import expect

from harness import RETRY_MILLISECONDS, PageTestCase

ANIMALS = "/animals/random"
WEATHER = "/weather"


class MetricsTestCase(PageTestCase):
    @property
    def client(self):
        """The panel, found the way a screen reader finds it."""
        return self.page.get_by_role("region", name="What the client did")

    def fact(self, name, within=None):
        term = (within or self.client).locator("dt", has_text=re.compile(f"^{name}$"))
        return term.locator("xpath=following-sibling::dd")

    def see_facts(self, **facts):
        for name, value in facts.items():
            expect(self.fact(name.replace("_", " "))).to_have_text(value, timeout=RETRY_MILLISECONDS)

    def open_tab(self, name, page=None):
        page = page or self.page
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")

    def search(self, city):
        self.field("City").fill(city)
        self.page.get_by_role("button", name="Show the weather").click()

    def samples(self):
        """What a collector reads: each series with its number."""
        with urllib.request.urlopen(f"{self.servers.app_url}/metrics", timeout=5) as response:
            self.assertEqual(
                response.headers["Content-Type"], "application/openmetrics-text; version=1.0.0; charset=utf-8"
            )
            text = response.read().decode()
        self.assertTrue(text.endswith("# EOF\n"))
        lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
        return {series: float(value) for series, value in lines}


class Metrics(MetricsTestCase):
    def test_the_panel_is_not_there_before_anything_was_sent(self):
        expect(self.client).to_be_hidden()
        self.open_tab("Weather")
        expect(self.client).to_be_hidden()

    def test_retries_and_their_pauses_are_counted_while_they_happen(self):
        self.open_tab("Weather")
        self.servers.fail(WEATHER, "status", status=503, times=2)
        self.search("Oslo")
        self.see_facts(Tried_again="1, waiting 1.0 s")
        self.see_facts(Tried_again="2, waiting 4.0 s", Requests_sent="4", Answers="200 × 1, 201 × 1, 503 × 2")
        self.see_facts(New_tokens="1", Retries_left="99")
        expect(self.fact("Mean time")).to_have_text(re.compile(r"^\d+ ms$|^\d+\.\d s$"))
        expect(self.fact("Given up")).to_have_count(0)
        self.shot("client-light")
        samples = self.samples()
        weather = 'operation="CurrentWeather"'
        self.assertEqual(samples[f'http_client_attempts_total{{{weather},resend="false"}}'], 3)
        self.assertEqual(
            samples[f'http_client_attempt_duration_seconds_count{{{weather},outcome="503"}}'], 2
        )
        self.assertEqual(samples['rebound_retry_delay_seconds_sum{source="weather",from="computed"}'], 4)
        self.assertEqual(samples['rebound_budget_available{source="weather"}'], 99)

    def test_a_saved_copy_that_stands_in_is_counted_and_told_beside_the_attempt(self):
        self.open_tab("Weather")
        self.search("Oslo")
        self.see_facts(Requests_sent="2")
        self.servers.fail(WEATHER, "status", status=403, times=1)
        self.search("Oslo")
        self.see_facts(Saved_copies="1", Answers="200 × 1, 201 × 1, 403 × 1")
        expect(self.attempts.filter(has_text="a saved copy stands in")).to_have_count(1)

    def test_an_expired_token_is_renewed_once_and_counted(self):
        self.open_tab("Weather")
        self.search("Oslo")
        self.see_facts(New_tokens="1")
        self.page.get_by_text("Weather to try").click()
        self.page.get_by_role("button", name="Access token").click()
        expect(self.page.locator("#order-note")).to_have_text("No access token is good any more.")
        self.page.get_by_role("button", name="Refresh all").click()
        self.see_facts(New_tokens="2")

    def test_each_app_and_each_page_has_its_own_numbers_and_the_collector_gets_the_sum(self):
        self.servers.fail(ANIMALS, "status", status=503, times=1)
        self.open_tab("Animals")
        self.page.locator("#fetch").click()
        self.alert.get_by_role("button", name="Not now").click()
        self.see_facts(Requests_sent="1", Answers="503 × 1", Store_actions="3")
        self.open_tab("Sign up")
        expect(self.client).to_be_hidden()

        self.servers.fail(ANIMALS, "status", status=503, times=1)
        other = self.open_page(self.page.context.browser.new_context())
        self.addCleanup(other.context.close)
        self.open_tab("Animals", other)
        other.locator("#fetch").click()
        expect(self.fact("Answers", other.locator("#client"))).to_have_text("503 × 1")
        animals = 'operation="RandomAnimal"'
        samples = self.samples()
        self.assertEqual(samples[f'http_client_attempt_duration_seconds_count{{{animals},outcome="503"}}'], 2)
        self.assertEqual(samples["app_pages_opened_total"], 2)

    def test_a_name_that_is_checked_twice_is_no_label(self):
        self.type_into(self.user_name, "somebody")
        self.see_available()
        self.see_facts(Requests_sent="1", Answers="200 × 1")
        before = self.samples()
        self.replace(self.user_name, "somebody-else")
        self.see_facts(Requests_sent="2", Answers="200 × 2")
        after = self.samples()
        self.assertEqual(before.keys(), after.keys())
        self.assertFalse([series for series in after if "somebody" in series])

    def test_the_link_shows_a_person_all_numbers_in_a_tab_of_their_own(self):
        self.open_tab("Weather")
        self.search("Oslo")
        link = self.client.get_by_role("link", name="All numbers of all pages")
        with self.page.context.expect_page() as opened:
            link.click()
        expect(opened.value.locator("body")).to_contain_text("# TYPE app_pages_opened counter")
        expect(opened.value.locator("body")).to_contain_text("# EOF")
        expect(self.fact("Requests sent")).to_have_text("2")


class MetricsForAll(MetricsTestCase):
    context_options = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}

    def test_the_panel_fits_a_phone_in_the_dark_passes_the_audit_and_is_reached_by_key(self):
        self.open_tab("Weather")
        self.page.get_by_role("button", name="Refresh all").click()
        self.see_facts(Requests_sent="7", Answers="200 × 6, 201 × 1")
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 360)
        self.audit()
        link = self.client.get_by_role("link")
        self.page.locator("#faults > summary").focus()
        self.page.keyboard.press("Tab")
        expect(link).to_be_focused()
        self.client.scroll_into_view_if_needed()
        self.shot("client-dark-phone")


if __name__ == "__main__":
    unittest.main()
