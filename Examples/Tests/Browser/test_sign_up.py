"""The sign-up form as a person meets it: each answer of the server, each failure, by mouse and by keyboard."""

import json
import re
import unittest

from playwright.sync_api import expect

from harness import ANSWER_MILLISECONDS, ARTEFACTS, GOOD_PASSWORD, RETRY_MILLISECONDS, PageTestCase, poll

CHECK = "/isUserNameAvailable"
SIGN_UP = "/signUp"
OFFLINE_WORDS = re.compile("offline|connect|reach", re.IGNORECASE)
PORTAL_WORDS = re.compile("network|wi-?fi|portal|log ?in|sign in", re.IGNORECASE)
MAINTENANCE_REASON = "Temporarily unavailable for maintenance"


class ServerAnswers(PageTestCase):
    """One test for each row of the server's table."""

    def test_free_name_gets_a_tick_and_no_message(self):
        self.type_into(self.user_name, "somebody")
        self.see_available()
        self.see_no_surface()
        self.shot("free-name")

    def test_taken_names_say_so(self):
        for name in ("peterfriese", "johnnyappleseed", "page", "johndoe"):
            with self.subTest(name=name):
                self.replace(self.user_name, name)
                # The last answer has the same words: wait until this name has been asked for.
                self.wait_for_request(name)
                self.see_message(self.user_name, "This username is not available")
        self.see_no_surface()
        self.shot("taken-name")

    def test_short_name_is_refused_with_the_servers_reason(self):
        self.type_into(self.user_name, "abc")
        self.see_message(self.user_name, "Username is too short.")

    def test_emptied_field_is_refused_with_the_servers_reason(self):
        self.type_into(self.user_name, "somebody")
        self.see_available()
        self.user_name.press("ControlOrMeta+a")
        self.user_name.press("Delete")
        self.see_message(self.user_name, "Username must not be empty")

    def test_reserved_names_are_refused_with_the_servers_reason(self):
        for name in ("admin", "superuser"):
            with self.subTest(name=name):
                self.replace(self.user_name, name)
                self.see_message(self.user_name, f"Username is not valid: {name}.")

    def test_unreadable_answer_asks_for_an_update(self):
        self.type_into(self.user_name, "illegalresponse")
        expect(self.alert).to_be_visible()
        expect(self.alert.get_by_role("heading")).to_have_text("Please update")
        expect(self.alert.get_by_role("button")).to_have_count(2)
        expect(self.alert.get_by_role("button", name="Upgrade")).to_be_visible()
        expect(self.alert.get_by_role("button", name="Not now")).to_be_visible()
        self.shot("alert-update")
        self.alert.get_by_role("button", name="Not now").click()
        expect(self.alert).to_be_hidden()
        self.see_message(self.user_name, re.compile("update the app"))

    def test_permanent_server_error_shows_its_reason_and_is_not_retried(self):
        self.type_into(self.user_name, "servererror")
        self.see_message(self.user_name, "The database is corrupted")
        self.assertEqual(len(self.servers.requests(CHECK)), 1)
        self.see_no_surface()

    def test_maintenance_is_waited_for_and_then_the_name_is_free(self):
        self.type_into(self.user_name, "maintenance")
        expect(self.state(self.user_name)).to_have_text("Checking…")
        expect(self.attempts.first).to_contain_text("retrying in")
        expect(self.state(self.user_name)).to_have_text("Checking…")
        self.shot("maintenance-waiting")
        self.see_available(timeout=RETRY_MILLISECONDS)
        expect(self.attempts).to_have_count(3)
        for index in (0, 1):
            attempt = self.attempts.nth(index)
            expect(attempt).to_contain_text(f"attempt {index + 1}")
            expect(attempt).to_contain_text("500")
            expect(attempt).to_contain_text(MAINTENANCE_REASON)
            expect(attempt).to_contain_text(re.compile(r"retrying in \d+(\.\d+)? s"))
            expect(attempt).to_contain_text("Retry-After")
        expect(self.attempts.nth(2)).to_contain_text("attempt 3")
        expect(self.attempts.nth(2)).to_contain_text("200")
        self.assertEqual([request["status"] for request in self.servers.requests(CHECK)], [500, 500, 200])
        self.shot("maintenance-over")

    def test_endless_maintenance_gives_its_reason_after_the_retries(self):
        self.type_into(self.user_name, "maintenance!")
        expect(self.attempts.first).to_contain_text("retrying in")
        self.see_message(self.user_name, MAINTENANCE_REASON, timeout=RETRY_MILLISECONDS)
        expect(self.state(self.user_name)).to_have_text("")
        self.assertEqual(len(self.servers.requests(CHECK)), 3)

    def wait_for_request(self, name):
        poll(
            lambda: any(request["target"].endswith(f"={name}") for request in self.servers.requests(CHECK)),
            ANSWER_MILLISECONDS / 1000,
            lambda: f"The backend was never asked for {name}.",
        )
        expect(self.state(self.user_name)).to_have_text("")


