"""What the harness itself promises to tests."""

import itertools
import random
import unittest
from unittest import mock

import harness


class FreePort(unittest.TestCase):
    def test_no_port_is_given_that_browsers_do_not_ask(self):
        others = random.Random(1)
        drawn = itertools.chain([10_080, 10_080], iter(lambda: others.randrange(20_000, 30_000), None))
        with mock.patch("random.randrange", side_effect=drawn):
            self.assertGreaterEqual(harness.free_port(), 20_000)
