"""What scripts/check-docs says of the code in documents."""

import unittest

from support import load

check_docs = load("check-docs")

TEST = """
struct SkyTests {
  func blue() {
    let sky = Sky()
    #expect(sky.isBlue)
  }
}
"""


class CodeTests(unittest.TestCase):
    def complaints(self, *lines):
        return check_docs.check_code("Sky.md", "\n".join(lines), [TEST])

    def test_swift_that_a_test_has_is_counted(self):
        self.assertEqual(self.complaints("# Sky", "", "```swift", "let sky = Sky()", "#expect(sky.isBlue)", "```"), (1, []))

    def test_swift_that_no_test_has_is_a_complaint(self):
        count, found = self.complaints("# Sky", "```swift", "let sky = Sea()", "```")
        self.assertEqual((count, len(found)), (1, 1))
        self.assertIn("Sky.md:2: no file of Tests/DocumentTests", found[0])

    def test_a_fence_without_a_label_is_a_complaint(self):
        for fence in ["```", "~~~", "  ```", "```Swift", "```javascript"]:
            _, found = self.complaints("# Sky", fence, "let sky = Sky()", fence.rstrip("Swiftjavcrp"))
            self.assertEqual(len(found), 1, fence)

    def test_commands_and_output_are_left_alone(self):
        self.assertEqual(self.complaints("```sh", "make check", "```", "", "```text", "    N 1", "```"), (0, []))

    def test_code_by_indentation_is_a_complaint(self):
        _, found = self.complaints("# Sky", "", "    let sky = Sky()")
        self.assertEqual(found, ["Sky.md:3: code by indentation; put it into a fence with a label"])

    def test_a_line_that_goes_on_is_no_code(self):
        self.assertEqual(self.complaints("- blue", "    and bright"), (0, []))

    def test_a_fence_that_nobody_closes_counts(self):
        self.assertEqual(self.complaints("```swift", "let sky = Sea()")[0], 1)


if __name__ == "__main__":
    unittest.main()
