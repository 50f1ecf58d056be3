"""The inspector: what the requests of an app go through, as it happens, and what can be saved of it."""

import json
import re
import tarfile
import unittest

from playwright.sync_api import expect

from harness import ANSWER_MILLISECONDS, RETRY_MILLISECONDS, PageTestCase

ANIMALS = "/animals/random"
TOKEN = "/token"
WEATHER = "/weather"


# Counts what the link brings, past the page's own reading of it.
COUNTING = """
window.inspected = 0;
const listen = EventSource.prototype.addEventListener;
EventSource.prototype.addEventListener = function (name, handler) {
  listen.call(this, name, (event) => {
    if (name === "inspect") window.inspected += 1;
    handler(event);
  });
};
"""


class InspectorTestCase(PageTestCase):
    def open_page(self, context):
        context.add_init_script(COUNTING)
        return super().open_page(context)

    def inspected(self):
        """How many events with lines the page has got."""
        return self.page.evaluate("window.inspected")

    @property
    def panel(self):
        return self.page.locator("#inspector")

    @property
    def gauges(self):
        return self.page.get_by_role("list", name="Gauges")

    @property
    def waits(self):
        return self.page.get_by_role("list", name="Who waits for what")

    @property
    def note(self):
        return self.page.locator("#inspector-note")

    def request(self, number):
        return self.page.locator(f'#inspected > [data-id="{number}"]')

    def stage(self, number, name):
        return self.page.get_by_role("list", name=f"Stages of request {number}").locator("> li", has_text=f"{name}: ")

    def run_of(self, number):
        return self.request(number).get_by_role("img")

    def demand_of(self, number):
        """The numbers in the lane of the demand, from left to right."""
        return self.request(number).locator("text.demand-text").all_text_contents()

    def open_tab(self, name):
        self.page.get_by_role("tab", name=name).click()
        expect(self.page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")

    def open_panel(self):
        self.panel.locator("summary").first.click()
        expect(self.panel).to_have_attribute("open", "")

    def search(self, city):
        self.field("City").fill(city)
        self.page.get_by_role("button", name="Show the weather").click()

    def see_stage(self, number, name, words, timeout=ANSWER_MILLISECONDS):
        expect(self.stage(number, name)).to_contain_text(words, timeout=timeout)


class Inspector(InspectorTestCase):
    def test_it_is_opened_by_key_and_shows_what_the_policies_hold(self):
        self.open_tab("Weather")
        summary = self.panel.locator("summary").first
        self.page.locator("#faults > summary").focus()
        self.page.keyboard.press("Tab")
        expect(summary).to_be_focused()
        self.page.keyboard.press("Enter")
        expect(self.gauges.locator("> li", has_text="Breaker")).to_contain_text("closed")
        expect(self.gauges.locator("> li", has_text="Retry budget")).to_contain_text("100 left")
        expect(self.gauges.locator("> li", has_text="Rate limit")).to_contain_text("1.0 of the full rate")
        expect(self.panel).to_contain_text("Nothing sent since this was opened.")
        self.page.keyboard.press("Enter")
        expect(self.gauges).to_be_hidden()

    def test_the_stages_light_up_while_a_request_is_retried(self):
        self.open_tab("Weather")
        self.open_panel()
        self.page.get_by_text("Make the server fail").click()
        self.page.get_by_label("Which requests").select_option("/weather")
        self.page.get_by_label("How many times").fill("1")
        self.page.get_by_text("Compose your own").click()
        self.page.get_by_label("Fault", exact=True).select_option("status")
        self.page.get_by_label("Retry-After", exact=True).fill("3")
        self.page.get_by_role("button", name="Apply this fault").click()
        expect(self.page.locator("#fault-note")).to_contain_text("Set: Status code")
        self.search("Oslo")
        self.see_stage(1, "Retry", "waiting, because of Retry-After")
        expect(self.stage(1, "Network")).to_have_attribute("data-state", "failed")
        self.see_stage(1, "Network", "503")
        expect(self.waits).to_contain_text(re.compile(r"Request 1 waits [0-3]\.\d s because of Retry-After"))
        self.see_stage(1, "Retry", "retried, once", RETRY_MILLISECONDS)
        expect(self.stage(1, "Network")).to_have_attribute("data-state", "done")
        self.see_stage(1, "Access token", "done")
        self.see_stage(1, "Breaker", "done")
        expect(self.waits).to_be_hidden()
        expect(self.run_of(1)).to_have_attribute(
            "aria-label",
            re.compile(
                r"Run of request 1: attempt 1 from 0\.0 s to \d\.\d s, failed \(Server error \(503\)\); "
                r"attempt 2 from 3\.\d s to 3\.\d s, answered \(200 Oslo, \w+\); "
                r"a pause of 3\.0 s after \d\.\d s \(Retry-After\); demand: unlimited at 0\.0 s; finished after 3\.\d s"
            ),
        )
        self.assertEqual(self.demand_of(1), ["∞"])
        expect(self.request(1).locator("path.demand")).to_have_count(1)
        expect(self.request(1).locator("path.cancel")).to_have_count(0)
        expect(self.request(1).locator("rect.bar")).to_have_count(2)
        expect(self.request(1).locator("circle.marble")).to_have_count(1)
        expect(self.gauges.locator("> li", has_text="Retry budget")).to_contain_text("1 granted")

    def test_a_breaker_that_opens_is_seen_and_what_it_refuses(self):
        self.open_tab("Weather")
        self.open_panel()
        self.servers.fail(WEATHER, "status", status=503, times=None)
        self.page.get_by_role("button", name="Refresh all").click()
        expect(self.gauges.locator("> li", has_text="Breaker")).to_contain_text(re.compile(r"open for \d\.\d s"))
        self.search("Oslo")
        self.see_stage(7, "Breaker", "refused, open for")
        self.see_stage(7, "Retry", "waiting, because of the breaker")
        expect(self.stage(7, "Network")).to_have_attribute("data-state", "idle")
        expect(self.waits).to_contain_text(re.compile(r"Request 7 waits 1\.\d s because of the breaker"))
        self.panel.evaluate("node => node.scrollIntoView()")
        self.shot("inspector")

    def test_who_waits_for_the_token_refresh_of_another_is_told(self):
        self.open_tab("Weather")
        self.open_panel()
        self.servers.fail(TOKEN, "none", latencyMilliseconds=2500, times=1)
        self.page.get_by_role("button", name="Refresh all").click()
        expect(self.waits).to_contain_text("Request 1 waits for its token refresh")
        expect(self.waits).to_contain_text("Request 2 waits for the token refresh of request 1")
        expect(self.waits).to_be_hidden(timeout=RETRY_MILLISECONDS)
        self.see_stage(6, "Network", "done")

    def test_a_saved_copy_that_answers_is_a_stage(self):
        self.open_tab("Weather")
        self.search("Rome")
        expect(self.page.locator("#place")).to_contain_text("Rome")
        self.open_panel()
        self.servers.fail(WEATHER, "status", status=403, times=1)
        self.search("Rome")
        self.see_stage(2, "Saved copy", "served from a saved copy")

    def test_sign_up_and_animals_have_their_own_stages(self):
        self.open_panel()
        self.type_into(self.user_name, "somebody")
        self.see_stage(1, "Network", "done")
        expect(self.stage(1, "Retry")).to_have_count(1)
        expect(self.stage(1, "Breaker")).to_have_count(0)
        self.open_tab("Animals")
        expect(self.request(1)).to_have_count(0)
        self.servers.fail(ANIMALS, "status", status=503, times=1)
        self.page.locator("#fetch").click()
        self.see_stage(1, "Network", "failed")
        expect(self.gauges).to_be_hidden()

    def test_a_request_that_nobody_waits_for_any_more_says_so(self):
        self.open_tab("Weather")
        self.open_panel()
        self.servers.fail(WEATHER, "none", latencyMilliseconds=2500, times=1)
        self.search("Rome")
        self.see_stage(1, "Network", "running")
        self.search("Oslo")
        self.see_stage(1, "Network", "not waited for any more")
        expect(self.run_of(1)).to_have_attribute("aria-label", re.compile(r"; demand: unlimited at 0\.0 s; cancelled after \d"))
        expect(self.request(1).locator("path.cancel")).to_have_count(1)
        self.assertEqual(self.demand_of(1)[-1], "cancel")
        self.see_stage(2, "Network", "done")

    def test_a_failed_run_is_saved_as_a_test_and_a_good_one_is_not(self):
        self.open_tab("Weather")
        # Before it is opened: the access token that the failure was met with is older than the inspector.
        self.search("Rome")
        expect(self.page.locator("#place")).to_contain_text("Rome")
        self.open_panel()
        self.servers.fail(WEATHER, "status", status=503, retryAfter="60", times=1)
        self.search("Oslo")
        self.see_stage(2, "Retry", "hint too long")
        button = self.request(2).get_by_role("button", name="Save as a test of request 2")
        with self.page.expect_download() as saved:
            button.press("Enter")
        expect(self.note).to_contain_text("Saved request 2")
        with tarfile.open(saved.value.path()) as archive:
            self.assertEqual(archive.getnames(), ["weatherOfOsloTests.swift", "weatherOfOslo.har"])
            test = archive.extractfile("weatherOfOsloTests.swift").read().decode()
            record = json.load(archive.extractfile("weatherOfOslo.har"))
        self.assertIn('@Test("weather of Oslo") func weatherOfOslo() throws', test)
        self.assertIn('service.weather(at: .city("Oslo")).retry(policy)', test)
        paths = [entry["request"]["url"].split("/")[-1] for entry in record["log"]["entries"]]
        self.assertEqual(paths, ["token", "weather?city=Oslo"])
        self.page.get_by_role("button", name="Back").click()
        self.servers.fail(WEATHER, "none", times=1)
        self.search("Oslo")
        self.see_stage(3, "Network", "done")
        expect(self.request(3).get_by_role("button")).to_be_hidden()

    def test_a_failed_request_for_an_animal_is_saved_beside_one_of_another_app(self):
        self.open_panel()
        self.type_into(self.user_name, "somebody")
        self.see_stage(1, "Network", "done")
        self.open_tab("Animals")
        self.servers.fail(ANIMALS, "status", status=503, times=1)
        self.page.locator("#fetch").click()
        self.see_stage(1, "Network", "failed, 503")
        expect(self.request(1)).to_contain_text("GET /animals/random")
        self.alert.get_by_role("button", name="Not now").click()
        with self.page.expect_download() as saved:
            self.request(1).get_by_role("button", name="Save as a test of request 1").click()
        expect(self.note).to_contain_text("Saved request 1")
        with tarfile.open(saved.value.path()) as archive:
            self.assertEqual(archive.getnames(), ["randomAnimalTests.swift", "randomAnimal.har"])
            test = archive.extractfile("randomAnimalTests.swift").read().decode()
        self.assertIn("import Animals", test)
        self.assertIn("service.randomAnimal().values", test)
        self.open_tab("Sign up")
        expect(self.request(1)).to_contain_text("GET /isUserNameAvailable")
        expect(self.request(1).get_by_role("button")).to_be_hidden()

    def test_the_lines_are_saved_as_they_came(self):
        self.open_tab("Weather")
        self.open_panel()
        self.search("Oslo")
        self.see_stage(1, "Network", "done")
        with self.page.expect_download() as saved:
            self.page.get_by_role("button", name="Save the lines").click()
        with open(saved.value.path()) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual({line["type"] for line in lines}, {"pipeline", "gauge", "request", "http", "policy"})
        self.assertEqual({line["app"] for line in lines}, {"signUp", "weather", "animals"})
        calls = [line for line in lines if line["type"] == "http" and line["event"] == "succeeded"]
        self.assertEqual([call["operation"] for call in calls], ["AccessToken", "CurrentWeather"])
        self.assertNotIn("Bearer", json.dumps(lines))

    def test_a_closed_panel_is_sent_nothing(self):
        self.open_tab("Weather")
        self.search("Oslo")
        expect(self.page.locator("#place")).to_contain_text("Oslo")
        self.assertEqual(self.inspected(), 0)
        self.open_panel()
        expect(self.gauges).to_be_visible()
        self.assertGreater(self.inspected(), 0)
        self.panel.locator("summary").first.click()
        expect(self.panel).not_to_have_attribute("open", "")
        # Once an answer that is younger than the order to close is there, nothing is under way any more.
        self.search("Rome")
        expect(self.page.locator("#place")).to_contain_text("Rome")
        before = self.inspected()
        self.search("Lisbon")
        expect(self.page.locator("#place")).to_contain_text("Lisbon")
        self.assertEqual(self.inspected(), before)

    def test_lines_that_were_lost_on_the_way_are_counted(self):
        lost = self.page.evaluate(
            """async () => {
              const { makeInspection, take } = await import("/inspection.js");
              const inspection = makeInspection();
              const line = (fields) => take(inspection, JSON.stringify({ app: "weather", time: 0, type: "own", ...fields }), 0);
              line({ line: 40 });
              line({ line: 41 });
              line({ type: "lost", count: 3 });
              line({ line: 45 });
              return inspection.lost;
            }"""
        )
        self.assertEqual(lost, 3)

    def drawn(self, events):
        """What the page draws of a run with these events, each a pair of its moment and its fields."""
        return self.page.evaluate(
            """async (events) => {
              const { appOf, makeInspection, take } = await import("/inspection.js");
              const { drawMarbles, makeMarbles } = await import("/marbles.js");
              const inspection = makeInspection();
              const all = [[0, { event: "began", attempt: 0, name: "GET /x" }], ...events];
              all.forEach(([time, fields], index) => {
                const line = { line: index + 1, app: "weather", type: "request", request: 1, time, ...fields };
                take(inspection, JSON.stringify(line), time);
              });
              const picture = makeMarbles();
              drawMarbles(picture, appOf(inspection, "weather").requests[0], all.at(-1)[0]);
              const marks = [...picture.querySelectorAll("path.demand, path.cancel")];
              return {
                words: picture.getAttribute("aria-label"),
                numbers: [...picture.querySelectorAll("text.demand-text")].map((node) => node.textContent),
                places: [...picture.querySelectorAll("text.demand-text")].map((node) => Number(node.getAttribute("x"))),
                marks: marks.map((node) => Number(/^M([0-9.]+)/.exec(node.getAttribute("d"))[1]) + 5),
              };
            }""",
            events,
        )

    @staticmethod
    def asks(time, count):
        return [time, {"event": "demand", "attempt": 1, "demand": count}]

    def test_each_request_for_values_stands_at_its_moment_with_its_number(self):
        drawn = self.drawn(
            [self.asks(0, "1"), self.asks(1, "20"), self.asks(2.5, "unlimited"), [4, {"event": "cancelled", "attempt": 1}]]
        )
        self.assertEqual(drawn["numbers"], ["1", "20", "∞", "cancel"])
        # The picture's first moment is at 76, its last at 516.
        self.assertEqual(drawn["marks"], [76, 186, 351, 516])
        self.assertIn("demand: 1 at 0.0 s, 20 at 1.0 s, unlimited at 2.5 s; cancelled after 4.0 s", drawn["words"])

    def test_numbers_that_would_overlap_share_a_place_and_keep_their_marks(self):
        drawn = self.drawn(
            [*[self.asks(0, "1")] * 3, self.asks(0.001, "2"), self.asks(3.99, "8"), [4, {"event": "cancelled", "attempt": 1}]]
        )
        self.assertEqual(drawn["numbers"], ["3×1, 2", "8, cancel"])
        self.assertEqual(len(drawn["marks"]), 6)
        self.assertGreater(drawn["places"][1], drawn["places"][0])
        self.assertIn("demand: 1 at 0.0 s, 1 at 0.0 s, 1 at 0.0 s, 2 at 0.0 s, 8 at 4.0 s", drawn["words"])

    def test_of_a_run_that_asks_without_end_the_latest_hundred_requests_are_kept(self):
        drawn = self.drawn([*[self.asks(number, "1") for number in range(250)], [250, {"event": "finished", "attempt": 1}]])
        self.assertEqual(len(drawn["marks"]), 100)
        self.assertIn("demand: 150 earlier requests, 1 at 150.0 s, 1 at 151.0 s", drawn["words"])
        self.assertTrue(drawn["numbers"][0].startswith("…"))

    def test_it_goes_on_when_the_app_was_restarted(self):
        self.allow_complaint("Failed to load resource")
        self.open_tab("Weather")
        self.open_panel()
        expect(self.gauges).to_be_visible()
        self.servers.app.stop()
        expect(self.page.locator("#connection")).to_have_text("Reconnecting…")
        self.servers.app.start()
        expect(self.page.locator("#connection")).to_have_text("Connected", timeout=RETRY_MILLISECONDS)
        self.search("Oslo")
        self.see_stage(1, "Network", "done", RETRY_MILLISECONDS)


class CloserLook(InspectorTestCase):
    def look(self):
        """Audits the panel while a request waits, and when one has failed for good."""
        self.open_tab("Weather")
        self.open_panel()
        self.servers.fail(WEATHER, "status", status=503, times=2)
        self.search("Oslo")
        self.see_stage(1, "Retry", "waiting")
        self.audit()
        self.see_stage(1, "Retry", "retried, 2 times", RETRY_MILLISECONDS)
        self.servers.fail(WEATHER, "status", status=503, retryAfter="60", times=1)
        self.search("Rome")
        self.see_stage(2, "Retry", "failed")
        self.audit()


class InspectorInTheLight(CloserLook):
    def test_it_passes_the_audit_in_the_light(self):
        self.look()


class InspectorInTheDark(CloserLook):
    context_options = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark", "reduced_motion": "reduce"}

    def test_it_fits_a_phone_in_the_dark_and_passes_the_audit(self):
        self.look()
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), 360)
        self.panel.scroll_into_view_if_needed()
        self.shot("inspector-dark-phone")


if __name__ == "__main__":
    unittest.main()
