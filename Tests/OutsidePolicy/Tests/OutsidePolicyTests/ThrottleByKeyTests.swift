import Combine
import Rebound
import ReboundTelemetry
import ReboundTesting
import Synchronization
import Testing

@testable import OutsidePolicy

@Suite("A policy that is written outside of the package")
struct ThrottleByKeyTests {
  private let scheduler = TestScheduler()
  private let throttle = ThrottleByKey(every: .seconds(1), longestWait: .seconds(2))

  @Test("stands around publishers: one call of each key a second, others wait, those too far behind are refused")
  func publishers() {
    var calls: [String] = []
    var subscriptions: Set<AnyCancellable> = []
    func call(_ key: String) {
      Just(key).setFailureType(to: (any Error).self)
        .protected(by: throttle[key], time: scheduler.time)
        .sink {
          if case .failure(let error) = $0 { calls.append("\(key): \(error)") }
        } receiveValue: {
          calls.append("\($0) at \(scheduler.now)")
        }
        .store(in: &subscriptions)
    }

    for key in ["a", "a", "b", "a", "a"] { call(key) }
    #expect(calls == ["a at 0.0 s", "b at 0.0 s", "a: NotItsTurn(retryAfter: Optional(3.0 seconds))"])
    scheduler.advance(by: .seconds(3))
    #expect(calls.dropFirst(3) == ["a at 1.0 s", "a at 2.0 s"])
    call("a")
    #expect(calls.last == "a at 3.0 s")
  }

  @Test("makes a refusal into a failure of the publisher's own type")
  func typedFailures() {
    enum Failure: Error, Equatable { case busy }
    let impatient = ThrottleByKey(every: .seconds(1), longestWait: .zero)
    let request = Just(1).setFailureType(to: Failure.self)
      .protected(by: impatient["a"], time: scheduler.time) { _ in .busy }
    let (first, second) = (Recorder<Int, Failure>(), Recorder<Int, Failure>())
    request.subscribe(first)
    request.subscribe(second)
    #expect(first.values == [1] && first.isFinished)
    #expect(second.values.isEmpty && second.failure == .busy)
  }

  @Test("stands around asynchronous functions, by the time of the task")
  func functions() async throws {
    let throttle = throttle
    let scheduler = scheduler
    try await TimeSource.$current.withValue(scheduler.time) {
      let first = try await throttle["a"].run { scheduler.now }
      #expect(first == .start)
      async let second = throttle["a"].run { scheduler.now }
      while scheduler.nextDue == nil { await Task.yield() }
      scheduler.advance(by: .seconds(1))
      let moment = try await second
      #expect(moment == .start.advanced(by: .seconds(1)))
    }
  }

  @Test("stands around asynchronous sequences")
  func sequences() async throws {
    let throttle = throttle
    let scheduler = scheduler
    @Sendable func moments() async throws -> [VirtualTime] {
      let (moments, continuation) = AsyncStream<Int>.makeStream()
      continuation.yield(1)
      continuation.finish()
      var log: [VirtualTime] = []
      for try await _ in moments.protected(by: throttle["a"], time: scheduler.time) { log.append(scheduler.now) }
      return log
    }
    #expect(try await moments() == [.start])
    async let second = moments()
    while scheduler.nextDue == nil { await Task.yield() }
    scheduler.advance(by: .seconds(1))
    #expect(try await second == [.start.advanced(by: .seconds(1))])
  }

  @Test("gives its turn back when it is cancelled while it waits")
  func cancelled() {
    func call(_ answer: @escaping (Int) -> Void) -> AnyCancellable {
      Just(1).setFailureType(to: (any Error).self)
        .protected(by: throttle["a"], time: scheduler.time)
        .sink { _ in
        } receiveValue: {
          answer($0)
        }
    }
    var answers = 0
    var calls = [call { answers += $0 }]
    let waiting = call { answers += $0 }
    waiting.cancel()
    calls.append(call { answers += $0 })
    scheduler.advance(by: .seconds(1))
    #expect(answers == 2)
    withExtendedLifetime(calls) {}
  }

  @Test("stands in a pipeline, tells what it decides, and has a gauge")
  func pipeline() throws {
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    let cities = try Pipeline<Int>("cities", events: events, time: scheduler.time) {
      Retry(RetryPolicy(clamping: 1, backoff: .constant(.zero)))
      throttle["tokyo"]
    }
    #expect(cities.descriptor.kinds == [.retry, ThrottleByKey.kind])
    #expect("\(cities)".hasSuffix("throttle (key: tokyo)"))
    let requests = (1...4).map { Just($0).setFailureType(to: (any Error).self).protected(by: cities) }
    var answers: [Int] = []
    let calls = requests.map {
      $0.sink { _ in
      } receiveValue: {
        answers.append($0)
      }
    }
    scheduler.advance(by: .seconds(3))
    #expect(answers == [1, 2, 3, 4])
    #expect(
      log.events.filter { $0.kind == ThrottleByKey.kind }.map { "\($0)" } == [
        "cities: throttle: waits, 1.0 seconds before its turn",
        "cities: throttle: waits, 2.0 seconds before its turn",
        "cities: throttle: refused, 3.0 seconds before its turn",
      ]
    )
    #expect(events.gauges.map { "\($0)" } == ["cities: throttle: 1 keys"])
    withExtendedLifetime(calls) {}
  }

  @Test("has what it decides in the span of the execution, without a word said for that")
  func spans() throws {
    let events = PolicyEvents()
    let ended = EndedSpans()
    let spans = PolicySpans(of: events, whenEnded: ended.write)
    let cities = try Pipeline<Int>("cities", events: events, time: scheduler.time) {
      Stopwatch()
      throttle["tokyo"]
    }
    let request = Just(1).setFailureType(to: (any Error).self).protected(by: cities)
    for _ in 1...2 { request.subscribe(Recorder<Int, any Error>()) }
    scheduler.advance(by: .seconds(1))
    let found = ended.all
    #expect(
      found.map { "\($0.name) \($0.outcome) after \($0.duration)" } == [
        "cities succeeded after 0.0 seconds", "cities succeeded after 1.0 seconds",
      ]
    )
    #expect(found.map { $0.events.map(\.text) } == [[], ["throttle: waits, 1.0 seconds before its turn"]])
    withExtendedLifetime(spans) {}
  }

  private final class EndedSpans: Sendable {
    private let kept = Mutex<[PolicySpan]>([])
    var all: [PolicySpan] { kept.withLock { $0 } }
    @Sendable func write(_ span: PolicySpan) { kept.withLock { $0.append(span) } }
  }

  @Test("is refused where one call would ask it twice")
  func rules() {
    #expect(throws: InvalidPipeline.self) {
      try Pipeline<Int>("twice") {
        throttle["a"]
        throttle["a"]
      }
    }
  }
}
