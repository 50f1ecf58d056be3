"""What scripts/steps.bash gives to commands: a line a stage, what is done at the end, and the comment at their head."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ROOT


class StepsTests(unittest.TestCase):
    def run_script(self, text):
        command = ["bash", "-euo", "pipefail", "-c", f"source scripts/steps.bash\n{text}"]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        return result.returncode, result.stdout

    def test_each_stage_has_its_number_and_how_many_there_are(self):
        status, output = self.run_script("stages=2\nstep Building\nstep Running")
        self.assertEqual(status, 0)
        self.assertRegex(output, r"^\n== \[1/2\] Building \(\d+ s\)\n\n== \[2/2\] Running \(\d+ s\)\n$")

    def test_what_is_to_be_done_at_the_end_is_done_the_last_first_and_all_of_it(self):
        text = "at_exit 'echo first'\nat_exit 'false'\nname=old\nat_exit 'echo \"$name\"'\nname=new\necho work"
        self.assertEqual(self.run_script(text), (0, "work\nnew\nfirst\n"))

    def test_it_is_done_after_a_failure_too_and_the_status_stays(self):
        self.assertEqual(self.run_script("at_exit 'echo end; true'\n(exit 3)\necho no"), (3, "end\n"))
        self.assertEqual(self.run_script("at_exit 'echo end; false'\nexit 4"), (4, "end\n"))
        self.assertEqual(self.run_script("at_exit 'echo end; false'\ntrue"), (0, "end\n"))

    def test_it_is_not_done_in_a_shell_below(self):
        self.assertEqual(self.run_script("at_exit 'echo end'\n(true)\ntrue & wait\n: \"$(true)\"\necho work"), (0, "work\nend\n"))

    def test_the_usage_is_the_comment_at_the_head_of_the_command_wherever_it_is_called(self):
        with tempfile.TemporaryDirectory() as folder:
            scripts = Path(folder) / "scripts"
            scripts.mkdir()
            shutil.copy(ROOT / "scripts/steps.bash", scripts)
            lines = ["#!/usr/bin/env bash", "# Looks at the sky.", "#", "#   scripts/sky --long", "set -euo pipefail"]
            lines += ['cd "$(dirname "${BASH_SOURCE[0]}")/.."', "source scripts/steps.bash", "# Not this.", "usage"]
            command = scripts / "sky"
            command.write_text("\n".join(lines) + "\n")
            command.chmod(0o755)
            for place, name in [(folder, "scripts/sky"), (scripts, "./sky"), ("/", command)]:
                result = subprocess.run([name], cwd=place, capture_output=True, text=True)
                self.assertEqual((result.stdout, result.stderr), ("Looks at the sky.\n\n  scripts/sky --long\n", ""), name)

    def test_who_asks_for_help_gets_the_comment_and_who_is_refused_hears_why(self):
        self.assertEqual(self.run_script("usage() { echo HOW; }\nhelp_if_asked --help\necho no"), (0, "HOW\n"))
        self.assertEqual(self.run_script("usage() { echo HOW; }\nhelp_if_asked --sky\necho work"), (0, "work\n"))
        self.assertEqual(self.run_script("usage() { echo HOW; }\ntake_nothing\necho work"), (0, "work\n"))
        self.assertEqual(self.run_script("usage() { echo HOW; }\ntake_nothing --sky\necho no"), (2, ""))
        self.assertEqual(self.run_script("take_number 'the runs' 10\necho work"), (0, "work\n"))
        for number in ("''", "0", "-1", "1.5", "ten", "--help", "1x"):
            self.assertEqual(self.run_script(f"usage() {{ echo HOW; }}\ntake_number runs {number}\necho no"), (2, ""))


if __name__ == "__main__":
    unittest.main()
