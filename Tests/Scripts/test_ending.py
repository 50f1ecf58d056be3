"""What the last lines of a command say, which calls others that skip something."""

import os
import subprocess
import unittest

from support import ROOT


class EndingTests(unittest.TestCase):
    def run_script(self, text, **environment):
        outer = {name: value for name, value in os.environ.items() if name != "REBOUND_SKIPPED"}
        command = ["bash", "-euo", "pipefail", "-c", f"source scripts/ending.bash\n{text}\nending 'All passed'"]
        result = subprocess.run(command, cwd=ROOT, env=outer | environment, capture_output=True, text=True)
        return result.returncode, result.stdout, result.stderr

    def test_without_skips_all_has_passed(self):
        status, output, _ = self.run_script("true")
        self.assertEqual(status, 0)
        self.assertRegex(output, r"^\n== All passed \(\d+ s\)\n$")

    def test_each_skip_is_said_where_it_happens_and_once_more_at_the_end(self):
        _, output, errors = self.run_script("scripts/skipped 'no browser.' 'no server.'\nscripts/skipped 'no browser.'")
        self.assertEqual(errors, "SKIPPED: no browser.\nSKIPPED: no server.\nSKIPPED: no browser.\n")
        self.assertRegex(output, r"== All passed but 2 skipped \(\d+ s\):\nSKIPPED: no browser.\nSKIPPED: no server.\n$")

    def test_a_command_tells_the_one_that_calls_it(self):
        inner = "bash -euc \"source scripts/ending.bash; scripts/skipped 'no browser.'; ending 'Inner passed'\""
        _, output, _ = self.run_script(inner)
        self.assertIn("== Inner passed but 1 skipped", output)
        self.assertRegex(output, r"== All passed but 1 skipped \(\d+ s\):\nSKIPPED: no browser.\n$")

    def test_a_command_that_fails_says_no_ending(self):
        status, output, _ = self.run_script("scripts/skipped 'no browser.'\nfalse")
        self.assertEqual((status, output), (1, ""))

    def test_a_trait_whose_headers_are_missing_is_a_skip(self):
        _, output, _ = self.run_script("cc() { return 1; }\nexport -f cc\nscripts/traits --skipped")
        self.assertIn("== All passed but 2 skipped", output)
        self.assertIn("SKIPPED: the headers of libcurl or of OpenSSL are not here", output)
        self.assertIn("so nothing is built of ReboundRedis", output)


if __name__ == "__main__":
    unittest.main()