class Typing(PageTestCase):
    def test_a_pause_in_typing_makes_one_request(self):
        self.type_into(self.user_name, "somebody")
        self.see_available()
        self.assertEqual(self.asked_names(), ["somebody"])
        self.type_into(self.user_name, "else")
        self.see_request("somebodyelse")
        self.see_available()
        self.assertEqual(self.asked_names(), ["somebody", "somebodyelse"])

    def test_a_call_that_is_lost_alone_is_made_again_and_the_page_says_that_it_is_connected(self):
        self.allow_complaint(r"Failed to load resource|ERR_FAILED")
        lost = []
        self.page.route("**/actions", lambda route: (lost.append(route.request.url), route.abort()), times=1)
        self.type_into(self.user_name, "somebody")
        self.see_available()
        self.assertEqual(len(lost), 1)
        expect(self.page.locator("#connection")).to_have_text("Connected")

    def test_late_answer_to_an_old_name_never_wins(self):
        late = {"latencyMilliseconds": 3000, "times": 1}
        self.servers.fail(CHECK, "none", **late)
        self.type_into(self.user_name, "page")
        self.see_request("page")
        expect(self.state(self.user_name)).to_have_text("Checking…")
        self.replace(self.user_name, "somebody")
        self.see_available()
        # An equally late answer that was asked for later: when it is here, the one to the old name is out as well.
        self.servers.fail(CHECK, "none", **late)
        self.servers.ask(f"{CHECK}?userName=anybody")
        # The answer to a later edit is a state that was drawn after everything above.
        self.type_into(self.password, "x")
        expect(self.password).to_have_attribute("aria-invalid", "true")
        self.see_available()
        expect(self.user_name).to_have_value("somebody")

    def test_states_never_overwrite_what_is_being_typed(self):
        text = "a-long-name-typed-without-a-pause"
        self.user_name.focus()
        self.user_name.press_sequentially(text, delay=3)
        for _ in range(4):
            self.user_name.press("ArrowLeft")
        self.user_name.press_sequentially("XY", delay=3)
        expected = text[:-4] + "XY" + text[-4:]
        self.see_request(expected)
        expect(self.user_name).to_have_value(expected)
        expect(self.user_name).to_be_focused()

    def test_edits_arrive_in_the_order_of_typing(self):
        sent = []

        def keep_edit(request):
            if request.url.endswith("/actions"):
                sent.append(json.loads(request.post_data)["text"])

        self.page.on("request", keep_edit)
        self.user_name.focus()
        self.user_name.press_sequentially("somebody", delay=3)
        self.see_available()
        self.assertEqual(sent, ["somebody"[:end] for end in range(1, 9)])

    def test_markup_in_a_name_is_shown_as_text(self):
        name = "<img src=x onerror=alert(1)>"
        self.fill_form(name)
        self.submit.click()
        expect(self.page.locator("#signed-up-title")).to_have_text(f"Welcome, {name}")
        expect(self.page.locator("img")).to_have_count(0)

    def test_two_windows_do_not_see_each_other(self):
        other = self.open_page(self.page.context)
        self.type_into(self.user_name, "page")
        self.see_message(self.user_name, "This username is not available")
        expect(other.locator("#userName")).to_have_value("")
        expect(other.locator("#userName-message")).to_have_text("")
        expect(other.locator(".attempt")).to_have_count(0)

    def asked_names(self):
        return [request["target"].split("=", 1)[1] for request in self.servers.requests(CHECK)]

    def see_request(self, name):
        poll(
            lambda: name in self.asked_names(),
            ANSWER_MILLISECONDS / 1000,
            lambda: f"The backend was never asked for {name}, only for {self.asked_names()}.",
        )


