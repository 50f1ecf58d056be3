"""What is said of a command that fails, and of one that hangs."""

import os
import subprocess
import unittest

from support import ROOT


class FailuresLastTests(unittest.TestCase):
    def run_command(self, text, **environment):
        command = [ROOT / "scripts/failures-last", "bash", "-c", text]
        result = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=60)
        return result.returncode, result.stdout

    def test_of_a_command_that_passes_it_says_nothing(self):
        self.assertEqual(self.run_command("echo out; echo error: no >&2"), (0, "out\nerror: no\n"))

    def test_failures_come_once_more_at_the_end_with_the_status(self):
        status, output = self.run_command("echo ' error: bad'; echo more; exit 3")
        self.assertEqual(status, 3)
        self.assertRegex(output, r"(?s)^ error: bad\nmore\n\n== Failed: .* \(exit code 3\)\n error: bad\n$")

    def test_a_command_that_hangs_is_ended_with_all_that_it_began_and_the_tests_that_have_not_ended_are_named(self):
        lines = [
            'Test "one" started.', 'Test "two" started.', "Test three() started.", "Test four() started.",
            'Test "one" passed after 1 seconds.', 'Test three() with 2 test cases failed after 1 seconds.',
        ]
        # Two that never end: a child, and one in a group of its own. Their list is cut somewhere among letters of two bytes.
        hang = "".join(f"echo '◇ {line}'\n" for line in lines) + "set -m\ntail -f /dev/null &\ntail -f /dev/null"
        hang = ": " + "é" * 200 + "\n" + hang
        status, output = self.run_command(hang, REBOUND_SILENCE="1")
        self.assertEqual(status, 124)
        self.assertIn("== Hangs: nothing was printed for 1 s\n", output)
        unended = sorted(line for line in output.splitlines() if line.startswith("has not ended"))
        self.assertEqual(unended, ['has not ended: "two"', "has not ended: four()"])
        self.assertEqual(output.count("tail -f /dev/null\n"), 2)
        left = subprocess.run(["pgrep", "-fx", "tail -f /dev/null"], capture_output=True, text=True).stdout
        self.assertEqual(left, "")


if __name__ == "__main__":
    unittest.main()
