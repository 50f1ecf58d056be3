import Rebound

/// A random number generator that gives the same numbers for the same seed, on every platform and in every version.
///
/// It is SplitMix64: fast, good enough for jitter and shuffles, and not for secrets. Source: Steele, Lea, Flood, "Fast
/// Splittable Pseudorandom Number Generators", OOPSLA 2014.
public struct SeededRandom: RandomNumberGenerator, Hashable, Sendable {
  private var generator: SplitMix64

  /// Makes a generator.
  ///
  /// - Parameter seed: Any number; neighbouring seeds give unrelated sequences.
  public init(seed: UInt64) {
    generator = SplitMix64(seed: seed)
  }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    generator.next()
  }

  /// The next number in `0..<1`, one of 2⁵³ that lie evenly.
  public mutating func nextUnit() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}
