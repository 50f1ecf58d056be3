import Foundation
import Rebound
import ReboundStorm
import Testing

@Suite("A play agrees with theory")
struct TheoryTests {
  /// Arrivals as a share of what the servers bear, the servers, and the places.
  struct Setting: CustomTestStringConvertible {
    let load: Double
    let servers: Int
    var capacity: Int?

    var testDescription: String { "M/M/\(servers)\(capacity.map { "/\($0)" } ?? "") at \(load)" }
  }

  static let settings: [Setting] =
    [0.2, 0.4, 0.5, 0.6, 0.7, 0.8].map { Setting(load: $0, servers: 1) }
    + [(0.5, 2), (0.8, 2), (0.6, 5), (0.8, 5), (0.7, 10), (0.85, 20)].map { Setting(load: $0.0, servers: $0.1) }
    + [(0.7, 1, 5), (0.9, 1, 10), (1.2, 1, 10), (0.9, 4, 12), (1.1, 4, 8), (1.0, 10, 30)].map {
      Setting(load: $0.0, servers: $0.1, capacity: $0.2)
    }

  @Test(arguments: settings)
  func onHowLongRequestsTake(setting: Setting) throws {
    let queue = MarkovQueue(
      arrivals: setting.load * Double(setting.servers),
      service: 1,
      servers: setting.servers,
      capacity: setting.capacity
    )
    let service = Service(
      concurrency: setting.servers,
      queueLimit: setting.capacity.map { $0 - setting.servers },
      time: .exponential(mean: 1)
    )
    let storm = try Storm.playCalls(
      Scenario(
        arrivals: .poisson(perSecond: queue.arrivals),
        service: service,
        // The nearer to what it bears, the longer a queue stands, and the more requests it takes.
        duration: 400_000 / queue.arrivals / max(1 - setting.load, 0.4) * (setting.load > 0.75 ? 4 : 1),
        seed: 3
      )
    )
    #expect(abs(storm.latency.mean / queue.mean - 1) < 0.03, "\(storm.latency.mean), \(queue.mean)")
    let (played, exact) = (storm.latency.percentile(0.99), queue.percentile(0.99))
    #expect(abs(played / exact - 1) < 0.03, "\(played), \(exact)")
    let refused = Double(storm.series.givenUp.reduce(0, +)) / Double(storm.series.begun.reduce(0, +))
    #expect(abs(refused - queue.refusedShare) < 0.01)
  }

  @Test(arguments: [(0.4, 0.5), (0.6, 2.0)])
  func onRetriesOfARetrialQueue(load: Double, retryRate: Double) throws {
    let queue = RetrialQueue(arrivals: load, retryRate: retryRate)
    let scenario = Scenario(
      arrivals: .poisson(perSecond: load),
      service: Service(concurrency: 1, queueLimit: 0, time: .exponential(mean: 1)),
      duration: 1_000_000,
      seed: 5
    )
    let storm = try Storm.play(scenario) { process in
      let backoff = Backoff.custom { _ in .seconds(-log(1 - process.random.next()) / retryRate) }
      return try Pipeline("retrial") { Retry(try RetryPolicy(maxRetries: nil, backoff: backoff)) }
    }
    #expect(abs(storm.latency.mean / queue.mean - 1) < 0.03, "\(storm.latency.mean), \(queue.mean)")
    let (played, exact) = (storm.latency.percentile(0.99), queue.percentile(0.99))
    #expect(abs(played / exact - 1) < 0.03, "\(played), \(exact)")
  }
}
