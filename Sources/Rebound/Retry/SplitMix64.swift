/// A generator that is a value: fast, good enough for jitter and choices, and not for secrets.
///
/// It gives the same numbers for the same seed, on every platform and in every version. Source: Steele, Lea, Flood, "Fast
/// Splittable Pseudorandom Number Generators", OOPSLA 2014.
@usableFromInline
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
  @usableFromInline var state: UInt64

  /// Makes a generator.
  ///
  /// - Parameter seed: Any number; neighbouring seeds give unrelated sequences.
  @inlinable
  package init(seed: UInt64) {
    state = seed
  }

  /// The next 64 random bits.
  @inlinable
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mixed(state)
  }

  /// A number that differs in half of the bits where another differs in one; no two numbers are mixed to the same.
  @inlinable
  package static func mixed(_ number: UInt64) -> UInt64 {
    var bits = number
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
