import Combine
import Expectations
import Rebound
import ReboundTelemetry
import ReboundTesting
import StreamSupport
import Testing

/// Policies that wait, refuse, cut off, ask twice and put values in the place of failures, alone and around each other.
@Suite("Equal forms of pipelines")
struct EqualPipelinesTests {
  @Test(
    "a publisher, a function and a sequence have equal event logs and spans, over 1,000 random pipelines and scripts"
  )
  func equalLogs() throws {
    var seen: Set<String> = []
    for seed in 0..<1_000 as Range<UInt64> {
      let script = Script(seed: seed)
      let publisher = try outcome(of: script, as: .publisher)
      let function = try outcome(of: script, as: .function)
      let sequence = try outcome(of: script, as: .sequence)
      try #require(publisher == function, "seed \(seed), \(script)")
      try #require(publisher == sequence, "seed \(seed), \(script)")
      try #require(publisher.misplaced == [], "seed \(seed), \(script)")
      for line in publisher.events + publisher.spans {
        for word in Self.words where line.contains(word) { seen.insert(word) }
      }
      if publisher.results.contains("cancelled") { seen.insert("cancelled") }
    }
    // What the scripts are to reach.
    expectEqual(seen, Set(Self.words + ["cancelled"]))
  }

  private static let words = [
    "(total, limit", "(attempt, limit", "retrying in", "attempts exhausted", "rate limiter: queued for",
    "rate limiter: admitted after a wait", "rate limiter: rejected", "rate limiter: cancelled while queued",
    "bulkhead: queued", "bulkhead: rejected; 1 run", "bulkhead: rejected after the longest wait",
    "bulkhead: cancelled while queued", "closed, now open", "call refused", "hedge 1 begins", "hedge 1 won",
    "primary attempt won", "all 2 attempts failed", "falling back", "pipeline succeeded", "pipeline failed",
    "pipeline cancelled", "attempt succeeded", "attempt failed", "attempt cancelled",
  ]

  private enum Form { case publisher, function, sequence }

  private enum Stage: CaseIterable { case fallback, total, retry, limiter, bulkhead, breaker, hedge, attempt }

  /// What each form is asked to do: some calls, one after the other.
  private struct Script: Sendable {
    struct Call: Sendable {
      /// How long after the end of the one before it comes.
      let pause: Duration
      /// How long another one has the only place of the bulkhead when it comes.
      let hold: Duration?
      /// How long after its begin it is cancelled.
      let patience: Duration?
    }

    /// What the service does with an attempt.
    struct Answer: Sendable {
      let latency: Duration
      let result: Result<Int, TestFailure>
    }

    let seed: UInt64
    let stages: Set<Stage>
    let calls: [Call]
    let answers: [Answer]
    let limits: (total: Duration, attempt: Duration)
    let retry: (times: Int, pause: Duration)
    let limiter: (interval: Duration, maxWait: Duration)
    let bulkhead: (maxQueue: Int, maxWait: Duration)
    let breaker: (failures: Int, openTime: Duration)
    let hedgeDelay: Duration
    let isMeasured: Bool

    init(seed: UInt64) {
      self.seed = seed
      var random = SeededRandom(seed: seed)
      // So fine that no two things are to be done at one moment by chance.
      func time(_ seconds: ClosedRange<Int>) -> Duration {
        let (first, last) = (seconds.lowerBound * 1_000_000 + 1, seconds.upperBound * 1_000_000)
        return .microseconds(Int.random(in: first...last, using: &random))
      }
      func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
      let all = Stage.allCases
      stages =
        seed % 2 == 0
        ? [all[Int(seed / 2) % all.count]]
        : Set(all.filter { _ in chance(60) } + [.retry])
      calls = (0..<5).map { _ in
        Call(pause: time(0...3), hold: chance(50) ? time(0...8) : nil, patience: chance(20) ? time(0...6) : nil)
      }
      answers = (0..<20).map { number in
        let failure: TestFailure = chance(25) ? .permanent : .transient
        return Answer(latency: time(0...4), result: chance(50) ? .success(number) : .failure(failure))
      }
      limits = (time(6...30), time(1...4))
      retry = (Int.random(in: 1...3, using: &random), time(0...3))
      limiter = (time(1...6), chance(70) ? time(0...8) : .zero)
      bulkhead = (Int.random(in: 0...1, using: &random), time(0...8))
      breaker = (Int.random(in: 1...3, using: &random), time(1...10))
      hedgeDelay = time(0...3)
      isMeasured = chance(80)
    }
  }

  /// What has come of it.
  private struct Outcome: Equatable, Sendable {
    var results: [String]
    var events: [String]
    var spans: [String]
    /// What is not within the time of the span that it is in.
    var misplaced: [String]

    init(results: [String], log: PolicyEventLog, spans: [PolicySpan]) {
      self.results = results
      // A publisher ends after its value, so that what is told of the value comes before what the stopwatch tells.
      events = log.events.filter { $0.kind != .stopwatch }.map { "\($0.time) \($0.severity) \($0)" }
      self.spans = spans.map { Self.text($0) }
      misplaced = spans.flatMap { Self.misplaced(in: $0) }
    }

    private static func text(_ span: PolicySpan) -> String {
      let events = span.events.map { "\($0.time) \($0)" }
      let children = span.children.map { text($0) }.sorted()
      return "\(span.id) \(span.part) \(span.outcome) \(span.start) \(span.duration) \(events) \(children)"
    }

