import Foundation

/// How long to wait before each retry: a curve, chance on top, and a cap that holds last.
///
///     .exponential(from: .milliseconds(500), upTo: .seconds(20))
///     .steps(.seconds(1), .seconds(3), .seconds(5), .seconds(10))
///     .constant(.seconds(1)).jittered(.ratio(0.25))
///
/// Every curve saturates: the delay of retry 10,000 is as finite as the first. Delays are rounded once, at the end, to
/// whole nanoseconds, and none is longer than about 31 years.
///
/// A back-off is data, and making one cannot fail. Numbers that make no sense (a negative delay, a cap below the first
/// delay, a multiplier under 1) are refused by ``RetryPolicy/init(maxRetries:backoff:maxHint:deadline:random:)``, and
/// brought into range by everything else.
public struct Backoff: Sendable {
  package enum Curve: Sendable {
    case constant(Duration)
    case linear(Duration)
    case exponential(Duration, multiplier: Double)
    case steps([Duration])
    case custom(@Sendable (_ retry: Int) -> Duration)
  }

  package var curve: Curve
  package var jitter: Jitter
  package var cap: Duration?

  /// No pause at all.
  public static let immediate = Backoff.constant(.zero)

  /// From 0.5 s, doubling, up to 20 s, with full jitter: what a client of a busy service wants.
  public static let standard = Backoff.exponential(from: .milliseconds(500), upTo: .seconds(20))

  /// The same delay each time.
  ///
  /// - Parameter delay: Zero retries at once.
  public static func constant(_ delay: Duration) -> Backoff {
    Backoff(curve: .constant(delay), jitter: .none, cap: nil)
  }

  /// Grows by the same step each time: `step·(n + 1)` for retry n, from 0.
  ///
  /// - Parameters:
  ///   - step: The first delay, and what each retry adds to it.
  ///   - cap: The longest delay.
  public static func linear(_ step: Duration, upTo cap: Duration? = nil) -> Backoff {
    Backoff(curve: .linear(step), jitter: .none, cap: cap)
  }

  /// Grows by the same factor each time: `base·multiplierⁿ` for retry n, from 0.
  ///
  /// Has full jitter unless told otherwise: clients that back off exponentially but in step still arrive in waves.
  ///
  /// - Parameters:
  ///   - base: The first delay.
  ///   - multiplier: The factor, at least 1.
  ///   - cap: The longest delay.
  ///   - jitter: The chance on top.
  public static func exponential(
    from base: Duration,
    multiplier: Double = 2,
    upTo cap: Duration? = nil,
    jitter: Jitter = .full
  ) -> Backoff {
    Backoff(curve: .exponential(base, multiplier: multiplier), jitter: jitter, cap: cap)
  }

  /// Takes one delay after the other, and stays at the last.
  ///
  /// - Parameters:
  ///   - first: The delay before the first retry.
  ///   - others: The delays after it.
  public static func steps(_ first: Duration, _ others: Duration...) -> Backoff {
    Backoff(curve: .steps([first] + others), jitter: .none, cap: nil)
  }

  /// Asks a closure.
  ///
  /// - Parameters:
  ///   - cap: The longest delay.
  ///   - delay: Gets the number of the retry, from 0.
  public static func custom(upTo cap: Duration? = nil, _ delay: @escaping @Sendable (_ retry: Int) -> Duration)
    -> Backoff
  {
    Backoff(curve: .custom(delay), jitter: .none, cap: cap)
  }

  /// The same back-off with this chance on top, in place of the one before.
  public func jittered(_ jitter: Jitter) -> Backoff {
    changed(self) { $0.jitter = jitter }
  }

  /// The same back-off with this as its longest delay, in place of the one before.
  public func capped(at cap: Duration) -> Backoff {
    changed(self) { $0.cap = cap }
  }

  /// The delays of one execution, in order and without end.
  ///
  ///     Array(Backoff.linear(.seconds(1)).delays().prefix(3))   // 1 s, 2 s, 3 s
  ///
  /// - Parameter random: Asked once for each delay that has jitter.
  public func delays(random: RandomSource = .system) -> Delays {
    Delays(self, random: random)
  }

  /// The delays of one execution.
  ///
  /// Some kinds of jitter build on the delay drawn before, so each execution needs its own.
  public struct Delays: Sequence, IteratorProtocol, Sendable {
    private let backoff: Backoff
    private let random: RandomSource
    private var retry = 0
    /// What the kinds of decorrelated jitter remember: the last delay drawn, or the last value of f.
    private var memory: Double?

