import Rebound
import ReboundTesting
import Testing

@Suite("rates and back-off")
struct RatePropertyTests {
  private struct Case: CustomDebugStringConvertible {
    let name: String
    let policy: RateLimiterPolicy
    let burst: Int
    let gaps: [Duration]
    var debugDescription: String { "\(name) \(policy.permits) per \(policy.period), burst \(burst), gaps \(gaps)" }
  }

  private static func cases(_ name: String) -> Generator<Case?> {
    Generator { choices in
      let permits = choices.draw(.integer(in: 1...7))
      let burst = choices.draw(.integer(in: 1...7))
      let period = Duration.nanoseconds(choices.draw(.integer(in: 1_000...10_000_000_000 as ClosedRange<Int64>)))
      let most = period.components.seconds * 1_000_000_000 + period.components.attoseconds / 1_000_000_000
      let gaps = choices.draw(.array(of: .integer(in: 0...most), count: 1...60)).map { Duration.nanoseconds($0) / 3 }
      let policy =
        switch name {
        case "bucket": try? RateLimiterPolicy.tokenBucket(permits, per: period, burst: burst)
        case "fixed": try? RateLimiterPolicy.fixedWindow(permits, per: period)
        default: try? RateLimiterPolicy.slidingWindow(permits, per: period)
        }
      return policy.map { Case(name: name, policy: $0, burst: burst, gaps: gaps) }
    }
  }

  @Test(
    "no more calls begin than the rate allows, and one that waits as long as it is told may begin",
    arguments: ["bucket", "fixed", "sliding"]
  )
  func meters(name: String) throws {
    try forAll(Self.cases(name), runs: 400) { some in
      let some = try #require(some)
      var meter = RateMeter(some.policy)
      var (now, begun) = (Duration.zero, [Duration]())
      for gap in some.gaps {
        now += gap
        let promised = meter.wait(for: 1, now: now)
        var patient = meter
        try requireTrue(
          patient.take(now: now + promised) == .zero,
          "a call that waited \(promised) from \(now) may not begin"
        )
        let wait = meter.take(now: now)
        try requireTrue((wait == .zero) == (promised == .zero), "a wait of \(promised), then one of \(wait)")
        if wait == .zero { begun.append(now) }
      }
      let (permits, period) = (some.policy.permits, some.policy.period)
      for (first, start) in begun.enumerated() {
        for (last, end) in begun.enumerated().dropFirst(first) {
          let count = last - first + 1
          let length = end - start
          switch name {
          case "bucket":
            try requireTrue(
              count <= some.burst || period / permits * (count - some.burst) <= length,
              "\(count) in \(length)"
            )
          case "fixed":
            // Two windows may touch.
            try requireTrue(count <= permits * 2 || length >= period, "\(count) in \(length)")
          default:
            try requireTrue(count <= permits || length >= period, "\(count) in \(length)")
          }
        }
      }
    }
  }

  private static let durations = Generator { choices -> Duration in
    let unit = choices.draw(
      .element(of: [Duration.nanoseconds(1), .milliseconds(1), .seconds(1), .seconds(1_000_000_000)])
    )
    let factor: Int = choices.draw(.integer(in: -10...1_000))
    return unit * factor
  }

  private struct Waiting: CustomDebugStringConvertible {
    let name: String
    let backoff: Backoff
    let cap: Duration?
    let seed: UInt64
    var debugDescription: String { "\(name), seed \(seed)" }
  }

  private static let backoffs = Generator { choices -> Waiting in
    let base = choices.draw(durations)
    let cap = choices.draw(.optional(durations))
    let multiplier = choices.draw(.element(of: [2.0, 1, 0, -1, 1e300, .infinity, .nan, 1.5]))
    let (name, curve): (String, Backoff) =
      switch choices.draw(upTo: 2) {
      case 0: ("constant \(base)", .constant(base))
      case 1: ("linear \(base)", .linear(base))
      default: ("exponential \(base) × \(multiplier)", .exponential(from: base, multiplier: multiplier))
      }
    let share = choices.draw(.element(of: [0.0, 0.5, 1, 2, -1, .infinity, .nan]))
    let (chance, jitter) = choices.draw(
      .element(of: [
        ("none", Jitter.none), ("full", .full), ("equal", .equal), ("ratio \(share)", .ratio(share)),
        ("decorrelated", .decorrelated), ("smooth", .smoothDecorrelated),
      ])
    )
    let backoff = cap.map { curve.jittered(jitter).capped(at: $0) } ?? curve.jittered(jitter)
    return Waiting(
      name: "\(name), \(chance), cap \(cap.map { "\($0)" } ?? "none")",
      backoff: backoff,
      cap: cap,
      seed: choices.draw(.integer())
    )
  }

  @Test(
    "a delay is never negative, nor longer than the cap, and the same for the same seed",
    arguments: 0..<4 as Range<UInt64>
  )
  func delays(seed: UInt64) throws {
    try forAll(Self.backoffs, runs: 400, seed: seed * 1_000) { waiting in
      let delays = Array(waiting.backoff.delays(random: .seeded(waiting.seed)).prefix(80))
      try requireTrue(delays.allSatisfy { $0 >= .zero }, "negative: \(delays)")
      if let cap = waiting.cap { try requireTrue(delays.allSatisfy { $0 <= max(cap, .zero) }, "too long: \(delays)") }
      try requireEqual(Array(waiting.backoff.delays(random: .seeded(waiting.seed)).prefix(80)), delays)
      let plain = Array(waiting.backoff.jittered(.none).delays().prefix(80))
      try requireEqual(plain, plain.sorted(), "without chance, delays never shrink")
    }
  }
}
