import Combine
import ReboundTesting
import Testing

@testable import Rebound

/// A stage of a ``Pipeline`` that is no ``Policy``, and keeps the contract all the same: one row of the table.
struct StageUnderTest: Sendable, CustomTestStringConvertible {
  /// A pipeline of the stage alone, fresh for one test.
  struct Subject: Sendable {
    typealias Upstream = AnyPublisher<Int, any Error>
    typealias Operation = @Sendable () async throws -> Int

    let protect: @Sendable (Upstream) -> Upstream
    let run: @Sendable (@escaping Operation) async throws -> Int
    /// Whether nothing is under way.
    var isIdle: @Sendable () -> Bool = { true }

    init(pipeline: Pipeline<Int>, isIdle: @escaping @Sendable () -> Bool = { true }) {
      protect = { $0.protected(by: pipeline) }
      run = { operation in try await pipeline.run { try await operation() } }
      self.isIdle = isIdle
    }

    init(
      protect: @escaping @Sendable (Upstream) -> Upstream,
      run: @escaping @Sendable (@escaping Operation) async throws -> Int
    ) {
      (self.protect, self.run) = (protect, run)
    }
  }

  let name: String
  /// The types of the sources that it stands for.
  let types: Set<String>
  /// Whether those who ask at the same time share one call.
  var sharesCalls = false
  /// How long it waits before the call, and with each value.
  var wait = Duration.zero
  /// How many values it lets through.
  var valueLimit = Int.max
  /// What comes of a failure; `nil` if it passes.
  var replacement: Int?
  /// How often the time is read for a call that succeeds, as a publisher and as a function.
  let reads: (publisher: Int, function: Int)
  fileprivate let subject: @Sendable (TimeSource, PolicyEvents?) throws -> Subject

  var testDescription: String { name }

  func make(_ time: TimeSource, telling events: PolicyEvents? = nil) throws -> Subject { try subject(time, events) }
}

extension StageUnderTest {
  static let all: [StageUnderTest] = [
    hedge, hedgeWithinBudget, fallback, lastGood, cacheFirst, singleFlight, chaosBefore, chaosBehind,
    policy, nested, optional,
  ]

  private static func row<Stages: PipelineStage>(
    _ name: String,
    _ types: Set<String>,
    wait: Duration = .zero,
    replacement: Int? = nil,
    reads: (publisher: Int, function: Int) = (0, 0),
    @PipelineBuilder<Int> stages: @escaping @Sendable () throws -> Stages
  ) -> StageUnderTest where Stages.Output == Int {
    StageUnderTest(name: name, types: types, wait: wait, replacement: replacement, reads: reads) { time, events in
      Subject(pipeline: try Pipeline("service", events: events, time: time, stages: stages))
    }
  }

  // From when an answer is late; the timer is set for a moment, which this source turns into a delay.
  static let hedge = row("Hedge", ["HedgeStage"], reads: (2, 0)) {
    Hedge(try HedgePolicy(delay: .after(.seconds(5))))
  }

  // The budget is told of the call when it begins; when somebody waits for it and when it has won, others are.
  static let hedgeWithinBudget = StageUnderTest(
    name: "Hedge within a budget",
    types: ["HedgeStage"],
    reads: (3, 1)
  ) { time, events in
    let budget = try RetryBudget.ratio(0, floor: 9)
    let pipeline = try Pipeline<Int>("service", events: events, time: time) {
      Hedge(try HedgePolicy(delay: .after(.seconds(5))), budget: budget)
    }
    return Subject(pipeline: pipeline, isIdle: { budget.snapshot(on: time).queued == 0 })
  }

  static let fallback = row("Fallback", ["Fallback"], replacement: -1) { Fallback(to: -1) }

  // To look whether there is something, and for the age of what is kept.
  // What is kept has the moment at which it came, and only a failure asks for its age.
  static let lastGood = StageUnderTest(name: "LastGood", types: [], replacement: -1, reads: (1, 1)) { time, _ in
    let store = try LastGood<String, Int>()
    store.remember(-1, for: "key", at: .zero)
    return Subject(
      protect: { upstream in
        upstream.remember(in: store, for: "key", time: time)
          .fallback(to: store, for: "key", time: time)
          .map(\.value)
          .eraseToAnyPublisher()
      },
      run: { operation in try await store.run(for: "key", time: time) { try await operation() }.value }
    )
  }

  static let cacheFirst = StageUnderTest(
    name: "CacheFirst",
    types: ["CacheFirst"],
    sharesCalls: true,
    valueLimit: 1,
    reads: (2, 2)
  ) { time, events in
    let cache = Cache<String, Int, any Error>(policy: try CachePolicy(fresh: .seconds(600)))
    let pipeline = try Pipeline<Int>("service", events: events, time: time) { CacheFirst(cache, for: "key") }
    return Subject(pipeline: pipeline, isIdle: { cache.flights.inFlightCount == 0 })
  }

  static let singleFlight = StageUnderTest(
    name: "SingleFlight",
    types: ["SingleFlight"],
    sharesCalls: true,
    reads: (0, 0)
  ) { time, events in
    let coalescer = Coalescer<String, Int, any Error>()
    return Subject(
      pipeline: try Pipeline("service", events: events, time: time) { SingleFlight(by: coalescer, for: "key") },
      isIdle: { coalescer.inFlightCount == 0 }
    )
  }

  static let chaosBefore = row("Chaos before a call", ["ChaosStage"], wait: .seconds(1)) {
    Chaos<Int, any Error>().latency(at: 1, .seconds(1))
  }

  static let chaosBehind = row("Chaos on values", ["ChaosStage"], wait: .seconds(1)) {
    Chaos<Int, any Error>().delayingValues(at: 1, by: .seconds(1))
  }

  static let policy = row("a policy", ["PolicyStage"]) { Retry(.init(clamping: 0, backoff: .immediate)) }

  static let nested = row("stages in stages", ["NestedStages"], replacement: -1) {
    Fallback(to: -1)
    Retry(.init(clamping: 0, backoff: .immediate))
    Fallback(to: -2, when: { $0 is TimedOut })
  }

  static let optional = row("a stage of a condition", ["OptionalStage"], replacement: -1) {
    let wanted: Set = ["fallback"]
    if wanted.contains("retry") { Retry() }
    if wanted.contains("fallback") { Fallback(to: -1) }
  }
}
