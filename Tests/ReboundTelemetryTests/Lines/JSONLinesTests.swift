import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@testable import ReboundTelemetry

@Suite("JSONLines")
struct JSONLinesTests {
  private let scheduler = TestScheduler()
  private let kept = Log<String>()

  private var retried: RetryEvent {
    RetryEvent(attempt: 1, error: TestFailure.transient, delay: .seconds(1), delaySource: .hint, outcome: .retrying)
  }

  private func makeLines(saying common: [EventField] = []) -> JSONLines {
    JSONLines(time: scheduler.time, saying: common) { $0 }
  }

  @Test("a decision is one line whose names stay the same")
  func decision() {
    let events = PolicyEvents(time: scheduler.time)
    let lines = makeLines()
    lines.follow(events)
    let reading = lines.read(kept.write)
    scheduler.advance(by: .milliseconds(2_500))
    events.tell(retried, of: "weather")
    scheduler.advance()
    expectEqual(
      kept.entries,
      [
        #"{"line":1,"time":2.5,"type":"policy","source":"weather","policy":"retry","decision":"retrying","#
          + #""severity":"warning","text":"retry: attempt 1 failed (transient); retrying in 1.0 seconds (hint)","#
          + #""details":{"attempt":1,"elapsed":0.0,"delay":1.0,"from":"hint"},"#
          + #""measurements":{"rebound_retry_delay_seconds":1.0}}"#
      ]
    )
    reading.cancel()
  }