class Passwords(PageTestCase):
    def test_short_password_is_refused_beside_the_field(self):
        self.type_into(self.password, "abc")
        self.see_message(self.password, re.compile("password", re.IGNORECASE))
        self.replace(self.password, GOOD_PASSWORD)
        expect(self.password).to_have_attribute("aria-invalid", "false")

    def test_different_passwords_are_refused_beside_the_second_field(self):
        self.type_into(self.password, GOOD_PASSWORD)
        self.type_into(self.confirmation, GOOD_PASSWORD + "x")
        self.see_message(self.confirmation, re.compile("password|match", re.IGNORECASE))
        self.confirmation.press("Backspace")
        expect(self.confirmation).to_have_attribute("aria-invalid", "false")
        expect(self.message(self.confirmation)).not_to_contain_text("match")

    def test_form_can_be_submitted_only_when_every_rule_holds(self):
        expect(self.submit).to_be_disabled()
        self.type_into(self.user_name, "somebody")
        self.see_available()
        expect(self.submit).to_be_disabled()
        self.type_into(self.password, GOOD_PASSWORD)
        expect(self.submit).to_be_disabled()
        self.type_into(self.confirmation, GOOD_PASSWORD)
        expect(self.submit).to_be_enabled()
        self.replace(self.user_name, "admin")
        self.see_message(self.user_name, "Username is not valid: admin.")
        expect(self.submit).to_be_disabled()

    def test_passwords_are_never_shown(self):
        self.type_passwords()
        expect(self.submit).to_be_visible()
        self.assertNotIn(GOOD_PASSWORD, self.page.locator("body").inner_text())
        for field in (self.password, self.confirmation):
            expect(field).to_have_attribute("type", "password")
            expect(field).to_have_attribute("autocomplete", "new-password")


