import Foundation
import StreamSupport

/// Refuses calls itself when the service accepts far fewer than are made, and the more so the fewer it accepts.
///
///     let weather = try Pipeline<Forecast>("weather") {
///       Retry()
///       AdaptiveThrottle("weather")
///     }
///
/// A refusal here costs the service nothing, one of the service's own costs it work. Unlike a breaker it does not switch: each
/// call is refused with the probability `(requests − K·accepts) / (requests + 1)`, not under 0 and not over 0.9, over the calls
/// of a window that have ended. So some calls always go through, and the service is found well as soon as it is. One throttle
/// is shared by everything that calls the same service. A cancelled call counts only after a value: as accepted.
///
/// Inside of a retry it refuses attempts; so does ``Throttled``, which a retry takes for a failure like another, unless a
/// condition says otherwise. Put the limit of time inside: a call that is cut off from outside is a cancelled one, and does not
/// count against the service.
///
/// Source: "Handling Overload", client-side throttling, in Google's "Site Reliability Engineering", chapter 21.
public final class AdaptiveThrottle: Sendable {
  /// What it protects, for its errors and its gauge.
  public let name: String
  /// When it refuses.
  public let policy: AdaptiveThrottlePolicy
  private let random: RandomSource
  private let isOverload: @Sendable (any Error) -> Bool
  private let state: Locked<AdaptiveThrottleMachine>

  /// Makes a throttle that has seen no calls.
  ///
  /// - Parameters:
  ///   - name: What it protects.
  ///   - policy: When it refuses.
  ///   - random: Decides who is refused.
  ///   - isOverload: Which errors say that the service did not accept the call; all unless told otherwise. Others count as
  ///     accepted: the service did what it was asked.
  public init(
    _ name: String,
    policy: AdaptiveThrottlePolicy = .standard,
    random: RandomSource = .system,
    overloadedWhen isOverload: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    self.name = name
    self.policy = policy
    self.random = random
    self.isOverload = isOverload
    state = Locked(AdaptiveThrottleMachine(policy))
  }

  /// What it has counted within its window.
  public struct Snapshot: Hashable, Sendable {
    /// How many calls have ended, those that were refused here included.
    public let requests: Int
    /// How many of them the service accepted.
    public let accepts: Int
    /// How likely the next call is to be refused here, in `0...0.9`.
    public let refusalProbability: Double

    /// Describes what a throttle has counted.
    public init(requests: Int, accepts: Int, refusalProbability: Double) {
      self.requests = requests
      self.accepts = accepts
      self.refusalProbability = refusalProbability
    }
  }

  /// What it has counted within its window; reading it changes nothing.
  ///
  /// - Parameter time: Says what now is.
  public func snapshot(on time: TimeSource = .current) -> Snapshot {
    var machine = state.withLock { $0 }
    machine.move(to: time.now)
    return Snapshot(
      requests: machine.requests,
      accepts: machine.accepts,
      refusalProbability: machine.refusalProbability
    )
  }

  fileprivate func refusal(at now: Duration) -> Throttled? {
    let probability = state.withLock { $0.refusalProbability(at: now) }
    // Nothing is drawn while nothing is to be decided.
    guard probability > 0, random.next() < probability else { return nil }
    count(isAccepted: false, at: now)
    return Throttled(name: name, refusalProbability: probability)
  }

  fileprivate func count(isAccepted: Bool, at now: Duration) {
    state.withLock { $0.count(isAccepted: isAccepted, at: now) }
  }
}

extension AdaptiveThrottle: Policy {
  /// What it is, with its numbers.
  public var descriptor: StageDescriptor {
    StageDescriptor(
      .adaptiveThrottle,
      name: name,
      parameters: [.init("factor", "\(policy.factor)"), .init("window", "\(policy.window)")]
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

  /// Makes the machine of one execution.
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(throttle: self) }

  /// One call through it.
  public struct Machine: PolicyMachine {
    let throttle: AdaptiveThrottle

    /// Refuses the call, which is counted then, or lets it through.
    public mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      guard let refusal = throttle.refusal(at: execution.now) else { return .proceed }
      execution.tell(AdaptiveThrottleEvent.refused(probability: refusal.refusalProbability))
      return .refuse(refusal)
    }

    /// Counts it as accepted.
    public mutating func succeeded(_ execution: ExecutionContext) -> Decision<any Error> {
      throttle.count(isAccepted: true, at: execution.now)
      return .proceed
    }

    /// Counts it, and as accepted if the failure does not speak against the service.
    public mutating func failed(with error: any Error, _ execution: ExecutionContext) -> Decision<any Error> {
      throttle.count(isAccepted: !throttle.isOverload(error), at: execution.now)
      return .proceed
    }

    /// Counts it as accepted after a value, and not at all before.
    public mutating func cancelled(_ execution: ExecutionContext) {
      if execution.delivered > 0 { throttle.count(isAccepted: true, at: execution.now) }
    }
  }
}

extension AdaptiveThrottle: PolicyObservable {
  /// That of adaptive throttles.
  public static var kind: PolicyKind { .adaptiveThrottle }
  /// Its ``snapshot(on:)``.
  public var reading: (any PolicyReading)? { snapshot() }
}

extension AdaptiveThrottle.Snapshot: PolicyReading {
  /// One line for a log: "12 of 40 accepted, 0.39 refused here".
  public var description: String { "\(accepts) of \(requests) accepted, \(refusalProbability) refused here" }

  /// How likely a refusal is.
  public var measurements: [PolicyMeasurement] {
    [
      .init(
        "rebound_throttle_refusal_probability",
        refusalProbability,
        "How likely a call is to be refused before it is made."
      )
    ]
  }
}

extension PolicyKind {
  /// That of an ``AdaptiveThrottle``.
  public static let adaptiveThrottle = PolicyKind("adaptive throttle")
}

/// Something that an ``AdaptiveThrottle`` has decided; a warning.
public enum AdaptiveThrottleEvent: Hashable, Sendable, RecordedDecision {
  /// A call is refused, as likely as this.
  case refused(probability: Double)

  /// That of adaptive throttles.
  public static var kind: PolicyKind { .adaptiveThrottle }

  var record: DecisionRecord {
    switch self {
    case .refused(let probability): .init(.warning, "refused", "refused with probability \(probability)")
    }
  }
}

/// An ``AdaptiveThrottle`` did not let a call through.
public struct Throttled: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is protected.
  public let name: String
  /// How likely that was.
  public let refusalProbability: Double

  /// Describes a refusal.
  public init(name: String, refusalProbability: Double) {
    self.name = name
    self.refusalProbability = refusalProbability
  }

  /// What happened, and what to do next.
  public var description: String { "\(name) accepts too few calls; this one was not made. Try again in a moment." }
}

extension Throttled: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "The service has too much to do." }
  /// What to do next, for people.
  public var recoverySuggestion: String? { "Try again in a moment." }
}
