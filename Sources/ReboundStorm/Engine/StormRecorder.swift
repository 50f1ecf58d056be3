/// Counts what happens, second by second.
///
/// Access to what is stored is not checked; see ``ServiceAttempt``.
final class StormRecorder {
  @exclusivity(unchecked) private(set) var series: StormSeries
  @exclusivity(unchecked) private(set) var latency = LatencyHistogram()
  /// How many were given up of those that began since the first fault came.
  @exclusivity(unchecked) private(set) var givenUpSinceFault = 0
  /// How long the longest request took that has ended, in nanoseconds.
  @exclusivity(unchecked) private(set) var longest = 0
  private let last: Int
  private let faultBegins: Int

  init(_ scenario: Scenario) {
    let seconds = Int(scenario.duration.rounded(.up))
    series = StormSeries(seconds: seconds)
    last = seconds - 1
    faultBegins = scenario.secondOfFaults
  }

  private func second(of moment: Int) -> Int { min(moment / 1_000_000_000, last) }

  func begin(at moment: Int) { series.begun[second(of: moment)] += 1 }

  func offer(at moment: Int) { series.offered[second(of: moment)] += 1 }

  func refuse(at moment: Int) { series.refused[second(of: moment)] += 1 }

  func answer(at moment: Int, isWanted: Bool) {
    if isWanted { series.served[second(of: moment)] += 1 } else { series.wasted[second(of: moment)] += 1 }
  }

  func end(at moment: Int, begunAt begin: Int, isSuccess: Bool) {
    longest = max(longest, moment - begin)
    if isSuccess {
      series.succeeded[second(of: moment)] += 1
      latency.add(nanoseconds: moment - begin)
    } else {
      series.givenUp[second(of: moment)] += 1
      if second(of: begin) >= faultBegins { givenUpSinceFault += 1 }
    }
  }
}

/// What happened in each second of a play.
public struct StormSeries: Hashable, Sendable {
  /// How many requests the service got, those included that were made again.
  public internal(set) var offered: [Int]
  /// How many it answered while somebody waited.
  public internal(set) var served: [Int]
  /// How many it answered when nobody waited any more: wasted work.
  public internal(set) var wasted: [Int]
  /// How many failed: refused, or while it was out.
  public internal(set) var refused: [Int]
  /// How many requests clients began, each with all that was made again for it.
  public internal(set) var begun: [Int]
  /// How many of those ended well.
  public internal(set) var succeeded: [Int]
  /// How many of those ended with a failure.
  public internal(set) var givenUp: [Int]

  /// The most that a picture shows of one second.
  var highest: Int { [offered, served, wasted].compactMap { $0.max() }.max() ?? 0 }

  init(seconds: Int) {
    offered = Array(repeating: 0, count: seconds)
    (served, wasted, refused, begun, succeeded, givenUp) = (offered, offered, offered, offered, offered, offered)
  }
}
