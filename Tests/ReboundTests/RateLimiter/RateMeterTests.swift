import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("RateMeter")
struct RateMeterTests {
  /// Takes at each of these milliseconds, and says how long each has to wait in milliseconds.
  private func waits(_ policy: RateLimiterPolicy, at moments: [Int]) -> [Double] {
    var meter = RateMeter(policy)
    return moments.map { meter.take(now: .milliseconds($0)).inMilliseconds }
  }

  @Test("a bucket lets a burst through, then one for each token that comes back, and never holds more than it may")
  func bucket() throws {
    let policy = try RateLimiterPolicy.tokenBucket(2, per: .seconds(1), burst: 3)
    expectEqual(waits(policy, at: [0, 0, 0, 0, 499, 500, 500]), [0, 0, 0, 500, 1, 0, 500])
    expectEqual(waits(policy, at: [0, 9_000, 9_000, 9_000, 9_000]), [0, 0, 0, 0, 500])
    // What is refused costs nothing.
    expectEqual(waits(policy, at: [0, 0, 0, 1, 2, 3, 500]), [0, 0, 0, 499, 498, 497, 0])
  }

  @Test("a fixed window counts afresh in each period")
  func fixedWindow() throws {
    let policy = try RateLimiterPolicy.fixedWindow(2, per: .seconds(1))
    expectEqual(waits(policy, at: [900, 950, 999, 1_000, 1_001, 1_002]), [0, 0, 1, 0, 0, 998])
    expectEqual(waits(policy, at: [0, 5_500, 5_500, 5_500]), [0, 0, 0, 500])
  }

  @Test("a fixed window does not miss the border of a period that is no binary fraction")
  func border() throws {
    var meter = RateMeter(try .fixedWindow(1, per: .milliseconds(100)))
    for index in 0..<1_000 {
      let start = Duration.milliseconds(100 * index)
      let lastMoment = start + .nanoseconds(99_999_999)
      expectEqual(meter.take(now: start), .zero)
      expectEqual(meter.take(now: lastMoment), .nanoseconds(1))
    }
  }

  @Test("bears the greatest numbers that a policy may have")
  func extremes() throws {
    var meter = RateMeter(try .tokenBucket(1, per: .seconds(1_000_000_000), burst: 1_000_000))
    meter.setShare(0.001, now: .zero)
    var wait = Duration.zero
    for _ in 0...1_000_000 where wait == .zero { wait = meter.take(now: .zero) }
    #expect(wait > .seconds(999_999_000_000))
  }

  @Test("a sliding window counts in any period, wherever it begins")
  func slidingWindow() throws {
    let policy = try RateLimiterPolicy.slidingWindow(2, per: .seconds(1))
    expectEqual(waits(policy, at: [900, 950, 999, 1_000, 1_899, 1_900, 1_901, 1_950]), [0, 0, 901, 900, 1, 0, 49, 0])
  }

  @Test("says of a row of calls when each could begin")
  func row() throws {
    let bucket = RateMeter(try .tokenBucket(10, per: .seconds(1), burst: 2))
    expectEqual((1...4).map { bucket.wait(for: $0, now: .seconds(7)).inMilliseconds }, [0, 0, 100, 200])
    let window = RateMeter(try .fixedWindow(2, per: .seconds(1)))
    expectEqual((1...5).map { window.wait(for: $0, now: .milliseconds(300)).inMilliseconds }, [0, 0, 700, 700, 1_700])
    let sliding = RateMeter(try .slidingWindow(2, per: .seconds(1)))
    expectEqual((0...5).map { sliding.wait(for: $0, now: .seconds(7)).inMilliseconds }, [0, 0, 0, 1_000, 1_000, 2_000])
  }

