"""What the two processes bear: many pages at once, and the loss of one of them at the worst moment."""

import json
import re
import socket
import threading
import unittest
import urllib.request
from pathlib import Path

from harness import Servers, poll

SESSIONS = 500
MEGABYTE = 1 << 20


class Endurance(unittest.TestCase):
    def setUp(self):
        self.servers = Servers()
        self.addCleanup(self.servers.stop)
        self.servers.start()

    def post(self, url, body, **headers):
        request = urllib.request.Request(
            url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json", **headers}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read()

    def open_page(self):
        """A page as far as the app can see it: a session and its stream of states, with all three apps shown once."""
        session = json.loads(self.post(f"{self.servers.app_url}/sessions", {})[1])["session"]
        host, port = self.servers.app_url.removeprefix("http://").split(":")
        stream = socket.create_connection((host, int(port)), timeout=30)
        self.addCleanup(stream.close)
        stream.sendall(f"GET /sessions/{session}/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        for tab in ("weather", "animals", "signUp"):
            self.post(f"{self.servers.app_url}/sessions/{session}/actions", {"type": "show", "tab": tab})
        return stream

    def test_five_hundred_open_pages_idle_in_less_than_200_megabytes(self):
        for _ in range(SESSIONS):
            stream = self.open_page()
            self.assertIn(b"revision", self.read_until(stream, b"revision"))
        status = Path(f"/proc/{self.servers.app.process.pid}/status").read_text()
        resident = int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024
        print(f"{SESSIONS} pages: {resident / MEGABYTE:.0f} MB", end=" ")
        self.assertLess(resident, 200 * MEGABYTE)

    def read_until(self, stream, word):
        data = b""
        while word not in data:
            piece = stream.recv(65536)
            if not piece:
                break
            data += piece
        return data

    def test_no_account_that_was_acknowledged_is_lost_when_the_backend_is_killed_under_load(self):
        acknowledged = []
        stopped = threading.Event()

        def sign_up(worker):
            number = 0
            while not stopped.is_set():
                name = f"worker{worker}-{number}"
                number += 1
                body = {"userName": name, "password": "correct horse"}
                try:
                    status, _ = self.post(f"{self.servers.backend_url}/signUp", body, **{"Idempotency-Key": name})
                except OSError:
                    continue
                if status == 201:
                    acknowledged.append(name)

        workers = [threading.Thread(target=sign_up, args=(worker,)) for worker in range(4)]
        for worker in workers:
            worker.start()
        for kills in range(1, 4):
            wanted = len(acknowledged) + 5
            poll(lambda: len(acknowledged) >= wanted, 60, lambda: f"Only {len(acknowledged)} accounts were made.")
            self.servers.backend.kill()
            self.servers.backend.start()
        stopped.set()
        for worker in workers:
            worker.join()
        for name in acknowledged:
            with urllib.request.urlopen(
                f"{self.servers.backend_url}/isUserNameAvailable?userName={name}", timeout=30
            ) as response:
                self.assertFalse(json.load(response)["isAvailable"], f"{name} was acknowledged and is lost.")
        print(f"{len(acknowledged)} accounts over 3 kills", end=" ")
        self.assertGreaterEqual(len(acknowledged), 15)


if __name__ == "__main__":
    unittest.main()
