"""What every command in scripts does with arguments: it says what it is for, and refuses what it does not know before it does anything."""

import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ROOT

COMMANDS = sorted(path for path in (ROOT / "scripts").iterdir() if os.access(path, os.X_OK))
# What they would build, install and start with.
TOOLS = ["swift", "swiftc", "docc", "apt-get", "sudo", "nginx", "openssl", "redis-server"]
# They hand their arguments on, or print them.
HAND_ON = {"docs", "failures-last", "interrupt", "skipped", "test-docs", "test-scripts"}


class ArgumentsTests(unittest.TestCase):
    def call(self, command, *arguments):
        """Status, output and error of a command that is called from elsewhere; it must not have used a tool."""
        with tempfile.TemporaryDirectory() as folder:
            for name in TOOLS:
                tool = Path(folder) / name
                tool.write_text(f"#!/bin/sh\necho {name} >>{folder}/used\nexit 97\n")
                tool.chmod(0o755)
            environment = {name: value for name, value in os.environ.items() if name != "REBOUND_SKIPPED"}
            environment["PATH"] = f"{folder}:{environment['PATH']}"
            child = subprocess.Popen(
                [command, *arguments], cwd="/", env=environment, start_new_session=True, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            try:
                output, error = child.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                self.fail(f"{command.name} {' '.join(arguments)} goes on and on")
            used = Path(folder) / "used"
            self.assertFalse(used.exists(), f"{command.name} {' '.join(arguments)} uses {used.read_text() if used.exists() else ''}")
            return child.returncode, output, error

    def test_help_is_what_the_command_is_for(self):
        for command in COMMANDS:
            with self.subTest(command.name):
                status, output, error = self.call(command, "--help")
                self.assertEqual((status, error), (0, ""))
                self.assertGreater(len(output.split()), 8)

    def test_what_a_command_does_not_know_it_refuses_in_words(self):
        for command in COMMANDS:
            if command.name in HAND_ON:
                continue
            with self.subTest(command.name):
                status, output, error = self.call(command, "--sky")
                self.assertNotEqual(status, 0)
                self.assertEqual(output, "")
                self.assertIn("--sky" if command.name not in {"swift-in", "refuse-membarrier", "finish-site"} else command.name, error)
                self.assertNotIn("Traceback", error)
                self.assertNotIn("unbound variable", error)

    def test_values_that_are_none(self):
        for name, *arguments in [
            ["swift-in"], ["swift-in", "."], ["swift-in", "Nowhere", "build"], ["swift-in", ".", "buld"], ["setup", "everything"],
            ["failures-last"], ["skipped"], ["stress"], ["finish-site"], ["finish-site", "/nowhere"], ["interrupt"],
            ["interrupt", "/nowhere"], ["interrupt", "--every", "-1", "true"], ["explore", "--runs"], ["explore", "--runs", "0"], ["explore", "--filter"],
            ["benchmark", "0"], ["benchmark", "--only"], ["benchmark-http", "3", "x"], ["benchmark-http", "--only"],
            ["big-bodies", "1GB"], ["soak", "ten"], ["soak", "--optimised", "0"], ["soak", "1", "2", "3"],
            ["stress-http", "many"], ["stress-http", "10", "a,b"], ["stress-http", "--long", "1"], ["fuzz", "events", "nowhere"],
            ["fuzz", "events", "1", "--seed"], ["fuzz", "events", "1", "--sky", "2"], ["fleet", "sky"], ["fleet", "faults", "x"],
            ["storm", "nowhere.json"], ["storm", "--seed"], ["storm", "--clients", "100", "--search"], ["storm", "--million", "--seed", "7"],
            ["storm", "--search", "Storm/Scenarios/brownout.json"], ["check-examples", "Nowhere"],
        ]:
            with self.subTest(" ".join([name, *arguments])):
                status, output, error = self.call(ROOT / "scripts" / name, *arguments)
                self.assertNotEqual(status, 0)
                self.assertEqual(output, "")
                self.assertIn(f"{name}: ", error)
                for trace in ("Traceback", "unbound variable", "syntax error"):
                    self.assertNotIn(trace, error)

    def test_a_compiler_that_is_too_old_is_named_before_anything_is_installed(self):
        for version, is_old in [("6.1.2", True), ("5.10", True), ("6.3.1", False), ("6.10", False), ("7.0", False)]:
            with self.subTest(version), tempfile.TemporaryDirectory() as folder:
                answers = {"swift": f"echo 'Swift version {version} (swift-{version}-RELEASE)'", "dpkg-query": "echo installed"}
                for name, answer in answers.items():
                    tool = Path(folder) / name
                    tool.write_text(f"#!/bin/sh\n{answer}\n")
                    tool.chmod(0o755)
                environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
                result = subprocess.run([ROOT / "scripts/setup"], env=environment, capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stdout), (int(is_old), ""))
                self.assertEqual("Install a Swift 6.3 toolchain" in result.stderr, is_old)


if __name__ == "__main__":
    unittest.main()