class Offline(PageTestCase):
    def test_offline_while_typing_is_no_message_but_a_sign_and_local_rules_decide(self):
        self.servers.backend.stop()
        self.type_into(self.user_name, "somebody")
        self.type_passwords()
        expect(self.banner).to_contain_text("Not in sync yet", timeout=RETRY_MILLISECONDS)
        expect(self.message(self.user_name)).to_have_text("")
        expect(self.user_name).to_have_attribute("aria-invalid", "false")
        expect(self.submit).to_be_enabled()
        expect(self.alert).to_be_hidden()
        expect(self.full_screen).to_be_hidden()
        self.shot("offline-typing")

    def test_offline_on_submit_is_shown_and_nothing_typed_is_lost(self):
        self.fill_form("somebody")
        self.servers.backend.stop()
        self.submit.click()
        surface = self.page.locator("#toast-region .toast, dialog[open], #full-screen:not([hidden])")
        expect(surface.first).to_contain_text(OFFLINE_WORDS, timeout=RETRY_MILLISECONDS)
        expect(self.user_name).to_have_value("somebody")
        expect(self.password).to_have_value(GOOD_PASSWORD)
        self.shot("offline-submit")

    def test_back_online_the_name_is_checked_and_the_sign_goes(self):
        self.servers.backend.stop()
        self.type_into(self.user_name, "somebody")
        expect(self.banner).to_contain_text("Not in sync yet", timeout=RETRY_MILLISECONDS)
        self.servers.backend.start()
        expect(self.banner).to_be_hidden(timeout=RETRY_MILLISECONDS)
        self.see_available(timeout=RETRY_MILLISECONDS)
        self.type_passwords()
        expect(self.submit).to_be_enabled()
        self.submit.click()
        expect(self.heading("Welcome, somebody")).to_be_visible()

    def test_back_online_a_taken_name_is_found_out(self):
        self.servers.backend.stop()
        self.type_into(self.user_name, "page")
        self.type_passwords()
        expect(self.banner).to_contain_text("Not in sync yet", timeout=RETRY_MILLISECONDS)
        expect(self.submit).to_be_enabled()
        self.servers.backend.start()
        self.see_message(self.user_name, "This username is not available", timeout=RETRY_MILLISECONDS)
        expect(self.submit).to_be_disabled()
        expect(self.banner).to_be_hidden()

    def test_restarted_app_gets_the_user_name_again(self):
        # The browser reports the cut stream, the refused calls and the lost session by itself.
        self.allow_complaint(r"Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY")
        self.type_into(self.user_name, "page")
        self.see_message(self.user_name, "This username is not available")
        self.type_into(self.password, GOOD_PASSWORD)
        self.servers.app.stop()
        expect(self.page.locator("#connection")).to_have_text("Reconnecting…")
        self.servers.app.start()
        expect(self.page.locator("#connection")).to_contain_text("Connected", timeout=RETRY_MILLISECONDS)
        expect(self.page.locator("#connection")).to_contain_text("type the password again")
        self.see_message(self.user_name, "This username is not available")
        expect(self.user_name).to_have_value("page")
        expect(self.password).to_have_value("")


class BrokenAnswers(PageTestCase):
    def test_captive_portal_gets_advice_of_its_own(self):
        self.servers.fail(CHECK, "captivePortal", times=None)
        self.type_into(self.user_name, "somebody")
        surface = self.page.locator("#toast-region .toast, dialog[open], #full-screen:not([hidden])")
        expect(surface.first).to_contain_text(PORTAL_WORDS, timeout=RETRY_MILLISECONDS)
        expect(self.page.get_by_text("Please update")).to_be_hidden()
        self.shot("captive-portal")

    def test_garbage_asks_for_an_update(self):
        self.servers.fail(CHECK, "garbage", times=None)
        self.type_into(self.user_name, "somebody")
        expect(self.alert.get_by_role("heading")).to_have_text("Please update", timeout=RETRY_MILLISECONDS)

    def test_fault_panel_sets_and_clears_faults(self):
        self.page.get_by_text("Make the server fail").click()
        self.page.get_by_label("Which requests").select_option(label="User name check")
        self.page.get_by_label("How many times").fill("")
        self.page.get_by_role("button", name="Garbage").click()
        note = self.page.locator("#fault-note")
        expect(note).to_have_text("Set: Garbage (user name check, until cleared).")
        self.shot("fault-panel")
        self.type_into(self.user_name, "somebody")
        expect(self.alert).to_be_visible(timeout=RETRY_MILLISECONDS)
        self.page.keyboard.press("Escape")
        expect(self.alert).to_be_hidden()
        self.page.get_by_role("button", name="Clear all faults").click()
        expect(note).to_have_text("All faults are cleared.")
        self.replace(self.user_name, "somebodyelse")
        self.see_available()

    def test_composed_fault_reaches_the_server(self):
        self.page.get_by_text("Make the server fail").click()
        self.page.get_by_text("Compose your own").click()
        self.page.get_by_label("How many times").fill("1")
        self.page.get_by_label("Fault", exact=True).select_option(label="Status code")
        self.page.get_by_label("Status code").fill("500")
        self.page.get_by_label("Retry-After").fill("")
        self.page.get_by_role("button", name="Apply this fault").click()
        expect(self.page.locator("#fault-note")).to_have_text("Set: Status code (all of them, once).")
        self.type_into(self.user_name, "somebody")
        expect(self.attempts.first).to_contain_text("500")

    def test_fault_that_cannot_be_set_says_why(self):
        # The browser itself reports every answer that is an error.
        self.allow_complaint("Failed to load resource")
        self.servers.backend.stop()
        self.page.get_by_text("Make the server fail").click()
        self.page.get_by_role("button", name="Garbage").click()
        note = self.page.locator("#fault-note")
        expect(note).to_contain_text("backend")
        expect(note).not_to_contain_text("Set:")

    def test_name_to_try_is_filled_in_and_checked(self):
        self.page.get_by_text("Names to try").click()
        self.page.get_by_role("button", name="admin").click()
        expect(self.user_name).to_have_value("admin")
        self.see_message(self.user_name, "Username is not valid: admin.")


