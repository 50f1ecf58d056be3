import Foundation
import ReboundTesting

/// The chance of one part of a play, with the draws that scenarios need.
struct StormRandom {
  private var generator: SeededRandom
  private var spareNormal: Double?

  /// Parts of a play draw apart, so that one that draws more changes none of the others.
  init(seed: UInt64, part: UInt64) {
    var mixer = SeededRandom(seed: seed ^ (part &* 0xD6E8_FEB8_6659_FD93))
    generator = SeededRandom(seed: mixer.next())
  }

  mutating func unit() -> Double { generator.nextUnit() }

  mutating func bits() -> UInt64 { generator.next() }

  mutating func exponential(mean: Double) -> Double { -mean * log(1 - unit()) }

  /// By the polar method of Marsaglia and Bray, "A Convenient Method for Generating Normal Variables", SIAM Review 6 (3), 1964.
  mutating func normal() -> Double {
    if let spare = spareNormal {
      spareNormal = nil
      return spare
    }
    while true {
      let (x, y) = (2 * unit() - 1, 2 * unit() - 1)
      let square = x * x + y * y
      guard square < 1, square > 0 else { continue }
      let factor = (-2 * log(square) / square).squareRoot()
      spareNormal = y * factor
      return x * factor
    }
  }

  mutating func index(below count: Int) -> Int { Int(generator.next().multipliedFullWidth(by: UInt64(count)).high) }
}

/// The sine of so many full turns.
func sine(turns: Double) -> Double { sin(2 * Double.pi * turns) }
