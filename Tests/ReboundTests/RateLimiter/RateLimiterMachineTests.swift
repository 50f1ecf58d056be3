import Expectations
import Rebound
import Testing

@Suite("RateLimiterMachine")
struct RateLimiterMachineTests {
  private func makeMachine(
    _ permits: Int = 1,
    maxWait: Duration = .seconds(10),
    maxQueue: Int = 100,
    feedback: RateLimiterPolicy.Feedback = .standard
  ) throws -> RateLimiterMachine {
    let policy = try RateLimiterPolicy.tokenBucket(permits, per: .seconds(1), burst: 1)
    return RateLimiterMachine(
      try policy.waiting(atMost: maxWait, maxQueue: maxQueue).answering(feedback),
      now: .seconds(100)
    )
  }

  private func queued(_ admission: RateLimiterMachine.Admission) -> Int {
    guard case .queued(let number, _) = admission else { return -1 }
    return number
  }

  @Test("lets wait who comes too early, each behind the one before, and refuses whose turn would come too late")
  func queue() throws {
    var machine = try makeMachine(maxWait: .seconds(2))
    expectEqual(machine.enter(now: .seconds(100)), .granted)
    expectEqual(machine.enter(now: .seconds(100)), .queued(1, wait: .seconds(1)))
    expectEqual(machine.enter(now: .seconds(100)), .queued(2, wait: .seconds(2)))
    expectEqual(machine.enter(now: .seconds(100)), .rejected(retryAfter: .seconds(3)))
    expectEqual(machine.enter(now: .milliseconds(100_500), mayWait: false), .rejected(retryAfter: .milliseconds(2_500)))
    #expect(machine.advance(now: .milliseconds(100_999)) == ([], .milliseconds(1)))
    #expect(machine.advance(now: .seconds(101)) == ([1], .seconds(1)))
    #expect(machine.advance(now: .seconds(103)) == ([2], nil))
  }

  @Test("lets nobody overtake those who wait")
  func fair() throws {
    var machine = try makeMachine()
    _ = machine.enter(now: .seconds(100))
    let waiting = queued(machine.enter(now: .seconds(100)))
    // Its token is there, and not taken yet.
    expectEqual(machine.enter(now: .seconds(101)), .queued(waiting + 1, wait: .seconds(1)))
    #expect(machine.advance(now: .seconds(101)) == ([waiting], .seconds(1)))
  }

  @Test("waits for whole nanoseconds, and long enough, at a rate that has none")
  func wholeNanoseconds() throws {
    var machine = try makeMachine(3)
    expectEqual(machine.enter(now: .seconds(100)), .granted)
    let wait = Duration.nanoseconds(333_333_334)
    expectEqual(machine.enter(now: .seconds(100)), .queued(1, wait: wait))
    #expect(machine.advance(now: .seconds(100) + wait) == ([1], nil))
  }

  @Test("refuses when as many wait as may")
  func fullQueue() throws {
    var machine = try makeMachine(maxQueue: 1)
    _ = machine.enter(now: .seconds(100))
    _ = machine.enter(now: .seconds(100))
    expectEqual(machine.enter(now: .seconds(100)), .rejected(retryAfter: .seconds(2)))
  }

  @Test("moves the others up when one cancels")
  func abandon() throws {
    var machine = try makeMachine()
    _ = machine.enter(now: .seconds(100))
    let numbers = (0..<3).map { _ in queued(machine.enter(now: .seconds(100))) }
    expectEqual(machine.abandon(numbers[0]), true)
    expectEqual(machine.abandon(numbers[0]), false)
    #expect(machine.advance(now: .seconds(101)) == ([numbers[1]], .seconds(1)))
    expectEqual(machine.enter(now: .seconds(101)), .queued(4, wait: .seconds(2)))
  }

