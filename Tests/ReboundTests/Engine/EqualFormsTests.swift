import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

/// One policy value decides the same for a publisher, an asynchronous function and a sequence.
@Suite("Equal forms")
struct EqualFormsTests {
  @Test("a publisher, a function and a sequence have equal event logs, over 1,000 random scripts of outcomes")
  func equalLogs() async throws {
    var seen: Set<String> = []
    for seed in 0..<1_000 as Range<UInt64> {
      let script = Script(seed: seed)
      let publisher = try ofPublisher(script)
      let function = try await ofFunction(script)
      let sequence = try await ofSequence(script)
      try #require(publisher == function, "seed \(seed), \(script)")
      try #require(publisher == sequence, "seed \(seed), \(script)")
      for line in publisher.events { for word in Self.words where line.contains(word) { seen.insert(word) } }
    }
    // What the scripts are to reach.
    expectEqual(seen, Set(Self.words))
  }

  private static let words = [
    "(computed)", "(hint)", "not retryable", "attempts exhausted", "deadline exceeded", "hint too long", "circuit open",
    "closed, now open", "open, now halfOpen", "halfOpen, now closed", "halfOpen, now open", "call refused",
  ]

  /// What each form is asked to do: some calls, one after the other.
  private struct Script {
    let seed: UInt64
    let outcomes: [Result<Int, TestFailure>]
    let pauses: [Duration]
    let maxRetries: Int?
    let backoff: Backoff
    let deadline: Duration?
    let breaker: (failures: Int, openTime: Duration)

    init(seed: UInt64) {
      self.seed = seed
      var random = SeededRandom(seed: seed)
      func seconds(_ range: ClosedRange<Int>) -> Duration { .seconds(Int.random(in: range, using: &random)) }
      outcomes = (0..<24).map { number in
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: .success(number)
        case 3..<7: .failure(.transient)
        case 7: .failure(.numbered(number))
        case 8: .failure(.permanent)
        default: .failure(.busy(seconds(0...150)))
        }
      }
      pauses = (0..<4).map { _ in seconds(0...20) }
      maxRetries = Int.random(in: 0...5, using: &random)
      let jitters: [Jitter] = [.none, .ratio(0.3), .full, .equal, .decorrelated, .smoothDecorrelated]
      let jitter = jitters[Int.random(in: 0..<jitters.count, using: &random)]
      switch Int.random(in: 0..<4, using: &random) {
      case 0: backoff = .constant(seconds(0...3))
      case 1: backoff = .linear(seconds(0...3), upTo: seconds(3...9))
      case 2: backoff = .steps(.zero, seconds(0...9))
      default: backoff = .exponential(from: seconds(1...3), upTo: seconds(3...30), jitter: jitter)
      }
      deadline = Bool.random(using: &random) ? seconds(5...90) : nil
      breaker = (Int.random(in: 1...6, using: &random), seconds(1...40))
    }
  }

  /// What has come of it.
  private struct Outcome: Equatable {
    var results: [String]
    var retries: [String]
    var moments: [Duration]
    var events: [String]
  }

  /// The policies of one form, with all that they tell, and the service that they stand around.
  private struct Subject: Sendable {
    let pipeline: Pipeline<Int>
    private let retries = RetryLog()
    private let log: PolicyEventLog
    private let calls = Log<Void>()
    private let outcomes: [Result<Int, TestFailure>]

    init(_ script: Script, time: TimeSource) throws {
      let policy = RetryPolicy<any Error>(
        clamping: script.maxRetries,
        backoff: script.backoff,
        deadline: script.deadline,
        random: .seeded(script.seed)
      )
      .when { ($0 as? TestFailure)?.isTransient ?? true }
      .onEvent(retries.write)
      let breaker = CircuitBreaker(
        "service",
        policy: try .consecutive(script.breaker.failures, openFor: script.breaker.openTime)
      )
      let events = PolicyEvents()
      log = PolicyEventLog(of: events)
      outcomes = script.outcomes
      pipeline = try Pipeline("service", events: events, time: time) {
        Retry(policy)
        breaker
      }
    }

    /// One answer of the service; it is well again in the end.
    @Sendable func call() throws(TestFailure) -> Int {
      let number = calls.number(()) - 1
      return number < outcomes.count ? try outcomes[number].get() : number
    }

    func outcome(_ results: [String]) -> Outcome {
      Outcome(
        results: results + ["\(calls.count) calls"],
        retries: retries.events.map(\.description),
        moments: retries.events.map(\.elapsed),
        events: log.lines
      )
    }
  }

  private func ofPublisher(_ script: Script) throws -> Outcome {
    let scheduler = TestScheduler()
    let subject = try Subject(script, time: scheduler.time)
    let request = Deferred { Result { () throws(TestFailure) in try subject.call() }.publisher }
    let results = script.pauses.map { pause in
      let recorder = Recorder<Int, any Error>()
      request.protected(by: subject.pipeline).subscribe(recorder)
      while recorder.completion == nil, let due = scheduler.nextDue { scheduler.advance(to: due) }
      scheduler.advance(by: VirtualTime.Stride(pause))
      return recorder.failure.map { "\($0)" } ?? "\(recorder.values)"
    }
    return subject.outcome(results)
  }

  private func ofFunction(_ script: Script) async throws -> Outcome {
    let clock = JumpingClock()
    let subject = try Subject(script, time: clock.time)
    var results: [String] = []
    for pause in script.pauses {
      do {
        results.append("\([try await subject.pipeline.run { try subject.call() }])")
      } catch {
        results.append("\(error)")
      }
      clock.advance(by: pause)
    }
    return subject.outcome(results)
  }

  private func ofSequence(_ script: Script) async throws -> Outcome {
    let clock = JumpingClock()
    let subject = try Subject(script, time: clock.time)
    let sequence = MadeSequence { _, number in number == 1 ? try subject.call() : nil }
    var results: [String] = []
    for pause in script.pauses {
      let (elements, error) = await sequence.protected(by: subject.pipeline).gathered()
      results.append(error.map { "\($0)" } ?? "\(elements)")
      clock.advance(by: pause)
    }
    return subject.outcome(results)
  }
}