  @Test("a decision in an execution says in which; a span is a line after those inside of it")
  func spans() throws {
    let scheduler = scheduler
    let time = scheduler.time.withWallClock { .seconds(1_000) + scheduler.time.now }
    let events = PolicyEvents(time: time)
    let lines = makeLines()
    let spans = PolicySpans(of: events, whenEnded: lines.write)
    lines.follow(events)
    let reading = lines.read { [kept] line in if !line.contains(#""stopwatch""#) { kept.write(line) } }
    let pipeline = try Pipeline<Int>("weather", events: events, time: time) {
      Stopwatch()
      Retry(RetryPolicy(clamping: 1, backoff: .constant(.seconds(2))))
      Stopwatch("attempt")
    }
    let upstream = TestPublisher<Int, TestFailure>()
    upstream.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    upstream.send(completion: .failure(.transient))
    scheduler.advance(by: .seconds(2))
    upstream.send(completion: .finished)
    scheduler.advance()
    // Numbers of lines are given to those of the stopwatches, too.
    let told: [String] = kept.entries.map { String($0.drop { $0 != "t" }) }
    let retried: String =
      #"time":0.0,"type":"policy","source":"weather","policy":"retry","decision":"retrying","severity":"warning","#
      + #""text":"retry: attempt 1 failed (transient); retrying in 2.0 seconds (computed)","execution":1,"span":"1.1","#
      + #""details":{"attempt":1,"elapsed":0.0,"delay":2.0,"from":"computed"},"#
      + #""measurements":{"rebound_retry_delay_seconds":2.0}}"#
    func ended(_ ids: String, _ part: String, _ outcome: String, _ rest: String) -> String {
      #"time":2.0,"type":"span","execution":1,\#(ids),"name":"weather","part":"\#(part)","outcome":"\#(outcome)",\#(rest)}"#
    }
    let failed = ended(
      #""span":"1.2","parent":"1.1""#,
      "attempt",
      "failed",
      #""start":1000.0,"duration":0.0,"events":0"#
    )
    let succeeded = ended(
      #""span":"1.3","parent":"1.1""#,
      "attempt",
      "succeeded",
      #""start":1002.0,"duration":0.0,"events":0"#
    )
    let whole = ended(#""span":"1.1""#, "pipeline", "succeeded", #""start":1000.0,"duration":2.0,"events":1"#)
    expectEqual(told, [retried, failed, succeeded, whole])
    reading.cancel()
    withExtendedLifetime(spans) {}
  }

  @Test("what a shared object holds is a line")
  func gauge() throws {
    let events = PolicyEvents()
    let budget = try RetryBudget.bucket(tokens: 10, cost: 5)
    events.watch(budget, named: "weather")
    let lines = makeLines(saying: [EventField("app", "demo")])
    lines.write(events.gauges)
    let reading = lines.read(kept.write)
    lines.write(events.gauges)
    scheduler.advance()
    expectEqual(
      kept.entries,
      [
        #"{"line":1,"time":0.0,"type":"gauge","source":"weather","policy":"budget","text":"2 left, 0 granted, 0 denied","#
          + #""details":{"available":2,"queued":0,"granted":0,"denied":0},"#
          + #""measurements":{"rebound_budget_available":2.0},"app":"demo"}"#
      ]
    )
    reading.cancel()
  }

  @Test("nothing is built while nobody reads")
  func unread() {
    let events = PolicyEvents()
    let lines = makeLines()
    lines.follow(events)
    var built = 0
    func fields() -> [EventField] {
      built += 1
      return []
    }
    #expect(!lines.isRead)
    #expect(!events.isListened)
    lines.write("own", fields())
    let reading = lines.read(kept.write)
    #expect(events.isListened)
    lines.write("own", fields())
    reading.cancel()
    #expect(!events.isListened)
    lines.write("own", fields())
    expectEqual(built, 1)
  }

  @Test("while nobody reads, no clock is asked, no text is looked through for secrets, and no lock is taken")
  func unreadCostsNothing() {
    let (asked, hidden, built) = (Log<Void>(), Log<Void>(), Log<Void>())
    let time = TimeSource(
      now: {
        asked.write(())
        return .zero
      },
      after: { _, _ in AnyCancellable {} }
    )
    let lines = JSONLines(time: time) { text in
      hidden.write(())
      return text
    }
    func fields() -> [EventField] {
      built.write(())
      return [EventField("text", "some")]
    }
    // When it was made.
    expectEqual(asked.count, 1)
    // The lock is not recursive: whoever took it here would end the process.
    lines.state.withLock { _ in lines.write("own", fields()) }
    expectEqual([asked, hidden, built].map(\.count), [1, 0, 0])
    let reading = lines.read { _ in }
    lines.write("own", fields())
    #expect(asked.count > 1)
    #expect(hidden.count > 0)
    expectEqual(built.count, 1)
    reading.cancel()
  }

  @Test("each reader gets the lines from when it reads until it leaves, all under the same numbers")
  func readers() {
    let lines = makeLines()
    let late = Log<String>()
    let first = lines.read(kept.write)
    lines.write("own", [EventField("n", 1)])
    let second = lines.read(late.write)
    lines.write("own", [EventField("n", 2)])
    scheduler.advance()
    first.cancel()
    lines.write("own", [EventField("n", 3)])
    scheduler.advance()
    expectEqual(kept.entries, [1, 2].map { #"{"line":\#($0),"time":0.0,"type":"own","n":\#($0)}"# })
    expectEqual(late.entries, [2, 3].map { #"{"line":\#($0),"time":0.0,"type":"own","n":\#($0)}"# })
    second.cancel()
  }

  @Test("what is followed only after somebody reads is read, too")
  func followedLater() {
    let lines = makeLines()
    let reading = lines.read(kept.write)
    let events = PolicyEvents()
    lines.follow(events)
    events.tell(retried, of: "late")
    scheduler.advance()
    expectEqual(kept.entries.count, 1)
    reading.cancel()
  }

  @Test("names that each line has are not written twice, and texts go through what hides secrets")
  func takenAndHidden() {
    let lines = JSONLines(time: scheduler.time) { $0 == "secret" ? "…" : $0 }
    let reading = lines.read(kept.write)
    lines.write("own", [EventField("line", 9), EventField("type", "x"), EventField("a", "secret")])
    lines.write("own", [EventField("deep", [EventField("b", "secret")])])
    scheduler.advance()
    expectEqual(
      kept.entries,
      [
        #"{"line":1,"time":0.0,"type":"own","a":"…"}"#, #"{"line":2,"time":0.0,"type":"own","deep":{"b":"…"}}"#,
      ]
    )
    reading.cancel()
  }

  @Test("a line that a reader causes comes after the one that it reads")
  func reentrant() {
    let lines = makeLines()
    let reading = lines.read { [lines, kept] line in
      if kept.entries.isEmpty { lines.write("caused", []) }
      kept.write(line)
    }
    lines.write("own", [])
    scheduler.advance()
    expectEqual(kept.entries.map { $0.contains("caused") }, [false, true])
    reading.cancel()
  }

  @Test("readers come and go while many threads tell: each gets lines in order, and nobody listens in the end")
  func race() {
    let events = PolicyEvents()
    let lines = JSONLines { $0 }
    lines.follow(events)
    let disorder = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for _ in 0..<50 {
        guard thread.isMultiple(of: 2) else {
          events.tell(retried, of: "weather")
          continue
        }
        let last = Locked(0)
        let reading = lines.read { line in
          let number = line.dropFirst(8).prefix { $0.isNumber }
          let isInOrder = last.withLock { last in
            defer { last = Int(number) ?? 0 }
            return last < Int(number) ?? 0
          }
          if !isInOrder { disorder.withLock { $0 += 1 } }
        }
        events.tell(retried, of: "weather")
        reading.cancel()
      }
    }
    expectEqual(disorder.withLock { $0 }, 0)
    #expect(!events.isListened)
    #expect(!lines.isRead)
  }
}
