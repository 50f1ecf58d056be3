"""What scripts/check-api says of small lists that were made up for it."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from support import load

check_api = load("check-api")

RELEASED = {
    "Weather": [
        "enum Sky",
        "Sky: case clear",
        "struct Station",
        "Station: func time(of reading: Int) -> Int",
        "Station: init(name: String)",
        "Station.Gauge: var level: Int { get }",
        "Station: struct Gauge",
    ]
}


def without(*lines, plus=()):
    """The released lists without some lines, and with others."""
    return {"Weather": [line for line in RELEASED["Weather"] if line not in lines] + list(plus)}


def changelog(heading, text=""):
    return f"# Changelog\n\nWords.\n\n## {heading}\n\n{text}\n\n## 0.0.1\n\n`time(of:)` and `Station` are new.\n"


def complaints(current, text, last=(1, 2, 3)):
    return check_api.against_release(last, RELEASED, current, text)


class AgainstReleaseTests(unittest.TestCase):
    TIME = "Station: func time(of reading: Int) -> Int"

    def test_the_same_lists_need_nothing(self):
        self.assertEqual(complaints(RELEASED, changelog("1.2.3")), [])

    def test_what_is_gone_needs_a_section_of_the_next_major_version(self):
        self.assertIn("begin it with a section '## 2.0.0'", complaints(without(self.TIME), changelog("1.2.3"))[0])
        self.assertIn("has to be 2.0.0", complaints(without(self.TIME), changelog("1.3.0", "`time(of:)` is gone."))[0])
        self.assertEqual(complaints(without(self.TIME), changelog("2.0.0", "`time(of:)` is `hour`.")), [])

    def test_before_1_what_is_gone_needs_the_next_minor_version(self):
        text = "`time(of:)` is gone."
        self.assertIn("has to be 0.5.0", complaints(without(self.TIME), changelog("0.4.3", text), (0, 4, 2))[0])
        self.assertEqual(complaints(without(self.TIME), changelog("0.5.0", text), (0, 4, 2)), [])
        self.assertEqual(complaints(without(self.TIME), changelog("1.0.0", text), (0, 4, 2)), [])

    def test_what_is_gone_needs_its_name_in_the_topmost_section(self):
        found = complaints(without(self.TIME), changelog("2.0.0", "Nothing is said."))
        self.assertEqual(len(found), 2)
        self.assertIn("does not say so: Station: func time(of reading: Int) -> Int", found[0])
        self.assertIn("such as `time`", found[1])

    def test_a_name_that_is_a_word_of_a_sentence_does_not_count(self):
        self.assertEqual(len(complaints(without(self.TIME), changelog("2.0.0", "It was time."))), 2)

    def test_another_signature_is_a_change(self):
        current = without(self.TIME, plus=["Station: func time(of reading: Int) -> Double"])
        self.assertEqual(len(complaints(current, changelog("2.0.0"))), 2)
        self.assertEqual(complaints(current, changelog("2.0.0", "| `time(of:)` | a `Double` |")), [])

    def test_an_initialiser_is_told_by_its_type(self):
        current = without("Station: init(name: String)")
        self.assertEqual(complaints(current, changelog("2.0.0", "`Station(name:)` is gone.")), [])

    def test_one_line_is_enough_for_a_type_and_its_members(self):
        current = without("Station: struct Gauge", "Station.Gauge: var level: Int { get }")
        self.assertEqual(complaints(current, changelog("2.0.0", "`Gauge` is gone.")), [])
        # Not that of the type around it, which is still there.
        self.assertEqual(len(complaints(current, changelog("2.0.0", "`Station` is better."))), 3)

    def test_a_module_that_is_gone_is_gone_with_all_its_lines(self):
        self.assertEqual(len(complaints({}, changelog("2.0.0"))), len(RELEASED["Weather"]) + 1)

    def test_what_is_new_needs_the_next_minor_version_and_no_line(self):
        current = without(plus=["Station: func wind() -> Int"])
        self.assertIn("has to be 1.3.0", complaints(current, changelog("1.2.4"))[0])
        self.assertEqual(complaints(current, changelog("1.3.0")), [])
        self.assertIn("has to be 1.3.0", complaints(RELEASED | {"Sea": ["struct Tide"]}, changelog("1.2.4"))[0])

    def test_a_new_case_is_a_change(self):
        current = without(plus=["Sky: case hail(Int)"])
        self.assertEqual(len(complaints(current, changelog("2.0.0"))), 2)
        self.assertEqual(complaints(current, changelog("2.0.0", "`Sky.hail` is new.")), [])
        self.assertIn("has to be 2.0.0", complaints(current, changelog("1.3.0", "`Sky.hail` is new."))[0])

    def test_a_case_of_a_new_enumeration_is_no_change(self):
        self.assertEqual(complaints(without(plus=["enum Sea", "Sea: case calm"]), changelog("1.3.0")), [])

    def test_names_with_an_underscore_promise_nothing(self):
        released = {"Weather": ["struct _Cell", "_Cell: let id: Int", "Station: func _note()"]}
        self.assertEqual(check_api.against_release((1, 2, 3), released, {}, changelog("1.2.4")), [])

    def test_a_conformance_that_is_gone_is_a_change_and_is_told_by_the_protocol(self):
        conformance = "Station: conforms to Hashable"
        released = {"Weather": [*RELEASED["Weather"], conformance]}

        def found(text):
            return check_api.against_release((1, 2, 3), released, RELEASED, changelog("2.0.0", text))

        self.assertEqual(found("Compare the names; `Hashable` is gone."), [])
        self.assertIn(f"gone or changed since 1.2.3, and CHANGELOG.md does not say so: {conformance}", found("`Station`")[0])
        # One that is new asks for nothing.
        self.assertEqual(complaints(without(plus=[conformance]), changelog("1.3.0")), [])

    def test_a_new_requirement_without_a_default_is_a_change(self):
        released = {"Weather": ["protocol Sensor", "Sensor: required func read() -> Int"]}

        def found(lines, text, heading="1.3.0"):
            return check_api.against_release((1, 2, 3), released, {"Weather": lines}, changelog(heading, text))

        reset = [*released["Weather"], "Sensor: required func reset()"]
        self.assertIn("has to be 2.0.0", found(reset, "`reset()` is new.")[0])
        self.assertIn("new requirement since 1.2.3", found(reset, "", "2.0.0")[0])
        self.assertEqual(found(reset, "`reset()` has to be written.", "2.0.0"), [])
        self.assertEqual(found([*released["Weather"], "Sensor: func reset()"], ""), [])

    def test_a_requirement_of_a_new_protocol_is_no_change(self):
        current = without(plus=["protocol Sensor", "Sensor: required func read() -> Int"])
        self.assertEqual(complaints(current, changelog("1.3.0")), [])

    def test_a_default_may_come_and_may_not_go(self):
        with_default, without_default = ({"Sky": ["protocol Sensor", f"Sensor: {mark}func read()"]} for mark in ("", "required "))
        self.assertEqual(check_api.against_release((1, 2, 3), without_default, with_default, changelog("1.3.0")), [])
        found = check_api.against_release((1, 2, 3), with_default, without_default, changelog("1.3.0", "`read()`"))
        self.assertIn("has to be 2.0.0", found[0])

    def test_a_section_without_a_version_is_none(self):
        found = complaints(without(self.TIME), changelog("Unreleased", "`time(of:)` is gone."))
        self.assertIn("begin it with a section '## 2.0.0'", found[0])


class WordsTests(unittest.TestCase):
    def test_the_word_of_a_declaration_is_its_name(self):
        for line, word in {
            "Future: final class func zip<A>(_ a: A) -> Int": "zip",
            "Publisher: func `catch`<P>(_ handler: P) -> P": "catch",
            "Point: static func == (lhs: Point, rhs: Point) -> Bool": "==",
            "@propertyWrapper struct Published<Value>": "Published",
            "A.B: convenience init?(from decoder: any Decoder) throws": "B",
            "A.B: subscript(position: Int) -> Int { get }": "B",
            "A: indirect case two(A, A)": "two",
            "final class Cell": "Cell",
            "A.B: conforms to Equatable where Value : Equatable": "Equatable",
            "A: required func read() -> Int": "read",
        }.items():
            self.assertEqual(check_api.words(line), word)


class LinesTests(unittest.TestCase):
    """What lists have of a symbol graph."""

    def lines(self, symbols, relationships):
        with tempfile.TemporaryDirectory() as folder:
            # As the compiler has it: what a module adds to the types of another is in a graph of its own.
            for number, part in enumerate([{"symbols": symbols, "relationships": []}, {"symbols": [], "relationships": relationships}]):
                (Path(folder) / f"{number}.symbols.json").write_text(json.dumps(part))
            return check_api.lines_of(Path(folder))

    def symbol(self, name, path, text, kind="struct", **more):
        return {
            "kind": {"identifier": f"swift.{kind}"},
            "identifier": {"precise": name},
            "location": {},
            "pathComponents": path.split("."),
            "declarationFragments": [{"spelling": text}],
            **more,
        }

    def conformance(self, source, target, fallback, *conditions):
        relation = {"kind": "conformsTo", "source": source, "target": target, "swiftConstraints": list(conditions)}
        return relation | ({"targetFallback": fallback} if fallback else {})

    def test_what_types_conform_to_is_listed_with_its_conditions_and_without_what_the_compiler_adds(self):
        symbols = [
            self.symbol("station", "Weather.Station", "struct Station"),
            self.symbol("sensor", "Sensor", "protocol Sensor", kind="protocol"),
            self.symbol("queue", "Queue", "extension Queue", kind="extension"),
        ]
        condition = {"kind": "conformance", "lhs": "Value", "rhs": "Equatable"}
        same = {"kind": "sameType", "lhs": "Value", "rhs": "Int"}
        implied = {"kind": "conformance", "lhs": "Value", "rhs": "Copyable"}
        relationships = [
            self.conformance("station", "sensor", None),
            self.conformance("station", "s:SQ", "Swift.Equatable", condition, same, implied),
            self.conformance("station", "s:c", "Swift.Copyable"),
            self.conformance("station", "s:m", "Swift.SendableMetatype"),
            self.conformance("queue", "sensor", None),
            self.conformance("sensor", "s:s", "Swift.Sendable"),
            self.conformance("elsewhere", "sensor", None),
        ]
        self.assertEqual(
            self.lines(symbols, relationships),
            [
                "Queue: conforms to Sensor",
                "Weather.Station: conforms to Equatable where Value : Equatable, Value == Int",
                "Weather.Station: conforms to Sensor",
                "Weather: struct Station",
                "protocol Sensor",
            ],
        )

    def test_requirements_without_a_default_are_marked(self):
        constraint = {"kind": "conformance", "lhs": "Self", "rhs": "AnyObject"}
        symbols = [
            self.symbol("sensor", "Sensor", "protocol Sensor", kind="protocol"),
            self.symbol("read", "Sensor.read()", "func read()", kind="method"),
            self.symbol("name", "Sensor.name", "var name: String { get }", kind="property"),
            self.symbol("name default", "Sensor.name", "var name: String { get }", kind="property"),
            self.symbol("id", "Sensor.id", "var id: Int { get }", kind="property"),
            self.symbol("id default", "Sensor.id", "var id: Int { get }", kind="property", swiftExtension={"constraints": [constraint]}),
            self.symbol("unit", "Sensor.Unit", "associatedtype Unit = Int", kind="associatedtype"),
            self.symbol("value", "Sensor.Value", "associatedtype Value where Self.Value == Int", kind="associatedtype"),
        ]
        relationships = [
            {"kind": "requirementOf", "source": name, "target": "sensor"} for name in ["read", "name", "id", "unit", "value"]
        ] + [{"kind": "defaultImplementationOf", "source": f"{name} default", "target": name} for name in ["name", "id"]]
        self.assertEqual(
            self.lines(symbols, relationships),
            [
                "Sensor: associatedtype Unit = Int",
                "Sensor: required associatedtype Value where Self.Value == Int",
                "Sensor: required func read()",
                "Sensor: required var id: Int { get }",
                # The default for some.
                "Sensor: var id: Int { get }",
                "Sensor: var name: String { get }",
                "protocol Sensor",
            ],
        )


class FolderTests(unittest.TestCase):
    """In a checkout that was made up."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "Sources/Weather").mkdir(parents=True)
        (self.root / "Sources/ReboundLogging").mkdir()
        self.lists = self.root / "Documentation/API"
        self.lists.mkdir(parents=True)
        self.write_lists(RELEASED)
        self.write_changelog("0.1.0")
        self.skipped = []
        original = check_api.skip
        check_api.skip = self.skipped.append
        self.addCleanup(setattr, check_api, "skip", original)

    def write_lists(self, lists):
        for module, lines in lists.items():
            (self.lists / f"{module}.txt").write_text("".join(line + "\n" for line in lines))

    def write_changelog(self, heading, text=""):
        (self.root / "CHANGELOG.md").write_text(changelog(heading, text))

    def write_graph(self, *names, module="Weather"):
        folder = self.root / "graphs" / module
        folder.mkdir(parents=True, exist_ok=True)
        symbols = [
            {
                "kind": {"identifier": "swift.struct"},
                "identifier": {"precise": name},
                "location": {},
                "pathComponents": [name],
                "declarationFragments": [{"spelling": "struct "}, {"spelling": name}],
            }
            for name in names
        ]
        (folder / f"{module}.symbols.json").write_text(json.dumps({"symbols": symbols}))

    def compare(self, adapters=False, record=False):
        return check_api.compare(self.root, self.root / "graphs", adapters, record)

    def test_before_the_first_release_nothing_can_break(self):
        self.assertEqual(check_api.judge_release(self.root), ("API: nothing is released yet, so that nothing can break it", False))

    def test_a_release_keeps_the_lists_and_later_commits_are_judged_by_them(self):
        said, is_failure = check_api.release(self.root, "0.1.0")
        self.assertFalse(is_failure, said)
        self.assertEqual((self.lists / "released/VERSION").read_text(), "0.1.0\n")
        self.assertEqual(check_api.judge_release(self.root), ("API: may follow 0.1.0", False))
        self.write_lists(without("Station: init(name: String)"))
        said, is_failure = check_api.judge_release(self.root)
        self.assertTrue(is_failure)
        self.assertIn("begin it with a section '## 0.2.0'", said)
        self.write_changelog("0.2.0", "`Station(name:)` is gone.")
        self.assertEqual(check_api.judge_release(self.root), ("API: may follow 0.1.0", False))
        self.assertFalse(check_api.release(self.root, "0.2.0")[1])
        self.assertEqual(check_api.last_release(self.root)[0], (0, 2, 0))

    def test_a_release_that_the_changelog_does_not_begin_with_is_refused(self):
        self.assertTrue(check_api.release(self.root, "0.2.0")[1])
        self.assertTrue(check_api.release(self.root, "next")[1])
        self.assertFalse((self.lists / "released").exists())

    def test_a_release_that_breaks_the_last_one_is_refused(self):
        check_api.release(self.root, "0.1.0")
        self.write_lists(without("Sky: case clear"))
        self.write_changelog("0.1.1", "`Sky.clear` is gone.")
        said, is_failure = check_api.release(self.root, "0.1.1")
        self.assertTrue(is_failure)
        self.assertIn("has to be 0.2.0", said)
        self.assertEqual(check_api.last_release(self.root)[0], (0, 1, 0))

    def test_the_same_version_is_not_released_twice(self):
        check_api.release(self.root, "0.1.0")
        self.assertIn("is released already", check_api.release(self.root, "0.1.0")[0])

    def test_a_file_of_the_release_that_says_no_version_ends_the_run(self):
        (self.lists / "released").mkdir()
        (self.lists / "released/VERSION").write_text("soon\n")
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            check_api.judge_release(self.root)

    def test_lists_that_differ_from_the_code_are_a_failure_until_they_are_recorded(self):
        self.write_graph("Station", "Wind")
        said, is_failure = self.compare()
        self.assertTrue(is_failure)
        self.assertIn("Weather: new: struct Wind", said)
        self.assertIn("Weather: gone: enum Sky", said)
        self.assertFalse(self.compare(record=True)[1])
        self.assertEqual((self.lists / "Weather.txt").read_text(), "struct Station\nstruct Wind\n")
        self.assertFalse(self.compare()[1])

    def test_a_module_that_was_not_built_is_said_to_be_skipped(self):
        self.write_lists({"ReboundLogging": ["struct Line"]})
        self.write_graph("Line", module="ReboundLogging")
        self.assertFalse(self.compare(adapters=True)[1])
        self.assertEqual(self.skipped, [])
        (self.root / "graphs/ReboundLogging").rename(self.root / "graphs/Other")
        self.compare()
        self.assertEqual(self.skipped, ["Weather was not built, so nobody has compared its public API with its list."])

    def test_a_list_whose_module_is_gone_is_a_failure(self):
        self.write_graph("Line", module="ReboundLogging")
        (self.root / "Sources/Weather").rmdir()
        said, is_failure = self.compare()
        self.assertTrue(is_failure)
        self.assertIn("Weather: the module is gone", said)

    def test_without_graphs_it_is_said_how_to_make_them(self):
        self.assertIn("Run scripts/docs first", self.compare()[0])
        self.assertIn("Run scripts/test-adapters first", self.compare(adapters=True)[0])


if __name__ == "__main__":
    unittest.main()