    private static func misplaced(in span: PolicySpan) -> [String] {
      let end = span.start + span.duration
      let events = span.events.filter { $0.span != span.id || !(span.start...end).contains($0.time) }
      let children = span.children.filter { child in
        child.parent != span.id || child.start < span.start || child.start + child.duration > end
      }
      let within = span.children.flatMap { misplaced(in: $0) }
      return events.map { "\($0)" } + children.map(text) + within
    }
  }

  /// The policies of one form, with all that they tell, and the service that they stand around.
  private struct Subject: Sendable {
    private let script: Script
    private let bulkhead: Bulkhead
    private let pipeline: Pipeline<Int>
    private let log: PolicyEventLog
    private let spans: PolicySpans
    private let ended = Log<PolicySpan>()
    private let attempts = Log<Void>()
    private let time = TimeSource.current

    init(_ script: Script) throws {
      self.script = script
      let events = PolicyEvents()
      log = PolicyEventLog(of: events)
      spans = PolicySpans(of: events, whenEnded: ended.write)
      let bulkhead = Bulkhead(
        "places",
        policy: try BulkheadPolicy(
          maxConcurrent: 1,
          maxQueue: script.bulkhead.maxQueue,
          maxWait: script.bulkhead.maxWait
        )
      )
      self.bulkhead = bulkhead
      let retry = RetryPolicy<any Error>(
        clamping: script.retry.times,
        backoff: .exponential(from: script.retry.pause, jitter: .full),
        random: .seeded(script.seed)
      )
      .when { $0 as? TestFailure != .permanent }
      let limiter = RateLimiter(
        "rate",
        policy: try .tokenBucket(1, per: script.limiter.interval).waiting(atMost: script.limiter.maxWait)
      )
      let breaker = CircuitBreaker(
        "service",
        policy: try .consecutive(script.breaker.failures, openFor: script.breaker.openTime)
      )
      let hedging = try HedgePolicy<any Error>(delay: .after(script.hedgeDelay))
      pipeline = try Pipeline("service", events: events) {
        if script.isMeasured { Stopwatch() }
        if script.stages.contains(.fallback) { Fallback(to: -1, when: { $0 as? TestFailure == .permanent }) }
        if script.stages.contains(.total) { Timeout(total: script.limits.total) }
        if script.stages.contains(.retry) { Retry(retry) }
        if script.stages.contains(.limiter) { limiter }
        if script.stages.contains(.bulkhead) { bulkhead }
        if script.stages.contains(.breaker) { breaker }
        if script.stages.contains(.hedge) { Hedge(hedging) }
        if script.isMeasured { Stopwatch("attempt") }
        if script.stages.contains(.attempt) { Timeout(attempt: script.limits.attempt) }
      }
    }

    /// One answer of the service; it is well again in the end.
    @Sendable private func answer() async throws -> Int {
      let number = attempts.number(()) - 1
      guard number < script.answers.count else { return number }
      try await time.sleep(for: script.answers[number].latency)
      return try script.answers[number].result.get()
    }

    /// What comes of one call.
    func run(_ call: Script.Call, as form: Form) async throws -> String {
      try await time.sleep(for: call.pause)
      let others = try call.hold.map { hold -> Task<Void, any Error> in
        let permit = try bulkhead.acquire(on: time)
        return Task {
          defer { permit.release() }
          try await time.sleep(for: hold)
        }
      }
      let task = Task { await answered(as: form) }
      let cancel = call.patience.map { time.after($0) { task.cancel() } }
      let result = await task.value
      cancel?.cancel()
      if let others { try await others.value }
      return result
    }

    private func answered(as form: Form) async -> String {
      switch form {
      case .publisher:
        let (ended, continuation) = AsyncStream<Void>.makeStream()
        let recorder = Recorder<Int, any Error>(whenCompleted: { continuation.finish() })
        Publishers.Asynchronous(answer).protected(by: pipeline).subscribe(recorder)
        await withTaskCancellationHandler {
          for await _ in ended {}
        } onCancel: {
          recorder.cancel()
        }
        if recorder.completion == nil { return "cancelled" }
        return recorder.failure.map { "\($0)" } ?? "\(recorder.values)"
      case .function:
        do {
          return "\([try await pipeline.run { try await answer() }])"
        } catch {
          return error is CancellationError ? "cancelled" : "\(error)"
        }
      case .sequence:
        let sequence = MadeSequence { _, number in number == 1 ? try await answer() : nil }
        let (elements, error) = await sequence.protected(by: pipeline).gathered()
        if Task.isCancelled { return "cancelled" }
        return error.map { "\($0)" } ?? "\(elements)"
      }
    }

    func outcome(_ results: [String]) -> Outcome {
      Outcome(results: results + ["\(attempts.count) attempts"], log: log, spans: ended.entries)
    }
  }

  /// Real tasks and timers, in a time of their own.
  private func outcome(of script: Script, as form: Form) throws -> Outcome {
    let outcome = Locked<Outcome?>(nil)
    try Simulation(seed: script.seed).run {
      let subject = try Subject(script)
      var results: [String] = []
      for call in script.calls { results.append(try await subject.run(call, as: form)) }
      let found = subject.outcome(results)
      outcome.withLock { $0 = found }
    }
    return try #require(outcome.withLock { $0 })
  }
}
