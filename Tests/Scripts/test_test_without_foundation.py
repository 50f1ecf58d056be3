"""What scripts/test-without-foundation finds among the names of a program. The tools that build it are made up."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ROOT


class TestWithoutFoundationTests(unittest.TestCase):
    def names(self, *names):
        """Runs it on a program that has these names, and in front of many others."""
        with tempfile.TemporaryDirectory() as folder:
            tools = {
                "swift": f'case "$*" in *--show-bin-path*) echo {folder};; esac',
                "strip": 'printf "#!/bin/sh\\n" >"$2" && chmod +x "$2"',
                "nm": f"cat {folder}/names",
            }
            for name, text in tools.items():
                tool = Path(folder) / name
                tool.write_text(f"#!/bin/sh\n{text}\n")
                tool.chmod(0o755)
            # More than a pipe holds.
            rest = [f"0000 T $s7Combine{number}" for number in range(20_000)]
            (Path(folder) / "names").write_text("\n".join([f"0000 T {name}" for name in names] + rest) + "\n")
            path = f"{folder}:{os.environ['PATH']}"
            command = [ROOT / "scripts/test-without-foundation"]
            result = subprocess.run(command, env=os.environ | {"PATH": path}, capture_output=True, text=True)
            return result.returncode, result.stderr

    def test_a_program_without_it_passes(self):
        self.assertEqual(self.names("$s7Combine4JustV"), (0, ""))

    def test_foundation_is_found(self):
        self.assertEqual(self.names("$s10Foundation4DataV"), (1, "The program contains Foundation.\n"))

    def test_its_part_that_stands_alone_is_found(self):
        self.assertEqual(self.names("$s20FoundationEssentials4DataV"), (1, "The program contains Foundation.\n"))


if __name__ == "__main__":
    unittest.main()
