import StreamSupport

/// Tells when retries, and no longer a fault, are what keeps a service down.
///
///     let detector = MetastabilityDetector("weather")
///     let weather = try Pipeline<Forecast>("weather", events: events) {
///       detector.requests                    // outside of the retry
///       Retry(.standard)
///       detector.attempts                    // inside of it
///     }
///
/// It is suspected when, over a window, a service answers some attempts and refuses most, and there are many more attempts than
/// requests: it is there, and what it is offered is mostly made again. A service that answers nothing at all is out, which is
/// no such state. It changes nothing: it tells a ``MetastabilityEvent``, and is a gauge.
///
/// Source of the word: Bronson, Aghayev, Charapko, Zhu, "Metastable Failures in Distributed Systems", HotOS 2021. The rule is
/// this library's own.
public final class MetastabilityDetector: Sendable {
  /// When it suspects.
  public struct Rule: Hashable, Sendable {
    /// Over how long attempts are counted; it moves on a tenth at a time.
    public let window: Duration
    /// How many attempts there must be within it.
    public let minimumAttempts: Int
    /// From how many attempts for each request on.
    public let amplification: Double
    /// From which share of failed attempts on.
    public let failureRatio: Double

    /// Three seconds, twenty attempts, twice as many attempts as requests, half of them failed.
    public static let standard = Rule(window: .seconds(3), minimumAttempts: 20, amplification: 2, failureRatio: 0.5)

    /// Makes a rule, and refuses numbers that make no sense.
    ///
    /// - Parameters:
    ///   - checkedWindow: Over how long attempts are counted.
    ///   - minimumAttempts: How many attempts there must be within it.
    ///   - amplification: From how many attempts for each request on.
    ///   - failureRatio: From which share of failed attempts on.
    /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
    public init(
      over checkedWindow: Duration,
      minimumAttempts: Int = 20,
      amplification: Double = 2,
      failureRatio: Double = 0.5
    ) throws(InvalidPolicy) {
      let kind = PolicyKind.metastability
      try kind.require("window", checkedWindow, "Give at least a millisecond.") { $0 >= .milliseconds(1) }
      try kind.require("minimumAttempts", minimumAttempts, "Give at least 1.") { $0 >= 1 }
      try kind.require("amplification", amplification, "Give a finite number from 1.") { $0 >= 1 && $0.isFinite }
      try kind.require("failureRatio", failureRatio, "Give a number above 0, at most 1.") { $0 > 0 && $0 <= 1 }
      self.init(
        window: checkedWindow.clampedToDelay,
        minimumAttempts: minimumAttempts,
        amplification: amplification,
        failureRatio: failureRatio
      )
    }

    private init(window: Duration, minimumAttempts: Int, amplification: Double, failureRatio: Double) {
      self.window = window
      self.minimumAttempts = minimumAttempts
      self.amplification = amplification
      self.failureRatio = failureRatio
    }
  }

  /// What it has counted within its window.
  public struct Snapshot: Hashable, Sendable {
    /// How many requests began.
    public let requests: Int
    /// How many attempts succeeded.
    public let succeeded: Int
    /// How many attempts failed.
    public let failed: Int
    /// Whether the rule holds.
    public let isSuspected: Bool

    /// Describes what a detector has counted.
    ///
    /// - Parameters:
    ///   - requests: How many requests began.
    ///   - succeeded: How many attempts succeeded.
    ///   - failed: How many attempts failed.
    ///   - isSuspected: Whether the rule holds.
    public init(requests: Int, succeeded: Int, failed: Int, isSuspected: Bool) {
      self.requests = requests
      self.succeeded = succeeded
      self.failed = failed
      self.isSuspected = isSuspected
    }
  }

  /// What it watches, for its events and its gauge.
  public let name: String
  private let shared: Shared<MetastabilityMachine, MetastabilityEvent>

  /// Makes a detector that has seen nothing.
  ///
  /// - Parameters:
  ///   - name: What it watches.
  ///   - rule: When it suspects.
  public init(_ name: String, rule: Rule = .standard) {
    self.name = name
    shared = Shared(MetastabilityMachine(rule))
  }

  /// The stage that counts requests: outside of the retry.
  public var requests: MetastabilityTap { MetastabilityTap(detector: self, isOutside: true) }

  /// The stage that counts attempts: inside of the retry.
  public var attempts: MetastabilityTap { MetastabilityTap(detector: self, isOutside: false) }

  /// Tells one more observer what is suspected, in order, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (MetastabilityEvent) -> Void) -> MetastabilityDetector {
    shared.observe(observer)
    return self
  }

  /// What it has counted within its window; reading it changes nothing.
  ///
  /// - Parameter time: Says what now is.
  public func snapshot(on time: TimeSource = .current) -> Snapshot {
    let now = time.now
    var machine = shared.read { $0 }
    machine.move(to: now)
    return machine.snapshot
  }

  fileprivate func count(_ occasion: MetastabilityMachine.Occasion, at now: Duration) {
    shared.change { machine, events in
      let before = machine.isSuspected
      machine.count(occasion, at: now)
      guard machine.isSuspected != before else { return }
      events.append(before ? .cleared : .suspected(machine.snapshot))
    }
  }
}

extension MetastabilityDetector: PolicyObservable {
  /// That of detectors.
  public static var kind: PolicyKind { .metastability }
  /// Its ``snapshot(on:)``.
  public var reading: (any PolicyReading)? { snapshot() }

  /// Tells one more observer.
  public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) { onEvent { observer($0) } }
}

/// Where a ``MetastabilityDetector`` counts.
public struct MetastabilityTap: Policy {
  let detector: MetastabilityDetector
  let isOutside: Bool

  /// What it counts.
  public var descriptor: StageDescriptor {
    StageDescriptor(
      .metastability,
      name: detector.name,
      parameters: [.init("counts", isOutside ? "requests" : "attempts")]
    )
  }

  /// Lets the detector be seen.
  public func register(with events: PolicyEvents?, pipeline: String) {
    if isOutside { events?.watch(detector, named: pipeline) }
  }

  /// Makes the machine of one execution.
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(tap: self) }

  /// One request, or one attempt.
  public struct Machine: PolicyMachine {
    /// It does not care what calls fail with.
    public typealias Failure = any Error

    let tap: MetastabilityTap

    /// Counts a request.
    public mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      if tap.isOutside { tap.detector.count(.request, at: execution.now) }
      return .proceed
    }

    /// Counts an attempt that succeeded.
    public mutating func succeeded(_ execution: ExecutionContext) -> Decision<any Error> {
      if !tap.isOutside { tap.detector.count(.success, at: execution.now) }
      return .proceed
    }

    /// Counts an attempt that failed.
    public mutating func failed(with error: any Error, _ execution: ExecutionContext) -> Decision<any Error> {
      if !tap.isOutside { tap.detector.count(.failure, at: execution.now) }
      return .proceed
    }
  }
}
