"""Which examples scripts/check-examples finds in doc comments."""

import tempfile
import unittest
from pathlib import Path

from support import load

check_examples = load("check-examples")


class SourceTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        original = check_examples.ROOT
        check_examples.ROOT = self.root
        self.addCleanup(setattr, check_examples, "ROOT", original)

    def file(self, text):
        path = self.root / "Sky.swift"
        path.write_text(text)
        return path

    def test_an_indented_block_is_an_example(self):
        path = self.file("/// The sky.\n///\n///     let sky = Sky()\n///     sky.isBlue\n///\n/// Blue.\nstruct Sky {}\n")
        self.assertEqual(
            [(line, [text for text in lines if text]) for line, lines in check_examples.examples(path)],
            [(3, ["let sky = Sky()", "sky.isBlue"])],
        )

    def test_only_text_may_stand_in_a_fence(self):
        self.assertEqual(list(check_examples.fences(self.file("  /// ```text\n  /// N 1\n  /// ```\n"))), [])
        for label in ["", "swift"]:
            found = list(check_examples.fences(self.file(f"///\n  /// ```{label}\n  /// let sky = 1\n  /// ```\n")))
            self.assertEqual(len(found), 1)
            self.assertIn("Sky.swift:2: ", found[0])

    def test_a_file_is_for_the_trait_that_it_begins_with(self):
        self.assertEqual(check_examples.trait_of(self.file("// Sky.\n\n#if Redis\n  import Sky\n#endif\n")), "Redis")
        self.assertEqual(check_examples.trait_of(self.file("#if Logging\n#endif\n")), "Logging")
        self.assertIsNone(check_examples.trait_of(self.file("import Sky\n#if Redis\n#endif\n")))

    def test_what_an_example_expects_stands_in_a_test(self):
        path = self.file("/// The sky.\n///\n///     let sky = Sky()\n///     #expect(sky.isBlue)\nstruct Sky {}\n")
        self.assertEqual(list(check_examples.unproved(path, ["  let sky = Sky()\n  #expect(sky.isBlue)\n"])), [])
        for tests in [[], ["let sky = Sea()\n#expect(sky.isBlue)\n"], ["let sky = Sky()\n\n#expect(sky.isBlue)\n"]]:
            found = list(check_examples.unproved(path, tests))
            self.assertEqual(len(found), 1, tests)
            self.assertIn("Sky.swift:3: ", found[0])

    def test_an_example_that_expects_nothing_need_not_stand_in_a_test(self):
        self.assertEqual(list(check_examples.unproved(self.file("/// The sky.\n///\n///     Sky()\nstruct Sky {}\n"), [])), [])


if __name__ == "__main__":
    unittest.main()
