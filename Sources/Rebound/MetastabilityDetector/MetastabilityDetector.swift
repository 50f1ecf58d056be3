import StreamSupport

/// Raises an alarm when the client's own retries keep a service down that has come back: a metastable failure.
///
///     let detector = MetastabilityDetector("weather")
///     let weather = try Pipeline<Forecast>("weather") {
///       detector.requests
///       Retry()
///       detector
///     }
///
/// It stands in two places: around the retry it counts what is asked for, inside of it the attempts. A loop that feeds itself
/// has four signs, and the alarm is raised when all of them have been there for a while:
///
/// - the client adds to its own load: attempts for each request;
/// - it gets less than it asks for: answers for each request;
/// - the service is there: some attempts are answered. In an outage none is, and nobody can know that retries matter;
/// - it asks for no more than the service has answered before, when all was well. Else it is too much demand.
///
/// A service that is slow for a reason of its own (a brown-out) while clients retry looks the same from here, until a client
/// stops retrying. Both times that is the thing to do: with ``MetastabilityPolicy/refusesRetries`` it lets no more attempts
/// through than requests begin, as long as the alarm is on. The alarm ends when the service answers what it is asked for
/// again, or nothing at all.
///
/// Source of the failure: Bronson, Aghayev, Charapko, Zhu, "Metastable Failures in Distributed Systems", HotOS 2021.
public final class MetastabilityDetector: Sendable {
  /// What it watches, for its errors and its gauge.
  public let name: String
  /// When it raises its alarm.
  public let policy: MetastabilityPolicy
  private let state: Locked<MetastabilityMachine>

  /// Makes a detector that has seen nothing.
  ///
  /// - Parameters:
  ///   - name: What it watches.
  ///   - policy: When it raises its alarm.
  public init(_ name: String, policy: MetastabilityPolicy = .standard) {
    self.name = name
    self.policy = policy
    state = Locked(MetastabilityMachine(policy))
  }

  /// What it has counted within its window, and what it makes of it.
  public struct Snapshot: Hashable, Sendable {
    /// How many requests were made.
    public let requests: Int
    /// How many attempts were made for them, those that were refused here included.
    public let attempts: Int
    /// How many attempts succeeded, those included that were cancelled after a value.
    public let answers: Int
    /// Whether the alarm is on.
    public let isSuspected: Bool

    /// Describes what a detector has counted.
    public init(requests: Int, attempts: Int, answers: Int, isSuspected: Bool) {
      self.requests = requests
      self.attempts = attempts
      self.answers = answers
      self.isSuspected = isSuspected
    }
  }

  /// What it has counted within its window; reading it changes nothing.
  ///
  /// - Parameter time: Says what now is.
  public func snapshot(on time: TimeSource = .current) -> Snapshot {
    var machine = state.withLock { $0 }
    _ = machine.move(to: time.now)
    let counts = machine.counts
    return Snapshot(
      requests: counts.requests,
      attempts: counts.attempts,
      answers: counts.answers,
      isSuspected: machine.isSuspected
    )
  }

  /// The stage that counts what is asked for; it stands around the retry.
  public var requests: Requests { Requests(detector: self) }

  private func update(
    _ execution: ExecutionContext,
    _ update: (inout MetastabilityMachine, Duration) -> MetastabilityMachine.Change?
  ) {
    let now = execution.now
    let (change, counts) = state.withLock { machine in (update(&machine, now), machine.counts) }
    tell(change, counts, execution)
  }

  private func tell(_ change: MetastabilityMachine.Change?, _ counts: LoadCounts, _ execution: ExecutionContext) {
    switch change {
    case .suspected:
      execution.tell(
        MetastabilityEvent.suspected(
          requests: counts.requests,
          attempts: counts.attempts,
          answers: counts.answers
        )
      )
    case .ended: execution.tell(MetastabilityEvent.ended)
    case nil: break
    }
  }

  private func admit(_ execution: ExecutionContext) -> Bool {
    var isAllowed = true
    update(execution) { machine, now in
      let (isAllowedNow, change) = machine.attempt(at: now)
      isAllowed = isAllowedNow
      return change
    }
    return isAllowed
  }
}

extension MetastabilityDetector: Policy {
  /// What it is, with its numbers.
  public var descriptor: StageDescriptor {
    StageDescriptor(
      .metastabilityDetector,
      name: name,
      parameters: [
        .init("attemptsPerRequest", "\(policy.attemptsPerRequest)"), .init("answeredShare", "\(policy.answeredShare)"),
        .init("window", "\(policy.window)"), .init("refusesRetries", "\(policy.refusesRetries)"),
      ]
    )
  }

  /// One call must not ask it twice.
  public var traits: StageTraits {
    var traits = StageTraits(descriptor: descriptor, sharedObject: self)
    traits.livesOnFailures = true
    return traits
  }

  /// Lets its gauge be seen.
  public func register(with events: PolicyEvents?, pipeline: String) { events?.watch(self) }

  /// Makes the machine of one attempt.
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(detector: self) }

  /// One attempt.
  public struct Machine: PolicyMachine {
    let detector: MetastabilityDetector

    /// Counts the attempt, and refuses it while the alarm is on, if it is told to and has let as many through as there are
    /// requests.
    public mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      if detector.admit(execution) { return .proceed }
      execution.tell(MetastabilityEvent.refused)
      return .refuse(RetriesSuspended(name: detector.name))
    }

    /// Counts an answer.
    public mutating func succeeded(_ execution: ExecutionContext) -> Decision<any Error> {
      countAnswer(execution)
      return .proceed
    }

    /// Counts an answer after a value, and nothing before.
    public mutating func cancelled(_ execution: ExecutionContext) {
      if execution.delivered > 0 { countAnswer(execution) }
    }

    private func countAnswer(_ execution: ExecutionContext) {
      detector.update(execution) { $0.answer(at: $1) }
    }
  }

  /// The stage of a ``MetastabilityDetector`` that counts what is asked for.
  public struct Requests: Policy {
    let detector: MetastabilityDetector

    /// Its name.
    public var descriptor: StageDescriptor {
      StageDescriptor(.metastabilityDetector, name: detector.name, parameters: [.init("counts", "requests")])
    }

    /// Makes the machine of one request.
    public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(detector: detector) }

    /// One request.
    public struct Machine: PolicyMachine {
      let detector: MetastabilityDetector

      /// Counts the request.
      public mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
        detector.update(execution) { $0.request(at: $1) }
        return .proceed
      }
    }
  }
}

extension MetastabilityDetector: PolicyObservable {
  /// That of detectors.
  public static var kind: PolicyKind { .metastabilityDetector }
  /// Its ``snapshot(on:)``.
  public var reading: (any PolicyReading)? { snapshot() }
}

extension MetastabilityDetector.Snapshot: PolicyReading {
  /// One line for a log: "60 attempts for 20 requests, 3 answers, metastability suspected".
  public var description: String {
    "\(attempts) attempts for \(requests) requests, \(answers) answers\(isSuspected ? ", metastability suspected" : "")"
  }

  /// Whether the alarm is on, and what it goes by.
  public var measurements: [PolicyMeasurement] {
    [
      .init("rebound_metastability_suspected", isSuspected ? 1 : 0, "Whether retries seem to keep the service down."),
      .init(
        "rebound_attempts_per_request",
        requests > 0 ? Double(attempts) / Double(requests) : 0,
        "How many attempts are made for each request."
      ),
    ]
  }
}

extension PolicyKind {
  /// That of a ``MetastabilityDetector``.
  public static let metastabilityDetector = PolicyKind("metastability detector")
}