  @Test("lets nobody begin in a pause that the service asks for, and refuses those whose turn comes too late then")
  func pause() throws {
    var machine = try makeMachine(maxWait: .seconds(3), feedback: .pausesOnly)
    _ = machine.enter(now: .seconds(100))
    let numbers = (0..<3).map { _ in queued(machine.enter(now: .seconds(100))) }
    let late = machine.throttle(pause: .milliseconds(2_500), now: .seconds(100))
    expectEqual(late.map(\.number), [numbers[1], numbers[2]])
    expectEqual(late.map(\.retryAfter), [.milliseconds(3_500), .milliseconds(3_500)])
    #expect(machine.advance(now: .milliseconds(102_499)).granted.isEmpty)
    #expect(machine.advance(now: .milliseconds(102_500)) == ([numbers[0]], nil))
    // A shorter pause does not end a longer one.
    _ = machine.throttle(pause: .seconds(5), now: .seconds(103))
    _ = machine.throttle(pause: .seconds(1), now: .seconds(103))
    expectEqual(machine.enter(now: .seconds(104), mayWait: false), .rejected(retryAfter: .seconds(4)))
    expectEqual(machine.enter(now: .seconds(108)), .granted)
  }

  @Test(
    "keeps no longer pause than its policy allows the service to ask for",
    arguments: [(nil, 1_000_000_000, 3_600), (20, 21, 20), (20, 15, 15)] as [(Int?, Int, Int)]
  )
  func maxHint(most: Int?, pause: Int, kept: Int) throws {
    let maxHint = most.map { Duration.seconds($0) } ?? RateLimiterPolicy.Feedback.standard.maxHint
    var machine = try makeMachine(feedback: .init(decrease: 1, maxHint: maxHint))
    _ = machine.throttle(pause: .seconds(pause), now: .seconds(100))
    expectEqual(machine.enter(now: .seconds(100), mayWait: false), .rejected(retryAfter: .seconds(kept)))
    expectEqual(machine.enter(now: .seconds(100 + kept)), .granted)
  }

  @Test("takes no notice of pauses where none may be asked for", arguments: [-1, 0, 9])
  func noHint(pause: Int) throws {
    var machine = try makeMachine(feedback: .init(decrease: 1, maxHint: .zero))
    _ = machine.throttle(pause: .seconds(pause), now: .seconds(100))
    expectEqual(machine.takeAtOnce(now: .seconds(100)), true)
  }

  @Test("lowers the rate once for all calls that began before, and again for one that began after")
  func lowersOnce() throws {
    var machine = try makeMachine()
    for _ in 0..<100 { _ = machine.throttle(pause: nil, begun: .seconds(99), now: .seconds(100)) }
    expectEqual(machine.share, 0.7)
    _ = machine.throttle(pause: nil, begun: .seconds(101), now: .seconds(102))
    #expect(abs(machine.share - 0.49) < 1e-12)
    for index in 0..<100 { _ = machine.throttle(pause: nil, now: .seconds(103 + index)) }
    expectEqual(machine.share, 0.01)
  }

  @Test("lowers the rate again for a call that began at the very moment of a lowering, not for one just before")
  func beganAtLowering() throws {
    var machine = try makeMachine()
    _ = machine.throttle(pause: nil, begun: .seconds(99), now: .seconds(100))
    expectEqual(machine.share, 0.7)
    _ = machine.throttle(pause: nil, begun: .seconds(100) - .nanoseconds(1), now: .seconds(101))
    expectEqual(machine.share, 0.7)
    _ = machine.throttle(pause: nil, begun: .seconds(100), now: .seconds(101))
    #expect(abs(machine.share - 0.49) < 1e-12)
  }

  @Test("comes back to the rate along the cubic curve, and is full again in the end")
  func recovery() throws {
    var machine = try makeMachine(10)
    _ = machine.throttle(pause: nil, now: .seconds(100))
    machine.succeed(now: .seconds(100))
    #expect(abs(machine.share - 0.7) < 1e-9)
    // K = ∛(10 · 0.3 / 0.4) = 1.957 s; W(1) = 0.4 · (1 − K)³ + 10 = 9.649.
    machine.succeed(now: .seconds(101))
    #expect(abs(machine.share - 0.96494) < 1e-4)
    machine.succeed(now: .seconds(102))
    expectEqual(machine.share, 1)
    machine.succeed(now: .seconds(103))
    expectEqual(machine.share, 1)
  }
}