  @Test(
    "says of a row of calls exactly what taking them one by one comes to, whatever was taken and at whichever share",
    arguments: 0..<60 as Range<UInt64>
  )
  func rowOneByOne(seed: UInt64) throws {
    var numbers = SeededRandom(seed: seed)
    let permits = Int.random(in: 1...7, using: &numbers)
    // Some periods are no whole number of milliseconds, and some intervals no whole number of attoseconds.
    let period = Duration.nanoseconds(Int.random(in: 1_000...2_000_000_000, using: &numbers))
    let policy =
      switch seed % 3 {
      case 0: try RateLimiterPolicy.tokenBucket(permits, per: period, burst: Int.random(in: 1...9, using: &numbers))
      case 1: try RateLimiterPolicy.fixedWindow(permits, per: period)
      default: try RateLimiterPolicy.slidingWindow(permits, per: period)
      }
    var meter = RateMeter(policy)
    var now = Duration.zero
    for _ in 0..<120 {
      now += period * Double.random(in: 0..<0.4, using: &numbers)
      if Int.random(in: 0..<8, using: &numbers) == 0 {
        meter.setShare(Double.random(in: 0.001...1, using: &numbers), now: now)
      }
      for _ in 0..<Int.random(in: 0...3, using: &numbers) { _ = meter.take(now: now) }
      // A pause may keep the row waiting, too.
      let earliest = now + period * Int.random(in: 0...2, using: &numbers)
      var (copy, moment) = (meter, earliest)
      for count in 1...20 {
        var wait = copy.take(now: moment)
        while wait > .zero {
          moment += wait
          wait = copy.take(now: moment)
        }
        expectEqual(meter.wait(for: count, now: earliest), moment - earliest)
      }
    }
  }

  @Test("a lower share lets fewer through, and what was missing comes back at the new pace")
  func share() throws {
    var bucket = RateMeter(try .tokenBucket(2, per: .seconds(1), burst: 2))
    expectEqual(bucket.take(now: .zero), .zero)
    expectEqual(bucket.take(now: .zero), .zero)
    bucket.setShare(0.5, now: .zero)
    expectEqual(bucket.take(now: .zero), .seconds(1))
    expectEqual(bucket.take(now: .seconds(1)), .zero)
    expectEqual(bucket.take(now: .seconds(1)), .seconds(1))
    var window = RateMeter(try .slidingWindow(4, per: .seconds(1)))
    for _ in 0..<4 { expectEqual(window.take(now: .zero), .zero) }
    window.setShare(0.5, now: .zero)
    expectEqual(window.take(now: .milliseconds(999)), .milliseconds(1))
    window.setShare(0.001, now: .zero)
    expectEqual(window.take(now: .seconds(2)), .zero)
    expectEqual(window.take(now: .seconds(2)), .seconds(1))
  }

  @Test(
    "never lets more through than a period allows, and exactly as early as it says",
    arguments: 0..<20 as Range<UInt64>
  )
  func law(seed: UInt64) throws {
    var numbers = SeededRandom(seed: seed)
    let permits = Int.random(in: 1...7, using: &numbers)
    let policy =
      seed % 2 == 0
      ? try RateLimiterPolicy.slidingWindow(permits, per: .seconds(1))
      : try RateLimiterPolicy.tokenBucket(permits, per: .seconds(1), burst: 1)
    var meter = RateMeter(policy)
    var (now, taken): (Duration, [Duration]) = (.zero, [])
    for _ in 0..<400 {
      now += .nanoseconds(Int.random(in: 0..<300_000_000, using: &numbers))
      let wait = meter.take(now: now)
      guard wait > .zero else {
        taken.append(now)
        continue
      }
      var early = meter
      #expect(early.take(now: now + wait - Duration(secondsComponent: 0, attosecondsComponent: 1)) > .zero)
      var onTime = meter
      expectEqual(onTime.take(now: now + wait), .zero)
    }
    for (index, moment) in taken.enumerated() where index >= permits {
      // A period in which one more than allowed began would be shorter than this, but for the last attosecond.
      #expect(moment - taken[index - permits] >= .seconds(1) - .nanoseconds(1))
    }
  }
}

extension Duration {
  fileprivate var inMilliseconds: Double { self / .milliseconds(1) }
}
