import Rebound

extension RandomSource {
  /// A source that gives the same numbers for the same seed.
  ///
  /// Each call makes a source of its own; one source that is shared gives its numbers to whoever asks first.
  public static func seeded(_ seed: UInt64) -> RandomSource {
    RandomSource(drawingFrom: SeededRandom(seed: seed))
  }

  /// A source that gives one number for ever.
  ///
  /// - Parameter number: In `0..<1`.
  public static func fixed(_ number: Double) -> RandomSource {
    RandomSource { number }
  }
}
