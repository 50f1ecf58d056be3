"""What scripts/check-layout says of the titles of tests, and of the reasons for what is unsafe."""

import unittest

from support import load

check_layout = load("check-layout")


class TitleTests(unittest.TestCase):
    def complaints(self, text):
        check_layout.complaints.clear()
        check_layout.check_titles("Tests/SkyTests.swift", text)
        return list(check_layout.complaints)

    def test_a_section_needs_its_document(self):
        self.assertEqual(len(self.complaints('@Test("§1.3 a 425 is tried again once")')), 1)
        self.assertEqual(len(self.complaints('@Suite("cookies (§5.2)")')), 1)
        self.assertEqual(self.complaints('@Test("longer paths come first (RFC 6265 §5.4)")'), [])

    def test_private_codes_are_refused(self):
        for code in ["N19", "D-12", "B2.1", "AB-3"]:
            self.assertEqual(len(self.complaints(f'@Test("{code}: the sky is blue")')), 1, code)

    def test_names_that_the_world_knows_are_none(self):
        for name in ["UTF-8", "SHA-256", "HTTP/1.1", "HMAC-SHA256", "RFC 6265", "p99", "x86-64", "400 or 503"]:
            self.assertEqual(self.complaints(f'@Test("{name} is read")'), [], name)

    def test_a_title_on_a_line_of_its_own_counts_and_its_line_is_said(self):
        self.assertEqual(
            self.complaints('@Suite\nstruct Sky {\n  @Test(\n    "N19 is blue",\n    arguments: [1]\n  )\n'),
            ["Tests/SkyTests.swift:4: 'N19' in a title is a code that nobody can look up; say it in words"],
        )

    def test_quotes_in_a_title_do_not_end_it(self):
        self.assertEqual(len(self.complaints(r'@Test("the \"sky\" of N19")')), 1)
        self.assertEqual(len(self.complaints('@Test(#"the "sky" of N19"#)')), 1)

    def test_arguments_are_no_title(self):
        self.assertEqual(self.complaints('@Test("is blue", arguments: ["N19", "§1"])'), [])


class ReasonTests(unittest.TestCase):
    def has_reason(self, *lines):
        index = next(index for index, line in enumerate(lines) if "unchecked" in line)
        return check_layout.has_reason(list(lines), index)

    CLASS = "final class Sky: @unchecked Sendable {"

    def test_a_comment_on_the_line_above_it_or_first_in_the_body_is_one(self):
        self.assertTrue(self.has_reason(self.CLASS + "  // The lock guards it.", "}"))
        self.assertTrue(self.has_reason("// The lock guards it.", self.CLASS, "}"))
        self.assertTrue(self.has_reason(self.CLASS, "  // The lock guards it.", "}"))

    def test_what_a_declaration_is_for_is_none(self):
        self.assertFalse(self.has_reason("/// The sky.", "///", "/// It is blue.", self.CLASS, "}"))
        self.assertFalse(self.has_reason("/// See https://example.com.", self.CLASS, "}"))

    def test_an_address_is_none(self):
        self.assertFalse(self.has_reason('let address = "https://example.com"', self.CLASS, "}"))

    def test_a_doc_comment_that_says_why_is_one_however_long_it_is(self):
        rest = ["///", "/// It is blue."] * 5
        self.assertTrue(self.has_reason("/// Unchecked, because the lock guards it.", *rest, self.CLASS, "}"))
        self.assertTrue(self.has_reason("/// Unsafe only by its type.", self.CLASS, "}"))

    def test_a_comment_far_above_is_none(self):
        self.assertFalse(self.has_reason("// Unchecked.", *["let a = 1"] * 5, self.CLASS, "}"))


if __name__ == "__main__":
    unittest.main()
