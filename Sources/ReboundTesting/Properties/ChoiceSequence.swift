/// The random choices that a ``Generator`` makes a value of.
///
/// They are written down as they are made. A failing property is run again with simpler choices, shorter or smaller ones,
/// and whatever is made of them is simpler, too; so a generator need not know how to simplify its values. Source: MacIver
/// and Donaldson, "Test-Case Reduction via Test-Case Generation", ECOOP 2020.
public struct ChoiceSequence: Sendable {
  /// Beyond so many, all choices are zero, so that what grows by chance comes to an end.
  static let limit = 65_536

  private let given: [UInt64]
  private var random: SeededRandom?
  /// What was chosen so far.
  private(set) var made: [UInt64] = []
  /// Whether a generator has given up, so that the value must not be used.
  var isRejected = false

  /// Draws by chance.
  init(seed: UInt64) {
    given = []
    random = SeededRandom(seed: seed)
  }

  /// Takes these choices, and zeros behind them.
  init(_ given: [UInt64]) {
    self.given = given
  }

  /// Chooses a number from zero to `most`, both included; zero is the simplest.
  ///
  /// Have the simplest value of a generator come of zeros, and of fewer choices.
  public mutating func draw(upTo most: UInt64) -> UInt64 {
    choose(upTo: most) { ChoiceSequence.even(upTo: most, &$0) }
  }

  /// The same, but small numbers and the largest come more often than others.
  mutating func drawFavouringEnds(upTo most: UInt64) -> UInt64 {
    choose(upTo: most) { random in
      switch random.next() % 4 {
      case 0: min(ChoiceSequence.even(upTo: 20, &random), most)
      case 1: most - min(ChoiceSequence.even(upTo: 2, &random), most)
      default: ChoiceSequence.even(upTo: most, &random)
      }
    }
  }

  private mutating func choose(upTo most: UInt64, _ chance: (inout SeededRandom) -> UInt64) -> UInt64 {
    var choice: UInt64 = 0
    if made.count < given.count {
      choice = min(given[made.count], most)
    } else if made.count < ChoiceSequence.limit, var random {
      choice = chance(&random)
      self.random = random
    }
    made.append(choice)
    return choice
  }

  private static func even(upTo most: UInt64, _ random: inout SeededRandom) -> UInt64 {
    let bits = random.next()
    return most == .max ? bits : bits.multipliedFullWidth(by: most + 1).high
  }

  /// Makes a value of the next choices.
  public mutating func draw<Value>(_ generator: Generator<Value>) -> Value { generator.make(&self) }
}
