/// Something that a circuit breaker has decided: an error if it opens, nothing much if it closes, and otherwise a warning.
public struct CircuitBreakerEvent: Sendable {
  /// What was decided.
  public enum Kind: Sendable {
    /// The state has changed; with how long it stays open at least, if it is open now.
    case changed(from: CircuitBreaker.State, to: CircuitBreaker.State, openTime: Duration?)
    /// A call was refused.
    case refused(CircuitOpen)
  }

  /// What the breaker protects.
  public let name: String
  /// What was decided.
  public let kind: Kind

  /// Describes a decision.
  public init(name: String, kind: Kind) {
    self.name = name
    self.kind = kind
  }
}

extension CircuitBreakerEvent: RecordedDecision {
  /// That of circuit breakers.
  public static var kind: PolicyKind { .circuitBreaker }
  /// One line for a log: "weather: closed, now open for 30.0 seconds".
  public var description: String { "\(name): \(record.description())" }
  /// One line for a log, without the name, which is that of the source: "circuit breaker: closed, now open for 30.0 seconds".
  public var text: String { "\(Self.kind): \(record.description())" }

  var record: DecisionRecord {
    switch kind {
    case .changed(let before, let after, let openTime):
      DecisionRecord(
        after == .open ? .error : after == .closed ? .info : .warning,
        "\(after)".asLabel,
        "\(before), now \(after)\(openTime.map { " for \($0)" } ?? "")"
      )
      .with([EventField("before", "\(before)".asLabel)] + EventField.known("open_for", openTime))
    case .refused(let refusal):
      .init(.warning, "refused", "call refused\(refusal.retryAfter.map { ", try again in \($0)" } ?? "")")
        .with(EventField.known("retry_after", refusal.retryAfter))
    }
  }
}

extension PolicyKind {
  /// That of a ``CircuitBreaker``.
  public static let circuitBreaker = PolicyKind("circuit breaker")
}

extension CircuitBreaker {
  /// What a circuit breaker has counted, at one moment.
  public struct Snapshot: Hashable, Sendable {
    /// What the breaker does with calls.
    public let state: State
    /// How many calls are in the window; none unless it is closed, nor where only failures in a row are counted.
    public let calls: Int
    /// How many of them failed.
    public let failures: Int
    /// How many of them were too slow.
    public let slowCalls: Int
    /// How many failures there were since the last success.
    public let failuresInARow: Int
    /// How often it has opened since it was closed.
    public let openings: Int
    /// For how long the service has been out; `nil` if it is not, or if a person took it out.
    public let outFor: Duration?
    /// How long it stays open at least; zero if the next call is a probe, `nil` if it is not open.
    public let retryAfter: Duration?
    /// How many probes are under way.
    public let probes: Int
    /// How many calls it has refused so far.
    public let refused: Int

    /// The share of the calls in the window that failed; `nil` if there are none.
    public var failureRatio: Double? { calls > 0 ? Double(failures) / Double(calls) : nil }

    /// The share of the calls in the window that were too slow; `nil` if there are none.
    public var slowRatio: Double? { calls > 0 ? Double(slowCalls) / Double(calls) : nil }

    /// Describes what a breaker has counted.
    public init(
      state: State,
      calls: Int = 0,
      failures: Int = 0,
      slowCalls: Int = 0,
      failuresInARow: Int = 0,
      openings: Int = 0,
      outFor: Duration? = nil,
      retryAfter: Duration? = nil,
      probes: Int = 0,
      refused: Int = 0
    ) {
      self.state = state
      self.calls = calls
      self.failures = failures
      self.slowCalls = slowCalls
      self.failuresInARow = failuresInARow
      self.openings = openings
      self.outFor = outFor
      self.retryAfter = retryAfter
      self.probes = probes
      self.refused = refused
    }
  }
}

extension CircuitBreaker.Snapshot: PolicyReading {
  /// One line for a log: "closed, 1 of 20 calls failed", or "closed, 2 failures in a row" where nothing else is counted.
  public var description: String {
    calls == 0 && failuresInARow > 0
      ? "\(state), \(failuresInARow) failures in a row" : "\(state), \(failures) of \(calls) calls failed"
  }

  /// `state` in a word, `failures_in_a_row`, `refused`; `retry_after` if it is open.
  public var details: [EventField] {
    [
      EventField("state", "\(state)".asLabel), EventField("failures_in_a_row", failuresInARow),
      EventField("refused", refused),
    ] + EventField.known("retry_after", retryAfter)
  }

  /// Whether it is open, and by which calls it judges.
  public var measurements: [PolicyMeasurement] {
    [
      .init(
        "rebound_breaker_open",
        state == .open || state == .isolated ? 1 : 0,
        "Whether a circuit breaker is open: 1 if it lets nothing through."
      ),
      .init("rebound_breaker_calls", calls, "Calls by which a circuit breaker judges a service."),
      .init("rebound_breaker_failures", failures, "Calls that failed, of those by which a circuit breaker judges."),
    ]
  }
}

extension CircuitBreaker: EventTelling {
  /// Its ``snapshot(on:)``.
  public var reading: (any PolicyReading)? { snapshot() }
}
