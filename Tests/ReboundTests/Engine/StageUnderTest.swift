import Combine
import Rebound
import ReboundTesting
import Testing

/// A stage of a ``Pipeline`` that is no ``Policy``, and keeps the contract all the same: one row of the table.
struct StageUnderTest: Sendable, CustomTestStringConvertible {
  /// A pipeline of the stage alone, fresh for one test.
  struct Subject: Sendable {
    let pipeline: Pipeline<Int>
    /// Whether nothing is under way.
    var isIdle: @Sendable () -> Bool = { true }
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
  let make: @Sendable (TimeSource) throws -> Subject

  var testDescription: String { name }
}

extension StageUnderTest {
  static let all: [StageUnderTest] = [
    hedge, fallback, cacheFirst, singleFlight, chaosBefore, chaosBehind, policy, nested, optional,
  ]

  private static func row<Stages: PipelineStage>(
    _ name: String,
    _ types: Set<String>,
    wait: Duration = .zero,
    replacement: Int? = nil,
    reads: (publisher: Int, function: Int) = (0, 0),
    @PipelineBuilder<Int> stages: @escaping @Sendable () throws -> Stages
  ) -> StageUnderTest where Stages.Output == Int {
    StageUnderTest(name: name, types: types, wait: wait, replacement: replacement, reads: reads) { time in
      Subject(pipeline: try Pipeline("service", time: time, stages: stages))
    }
  }

  // From when an answer is late; the timer is set for a moment, which this source turns into a delay.
  static let hedge = row("Hedge", ["HedgeStage"], reads: (2, 0)) {
    Hedge(try HedgePolicy(delay: .after(.seconds(5))))
  }

  static let fallback = row("Fallback", ["Fallback"], replacement: -1) { Fallback(to: -1) }

  // To look whether there is something, and for the age of what is kept.
  static let cacheFirst = StageUnderTest(
    name: "CacheFirst",
    types: ["CacheFirst"],
    sharesCalls: true,
    valueLimit: 1,
    reads: (2, 2)
  ) { time in
    let cache = Cache<String, Int, any Error>(policy: try CachePolicy(fresh: .seconds(600)))
    return Subject(pipeline: try Pipeline("service", time: time) { CacheFirst(cache, for: "key") })
  }

  static let singleFlight = StageUnderTest(
    name: "SingleFlight",
    types: ["SingleFlight"],
    sharesCalls: true,
    reads: (0, 0)
  ) { time in
    let coalescer = Coalescer<String, Int, any Error>()
    return Subject(
      pipeline: try Pipeline("service", time: time) { SingleFlight(by: coalescer, for: "key") },
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