    fileprivate init(_ backoff: Backoff, random: RandomSource) {
      self.backoff = backoff
      self.random = random
    }

    private var limit: Duration { (backoff.cap ?? .longestDelay).clampedToDelay }
    private var cap: Double { limit.inSeconds }

    /// The next delay.
    ///
    /// - Returns: Never `nil`. At least zero, at most the cap.
    public mutating func next() -> Duration? {
      nextStep().delay
    }

    /// The next delay, and how widely chance may spread a longer one that takes its place.
    package mutating func nextStep() -> (delay: Duration, width: Duration) {
      if case .constant(let delay) = backoff.curve, case .none = backoff.jitter.kind {
        return (Swift.min(delay.clampedToDelay, limit), .zero)
      }
      let computed = Swift.min(curveDelay(retry), cap)
      let drawn = draw(around: computed)
      if retry < .max { retry += 1 }
      // Last of all, since jitter and rounding may both step over the cap.
      let delay = Swift.min(Duration(saturatingSeconds: drawn), limit)
      return (delay, Duration(saturatingSeconds: backoff.jitter.clamped.width(around: computed)))
    }

    private func curveDelay(_ retry: Int) -> Double {
      switch backoff.curve {
      case .constant(let delay):
        return delay.clampedToDelay.inSeconds
      case .linear(let step):
        return step.clampedToDelay.inSeconds * (Double(retry) + 1)
      case .exponential(let base, let multiplier):
        // Zero times infinity is not a number; a base of zero stays zero.
        let seconds = base.clampedToDelay.inSeconds
        return seconds == 0 ? 0 : seconds * pow(multiplier >= 1 ? multiplier : 1, Double(retry))
      case .steps(let delays):
        return delays[Swift.min(retry, delays.count - 1)].clampedToDelay.inSeconds
      case .custom(let delay):
        return delay(retry).clampedToDelay.inSeconds
      }
    }

    private mutating func draw(around computed: Double) -> Double {
      switch backoff.jitter.clamped.kind {
      case .none:
        return computed
      case .ratio(let j):
        return computed * (1 - j + 2 * j * random.next())
      case .full:
        return computed * random.next()
      case .equal:
        return computed / 2 + computed / 2 * random.next()
      case .decorrelated:
        let base = Swift.min(curveDelay(0), cap)
        let drawn = Swift.min(cap, base + (3 * (memory ?? base) - base) * random.next())
        memory = drawn
        return drawn
      case .smoothDecorrelated:
        let t = Double(retry) + random.next()
        let f = exp2(t) * tanh((4 * t).squareRoot())
        let base = curveDelay(0)
        let drawn = base * (f - (memory ?? 0)) / 1.4
        memory = f
        // Infinity minus infinity, once both powers have overflowed; a base of zero stays zero.
        return base == 0 ? 0 : drawn.isNaN ? cap : drawn
      }
    }
  }
}

extension Jitter {
  /// The same jitter with its ratio brought into `0...1`.
  fileprivate var clamped: Jitter {
    guard case .ratio(let j) = kind else { return self }
    return .ratio(j > 0 ? Swift.min(j, 1) : 0)
  }
}

extension Backoff {
  /// Refuses numbers that make no sense.
  package func validate(for kind: PolicyKind) throws(InvalidPolicy) {
    if case .ratio(let ratio) = jitter.kind {
      let advice = "Give a number from 0 to 1; 0.25 is a quarter up or down."
      try kind.require("jitter", ratio, advice) { (0...1).contains($0) }
    }
    try kind.require("cap", cap, "Give a positive duration, or nil for no cap.") { $0 > .zero }
    var delays: [Duration] = []
    switch curve {
    case .constant(let delay): delays = [delay]
    case .linear(let base), .exponential(let base, _):
      let advice = "Give a positive duration for delays that grow, or use .immediate."
      try kind.require("base", base, advice) { $0 > .zero }
      delays = [base]
    case .steps(let steps): delays = steps
    case .custom:
      // What the closure will return is not known before; each delay is brought into range when it comes.
      break
    }
    if case .exponential(_, let multiplier) = curve {
      let advice = "Give a finite number from 1; 2 doubles each delay."
      try kind.require("multiplier", multiplier, advice) { $0 >= 1 && $0.isFinite }
    }
    for delay in delays {
      try kind.require("delay", delay, "Give zero to retry at once, or a positive duration.") { $0 >= .zero }
    }
    guard let first = delays.first else { return }
    try kind.require("cap", cap, "Give at least the first delay, which is \(first).") { $0 >= first }
  }
}
