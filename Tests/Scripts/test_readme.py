"""What scripts/readme says of the claims on rivals, and of figures that are old."""

import unittest

from support import load

readme = load("readme")


class RivalsTests(unittest.TestCase):
    def complaints(self, proof, ours="yes"):
        return list(readme.unproven([("bulkhead, rate limiter", proof, ours, "no")]))

    def test_a_row_may_name_several_proofs(self):
        self.assertEqual(self.complaints("BulkheadTests; RateLimiterTests.functions;script: scripts/benchmark --check"), [])

    def test_each_of_them_has_to_be_there(self):
        for proof in ["BulkheadTests; SkyTests", "SkyTests; BulkheadTests", "BulkheadTests; RateLimiterTests.sky", "BulkheadTests;"]:
            self.assertEqual(len(self.complaints(proof)), 1, proof)
        self.assertIn("SkyTests, which is not there", self.complaints("BulkheadTests; SkyTests")[0])
        self.assertEqual(len(self.complaints("BulkheadTests; script: scripts/sky")), 1)

    def test_a_yes_without_a_proof_is_a_complaint(self):
        self.assertEqual(len(self.complaints("none: nobody has looked")), 1)
        self.assertEqual(self.complaints("none: nobody has looked", "no"), [])


class FiguresTests(unittest.TestCase):
    LIMITS = {"policies, async: retry": {"perChain": 4, "perValue": 2}, "not measured": {"perChain": 0, "perValue": 0}}

    def row(self, name, *cells):
        return name.ljust(readme.NAME_WIDTH) + "".join(cell.rjust(readme.CELL_WIDTH) for cell in cells)

    def test_figures_are_read_from_their_columns_also_where_limits_are_broken_or_not_there(self):
        rows = [
            self.row("", "ns/value", "limit", "allocations", "goal", "per chain"),
            self.row("plain", "8.2", "", "0", "", "8"),
            self.row("policies, async: retry", "685.0", "60 over", "3", "2 over", "7"),
            "",
            "plain / policies, async: retry: 0.012 (at most 1.01)",
        ]
        found = readme.benchmark("\n".join(rows))
        self.assertEqual(found, {"plain": ("8.2", "0"), "policies, async: retry": ("685.0", "3")})

    def above(self, allocations):
        return list(readme.above_limits({"policies, async: retry": ("12.5", allocations)}, self.LIMITS))

    def test_rows_with_more_allocations_than_may_be_are_named(self):
        self.assertEqual(self.above("3"), ["policies, async: retry (3, not 2)"])

    def test_what_is_within_the_limit_or_was_not_measured_is_not(self):
        for allocations in ["0", "2", "2.01"]:
            self.assertEqual(self.above(allocations), [])

    def test_a_page_whose_rows_are_there_is_measured(self):
        self.assertFalse(readme.is_unmeasured("Bulkheads"))


if __name__ == "__main__":
    unittest.main()
