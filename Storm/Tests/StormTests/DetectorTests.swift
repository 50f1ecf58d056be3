import Combine
import Foundation
import Rebound
import ReboundStorm
import Testing

@Suite("A detector of metastability, in a storm")
struct DetectorTests {
  private struct Watched {
    var storm: Storm
    /// The seconds in which the alarm of some process was on.
    var alarms: [Int] = []
  }

  /// Plays a scenario with a detector in each process, and looks at them every second.
  private func watch(_ scenario: Scenario, _ settings: PolicySettings) throws -> Watched {
    let alarms = Alarms()
    let storm = try Storm.play(scenario) { process in
      let random = process.random
      let detector = MetastabilityDetector("service")
      let time = process.time
      alarms.watch(detector, on: time, until: Int(scenario.duration))
      let retry = try RetryPolicy<any Error>(
        maxRetries: settings.maxRetries,
        backoff: settings.plainBackoff,
        random: random
      )
      return try Pipeline("service") {
        detector.requests
        Retry(retry)
        detector
        if let timeout = settings.attemptTimeout { Timeout(attempt: .seconds(timeout)) }
      }
    }
    return Watched(storm: storm, alarms: alarms.seconds.sorted())
  }

  /// Clients of four processes, and an outage or a brown-out of a service that refusals cost much.
  private func drawn(_ seed: UInt64) -> (Scenario, PolicySettings) {
    var chance = LinearGenerator(seed: seed)
    let clients = Int(chance.draw(2_000, 5_000))
    let capacity = Double(clients) / 20 * chance.draw(1.1, 1.7)
    let concurrency = Int(chance.draw(4, 20))
    let service = Service(
      concurrency: concurrency,
      queueLimit: Int(capacity * chance.draw(0.05, 0.5)),
      time: .constant(Double(concurrency) / capacity),
      refusalCost: chance.draw(0.1, 0.5)
    )
    let end = 30 + chance.draw(10, 40)
    let scenario = Scenario(
      arrivals: chance.draw(0, 1) < 0.5
        ? .periodic(clients: clients, every: 20) : .poisson(perSecond: Double(clients) / 20),
      service: service,
      networkDelay: chance.draw(0.02, 0.1),
      faults: [
        chance.draw(0, 1) < 0.7 ? .outage(from: 30, to: end) : .brownout(factor: chance.draw(3, 6), from: 30, to: end)
      ],
      processes: 4,
      duration: 160,
      seed: seed
    )
    let isAtOnce = chance.draw(0, 1) < 0.4
    return (
      scenario,
      PolicySettings(
        maxRetries: Int(chance.draw(3, 12)),
        firstDelay: isAtOnce ? 0 : chance.draw(0.2, 2),
        multiplier: chance.draw(0, 1) < 0.6 ? 1 : 2
      )
    )
  }

  @Test func seesEachOfTwentyMetastableRunsWithinFiveSeconds() throws {
    var seen = 0
    for seed in 1...200 as ClosedRange<UInt64> where seen < 20 {
      let (scenario, settings) = drawn(seed)
      let watched = try watch(scenario, settings)
      guard watched.storm.isMetastable else { continue }
      seen += 1
      let end = watched.storm.trouble.upperBound
      #expect(
        watched.alarms.contains { (end...end + 5).contains($0) },
        "\(seed): \(settings), \(scenario.faults), first alarm \(watched.alarms.first { $0 >= end } ?? -1), \(watched.storm)"
      )
    }
    #expect(seen == 20)
  }

  @Test func raisesNoAlarmInAnOutageThatNobodyRetriesIn() throws {
    for seed in 1...10 as ClosedRange<UInt64> {
      let (scenario, _) = drawn(seed)
      #expect(try watch(scenario, PolicySettings()).alarms.isEmpty, "\(seed)")
    }
  }

  /// A million seconds with `STORM_HEALTHY_SECONDS=1000000`.
  @Test func raisesNoAlarmWhileTheServiceIsHealthy() throws {
    let seconds = ProcessInfo.processInfo.environment["STORM_HEALTHY_SECONDS"].flatMap(Double.init) ?? 7_500
    var service = Service(concurrency: 16, queueLimit: 100, time: .logNormal(median: 0.2, sigma: 0.7))
    service.pauseEvery = 60
    service.pauseLength = 0.3
    let scenario = Scenario(
      arrivals: .daily(perSecond: 20, amplitude: 0.5, period: 3_600),
      service: service,
      networkDelay: 0.05,
      duration: seconds,
      seed: 4
    )
    // One attempt in fifty takes longer than it may, and is made again.
    var settings = PolicySettings(maxRetries: 5, firstDelay: 0.2, multiplier: 2)
    settings.attemptTimeout = 1
    let watched = try watch(scenario, settings)
    #expect(watched.storm.givenUpShare < 0.001)
    #expect(watched.alarms.isEmpty, "\(watched.alarms.count) s, the first \(watched.alarms.first ?? 0)")
    let retries = watched.storm.series.offered.reduce(0, +) - watched.storm.series.begun.reduce(0, +)
    #expect(Double(retries) > 0.01 * 20 * seconds)
  }
}

/// Looks at detectors every second of a play.
///
/// Unchecked, because a play runs on one thread.
private final class Alarms: @unchecked Sendable {
  private(set) var seconds: Set<Int> = []

  func watch(_ detector: MetastabilityDetector, on time: TimeSource, until end: Int, from second: Int = 1) {
    guard second < end else { return }
    let timer = time.after(.seconds(1)) { [self] in
      if detector.snapshot(on: time).isSuspected { seconds.insert(second) }
      watch(detector, on: time, until: end, from: second + 1)
    }
    withExtendedLifetime(timer) {}
  }
}

/// A seeded generator for drawing scenarios.
private struct LinearGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func draw(_ low: Double, _ high: Double) -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return low + (high - low) * Double(state >> 11) * 0x1p-53
  }
}

extension PolicySettings {
  fileprivate var plainBackoff: Backoff {
    guard firstDelay > 0 else { return .immediate }
    return multiplier > 1
      ? .exponential(from: .seconds(firstDelay), multiplier: multiplier, upTo: .seconds(longestDelay), jitter: .none)
      : .constant(.seconds(firstDelay))
  }
}
