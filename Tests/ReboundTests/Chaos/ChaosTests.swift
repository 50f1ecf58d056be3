import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Chaos")
struct ChaosTests {
  private let log = EventLog<ChaosEvent>()

  @Test("does to a function what was ordered, in order: behaviour, delay, and then a fault or an outcome")
  func functions() async throws {
    let clock = JumpingClock()
    let done = EventLog<String>()
    let chaos = Chaos<Int, TestFailure>()
      .behaviour(at: 1) { done.write("behaviour") }
      .latency(at: 1, .seconds(3))
      .onEvent(log.write)
    try await expectEqual(chaos.run(time: TimeSource(clock)) { 1 }, 1)
    expectEqual(clock.now.sinceStart, .seconds(3))
    expectEqual(done.events, ["behaviour"])
    await #expect(throws: TestFailure.transient) {
      try await chaos.fault(at: 1) { .transient }.outcome(at: 1) { 7 }.run(time: TimeSource(clock)) { 1 }
    }
    var ran = false
    let replaced = try await chaos.outcome(at: 1) { 7 }
      .run(time: TimeSource(clock)) {
        ran = true
        return 1
      }
    expectEqual(replaced, 7)
    #expect(!ran)
    expectEqual(
      log.lines,
      [
        "chaos: behaviour", "chaos: latency of 3.0 seconds",
        "chaos: behaviour", "chaos: latency of 3.0 seconds", "chaos: fault (transient)",
        "chaos: behaviour", "chaos: latency of 3.0 seconds", "chaos: outcome replaced",
      ]
    )
  }

  @Test("comes in the order in which it was added, and nothing behind what takes the place of the call")
  func order() async {
    let clock = JumpingClock()
    let chaos = Chaos<Int, TestFailure>().latency(at: 1, .seconds(3)).fault(at: 1) { .transient }
    await #expect(throws: TestFailure.transient) {
      try await chaos.latency(at: 1, .seconds(5)).outcome(at: 1) { 7 }.run(time: TimeSource(clock)) { 1 }
    }
    expectEqual(clock.now.sinceStart, .seconds(3))
  }

  @Test("does something else when the delays before it are over, and what comes behind it after that")
  func behaviourBehindDelay() async throws {
    let clock = JumpingClock()
    let moments = EventLog<Duration>()
    let chaos = Chaos<Int, TestFailure>()
      .latency(at: 1, .seconds(3))
      .behaviour(at: 1) { moments.write(clock.now.sinceStart) }
      .latency(at: 1, .seconds(2))
    try await expectEqual(chaos.run(time: TimeSource(clock)) { 1 }, 1)
    expectEqual(moments.events, [.seconds(3)])
    expectEqual(clock.now.sinceStart, .seconds(5))
  }

  @Test("tells a function nothing of what is done to streams alone")
  func streamsAlone() async throws {
    let chaos = Chaos<Int, TestFailure>()
      .duplicatingValues(at: 1).violatingDemand(at: 1).droppingCompletion(at: 1).deliveringElsewhere(at: 1)
      .onEvent(log.write)
    try await expectEqual(chaos.run { 1 }, 1)
    expectEqual(log.lines, [])
  }

  @Test("changes and delays what a function returns")
  func values() async throws {
    let clock = JumpingClock()
    let chaos = Chaos<String, TestFailure>()
      .corruptingValues(at: 1) { String($0.prefix(3)) }
      .delayingValues(at: 1, by: .seconds(2))
      .onEvent(log.write)
    try await expectEqual(chaos.run(time: TimeSource(clock)) { "whole body" }, "who")
    expectEqual(clock.now.sinceStart, .seconds(2))
    expectEqual(log.lines, ["chaos: value corrupted", "chaos: value delayed by 2.0 seconds"])
  }

  @Test("a delay ends with the time of the function that is held up")
  func deadline() throws {
    try Simulation(seed: 1).run {
      let chaos = Chaos<Int, TestFailure>().latency(at: 1, .seconds(60))
      let start = TimeSource.current.now
      do {
        let value = try await TimeoutPolicy.total(.seconds(2)).cooperative().run { try await chaos.run { 1 } }
        try requireEqual(value, 0, "behind its time")
      } catch let error as TimedOut {
        try requireEqual(error, TimedOut(.total, limit: .seconds(2)))
      }
      try requireEqual(TimeSource.current.now - start, .seconds(2))
    }
  }

  @Test("does nothing while it is not enabled, and draws no number")
  func disabled() async throws {
    let draws = EventLog<Int>()
    let random = RandomSource {
      draws.write(0)
      return 0
    }
    let chaos = Chaos<Int, TestFailure>(enabled: { false }, random: random).fault(at: 0.5) { .transient }
    try await expectEqual(chaos.run { 1 }, 1)
    #expect(draws.events.isEmpty)
  }

  @Test("gives the same chaos for the same seed, with a delay between two bounds")
  func seeded() async {
    func delays() async -> [Duration] {
      let clock = JumpingClock()
      let chaos = Chaos<Int, TestFailure>(random: .seeded(3)).latency(at: 0.5, .seconds(1)...(.seconds(2)))
      var delays: [Duration] = []
      for _ in 0..<50 {
        let start = clock.now.sinceStart
        _ = try? await chaos.run(time: TimeSource(clock)) { 1 }
        delays.append(clock.now.sinceStart - start)
      }
      return delays
    }
    let first = await delays()
    expectEqual(first, await delays())
    #expect(Set(first).count > 10)
    #expect(first.allSatisfy { $0 == .zero || (.seconds(1)...(.seconds(2))).contains($0) })
  }

  @Test(
    "tells each thing in one line",
    arguments: [
      (ChaosEvent.duplicatedValue, "chaos: value duplicated"),
      (.violatedDemand, "chaos: demand violated"),
      (.droppedCompletion, "chaos: completion dropped"),
      (.deliversElsewhere, "chaos: delivered on another thread"),
    ]
  )
  func lines(event: ChaosEvent, line: String) {
    expectEqual("\(event)", line)
  }
}
