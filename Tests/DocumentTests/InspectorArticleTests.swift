import Combine
import Foundation
import Rebound
import ReboundTelemetry
import ReboundTesting
import Testing

/// The code of Sources/ReboundTelemetry/ReboundTelemetry.docc/An-inspector-of-your-own.md, as it stands there.
@Suite("The code of the article on inspectors")
struct InspectorArticleTests {
  private struct Outage: Error {}

  struct Line: Decodable {
    let type: String
    let source: String?
    let policy: String?
    let decision: String?
    let text: String?
    /// Of the type "lost" alone.
    let count: Int?
  }

  /// What is known of a program by the lines that it writes.
  struct Inspector {
    private(set) var openBreakers: Set<String> = []
    private(set) var retries: [String: Int] = [:]
    private(set) var lost = 0

    mutating func read(_ text: String) throws {
      let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
      let source = line.source ?? ""
      switch (line.type, line.policy, line.decision) {
      case ("lost", _, _): lost += line.count ?? 0
      case ("policy", "circuit_breaker", "open"): openBreakers.insert(source)
      case ("policy", "circuit_breaker", "closed"): openBreakers.remove(source)
      case ("policy", "retry", "retrying"): retries[source, default: 0] += 1
      default: break  // later versions may tell more
      }
    }
  }

  @Test("an inspector knows what is open and what was retried, from lines of JSON")
  func inspector() async throws {
    let scheduler = TestScheduler()
    let time = scheduler.time
    let received = Lines()
    let send = received.write

    try await TimeSource.$current.withValue(time) {
      let events = PolicyEvents(time: time)
      let lines = JSONLines(time: time, hiding: { $0 })
      lines.follow(events)
      let reading = lines.read { line in send(line) }

      let weather = try Pipeline<String>("weather", events: events) {
        Retry(.init(clamping: 2, backoff: .immediate))
        CircuitBreaker("api", policy: try .consecutive(3, openFor: .seconds(30)))
      }
      _ = try? await weather.run { throw Outage() }
      lines.write(events.gauges)
      scheduler.advance()
      reading.cancel()
    }

    var inspector = Inspector()
    for line in received.all { try inspector.read(line) }
    #expect(inspector.openBreakers == ["api"])
    #expect(inspector.retries == ["weather": 2])
    #expect(inspector.lost == 0)
    #expect(received.all.contains { $0.contains(#""type":"gauge""#) })
  }
}
