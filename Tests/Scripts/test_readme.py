"""What scripts/readme says of what stands beside rivals, and of figures that are old."""

import unittest

from support import load

readme = load("readme")


class ProofTests(unittest.TestCase):
    """What is said of Rebound."""

    def complaints(self, proof, says="yes"):
        return list(readme.unproven([readme.Cell("bulkhead, rate limiter", "Rebound", says, proof)]))

    def test_a_cell_may_name_several_proofs(self):
        self.assertEqual(self.complaints("BulkheadTests; RateLimiterTests.functions;script: scripts/benchmark --check"), [])

    def test_each_of_them_has_to_be_there(self):
        for proof in ["BulkheadTests; SkyTests", "SkyTests; BulkheadTests", "BulkheadTests; RateLimiterTests.sky", "BulkheadTests;"]:
            self.assertEqual(len(self.complaints(proof)), 1, proof)
        self.assertIn("SkyTests, which is not there", self.complaints("BulkheadTests; SkyTests")[0])

    def test_a_command_has_to_be_there_with_its_options(self):
        for proof in ["scripts/sky", "scripts/benchmark --sky"]:
            self.assertEqual(len(self.complaints(f"BulkheadTests; script: {proof}")), 1, proof)

    def test_a_yes_without_a_proof_is_a_complaint(self):
        for says in ["yes", "yes, but for clouds"]:
            self.assertEqual(len(self.complaints("none: nobody has looked", says)), 1, says)
        self.assertEqual(self.complaints("none: nobody has looked", "no"), [])


class SourceTests(unittest.TestCase):
    """What is said of others."""

    PACKAGES = [["Sky", "2.1", "0a1b2c3", "https://example.org/sky"], ["Sea", "", "4d5e6f7", "https://example.org/sea"]]

    def cells(self, sky=("yes", "`Sky.limit`"), sea=("no", "asked for in sea/sea#7"), feature="rate limiter"):
        return [
            readme.Cell(feature, "Rebound", "yes", "RateLimiterTests"),
            readme.Cell(feature, "Sky", *sky),
            readme.Cell(feature, "Sea", *sea),
        ]

    def complaints(self, *cells, packages=PACKAGES):
        return list(readme.unsourced(cells, packages))

    def test_a_name_in_code_or_a_thread_is_a_source(self):
        self.assertEqual(self.complaints(*self.cells()), [])

    def test_a_cell_without_a_source_is_a_complaint(self):
        for says in ["yes", "no", "in part", "–"]:
            for source in ["", "–", "its documents", "` `and nothing", "sea#7"]:
                found = self.complaints(*self.cells(sky=(says, source)))
                self.assertEqual(len(found), 1, (says, source))
                self.assertIn(f"“rate limiter” says “{says}” of Sky, and names no source", found[0])

    def test_what_nobody_has_checked_needs_none_and_says_so(self):
        self.assertEqual(self.complaints(*self.cells(sky=("not checked", "–"))), [])
        self.assertIn("says nothing of Sky", self.complaints(*self.cells(sky=("", "`Sky.limit`")))[0])

    def test_each_package_has_one_cell_of_each_feature(self):
        whole = self.cells()
        for part in (self.cells(feature="cache")[:2], self.cells(feature="cache") + self.cells(feature="cache")[2:]):
            self.assertEqual(len(self.complaints(*whole, *part)), 1)

    def test_it_has_to_be_said_which_package_was_read(self):
        found = self.complaints(*self.cells(), packages=self.PACKAGES[:1])
        self.assertEqual(found, ["Documentation/Rivals: packages.tsv does not say which Sea was read"])

    def test_the_tables_have_each_cell_with_its_source(self):
        self.assertEqual(
            readme.comparison(self.cells(), self.PACKAGES).splitlines()[::2],
            ["| what | Rebound | Sky 2.1 | Sea |", "| rate limiter | yes | yes | no |"],
        )
        self.assertEqual(
            readme.sources(self.cells(), self.PACKAGES).splitlines()[2:],
            [
                "| rate limiter | Rebound | yes | `RateLimiterTests` |",
                "|  | Sky 2.1 | yes | `Sky.limit` |",
                "|  | Sea | no | asked for in sea/sea#7 |",
            ],
        )

    def test_the_cells_that_are_kept_have_sources(self):
        for name in ["streams", "policies"]:
            cells = readme.cells_of(name)
            self.assertGreater(len(cells), 20)
            self.assertEqual([*readme.unproven(cells), *readme.unsourced(cells, readme.lines_of("packages"))], [])


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
