import Foundation

/// A queue whose waits are known exactly: requests at random times, work of exponential length, so many at a time.
///
/// Source of the formulas: Gross, Shortle, Thompson, Harris, "Fundamentals of Queueing Theory", 4th edition, chapter 2.
struct MarkovQueue {
  /// Requests a second.
  let arrivals: Double
  /// Requests a second that one server answers.
  let service: Double
  let servers: Int
  /// How many are in the system at most; `nil` for any number.
  var capacity: Int?

  /// How likely so many are in the system, as long as that is worth counting.
  private var states: [Double] {
    var weights = [1.0]
    let last = capacity ?? 5_000
    for count in 1...last {
      guard let before = weights.last, before > 1e-300 else { break }
      weights.append(before * arrivals / (service * Double(min(count, servers))))
    }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }

  /// How likely it is that one who is let in finds so many.
  private var found: [Double] {
    let states = states
    guard capacity != nil else { return states }
    let admitted = 1 - (states.last ?? 0)
    return states.dropLast().map { $0 / admitted }
  }

  /// Which share is refused.
  var refusedShare: Double { capacity == nil ? 0 : states.last ?? 0 }

  /// How long one who is let in takes, in seconds, on the mean.
  var mean: Double {
    found.enumerated().reduce(0) { sum, state in
      sum + state.element * (1 / service + max(Double(state.offset - servers + 1), 0) / (service * Double(servers)))
    }
  }

  /// How likely it is that one who is let in takes longer.
  private func share(longerThan time: Double) -> Double {
    let found = found
    let rate = service * Double(servers)
    // One who finds `servers + n` waits for n + 1 ends at the full rate, and then works: convolved step by step.
    var share = found.prefix(servers).reduce(0, +) * exp(-service * time)
    let steps = 2_000
    let step = time / Double(steps)
    // The density of the wait at each moment, for those who wait, summed over how many they find.
    var afterWait = 0.0
    var beyond = 0.0
    let waiting = Array(found.dropFirst(servers))
    guard !waiting.isEmpty else { return share }
    for index in 0...steps {
      let moment = Double(index) * step
      var term = rate * exp(-rate * moment)
      var density = 0.0
      for (count, likelihood) in waiting.enumerated() {
        density += likelihood * term
        term *= rate * moment / Double(count + 1)
      }
      let weight = index == 0 || index == steps ? 0.5 : 1
      afterWait += weight * step * density * exp(-service * (time - moment))
      beyond += weight * step * density
    }
    share += afterWait + max(waiting.reduce(0, +) - beyond, 0)
    return share
  }

  /// The length that a share of the requests do not exceed, in seconds.
  func percentile(_ share: Double) -> Double {
    var (low, high) = (0.0, mean * 50)
    while high - low > 1e-4 * high {
      let middle = (low + high) / 2
      if self.share(longerThan: middle) > 1 - share { low = middle } else { high = middle }
    }
    return (low + high) / 2
  }
}