class SigningUp(PageTestCase):
    def test_success_is_shown_and_the_name_is_taken_afterwards(self):
        self.fill_form("somebody")
        self.submit.click()
        welcome = self.heading("Welcome, somebody")
        expect(welcome).to_be_visible()
        expect(welcome).to_be_focused()
        self.shot("signed-up")
        self.page.get_by_role("button", name="Sign up another").click()
        expect(self.user_name).to_be_focused()
        for field in (self.user_name, self.password, self.confirmation):
            expect(field).to_have_value("")
        self.type_into(self.user_name, "somebody")
        self.see_message(self.user_name, "This username is not available")
        self.assertEqual(len(self.servers.requests(SIGN_UP)), 1)

    def test_maintenance_takes_the_screen_counts_down_and_then_succeeds_by_itself(self):
        self.servers.fail(SIGN_UP, "status", status=503, retryAfter="3", times=1)
        self.fill_form("somebody")
        self.submit.click()
        expect(self.full_screen).to_be_visible()
        title = self.full_screen.get_by_role("heading")
        expect(title).to_contain_text(re.compile("maintenance", re.IGNORECASE))
        expect(title).to_be_focused()
        timer = self.page.get_by_role("timer")
        expect(timer).to_contain_text("2")
        expect(timer).to_contain_text("1")
        expect(timer).to_have_attribute("aria-live", "off")
        self.assertTrue(self.page.locator("#form").evaluate("form => form.inert"))
        self.shot("maintenance-countdown")
        expect(self.heading("Welcome, somebody")).to_be_focused(timeout=RETRY_MILLISECONDS)
        self.assertEqual([request["status"] // 100 for request in self.servers.requests(SIGN_UP)], [5, 2])

    def test_waiting_can_be_cut_short(self):
        self.servers.fail(SIGN_UP, "status", status=503, retryAfter="60", times=1)
        self.fill_form("somebody")
        self.submit.click()
        self.full_screen.get_by_role("button", name="Try again now").click()
        expect(self.heading("Welcome, somebody")).to_be_visible()

    def test_waiting_can_be_left_for_the_form_with_everything_kept(self):
        self.servers.fail(SIGN_UP, "status", status=503, retryAfter="60", times=1)
        self.fill_form("somebody")
        self.submit.click()
        self.full_screen.get_by_role("button", name="Back to the form").click()
        expect(self.full_screen).to_be_hidden()
        expect(self.submit).to_be_focused()
        expect(self.user_name).to_have_value("somebody")
        expect(self.password).to_have_value(GOOD_PASSWORD)
        expect(self.confirmation).to_have_value(GOOD_PASSWORD)


    def test_waiting_for_a_server_that_asks_for_no_pause_can_be_left(self):
        self.servers.fail(SIGN_UP, "status", status=503, retryAfter="0", times=None)
        self.fill_form("somebody")
        self.submit.click()
        self.full_screen.get_by_role("button", name="Back to the form").click()
        expect(self.full_screen).to_be_hidden()
        expect(self.submit).to_be_enabled()

    def test_another_name_ends_the_wait_and_is_checked_first(self):
        self.servers.fail(SIGN_UP, "status", status=503, retryAfter="60", times=1)
        self.fill_form("somebody")
        self.submit.click()
        expect(self.full_screen).to_be_visible()
        self.page.get_by_text("Names to try").click()
        self.page.get_by_role("button", name="admin").click()
        expect(self.full_screen).to_be_hidden()
        self.see_message(self.user_name, "Username is not valid: admin.")
        expect(self.submit).to_be_disabled()
        self.assertEqual(len(self.servers.requests(SIGN_UP)), 1)


class Keyboard(PageTestCase):
    def test_whole_form_works_without_a_mouse(self):
        self.tab_to(self.user_name)
        self.page.keyboard.type("somebody", delay=20)
        self.tab_to(self.password, presses=1)
        self.page.keyboard.type(GOOD_PASSWORD)
        self.tab_to(self.confirmation, presses=1)
        self.page.keyboard.type(GOOD_PASSWORD)
        self.tab_to(self.submit, presses=1)
        expect(self.submit).to_be_enabled()
        self.page.keyboard.press("Enter")
        expect(self.heading("Welcome, somebody")).to_be_focused()
        self.tab_to(self.page.get_by_role("button", name="Sign up another"), presses=1)
        self.page.keyboard.press("Enter")
        expect(self.user_name).to_be_focused()

    def test_enter_in_the_last_field_submits(self):
        self.fill_form("somebody")
        self.confirmation.press("Enter")
        expect(self.heading("Welcome, somebody")).to_be_visible()

    def test_enter_does_nothing_while_the_form_is_incomplete(self):
        self.type_into(self.user_name, "somebody")
        self.user_name.press("Enter")
        self.see_available()
        self.assertEqual(self.servers.requests(SIGN_UP), [])

    def test_alert_keeps_the_focus_and_escape_gives_it_back(self):
        self.type_into(self.user_name, "illegalresponse")
        # The alert comes in the middle of typing: the next key must not press a button.
        expect(self.alert).to_be_focused()
        self.page.keyboard.type(" x")
        self.page.keyboard.press("Enter")
        expect(self.alert).to_be_visible()
        self.page.keyboard.press("Tab")
        expect(self.alert.get_by_role("button", name="Upgrade")).to_be_focused()
        for _ in range(6):
            self.page.keyboard.press("Tab")
            # Between its last and its first button, the focus may pass the browser's own controls.
            is_kept = "document.activeElement === document.body || document.activeElement.closest('dialog') !== null"
            self.assertTrue(self.page.evaluate(is_kept), "The focus left the alert for the page behind it.")
        self.page.keyboard.press("Escape")
        expect(self.alert).to_be_hidden()
        expect(self.user_name).to_be_focused()
        expect(self.user_name).to_have_value("illegalresponse")

    def test_toast_leaves_the_focus_where_it_is_and_can_be_closed(self):
        self.fill_form("somebody")
        self.servers.backend.stop()
        self.confirmation.press("Enter")
        expect(self.toast).to_be_visible(timeout=RETRY_MILLISECONDS)
        expect(self.confirmation).to_be_focused()
        self.page.get_by_role("button", name="Close the notice").click()
        expect(self.toast).to_be_hidden()

    def tab_to(self, target, presses=12):
        for _ in range(presses):
            self.page.keyboard.press("Tab")
            if target.evaluate("node => node === document.activeElement"):
                break
        expect(target).to_be_focused()


class Accessibility(PageTestCase):
    """The same audit on every view, in light and in dark."""

    def check(self):
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            with self.subTest(scheme=scheme):
                self.audit()

    def test_form_with_all_panels_open(self):
        self.page.evaluate("for (const panel of document.querySelectorAll('details')) panel.open = true")
        self.check()

    def test_form_with_messages_and_attempts(self):
        self.type_into(self.user_name, "admin")
        self.see_message(self.user_name, "Username is not valid: admin.")
        self.type_into(self.password, "abc")
        self.type_into(self.confirmation, "abd")
        expect(self.confirmation).to_have_attribute("aria-invalid", "true")
        self.check()

    def test_alert(self):
        self.type_into(self.user_name, "illegalresponse")
        expect(self.alert).to_be_visible()
        self.assertEqual(self.alert.evaluate("dialog => dialog.matches(':modal')"), True)
        self.check()

    def test_banner_and_toast(self):
        self.servers.backend.stop()
        self.type_into(self.user_name, "somebody")
        self.type_passwords()
        expect(self.banner).to_be_visible(timeout=RETRY_MILLISECONDS)
        self.submit.click()
        surface = self.page.locator("#toast-region .toast, dialog[open]")
        expect(surface.first).to_be_visible(timeout=RETRY_MILLISECONDS)
        self.check()

    def test_countdown_and_success(self):
        self.servers.fail(SIGN_UP, "status", status=503, retryAfter="60", times=1)
        self.fill_form("somebody")
        self.submit.click()
        expect(self.page.get_by_role("timer")).to_contain_text("5")
        self.check()
        self.full_screen.get_by_role("button", name="Try again now").click()
        expect(self.heading("Welcome, somebody")).to_be_visible()
        self.check()

    def test_live_regions_are_there_before_they_speak(self):
        for region in ("#connection", "#banner", "#toast-region", "#announcement", "#userName-state"):
            expect(self.page.locator(region)).to_have_attribute("role", "status")
        for field in (self.user_name, self.password, self.confirmation):
            expect(self.message(field)).to_have_attribute("aria-live", "polite")


class LittleMotion(PageTestCase):
    context_options = {"reduced_motion": "reduce"}

    def test_nothing_keeps_moving_for_people_who_asked_for_stillness(self):
        self.servers.fail(CHECK, "none", latencyMilliseconds=3000, times=1)
        self.type_into(self.user_name, "somebody")
        expect(self.state(self.user_name)).to_have_text("Checking…")
        lasting = "document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime > 20).length"
        self.assertEqual(self.page.evaluate(lasting), 0)


class Phone(PageTestCase):
    context_options = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

    def see_no_sideways_scrolling(self):
        # 320 px is the width that WCAG 2.2, success criterion 1.4.10, asks for.
        for width in (390, 320):
            self.page.set_viewport_size({"width": width, "height": 844})
            with self.subTest(width=width):
                self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), width)
        self.page.set_viewport_size({"width": 390, "height": 844})

    def test_form_and_panels_fit(self):
        self.page.evaluate("for (const panel of document.querySelectorAll('details')) panel.open = true")
        self.see_no_sideways_scrolling()
        self.shot("phone")

    def test_long_names_and_attempts_fit(self):
        self.user_name.fill("a-name-without-any-end-" * 8)
        expect(self.attempts.first).to_contain_text("attempt 1")
        self.see_no_sideways_scrolling()

    def test_banner_fits(self):
        self.servers.backend.stop()
        self.type_into(self.user_name, "somebody")
        expect(self.banner).to_be_visible(timeout=RETRY_MILLISECONDS)
        self.see_no_sideways_scrolling()
        self.shot("phone-offline")

    def test_countdown_fits(self):
        self.servers.fail(SIGN_UP, "status", status=503, retryAfter="60", times=1)
        self.fill_form("somebody")
        self.submit.click()
        expect(self.full_screen).to_be_visible()
        self.see_no_sideways_scrolling()
        self.shot("phone-countdown")


class Dark(PageTestCase):
    context_options = {"color_scheme": "dark"}

    def test_dark_mode_is_dark(self):
        self.type_into(self.user_name, "page")
        self.see_message(self.user_name, "This username is not available")
        channels = self.page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        self.assertLess(max(channels), 60)
        self.shot("dark")

    def test_countdown_in_the_dark(self):
        self.servers.fail(SIGN_UP, "status", status=503, retryAfter="60", times=1)
        self.fill_form("somebody")
        self.submit.click()
        expect(self.full_screen).to_be_visible()
        self.shot("dark-countdown")


if __name__ == "__main__":
    unittest.main()
