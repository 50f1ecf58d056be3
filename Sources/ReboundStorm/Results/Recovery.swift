/// When all is well again: the one definition of it, for plays and for predictions.
struct Recovery {
  let served: [Double]
  let offered: [Double]
  let begun: [Double]
  /// `nil` if nobody can tell.
  let normalLoad: Double?
  /// How many requests come at once.
  let burstSize: Int
  /// After how many seconds all pauses of the service have come once.
  let pauseCycle: Double

  init(of scenario: Scenario, served: [Double], offered: [Double], begun: [Double]) {
    (self.served, self.offered, self.begun) = (served, offered, begun)
    normalLoad = scenario.loadBeforeTrouble(begun) ?? scenario.arrivals.certainRate
    burstSize = scenario.arrivals.burstSize
    pauseCycle = scenario.service.pauseCycle
  }

  /// How many seconds after a moment all is well, and stays so to the end; `nil` if it does not.
  func seconds(after end: Int) -> Int? {
    let load = normalLoad ?? begun.reduce(0, +) / Double(max(begun.count, 1))
    // As many seconds as it takes for a thousand requests, ten at most, and for all pauses.
    let sample = min(max(Int((1_000 / max(load, 1)).rounded(.up)), 1), 10)
    // What a pause leaves is no trouble; but there have to be some windows to look at.
    let window = max(sample, Int(min(pauseCycle.rounded(.up), Double((served.count - end) / 2))))
    guard end + window <= served.count else { return nil }
    let (served, offered, begun) = (served.sums(of: window), offered.sums(of: window), begun.sums(of: window))
    let usual = (normalLoad ?? 0) * Double(window)
    // Chance alone moves a count of bursts by about the root of it.
    let tolerance = 3 * (load * Double(window * burstSize)).squareRoot()
    let lastBad = (end..<served.count).last { second in
      let isWell =
        served[second] >= 0.95 * begun[second] - tolerance / 2
        && served[second] >= 0.95 * offered[second] - tolerance / 2
        && served[second] >= 0.9 * usual - tolerance
      return second >= end + window - 1 && !isWell
    }
    guard let lastBad else { return 0 }
    // Too near to the end to say that it stays so.
    guard lastBad < served.count - max(window, 5) else { return nil }
    return max(lastBad + 2 - window - end, 0)
  }
}

extension [Double] {
  /// At each place, the sum of it and of those before it, so many in all.
  fileprivate func sums(of length: Int) -> [Double] {
    let totals = reduce(into: [0.0]) { $0.append(($0.last ?? 0) + $1) }
    return indices.map { totals[$0 + 1] - totals[Swift.max($0 + 1 - length, 0)] }
  }
}

extension Scenario {
  /// The requests a second before the first fault; `nil` if nobody can tell.
  ///
  /// - Parameter begun: How many began in each second.
  func loadBeforeTrouble(_ begun: [Double]) -> Double? {
    let before = begun.prefix(secondOfFaults)
    let sum = before.reduce(0, +)
    // Where none had begun by then, nothing is a multiple of that.
    return before.count >= 5 && sum > 0 && arrivals.isSteady ? sum / Double(before.count) : nil
  }
}
