/// How a policy does over several scenarios: the means of what matters.
///
/// Less is better in all.
public struct PolicyScore: Hashable, Sendable {
  /// Which share of the requests is given up.
  public let givenUp: Double
  /// The highest load of a second after the trouble, as a multiple of the normal one.
  public let peakAfterTrouble: Double
  /// How many seconds it takes to recover; the rest of the scenario where it never does.
  public let recovery: Double
  /// What one in a hundred answers takes longer than, in seconds.
  public let latency: Double
  /// What it costs the service: all it gets, as a multiple of what it would get without trouble.
  public let amplification: Double

  /// - Parameter storms: At least one.
  init(_ storms: [Storm]) {
    func mean(_ figure: (Storm) -> Double) -> Double {
      storms.reduce(0) { $0 + figure($1) } / Double(storms.count)
    }
    givenUp = mean { $0.givenUpShare }
    peakAfterTrouble = mean { $0.peakAfterTrouble }
    recovery = mean { storm in
      storm.secondsToRecover.map(Double.init) ?? Double(storm.series.begun.count - storm.trouble.upperBound)
    }
    latency = mean { $0.latency.percentile(0.99) }
    amplification = mean { $0.amplification }
  }

  /// What a search weighs against each other; the 99th percentile of answers that come late, but come, is left out.
  private var figures: [Double] { [givenUp, peakAfterTrouble, recovery, amplification] }

  /// Whether it is as good as another in all, and better in one.
  ///
  /// - Parameter other: What it is compared with.
  public func dominates(_ other: PolicyScore) -> Bool {
    let pairs = zip(figures, other.figures)
    return pairs.allSatisfy { $0 <= $1 } && pairs.contains { $0 < $1 }
  }

  /// One number for all: a tenth of the requests given up weighs as much as a peak of once the normal load more, ten seconds
  /// until recovery, or as many requests again as without trouble.
  public var cost: Double { givenUp * 10 + max(peakAfterTrouble - 1, 0) + recovery / 10 + amplification }
}

/// A policy and how it does.
public struct TunedPolicy: Hashable, Sendable {
  /// The policy.
  public let settings: PolicySettings
  /// How it does on what it was searched with.
  public let score: PolicyScore
}
