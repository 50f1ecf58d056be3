import Foundation

/// When requests begin.
public enum Arrivals: Codable, Hashable, Sendable {
  /// So many clients ask at fixed intervals, spread evenly; who still waits for an answer leaves a turn out.
  case periodic(clients: Int, every: Double)
  /// One after the other at the same distance, whatever becomes of those before.
  case constant(perSecond: Double)
  /// At random, independently of each other: a Poisson process.
  case poisson(perSecond: Double)
  /// A Poisson process of bursts, each of so many requests at once.
  case bursts(perSecond: Double, size: Int)
  /// A Poisson process whose rate goes up and down: `perSecond · (1 + amplitude · sin(2π t / period))`.
  case daily(perSecond: Double, amplitude: Double, period: Double)
  /// So many clients ask, wait for the end, think, and ask again: a closed loop, which has gone on for long when the play begins.
  case closed(clients: Int, thinkTime: Distribution)

  /// Requests a second without any trouble; of a closed loop, if answers took no time.
  public var rate: Double {
    switch self {
    case .periodic(let clients, let period): Double(clients) / period
    case .constant(let rate), .poisson(let rate), .daily(let rate, _, _): rate
    case .bursts(let rate, let size): rate * Double(size)
    case .closed(let clients, let thinkTime): Double(clients) / thinkTime.mean
    }
  }

  /// The highest rate that it comes to.
  var peakRate: Double {
    if case .daily(let rate, let amplitude, _) = self { rate * (1 + amplitude) } else { rate }
  }

  /// How many requests begin between two moments without any trouble, on the mean.
  func requests(from begin: Double, to end: Double) -> Double {
    var length = end - begin
    if case .daily(_, let amplitude, let period) = self, period.isFinite {
      // The integral of the sine.
      let turns = (begin: begin / period, end: end / period)
      length +=
        amplitude * period / Double.pi * sine(turns: (turns.begin + turns.end) / 2)
        * sine(turns: (turns.end - turns.begin) / 2)
    }
    return rate * length
  }

  /// How many requests come at once.
  var burstSize: Int {
    if case .bursts(_, let size) = self { size } else { 1 }
  }

  /// Whether the rate is the same at all times.
  var isSteady: Bool {
    if case .daily = self { return false }
    return true
  }

  /// The rate, if it is the same at all times and hangs on no answers.
  var certainRate: Double? {
    if case .closed = self { return nil }
    return isSteady ? rate : nil
  }

  /// The same arrivals, so many times as often.
  ///
  /// - Parameter factor: Above zero. Clients are rounded to whole ones.
  public func scaled(by factor: Double) -> Arrivals { scaled(by: factor, rounding: .toNearestOrAwayFromZero) }

  /// - Parameter rule: How clients are rounded to whole ones; one is the least.
  func scaled(by factor: Double, rounding rule: FloatingPointRoundingRule) -> Arrivals {
    switch self {
    case .periodic(let clients, let period):
      .periodic(clients: max(Int((Double(clients) * factor).rounded(rule)), 1), every: period)
    case .constant(let rate): .constant(perSecond: rate * factor)
    case .poisson(let rate): .poisson(perSecond: rate * factor)
    case .bursts(let rate, let size): .bursts(perSecond: rate * factor, size: size)
    case .daily(let rate, let amplitude, let period):
      .daily(perSecond: rate * factor, amplitude: amplitude, period: period)
    case .closed(let clients, let thinkTime):
      .closed(clients: max(Int((Double(clients) * factor).rounded(rule)), 1), thinkTime: thinkTime)
    }
  }

  func validate() throws(InvalidScenario) {
    let rate = rate
    try require(rate > 0 && rate.isFinite, "arrivals", "\(self)", "Give clients, rates and periods above 0.")
    switch self {
    case .closed(_, let thinkTime): try thinkTime.validate("arrivals.thinkTime")
    // Time goes on by whole nanoseconds; without one between two requests it would stand still.
    case .periodic, .constant, .poisson, .bursts, .daily:
      try require(rate <= 1e9, "arrivals", "\(self)", "Give at most 1e9 requests a second.")
    }
    switch self {
    case .periodic(let clients, _), .closed(let clients, _):
      try require((1...100_000_000).contains(clients), "arrivals.clients", "\(clients)", "Give 1 to 100000000.")
    case .daily(_, let amplitude, let period):
      try require((0...1).contains(amplitude), "arrivals.amplitude", "\(amplitude)", "Give 0 to 1.")
      try require(period > 0, "arrivals.period", "\(period)", "Give a positive number of seconds.")
    case .bursts(_, let size): try require(size >= 1, "arrivals.size", "\(size)", "Give at least 1.")
    case .constant, .poisson: break
    }
  }
}

/// How a length of time in seconds is distributed.
public enum Distribution: Codable, Hashable, Sendable {
  /// Always the same.
  case constant(Double)
  /// Without memory.
  case exponential(mean: Double)
  /// Anything between two numbers.
  case uniform(from: Double, to: Double)
  /// With a long tail: the logarithm is normal.
  case logNormal(median: Double, sigma: Double)
  /// One length for a share of the draws, another for the rest.
  case either(share: Double, Double, otherwise: Double)

  /// The mean.
  public var mean: Double {
    switch self {
    case .constant(let length), .exponential(let length): length
    case .uniform(let low, let high): (low + high) / 2
    case .logNormal(let median, let sigma): median * exp(sigma * sigma / 2)
    case .either(let share, let first, let second): share * first + (1 - share) * second
    }
  }

  func draw(_ random: inout StormRandom) -> Double {
    switch self {
    case .constant(let length): length
    case .exponential(let mean): random.exponential(mean: mean)
    case .uniform(let low, let high): low + (high - low) * random.unit()
    case .logNormal(let median, let sigma): median * exp(sigma * random.normal())
    case .either(let share, let first, let second): random.unit() < share ? first : second
    }
  }

  /// What is left of such a length at a moment that has nothing to do with when it began.
  ///
  /// A moment is within a long one more often than within a short one, and as likely early in it as late.
  func drawRest(_ random: inout StormRandom) -> Double {
    switch self {
    case .constant(let length): length * random.unit()
    case .exponential: draw(&random)
    case .uniform(let low, let high):
      (low * low + (high * high - low * low) * random.unit()).squareRoot() * random.unit()
    case .logNormal(let median, let sigma): median * exp(sigma * sigma + sigma * random.normal()) * random.unit()
    case .either(let share, let first, let second):
      (random.unit() * mean < share * first ? first : second) * random.unit()
    }
  }

  func validate(_ setting: String) throws(InvalidScenario) {
    let numbers: [Double] =
      switch self {
      case .constant(let length), .exponential(let length): [length]
      case .uniform(let low, let high): [low, high, high - low]
      case .logNormal(let median, let sigma): [median, sigma]
      case .either(let share, let first, let second): [share, 1 - share, first, second]
      }
    let isValid = numbers.allSatisfy { $0 >= 0 && $0.isFinite }
    try require(isValid && mean > 0, setting, "\(self)", "Give finite numbers of seconds from 0, with a mean above 0.")
  }
}
