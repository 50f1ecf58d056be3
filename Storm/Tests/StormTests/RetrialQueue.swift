import Foundation

/// One server without a queue, with work of mean 1, whose clients try again after times without memory for as long as it
/// takes.
///
/// Source of the stationary distribution: Falin and Templeton, "Retrial Queues", 1997, chapter 1.
struct RetrialQueue {
  /// Requests a second, below 1.
  let arrivals: Double
  /// Tries a second of each of those who try again.
  let retryRate: Double

  /// More than so many do not try again at once, as far as it is worth counting.
  private static let most = 80

  /// How long a request takes, in seconds, on the mean.
  var mean: Double {
    let waiting = arrivals * (arrivals + arrivals * retryRate) / ((1 - arrivals) * retryRate)
    return waiting / arrivals + 1
  }

  /// How likely the server is busy and so many will try again.
  private var busy: [Double] {
    var likelihoods = [arrivals * pow(1 - arrivals, arrivals / retryRate + 1)]
    for count in 1...Self.most {
      let step = arrivals * (arrivals + Double(count) * retryRate) / (Double(count) * retryRate)
      likelihoods.append(likelihoods[count - 1] * step)
    }
    return likelihoods
  }

  /// One client that will try again, beside others; and the one that is served at last.
  private struct Tagged {
    /// How likely the server is free, and how likely busy, by how many others will try again.
    var free: [Double]
    var busy: [Double]
    var served: Double

    var total: Double { free.reduce(served, +) + busy.reduce(0, +) }

    func plus(_ other: Tagged, times length: Double) -> Tagged {
      Tagged(
        free: zip(free, other.free).map { $0 + $1 * length },
        busy: zip(busy, other.busy).map { $0 + $1 * length },
        served: served + other.served * length
      )
    }
  }

  /// How fast the likelihoods change.
  private func change(_ now: Tagged) -> Tagged {
    var change = Tagged(free: now.free.map { _ in 0 }, busy: now.busy.map { _ in 0 }, served: -now.served)
    for others in now.free.indices {
      let (free, busy) = (now.free[others], now.busy[others])
      let retries = Double(others) * retryRate
      change.free[others] += busy - free * (arrivals + retries + retryRate)
      change.busy[others] += free * arrivals - busy
      if others > 0 { change.busy[others - 1] += free * retries }
      if others < Self.most {
        change.busy[others] -= busy * arrivals
        change.busy[others + 1] += busy * arrivals
      }
      change.served += free * retryRate
    }
    return change
  }

  /// The length that a share of the requests do not exceed, in seconds: Kolmogorov's forward equations for one request,
  /// solved by the classical method of Runge and Kutta.
  func percentile(_ share: Double) -> Double {
    let busy = busy
    var now = Tagged(free: busy.map { _ in 0 }, busy: busy, served: 1 - busy.reduce(0, +))
    // The method is stable for steps of less than about 2.8 of the fastest change.
    let step = 1 / (1 + arrivals + Double(Self.most + 1) * retryRate)
    var time = 0.0
    var before = now.total
    while now.total > 1 - share {
      before = now.total
      let first = change(now)
      let second = change(now.plus(first, times: step / 2))
      let third = change(now.plus(second, times: step / 2))
      let fourth = change(now.plus(third, times: step))
      now = now.plus(first, times: step / 6).plus(second, times: step / 3).plus(third, times: step / 3)
        .plus(fourth, times: step / 6)
      time += step
    }
    return time - step * (1 - share - now.total) / (before - now.total)
  }
}
