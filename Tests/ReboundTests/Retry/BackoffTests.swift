import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Backoff")
struct BackoffTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let backoff: Backoff
    let number: Double
    let expected: [Double]

    var testDescription: String { "\(name), U = \(number)" }

    init(_ name: String, _ backoff: Backoff, _ number: Double, _ expected: [Double]) {
      (self.name, self.backoff, self.number, self.expected) = (name, backoff, number, expected)
    }
  }

  static let doubling = Backoff.exponential(from: .seconds(1), upTo: .seconds(20))

  static let rows: [Row] = [
    Row("immediate", .immediate, 0.5, [0, 0, 0]),
    Row("constant", .constant(.seconds(2)), 0.5, [2, 2, 2]),
    Row("linear", .linear(.milliseconds(500)), 0.5, [0.5, 1, 1.5, 2]),
    Row("linear with a cap", .linear(.seconds(2), upTo: .seconds(5)), 0.5, [2, 4, 5, 5]),
    Row("steps", .steps(.seconds(1), .seconds(3), .seconds(5), .seconds(10)), 0.5, [1, 3, 5, 10, 10]),
    Row("custom", .custom { .seconds($0 * $0) }, 0.5, [0, 1, 4, 9]),
    Row("custom with a cap", .custom(upTo: .seconds(3)) { .seconds($0 * $0) }, 0.5, [0, 1, 3, 3]),
    Row("exponential", doubling.jittered(.none), 0.5, [1, 2, 4, 8, 16, 20, 20]),
    Row("tripling", .exponential(from: .seconds(1), multiplier: 3, jitter: .none), 0.5, [1, 3, 9, 27]),
    Row("ratio, lowest", doubling.jittered(.ratio(0.25)), 0, [0.75, 1.5, 3, 6, 12, 15]),
    Row("ratio, middle", doubling.jittered(.ratio(0.25)), 0.5, [1, 2, 4, 8, 16, 20]),
    Row("ratio, high: the cap comes last", doubling.jittered(.ratio(0.5)), 0.75, [1.25, 2.5, 5, 10, 20, 20]),
    Row("full, by default", doubling, 0.25, [0.25, 0.5, 1, 2, 4, 5, 5]),
    Row("full, lowest", doubling, 0, [0, 0, 0]),
    Row("equal", doubling.jittered(.equal), 0.5, [0.75, 1.5, 3, 6, 12, 15]),
    Row("equal, lowest", doubling.jittered(.equal), 0, [0.5, 1, 2, 4, 8, 10]),
    // U(1, 3·1) = 2, then U(1, 3·2) = 3.5, …: from the delay drawn before.
    Row("decorrelated", doubling.jittered(.decorrelated), 0.5, [2, 3.5, 5.75, 9.125, 14.1875, 20, 20]),
    Row("decorrelated, lowest", doubling.jittered(.decorrelated), 0, [1, 1, 1]),
    // f(0.5) = 1.2564, f(1.5) = 2.7866, f(2.5) = 5.6366: differences, divided by 1.4.
    Row(
      "smooth decorrelated",
      doubling.jittered(.smoothDecorrelated),
      0.5,
      [0.897_404_936, 1.093_003_547, 2.035_747_963, 4.045_979_423]
    ),
  ]

  @Test("follows its formula", arguments: rows)
  func followsFormula(row: Row) {
    let delays = Array(row.backoff.delays(random: .fixed(row.number)).prefix(row.expected.count))
    for (delay, expected) in zip(delays, row.expected) {
      #expect(abs(delay / .nanoseconds(1) - expected * 1e9) <= 1, "\(delays)")
    }
    expectEqual(delays.count, row.expected.count)
  }

  static let jitters: [Jitter] = [.none, .ratio(0.5), .ratio(1), .full, .equal, .decorrelated, .smoothDecorrelated]

  @Test("never exceeds its cap, nor goes below zero, in 100,000 draws", arguments: jitters)
  func keepsCap(jitter: Jitter) {
    let cap = Duration.nanoseconds(7_123_456_789)
    let backoff = Backoff.exponential(from: .milliseconds(300), upTo: cap, jitter: jitter)
    let random = RandomSource.seeded(1)
    var longest = Duration.zero
    var shortest = cap
    for _ in 0..<5_000 {
      for delay in backoff.delays(random: random).prefix(20) {
        longest = max(longest, delay)
        shortest = min(shortest, delay)
      }
    }
    #expect(longest <= cap)
    #expect(longest > cap / 2)
    #expect(shortest >= .zero)
  }

  @Test("does not round over its cap")
  func roundsBelowCap() {
    let cap = Duration(secondsComponent: 0, attosecondsComponent: 1_600_000_000)
    expectEqual(Array(Backoff.constant(.seconds(1)).capped(at: cap).delays().prefix(1)), [cap])
  }

  @Test("gives the same delays for the same seed, and others for another", arguments: jitters.dropFirst())
  func isReproducible(jitter: Jitter) {
    let backoff = Self.doubling.jittered(jitter)
    let delays = { (seed: UInt64) in Array(backoff.delays(random: .seeded(seed)).prefix(50)) }
    expectEqual(delays(7), delays(7))
    #expect(delays(7) != delays(8))
  }

  @Test("is finite at retry 10,000, with a cap and without", arguments: jitters)
  func saturates(jitter: Jitter) throws {
    let curves: [Backoff] = [
      .exponential(from: .seconds(1), multiplier: 10), .exponential(from: .nanoseconds(1), multiplier: 1e300),
      .linear(.seconds(Int64.max)), .constant(.seconds(Int64.max)), .custom { _ in .seconds(Int64.max) },
    ]
    for curve in curves {
      for cap in [Duration?.none, .seconds(20)] {
        let backoff = (cap.map { curve.capped(at: $0) } ?? curve).jittered(jitter)
        var delays = backoff.delays(random: .fixed(0.9))
        for _ in 0..<10_000 { _ = delays.next() }
        let next = delays.next()
        let delay = try #require(next)
        #expect(delay > .zero)
        #expect(delay <= cap ?? .seconds(1_000_000_000))
      }
    }
  }

  @Test("has no delay at all where there is none to build on, up to retry 2,000", arguments: jitters)
  func staysAtZero(jitter: Jitter) {
    let delays = Backoff.immediate.jittered(jitter).delays(random: .seeded(1)).prefix(2_000)
    #expect(delays.allSatisfy { $0 == .zero })
  }

  @Test("has the published means, with decorrelated jitter")
  func decorrelatedMeans() {
    // Base 1, cap 20: the table of "Exponential Backoff And Jitter".
    let expected = [2.0, 3.5, 5.8, 8.2, 10.0, 11.2]
    let means = statistics(of: Self.doubling.jittered(.decorrelated), count: 6) { $0.reduce(0, +) / Double($0.count) }
    for (mean, expected) in zip(means, expected) {
      #expect(abs(mean - expected) < 0.15 * max(1, expected / 5), "\(means)")
    }
  }

  @Test("has medians that double, with smooth decorrelated jitter")
  func smoothMedians() {
    let expected = [0.90, 1.14, 2.01, 4.02, 8.01, 16.0]
    let backoff = Backoff.exponential(from: .seconds(1), jitter: .smoothDecorrelated)
    let medians = statistics(of: backoff, count: 6) { $0.sorted()[$0.count / 2] }
    for (median, expected) in zip(medians, expected) {
      #expect(abs(median / expected - 1) < 0.05, "\(medians)")
    }
  }

  private func statistics(of backoff: Backoff, count: Int, _ summary: ([Double]) -> Double) -> [Double] {
    let random = RandomSource.seeded(42)
    var columns = [[Double]](repeating: [], count: count)
    for _ in 0..<20_000 {
      for (index, delay) in backoff.delays(random: random).prefix(count).enumerated() {
        columns[index].append(delay / .seconds(1))
      }
    }
    return columns.map(summary)
  }

  @Test(
    "brings numbers that make no sense into range",
    arguments: [
      (.constant(.seconds(-1)), 0), (.linear(.seconds(-1)), 0),
      (.exponential(from: .seconds(1), multiplier: .nan, jitter: .none), 1),
      (.exponential(from: .seconds(1), multiplier: -2, jitter: .none), 1),
      (.exponential(from: .zero, multiplier: .infinity, jitter: .none), 0),
      (.exponential(from: .seconds(5), upTo: .seconds(2), jitter: .decorrelated), 2),
      (.constant(.seconds(1)).capped(at: .seconds(-1)), 0),
      (.constant(.seconds(1)).jittered(.ratio(-3)), 1), (.constant(.seconds(1)).jittered(.ratio(.nan)), 1),
      (.constant(.seconds(2)).jittered(.ratio(9)), 2),
    ] as [(Backoff, Int)]
  )
  func clamps(backoff: Backoff, expected: Int) {
    expectEqual(Array(backoff.delays(random: .fixed(0.5)).prefix(3)), Array(repeating: .seconds(expected), count: 3))
  }
}
