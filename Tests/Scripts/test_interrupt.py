"""What becomes of a command under scripts/interrupt when that is told to end."""

import os
import signal
import subprocess
import unittest

from support import ROOT


class InterruptTests(unittest.TestCase):
    def test_the_command_ends_with_it(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            command = [ROOT / "scripts/interrupt", "sh", "-c", "echo $$; exec sleep 60"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
                process = int(running.stdout.readline())
                running.send_signal(number)
                self.assertEqual(running.wait(), 128 + number)
            with self.assertRaises(ProcessLookupError):
                os.kill(process, 0)

    def test_its_status_is_the_commands(self):
        result = subprocess.run([ROOT / "scripts/interrupt", "sh", "-c", "exit 3"], stderr=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 3)


if __name__ == "__main__":
    unittest.main()
