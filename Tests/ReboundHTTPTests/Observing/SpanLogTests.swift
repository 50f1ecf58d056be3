import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

@Suite("SpanLog")
struct SpanLogTests {
  private func spans(_ count: Int, limit: Int = 10) throws -> SpanLog {
    let log = SpanLog(limit: limit)
    let tracing = Tracing(
      time: TestScheduler().time.withWallClock { .seconds(1_000) + .nanoseconds(5) },
      whenEnded: log.write
    )
    var test = ClientUnderTest([.status(500)], repeatingLast: true, [tracing])
    test.client = test.client.onEvent(tracing.write)
    for _ in 0..<count { _ = try test.run(Anything()) }
    return log
  }

  @Test("writes what collectors of OpenTelemetry read")
  func export() throws {
    let data = try spans(1).export(service: "weather")
    let root = try JSONDecoder().decode(JSONValue.self, from: data)["resourceSpans"]?.elements?.first
    expectEqual(root?["resource"]?["attributes"]?.elements?.first?["value"]?["stringValue"], .string("weather"))
    let written = try #require(root?["scopeSpans"]?.elements?.first?["spans"]?.elements)
    try #require(written.count == 2)
    expectEqual(written.map { $0["kind"] }, [.number(3), .number(1)])
    expectEqual(written[0]["parentSpanId"], written[1]["spanId"])
    expectEqual(written[0]["startTimeUnixNano"], .string("1000000000005"))
    expectEqual(written[0]["status"]?["code"], .number(2))
    let attributes = try #require(written[0]["attributes"]?.elements)
    let status = attributes.first { $0["key"] == .string("http.response.status_code") }
    expectEqual(status?["value"]?["intValue"], .string("500"))
  }

  @Test("keeps no more than asked for, and says how many more there were")
  func limit() throws {
    let log = try spans(3, limit: 2)
    expectEqual(log.spans.count, 2)
    expectEqual(log.droppedCount, 4)
  }
}
