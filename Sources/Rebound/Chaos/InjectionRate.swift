/// How often something is injected: 0 never, 1 always.
///
///     .fault(at: 0.001) { .timedOut }
///     .fault(at: InjectionRate { settings.faultRate }) { .timedOut }
public struct InjectionRate: Sendable {
  private let read: @Sendable () -> Double

  /// A rate that may change.
  ///
  /// - Parameter read: Asked each time. A number out of `0...1` is brought into it, and what is not a number counts as 0.
  public init(_ read: @escaping @Sendable () -> Double) {
    self.read = read
  }

  /// A rate that stays.
  ///
  /// - Parameter rate: In `0...1`.
  /// - Throws: ``InvalidPolicy`` if it is not.
  public init(_ rate: Double) throws(InvalidPolicy) {
    try PolicyKind.chaos.require("rate", rate, "Give a number from 0 to 1; 0.001 is one in a thousand.") {
      (0...1).contains($0)
    }
    self.init(clamping: rate)
  }

  /// A rate that stays, and is brought into range.
  ///
  /// - Parameter rate: Above 1 counts as 1; below 0, and what is not a number, as 0.
  public init(clamping rate: Double) {
    self.init { rate }
  }

  /// Throws the dice.
  func hits(_ random: RandomSource) -> Bool {
    let rate = read()
    // Neither is left to chance, so that "never" costs no number of a seeded generator.
    return rate > 0 && (rate >= 1 || random.next() < rate)
  }
}

extension InjectionRate: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
  /// A rate that stays; a literal out of `0...1` is brought into it.
  public init(floatLiteral rate: Double) {
    self.init(clamping: rate)
  }

  /// Never or always; a literal out of `0...1` is brought into it.
  public init(integerLiteral rate: Int) {
    self.init(clamping: Double(rate))
  }
}
