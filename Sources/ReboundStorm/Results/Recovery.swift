/// When all is well again: the one definition of it, for plays and for predictions.
struct Recovery {
  let served: [Double]
  let offered: [Double]
  let begun: [Double]
  /// `nil` if the load is not the same at all times.
  let normalLoad: Double?
  /// How many requests come at once.
  let burstSize: Int

  /// How many seconds after a moment all is well, and stays so to the end; `nil` if it does not.
  func seconds(after end: Int) -> Int? {
    let load = normalLoad ?? begun.reduce(0, +) / Double(max(begun.count, 1))
    // As many seconds as it takes for a thousand requests, ten at most.
    let window = min(max(Int((1_000 / max(load, 1)).rounded(.up)), 1), 10)
    guard end + window <= served.count else { return nil }
    let (served, offered, begun) = (served.sums(of: window), offered.sums(of: window), begun.sums(of: window))
    let usual = (normalLoad ?? 0) * Double(window)
    // Chance alone moves a count of bursts by about the root of it.
    let tolerance = 3 * (usual * Double(burstSize)).squareRoot()
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
    indices.map { index in self[Swift.max(0, index - length + 1)...index].reduce(0, +) }
  }
}
