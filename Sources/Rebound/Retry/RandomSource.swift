import StreamSupport

/// Where jitter gets its randomness: numbers from `0` up to, but not including, `1`.
///
/// A policy draws from ``system`` unless it is given another source, so that a test or a replay with a seeded
/// generator gets the same delays again.
public struct RandomSource: Sendable {
  private let draw: @Sendable () -> Double

  /// Makes a source from a closure that returns a number in `0..<1`.
  ///
  /// - Parameter draw: Called once for each number, from whichever thread needs it. A number out of range is brought
  ///   into it, and what is not a number counts as `0`: a faulty generator must not make a delay negative or endless.
  public init(_ draw: @escaping @Sendable () -> Double) {
    self.draw = draw
  }

  /// Makes a source that draws from a generator of its own, one draw at a time.
  ///
  /// - Parameter generator: Copied; the copies of this source share the one state.
  public init<Generator: RandomNumberGenerator & Sendable>(drawingFrom generator: Generator) {
    let shared = SharedGenerator(generator)
    self.init { shared.generator.withLock { Double.random(in: 0..<1, using: &$0) } }
  }

  /// The system's random number generator.
  public static let system = RandomSource { Double.random(in: 0..<1) }

  /// Draws the next number.
  ///
  /// - Returns: A number in `0..<1`.
  public func next() -> Double {
    let number = draw()
    guard number > 0 else { return 0 }
    return Swift.min(number, 1.0.nextDown)
  }
}

/// One generator that many threads draw from.
private final class SharedGenerator<Generator: RandomNumberGenerator & Sendable>: Sendable {
  let generator: Locked<Generator>

  init(_ generator: Generator) {
    self.generator = Locked(generator)
  }
}
