import Foundation

/// What the environment says about the races.
enum StressSettings {
  /// How many rounds each race runs, each with a seed of its own.
  ///
  /// `scripts/stress` runs more of them.
  static let rounds = number("REBOUND_STRESS_ROUNDS") ?? 40

  /// The seed to run alone, as often as there are rounds; it is what a failure prints.
  static let onlySeed = number("REBOUND_STRESS_SEED").map(UInt64.init)

  static var seeds: [UInt64] {
    (0..<rounds).map { onlySeed ?? UInt64($0) }
  }

  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
  }
}
