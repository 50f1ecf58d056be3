import Combine
import Expectations
import Foundation
import Rebound
import Testing

@Suite("The rules of Pipeline")
struct PipelineRulesTests {
  /// A pipeline that is refused, why, and the places of the stages that the error is about.
  struct Refusal: CustomTestStringConvertible, Sendable {
    let mistake: InvalidPipeline.Mistake
    let positions: [Int]
    var repetition = CallRepetition.harmless
    let pipeline: @Sendable () throws -> Pipeline<Int>

    init<Stages: PipelineStage>(
      _ mistake: InvalidPipeline.Mistake,
      _ positions: [Int],
      repetition: CallRepetition = .harmless,
      @PipelineBuilder<Int> stages: @escaping @Sendable () throws -> Stages
    ) where Stages.Output == Int {
      (self.mistake, self.positions, self.repetition) = (mistake, positions, repetition)
      pipeline = { try Pipeline("weather", repetition: repetition, stages: stages) }
    }

    var testDescription: String { "\(mistake)" }
  }

  static let refusals: [Refusal] = [
    Refusal(.noStages, []) {},
    Refusal(.hiddenByFallback, [1, 2]) {
      Retry()
      Fallback(to: 0)
    },
    Refusal(.hiddenByFallback, [1, 3]) {
      try breaker()
      Timeout(attempt: .seconds(1))
      Fallback { _ in 0 }
    },
    Refusal(.hiddenByFallback, [1, 2]) {
      Hedge()
      Fallback(async: { _ in 0 })
    },
    Refusal(.hiddenByFallback, [1, 2]) {
      AdaptiveThrottle("weather")
      Fallback(to: 0)
    },
    Refusal(.hiddenByFallback, [2, 3]) {
      MetastabilityDetector("weather").requests
      MetastabilityDetector("weather")
      Fallback(to: 0)
    },
    Refusal(.hiddenByFallback, [1, 2]) {
      try adaptiveBulkhead().prioritised(1)
      Fallback(to: 0)
    },
    Refusal(.hedgeOfSharedCalls, [1, 2]) {
      Hedge()
      SingleFlight(by: Coalescer<String, Int, any Error>(), for: "key")
    },
    Refusal(.hedgeOfSharedCalls, [1, 3]) {
      Hedge()
      Timeout(attempt: .seconds(1))
      CacheFirst(Cache<String, Int, any Error>(policy: try CachePolicy(fresh: .seconds(1))), for: "key")
    },
    Refusal(.attemptLimitOutsideRetry, [1, 2]) {
      Timeout(attempt: .seconds(1))
      Retry()
    },
    Refusal(.totalLimitInsideRetry, [1, 2]) {
      Retry()
      Timeout(total: .seconds(1))
    },
    Refusal(.retriedTwice, [1, 3]) {
      Retry()
      Timeout(attempt: .seconds(1))
      Retry()
    },
    Refusal(.retryInsideBreaker, [1, 2]) {
      try breaker()
      Retry()
    },
    Refusal(.hedgeOfHarmfulCalls, [2], repetition: .harmful) {
      Timeout(total: .seconds(1))
      Hedge()
    },
    Refusal(.retryOfHarmfulCalls, [1], repetition: .harmful) {
      Retry()
    },
    Refusal(.retryOfHarmfulCalls, [1], repetition: .harmful) {
      Retry(RetryPolicy<TestFailure>.standard)
    },
    Refusal(.limitNeverReached, [1, 3]) {
      Timeout(total: .seconds(3))
      Retry()
      Timeout(attempt: .seconds(3))
    },
    Refusal(.limitNotPositive, [1]) {
      Timeout(total: .zero)
    },
    Refusal(.limitNotPositive, [2]) {
      Retry()
      Timeout(attempt: .seconds(-1))
    },
    Refusal(.sharedTwice, [1, 3]) {
      let shared = Bulkhead("shared", policy: try BulkheadPolicy(maxConcurrent: 1))
      shared
      Retry()
      shared
    },
  ]

  static func breaker() throws -> CircuitBreaker {
    CircuitBreaker("weather", policy: try CircuitBreakerPolicy(consecutiveFailures: 1))
  }

  static func adaptiveBulkhead() throws -> Bulkhead {
    Bulkhead(
      "weather",
      policy: try BulkheadPolicy(maxConcurrent: 1),
      adapting: try .aimd(),
      overloadedWhen: { $0 is TimedOut }
    )
  }

