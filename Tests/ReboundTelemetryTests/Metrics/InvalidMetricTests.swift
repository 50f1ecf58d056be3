import Expectations
import Foundation
import Rebound
import ReboundTelemetry
import Testing

@Suite("InvalidMetric")
struct InvalidMetricTests {
  @Test(
    "a gauge that no page could tell of is refused, with the reason and what to do",
    arguments: [
      (Metric(""), .name(""), "'' is no name"), (Metric("app pages"), .name("app pages"), "a letter first"),
      (Metric("_app"), .name("_app"), "'_app'"), (Metric("1app"), .name("1app"), "'1app'"),
      (Metric("app:pages"), .name("app:pages"), "'app:pages'"), (Metric("a\u{301}"), .name("a\u{301}"), "ASCII"),
      (Metric("app_total"), .reservedEnd("app_total"), "another one"),
      (Metric("app_open_count"), .reservedEnd("app_open_count"), "a histogram"),
      (Metric("app", .init("a b", "1")), .label("a b"), "no name of a label"),
      (Metric("app", .init("__a", "1")), .label("__a"), "'__a'"),
      (Metric("app", .init("a", "1"), .init("a", "2")), .repeatedLabel("a"), "once"),
    ] as [(Metric, InvalidMetric, String)]
  )
  func refused(metric: Metric, error: InvalidMetric, words: String) {
    let table = MetricsTable()
    #expect(throws: error) { try table.watch(metric) { 1 } }
    #expect("\(error)".contains(words), "\(error)")
    #expect(table.snapshot.gauges.isEmpty)
  }

  @Test(
    "what a table has no place for says so",
    arguments: [(InvalidMetric.otherKind("app"), "'app'"), (.tooManySeries(7), "7 series")]
  )
  func full(error: InvalidMetric, words: String) {
    #expect("\(error)".contains(words), "\(error)")
  }

  @Test("names of letters, digits and underscores are fine", arguments: ["a", "App_pages2_open", "x_", "a__b"])
  func accepted(name: String) throws {
    let table = MetricsTable()
    try table.watch(Metric(name, .init(name, "any \"value\"\n"))) { 1 }
    expectEqual(table.snapshot.gauges.count, 1)
  }

  @Test("says the same to people")
  func words() {
    expectEqual(InvalidMetric.tooManySeries(7).localizedDescription, InvalidMetric.tooManySeries(7).description)
  }
}
