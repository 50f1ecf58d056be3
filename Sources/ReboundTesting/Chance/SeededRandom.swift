/// A random number generator that gives the same numbers for the same seed, on every platform and in every version.
///
/// It is SplitMix64: fast, good enough for jitter and shuffles, and not for secrets. Source: Steele, Lea, Flood, "Fast
/// Splittable Pseudorandom Number Generators", OOPSLA 2014.
public struct SeededRandom: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  /// Makes a generator.
  ///
  /// - Parameter seed: Any number; neighbouring seeds give unrelated sequences.
  public init(seed: UInt64) {
    state = seed
  }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// The next number in `0..<1`, one of 2⁵³ that lie evenly.
  public mutating func nextUnit() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}