  @Test("refuse what cannot be meant, with the stages that it is about", arguments: refusals)
  func refuses(_ refusal: Refusal) throws {
    let error = try #require(throws: InvalidPipeline.self) {
      try refusal.pipeline()
    }
    expectEqual(error.mistake, refusal.mistake)
    expectEqual(error.stages.map(\.position), refusal.positions)
    expectEqual(error.pipeline, "weather")
  }

  /// A policy of a user's own, of a kind that the library does not know; it does nothing but say what it is.
  struct OwnPolicy: Policy {
    let change: @Sendable (inout StageTraits) -> Void

    init(_ change: @escaping @Sendable (inout StageTraits) -> Void) {
      self.change = change
    }

    var descriptor: StageDescriptor { StageDescriptor(PolicyKind("own")) }

    var traits: StageTraits {
      var traits = StageTraits(descriptor: descriptor)
      change(&traits)
      return traits
    }

    func makeMachine(_ execution: ExecutionContext) -> Machine { Machine() }

    struct Machine: PolicyMachine {
      typealias Failure = any Error
    }
  }

  static let ownRefusals: [Refusal] = [
    Refusal(.retriedTwice, [1, 2]) {
      Retry()
      OwnPolicy { $0.retries = true }
    },
    Refusal(.retryInsideBreaker, [1, 2]) {
      OwnPolicy { $0.refusesAfterFailures = true }
      OwnPolicy { $0.retries = true }
    },
    Refusal(.retryOfHarmfulCalls, [1], repetition: .harmful) {
      OwnPolicy { ($0.retries, $0.isForAllFailures) = (true, true) }
    },
    Refusal(.hedgeOfHarmfulCalls, [1], repetition: .harmful) {
      OwnPolicy { $0.runsSeveralAtOnce = true }
    },
    Refusal(.hedgeOfSharedCalls, [1, 2]) {
      OwnPolicy { $0.runsSeveralAtOnce = true }
      OwnPolicy { $0.sharesCalls = true }
    },
    Refusal(.attemptLimitOutsideRetry, [1, 2]) {
      OwnPolicy { $0.attempt = .seconds(1) }
      OwnPolicy { $0.retries = true }
    },
    Refusal(.totalLimitInsideRetry, [1, 2]) {
      OwnPolicy { $0.retries = true }
      OwnPolicy { $0.total = .seconds(1) }
    },
    Refusal(.limitNeverReached, [1, 2]) {
      OwnPolicy { $0.total = .seconds(1) }
      Timeout(attempt: .seconds(1))
    },
    Refusal(.hiddenByFallback, [1, 2]) {
      OwnPolicy { $0.livesOnFailures = true }
      Fallback(to: 0)
    },
    Refusal(.hiddenByFallback, [1, 2]) {
      OwnPolicy { $0.retries = true }
      OwnPolicy { ($0.replacesFailures, $0.isForAllFailures) = (true, true) }
    },
  ]

  @Test("hold a policy of a user's own to what it says of itself", arguments: ownRefusals)
  func refusesOwn(_ refusal: Refusal) throws {
    try refuses(refusal)
  }

  @Test("let a policy of a user's own pass that says nothing of itself, whatever its kind")
  func passesOwn() throws {
    struct NamedRetry: Policy {
      var descriptor: StageDescriptor { StageDescriptor(.retry) }
      func makeMachine(_ execution: ExecutionContext) -> OwnPolicy.Machine { OwnPolicy.Machine() }
    }
    _ = try Pipeline<Int>("weather", repetition: .harmful) {
      NamedRetry()
      NamedRetry()
      OwnPolicy { $0.repeats = true }
      Retry(when: { $0 is RateLimited })
    }
  }

  @Test("see a shared object through the forms that it has for streams and priorities")
  func sharedForms() throws {
    let breaker = try Self.breaker()
    let bulkhead = Bulkhead("places", policy: try BulkheadPolicy(maxConcurrent: 1))
    let refusals = [
      Refusal(.sharedTwice, [1, 2]) {
        breaker
        breaker.succeeding(on: .firstValue)
      },
      Refusal(.retryInsideBreaker, [1, 2]) {
        breaker.succeeding(on: .firstValue)
        Retry()
      },
      Refusal(.sharedTwice, [1, 2]) {
        bulkhead.prioritised(1)
        bulkhead
      },
    ]
    for refusal in refusals { try refuses(refusal) }
  }

  @Test("leave no stage unseen that repeats, runs several at once, shares calls, or lives on failures")
  func traitsOfStages() throws {
    let refresher = TokenRefresher<String>(refreshing: { _ in .refreshed("new") })
    func traits(_ policy: some Policy) -> StageTraits { policy.traits }
    let retrying = [
      traits(RetryPolicy<any Error>.standard), traits(Retry()),
      traits(
        Empty<Int, any Error>().retry(on: { _ in true }, times: 1, after: { _ in Empty<Int, any Error>() }).policy
      ),
      traits(
        Empty<Int, any Error>()
          .retry { (errors: AnyPublisher<any Error, Never>) in errors.setFailureType(to: (any Error).self) }.policy
      ),
    ]
    #expect(retrying.allSatisfy { $0.retries && !$0.runsSeveralAtOnce })
    let repeating = [
      traits(RepeatPolicy.standard), traits(PolicyForFailure<RepeatPolicy, TestFailure>(RepeatPolicy.standard)),
    ]
    #expect(repeating.allSatisfy { $0.repeats && !$0.retries })
    let authentication = traits(Authentication(by: refresher) { _ in true })
    #expect(authentication.repeats && authentication.livesOnFailures)
    let hedge = try #require(PipelineBuilder<Int>.buildExpression(Hedge()).traits.first)
    #expect(hedge.runsSeveralAtOnce && hedge.livesOnFailures)
    let watching = [
      traits(AdaptiveThrottle("weather")), traits(MetastabilityDetector("weather")),
      traits(try Self.adaptiveBulkhead()),
    ]
    #expect(watching.allSatisfy { $0.livesOnFailures })
    let fixed = Bulkhead("weather", policy: try BulkheadPolicy(maxConcurrent: 1))
    #expect(!traits(fixed).livesOnFailures && !traits(MetastabilityDetector("weather").requests).livesOnFailures)
    let cache = Cache<String, Int, any Error>(policy: try CachePolicy(fresh: .seconds(1)))
    let sharing =
      CacheFirst(cache, for: "key").traits
      + SingleFlight(by: Coalescer<String, Int, any Error>(), for: "key").traits
    #expect(sharing.count == 2 && sharing.allSatisfy(\.sharesCalls))
  }

  @Test("say what is wrong, where, and what to do")
  func words() throws {
    let error = #expect(throws: InvalidPipeline.self) {
      try Pipeline<Int>("weather") {
        Retry()
        Timeout(total: .seconds(1))
      }
    }
    expectEqual(
      error?.description,
      """
      Pipeline "weather": the limit for the whole stands inside of the retry, and begins anew with each attempt; move it \
      outside of the retry, or make it Timeout(attempt:) (stage 1, retry (maxRetries: 2, backoff: exponential from 0.5 \
      seconds ×2.0, up to 20.0 seconds, full jitter); stage 2, timeout (total: 1.0 seconds)).
      """
    )
  }

  @Test("let pass what can be meant")
  func passes() throws {
    let breaker = try Self.breaker()
    _ = try Pipeline<Int>("a fallback for some failures inside") {
      Retry()
      Fallback(to: 0, when: { $0 is TimedOut })
    }
    _ = try Pipeline<Int>("a hedge with a limit for each attempt") {
      Timeout(total: .seconds(9))
      Hedge()
      breaker
      Timeout(attempt: .seconds(3))
    }
    _ = try Pipeline<Int>("harmful calls that are retried for some failures", repetition: .harmful) {
      Retry(when: { $0 is RateLimited })
      breaker
    }
    _ = try Pipeline<Int>("harmful calls whose policy says for which failures", repetition: .harmful) {
      Retry(.standard.when { $0 is RateLimited })
    }
    _ = try Pipeline<Int>("harmful calls whose typed policy says for which failures", repetition: .harmful) {
      Retry(RetryPolicy<TestFailure>.standard.when(\.isTransient))
    }
    _ = try Pipeline<Int>("two breakers") {
      breaker
      try Self.breaker()
    }
    _ = try Pipeline<Int>("a hedge of the call that others share") {
      SingleFlight(by: Coalescer<String, Int, any Error>(), for: "key")
      Hedge()
    }
    _ = try Pipeline<Int>("a bulkhead that goes by no failures, around a fallback") {
      Bulkhead("places", policy: try BulkheadPolicy(maxConcurrent: 1))
      Fallback(to: 0)
    }
    _ = try Pipeline<Int>("a silence is no total") {
      Timeout(total: .seconds(1))
      Timeout(.betweenValues(.seconds(1)))
    }
  }

  @Test("pass on what the making of a stage throws")
  func passesOn() {
    #expect(throws: InvalidPolicy(.bulkhead, "maxConcurrent", 0, "Give at least 1.")) {
      try Pipeline<Int>("weather") { Bulkhead("weather", policy: try BulkheadPolicy(maxConcurrent: 0)) }
    }
  }

  @Test("a refusal says the same to people, who may have written the settings")
  func wordsForPeople() {
    let error = InvalidPipeline(pipeline: "weather", mistake: .noStages, stages: [])
    expectEqual(error.localizedDescription, error.description)
  }
}
