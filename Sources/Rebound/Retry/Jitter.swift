/// How chance spreads the delays of a ``Backoff``, so that clients that failed together do not come back together.
///
/// In the formulas `d` is the delay that the back-off computed (already capped), `b` its first one, `U(x, y)` a uniform
/// draw. The cap of the back-off is applied once more after the draw: no jitter exceeds it.
public struct Jitter: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case none
    case ratio(Double)
    case full
    case equal
    case decorrelated
    case smoothDecorrelated
  }

  package let kind: Kind

  /// No chance: `d`.
  public static let none = Jitter(kind: .none)

  /// A band around the delay: `U(d·(1 − j), d·(1 + j))`.
  ///
  /// - Parameter j: The band's half width, in `0...1`.
  ///
  /// Used so by Polly (j = 0.25), resilience4j and Reactor (j = 0.5).
  public static func ratio(_ j: Double) -> Jitter {
    Jitter(kind: .ratio(j))
  }

  /// Anything up to the delay: `U(0, d)`.
  ///
  /// Spreads best, and may retry at once.
  ///
  /// Source: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
  public static let full = Jitter(kind: .full)

  /// Half of the delay for certain, the other half by chance: `d/2 + U(0, d/2)`.
  ///
  /// Source: as ``full``.
  public static let equal = Jitter(kind: .equal)

  /// Grows from the delay drawn before, not from the number of the attempt: `U(b, 3·previous)`, first `U(b, 3·b)`.
  ///
  /// Of the back-off only the first delay and the cap count. Source: as ``full``.
  public static let decorrelated = Jitter(kind: .decorrelated)

  /// A smooth spread around doubling delays, with the median of the first one near `b`.
  ///
  /// With `t = n + U(0, 1)` and `f(t) = 2ᵗ·tanh(√(4·t))`, the delay is `b·(f(tₙ) − f(tₙ₋₁))/1.4`. Of the back-off only
  /// the first delay and the cap count. Source: "decorrelated jitter back-off v2" of Polly.Contrib.WaitAndRetry, by
  /// George Polevoy; the jitter of Polly's exponential back-off.
  public static let smoothDecorrelated = Jitter(kind: .smoothDecorrelated)

  /// Over how wide a span, in seconds, this jitter spreads a computed delay.
  package func width(around delay: Double) -> Double {
    switch kind {
    case .none: return 0
    case .ratio(let j): return delay * j
    case .equal: return delay / 2
    case .full, .decorrelated, .smoothDecorrelated: return delay
    }
  }
}
