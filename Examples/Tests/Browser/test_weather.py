"""The weather as a person meets it: by city and by place, saved copies, retries, keys, tokens and lost connections."""

import re
import unittest
import urllib.request

from playwright.sync_api import expect

from harness import ANSWER_MILLISECONDS, RETRY_MILLISECONDS, PageTestCase

WEATHER = "/weather"
TOKEN = "/token"


class WeatherTestCase(PageTestCase):
    def setUp(self):
        super().setUp()
        self.page.get_by_role("tab", name="Weather").click()
        expect(self.page.get_by_role("heading", name="Weather", exact=True)).to_be_visible()

    @property
    def city(self):
        return self.field("City")

    @property
    def place(self):
        return self.page.locator("#place")

    @property
    def note(self):
        return self.page.locator("#place-note")

    @property
    def status(self):
        return self.page.locator("#weather-status")

    @property
    def cover(self):
        return self.page.locator("#weather-cover")

    @property
    def key_form(self):
        return self.page.get_by_role("form", name="API key")

    @property
    def cities(self):
        return self.page.locator("#cities > li")

    def search(self, name):
        self.city.fill(name)
        self.page.get_by_role("button", name="Show the weather").click()

    def see_weather(self, name, timeout=RETRY_MILLISECONDS):
        expect(self.place).to_contain_text(name, timeout=timeout)
        expect(self.note).to_have_text("", timeout=timeout)

    def control(self, method, path, body=b"{}"):
        request = urllib.request.Request(
            f"{self.servers.backend_url}/control/{path}",
            data=body,
            headers={"Content-Type": "application/json"},
            method=method,
        )
        urllib.request.urlopen(request, timeout=5).close()


