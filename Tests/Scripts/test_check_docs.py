"""What scripts/check-docs says of the code in documents."""

import tempfile
import unittest
from pathlib import Path

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


class LinkTests(unittest.TestCase):
    def complaints(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sky.md").write_text("# The sky\n\n## Is it blue?\n")
            document = Path(folder) / "sea.md"
            document.write_text(text)
            return check_docs.check_links(document, "sea.md", text)

    def test_links_that_lead_somewhere_are_fine(self):
        for link in ["sky.md", "sky.md#is-it-blue", "#the-sea", "https://example.com/none.md", ".", "mailto:sky@example.com"]:
            self.assertEqual(self.complaints(f"# The sea\n\n[blue]({link})\n"), [], link)

    def test_a_link_to_no_file_is_a_complaint(self):
        self.assertEqual(
            self.complaints("# The sea\n\n[deep](deep.md)\n"), ["sea.md:3: the link leads to deep.md, which is not there"]
        )

    def test_a_link_to_no_heading_is_a_complaint(self):
        self.assertEqual(self.complaints("[grey](sky.md#is-it-grey)"), ["sea.md:1: sky.md has no heading #is-it-grey"])


if __name__ == "__main__":
    unittest.main()
