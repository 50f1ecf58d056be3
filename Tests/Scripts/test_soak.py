"""What scripts/soak says of runs that pass, fail, or never come to their end. The tests and the build are made up."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ROOT

PASSES = 'echo "Test run with 5 tests in 2 suites passed"'


class SoakTests(unittest.TestCase):
    def soak(self, tests):
        with tempfile.TemporaryDirectory() as folder:
            scripts = Path(folder) / "scripts"
            scripts.mkdir()
            for name in ("soak", "ending.bash", "steps.bash", "test-width.bash"):
                shutil.copy(ROOT / "scripts" / name, scripts)
            programs = [scripts / name for name in ("setup", "traits", "swift-in")]
            programs.append(Path(folder) / ".build/debug/ReboundPackageTests.xctest")
            programs[-1].parent.mkdir(parents=True)
            for program in programs:
                program.write_text(f"#!/bin/sh\n{tests if program == programs[-1] else 'true'}\n")
                program.chmod(0o755)
            outer = {name: value for name, value in os.environ.items() if name != "REBOUND_SKIPPED"}
            result = subprocess.run([scripts / "soak", "2"], env=outer, capture_output=True, text=True)
            return result.returncode, result.stdout, sorted(path.name for path in Path(folder).glob(".build-soak/*/*.log"))

    def test_runs_that_pass(self):
        status, output, logs = self.soak(PASSES)
        self.assertEqual((status, logs), (0, []))
        self.assertIn("== 2 runs passed", output)
        for run in [r"\[1/2\] \S+ run-1, ", r"\[2/2\] \S+ run-2, ", r"\[2/2\] \S+ redis-2, "]:
            self.assertRegex(output, run)

    def test_a_run_that_fails_keeps_its_log(self):
        status, output, logs = self.soak(f'case "$*" in *--filter*) exit 3;; esac; {PASSES}')
        self.assertEqual((status, logs), (1, ["redis-2.log"]))
        self.assertIn("redis-2, ", output)
        self.assertIn("FAILED (3)", output)
        self.assertIn("== Passed 2 of 3", output)

    def test_who_is_ended_midway_has_not_passed(self):
        status, output, _ = self.soak("kill -KILL $PPID")
        self.assertEqual(status, 1)
        self.assertIn("== Passed 0 of 3", output)

    def test_a_folder_that_is_taken_away_is_no_success(self):
        status, _, _ = self.soak(f"rm -rf .build-soak; {PASSES}")
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()