class Weather(WeatherTestCase):
    def test_a_city_has_weather(self):
        self.search("hamburg")
        self.see_weather("Hamburg, DE")
        expect(self.place).to_contain_text(re.compile(r"-?\d+°"))
        expect(self.place).to_contain_text("humidity")
        self.see_no_surface()
        self.shot("weather-light")

    def test_the_place_where_the_person_is_has_weather(self):
        self.page.context.grant_permissions(["geolocation"])
        self.page.context.set_geolocation({"latitude": 38.7, "longitude": -9.1})
        self.page.get_by_role("button", name="Where I am").click()
        self.see_weather("Lisbon, PT")

    def test_a_place_that_is_found_out_after_the_next_search_is_not_asked_for(self):
        self.page.evaluate("navigator.geolocation.getCurrentPosition = (found) => (window.found = found)")
        self.page.get_by_role("button", name="Where I am").click()
        self.search("Oslo")
        self.see_weather("Oslo")
        self.page.evaluate("window.found({ coords: { latitude: 41.9, longitude: 12.5 } })")
        expect(self.city).to_have_value("Oslo")
        # Actions arrive in their order: the position would have been asked for before this.
        self.search("Lisbon")
        self.see_weather("Lisbon")
        self.assertFalse([request for request in self.servers.requests(WEATHER) if "latitude" in request["target"]])

    def test_restarted_app_gets_the_city_again(self):
        # The browser reports the cut stream, the refused calls and the lost session by itself.
        self.allow_complaint(r"Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY")
        button = self.page.get_by_role("button", name="Show the weather")
        self.city.fill("Oslo")
        expect(button).to_be_enabled()
        self.servers.app.stop()
        expect(self.page.locator("#connection")).to_have_text("Reconnecting…")
        self.servers.app.start()
        expect(self.page.locator("#connection")).to_have_text("Connected", timeout=RETRY_MILLISECONDS)
        self.city.press("Enter")
        self.see_weather("Oslo")
        expect(self.city).to_have_value("Oslo")

    def test_a_place_that_may_not_be_known_is_told_in_words(self):
        self.page.get_by_role("button", name="Where I am").click()
        expect(self.toast).to_contain_text("type a city")
        self.toast.get_by_role("button").click()
        expect(self.toast).to_be_hidden()

    def test_an_unknown_city_is_told_beside_the_field_and_not_retried(self):
        self.search("Atlantis")
        self.see_message(self.city, "City Name is invalid")
        self.assertEqual(len(self.servers.requests(WEATHER)), 1)
        self.shot("weather-invalid-city")
        self.city.fill("Rome")
        expect(self.message(self.city)).to_have_text("")

    def test_a_failing_service_is_asked_again_after_growing_pauses(self):
        self.servers.fail(WEATHER, "status", status=503, times=2)
        self.page.evaluate(
            """() => {
              const region = document.getElementById("announcement");
              window.told = [];
              new MutationObserver(() => window.told.push(region.textContent)).observe(region, { childList: true });
            }"""
        )
        self.search("Oslo")
        expect(self.status).to_have_text("Server error. Retrying in 1 s")
        expect(self.status).to_have_text("Server error. Retrying in 3 s")
        self.shot("weather-retrying")
        self.see_weather("Oslo")
        expect(self.status).to_have_text("")
        # Who listens is told once for each wait, not each second.
        expect(self.status).not_to_have_attribute("role", "status")
        told = [text for text in self.page.evaluate("window.told") if "Retrying in" in text]
        self.assertEqual(told, ["Server error. Retrying in 1 s", "Server error. Retrying in 3 s"])
        expect(self.attempts.filter(has_text="retrying in 1.0 s (back-off)")).to_have_count(1)
        expect(self.attempts.filter(has_text="retrying in 3.0 s (back-off)")).to_have_count(1)

    def test_a_service_under_repair_is_waited_for_with_a_countdown(self):
        self.servers.fail(WEATHER, "status", status=503, retryAfter="5", times=1)
        self.search("Oslo")
        expect(self.cover).to_be_visible()
        expect(self.cover.get_by_role("heading")).to_have_text("Down for maintenance")
        expect(self.cover.get_by_role("timer")).to_contain_text(re.compile(r"[1-5]"))
        self.shot("weather-countdown")
        self.see_weather("Oslo")
        expect(self.cover).to_be_hidden()

    def test_the_last_good_weather_is_shown_as_a_saved_copy(self):
        self.search("Rome")
        self.see_weather("Rome")
        self.servers.fail(WEATHER, "status", status=503, retryAfter="30", times=None)
        self.search("Rome")
        expect(self.note).to_have_text("saved copy, 0 minutes old")
        expect(self.banner).to_contain_text("Server error")
        self.shot("weather-saved-copy")
        self.control("DELETE", "faults")
        self.banner.get_by_role("button", name="Try again").press("Enter")
        self.see_weather("Rome")
        expect(self.banner).to_be_hidden()
        expect(self.city).to_be_focused()

    def test_an_unreadable_answer_asks_for_an_update(self):
        self.servers.fail(WEATHER, "garbage", times=1)
        self.search("Rome")
        expect(self.alert.get_by_role("heading")).to_have_text("Please update")
        self.alert.get_by_role("button", name="Not now").click()
        expect(self.alert).to_be_hidden()

    def test_a_revoked_key_is_asked_for_and_the_weather_follows_by_itself(self):
        self.search("Rome")
        self.see_weather("Rome")
        self.control("POST", "key", b'{"key":"new-key"}')
        self.search("Oslo")
        expect(self.key_form).to_be_visible()
        expect(self.key_form).to_contain_text("Key is invalid")
        expect(self.field("API key")).to_be_focused()
        self.shot("weather-key")
        self.type_into(self.field("API key"), "wrong")
        self.page.keyboard.press("Enter")
        expect(self.key_form).to_contain_text("Key is invalid")
        self.field("API key").fill("new-key")
        self.page.keyboard.press("Enter")
        self.see_weather("Oslo")
        expect(self.key_form).to_be_hidden()
        expect(self.city).to_be_focused()

    def test_another_key_that_is_typed_while_one_is_checked_takes_its_place(self):
        self.search("Rome")
        self.see_weather("Rome")
        self.control("POST", "key", b'{"key":"new-key"}')
        self.search("Oslo")
        expect(self.key_form).to_contain_text("Key is invalid")
        # Nobody waits for the answer to it.
        self.servers.fail(TOKEN, "none", latencyMilliseconds=30_000, times=1)
        use = self.page.locator("#use-key")
        self.field("API key").fill("wrong")
        self.page.keyboard.press("Enter")
        expect(use).to_have_attribute("aria-disabled", "true")
        self.field("API key").fill("new-key")
        expect(use).to_have_attribute("aria-disabled", "false")
        self.page.keyboard.press("Enter")
        self.see_weather("Oslo", timeout=ANSWER_MILLISECONDS)
        expect(self.key_form).to_be_hidden()

    def test_an_expired_token_is_renewed_once_for_all_cities(self):
        self.search("Rome")
        self.see_weather("Rome")
        self.assertEqual(len(self.servers.requests(TOKEN)), 1)
        self.control("DELETE", "tokens")
        self.page.get_by_role("button", name="Refresh all").click()
        for name in ("Hamburg", "Lisbon", "Nairobi", "New York", "São Paulo", "Tokyo"):
            expect(self.cities.filter(has_text=name)).to_contain_text(re.compile(r"-?\d+°"))
        self.assertEqual(len(self.servers.requests(TOKEN)), 2, "One refresh for six refused requests.")
        self.shot("weather-cities")

    def test_a_lost_connection_is_waited_for(self):
        self.search("Rome")
        self.see_weather("Rome")
        self.servers.backend.stop()
        self.search("Rome")
        expect(self.note).to_have_text("saved copy, 0 minutes old", timeout=RETRY_MILLISECONDS)
        expect(self.banner).to_contain_text("can't be reached")
        self.shot("weather-offline")
        self.servers.backend.start()
        self.see_weather("Rome")
        expect(self.banner).to_be_hidden()

    def test_without_a_copy_a_lost_connection_takes_the_place_of_the_weather(self):
        self.servers.backend.stop()
        self.search("Rome")
        expect(self.cover.get_by_role("heading")).to_have_text("You are offline", timeout=RETRY_MILLISECONDS)
        self.servers.backend.start()
        self.see_weather("Rome")

    def test_the_panels_revoke_the_key_and_put_it_back(self):
        self.page.get_by_text("Weather to try").click()
        self.page.get_by_role("button", name=re.compile("revoke it")).click()
        expect(self.page.locator("#order-note")).to_contain_text("The key is revoked")
        self.page.get_by_role("button", name=re.compile("Hamburg")).click()
        expect(self.key_form).to_contain_text("Key is invalid")
        self.page.get_by_text("Make the server fail").click()
        self.page.get_by_role("button", name="Clear all faults").click()
        expect(self.page.locator("#fault-note")).to_have_text("All faults are cleared.")
        self.field("API key").fill("rebound")
        self.page.keyboard.press("Enter")
        self.see_weather("Hamburg")

    def test_late_weather_of_an_older_search_never_wins(self):
        self.servers.fail(WEATHER, "none", latencyMilliseconds=2500, times=1)
        self.search("Rome")
        expect(self.page.locator("#city-state")).to_have_text("Loading…")
        self.search("Oslo")
        self.see_weather("Oslo")
        self.servers.ask("/health")
        expect(self.attempts.first).to_contain_text("200 Oslo")
        expect(self.place).to_contain_text("Oslo")


class WeatherForAll(WeatherTestCase):
    context_options = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}

    def test_the_page_fits_a_phone_in_the_dark_and_passes_the_audit(self):
        self.search("Rome")
        self.see_weather("Rome")
        self.page.get_by_role("button", name="Refresh all").click()
        expect(self.cities.filter(has_text="Tokyo")).to_contain_text("°")
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 360)
        self.audit()
        self.shot("weather-dark-phone")


if __name__ == "__main__":
    unittest.main()
