import Expectations
import Rebound
import Testing

@Suite("CircuitBreakerMachine")
struct CircuitBreakerMachineTests {
  private typealias Machine = CircuitBreakerMachine

  private func machine(
    consecutive: Int? = nil,
    ratio: Double? = 0.5,
    slowness: CircuitBreakerPolicy.Slowness? = nil,
    minimum: Int = 4,
    window: CircuitBreakerPolicy.Window = .calls(4),
    probes: Int = 1
  ) throws -> Machine {
    Machine(
      try CircuitBreakerPolicy(
        failureRatio: ratio,
        consecutiveFailures: consecutive,
        slowness: slowness,
        minimumCalls: minimum,
        window: window,
        openTime: .seconds(10),
        maxOpenTime: .seconds(25),
        probes: probes
      )
    )
  }

  /// Lets a call through at a moment and ends it there, or later.
  private func call(
    _ machine: inout Machine,
    _ outcome: Machine.Outcome,
    at now: Duration = .zero,
    taking duration: Duration = .zero
  ) {
    guard case .granted(let permit) = machine.admit(now: now) else { return }
    machine.settle(permit, outcome, now: now + duration)
  }

  private let failure = Machine.Outcome.failure(hint: nil)

  // MARK: Opening

  @Test("opens at the ratio, not under it, and not before there are enough calls")
  func ratio() throws {
    var machine = try machine()
    for outcome in [failure, failure, failure] { call(&machine, outcome) }
    expectEqual(machine.state, .closed)
    var other = machine
    call(&machine, .success)
    expectEqual(machine.state, .open)
    call(&other, .ignored)
    expectEqual(other.state, .closed)
  }

  @Test(
    "opens at a ratio that floating point puts just over the number of calls, and at the least one, not without a failure",
    arguments: [(0.28, 25, 7), (0.07, 100, 7), (0.14, 50, 7), (0.56, 25, 14), (1e-12, 10, 1)]
  )
  func exactRatio(ratio: Double, calls: Int, failures: Int) throws {
    var machine = try machine(ratio: ratio, minimum: calls, window: .calls(calls))
    for number in 0..<calls { call(&machine, number < calls - failures ? .success : failure) }
    expectEqual(machine.state, .open)
    machine.close()
    for number in 0..<calls { call(&machine, number <= calls - failures ? .success : failure) }
    expectEqual(machine.state, .closed)
  }

  @Test("looks at the last calls only")
  func countWindow() throws {
    var machine = try machine()
    for outcome in [failure, .success, .success, .success, failure] { call(&machine, outcome) }
    expectEqual(machine.state, .closed)
    call(&machine, failure)
    expectEqual(machine.state, .open)
  }

  @Test("looks at the calls of the last moments only")
  func timeWindow() throws {
    var machine = try machine(window: .time(.seconds(10)))
    for second in 0..<3 { call(&machine, failure, at: .seconds(second)) }
    call(&machine, failure, at: .seconds(11))
    expectEqual(machine.state, .closed)
    call(&machine, failure, at: .seconds(11))
    expectEqual(machine.state, .closed)
    call(&machine, .success, at: .seconds(11))
    expectEqual(machine.state, .open)
  }

  @Test("opens after failures in a row, however few calls there were")
  func consecutive() throws {
    var machine = try machine(consecutive: 2, minimum: 4)
    for outcome in [failure, .success, failure, .ignored] { call(&machine, outcome) }
    expectEqual(machine.state, .closed)
    var other = try self.machine(consecutive: 2)
    call(&other, failure)
    call(&other, failure)
    expectEqual(other.state, .open)
  }

  @Test("opens when too many calls are slow, even if they succeed")
  func slow() throws {
    var machine = try machine(slowness: .init(duration: .seconds(2), ratio: 0.5))
    for seconds in [1, 2, 1] { call(&machine, .success, taking: .seconds(seconds)) }
    expectEqual(machine.state, .closed)
    call(&machine, .success, taking: .seconds(3))
    expectEqual(machine.state, .open)
  }

  @Test("opens again after a probe that succeeds, but is slow", arguments: [1, 2])
  func slowProbe(seconds: Int) throws {
    var machine = try machine(consecutive: 1, slowness: .init(duration: .seconds(2), ratio: 1))
    call(&machine, failure)
    call(&machine, .success, at: .seconds(10), taking: .seconds(seconds))
    expectEqual(machine.state, seconds < 2 ? .closed : .open)
  }

  // MARK: Open

  private func opened(probes: Int = 1) throws -> Machine {
    var machine = try machine(consecutive: 1, probes: probes)
    call(&machine, failure)
    return machine
  }

  @Test("refuses until the open time is over, and says how long that is")
  func refuses() throws {
    var machine = try opened()
    expectEqual(machine.admit(now: .seconds(4)), .rejected(retryAfter: .seconds(6)))
    expectEqual(machine.state, .open)
    guard case .granted = machine.admit(now: .seconds(10)) else { return #expect(Bool(false), "no probe") }
    expectEqual(machine.state, .halfOpen)
    expectEqual(machine.admit(now: .seconds(13)), .rejected(retryAfter: .seconds(7)))
  }

  @Test("stays open longer each time, up to a limit, and starts afresh once it was closed")
  func grows() throws {
    var machine = try opened()
    var now = Duration.seconds(10)
    for open in [20, 25, 25] {
      call(&machine, failure, at: now)
      expectEqual(machine.admit(now: now), .rejected(retryAfter: .seconds(open)))
      now += .seconds(open)
    }
    call(&machine, .success, at: now)
    expectEqual(machine.state, .closed)
    call(&machine, failure, at: now)
    expectEqual(machine.admit(now: now), .rejected(retryAfter: .seconds(10)))
  }

  @Test("stays open for as long as the service asks for, but not shorter than it would", arguments: [3, 100])
  func hint(seconds: Int) throws {
    var machine = try machine(consecutive: 1)
    call(&machine, .failure(hint: .seconds(seconds)))
    expectEqual(machine.admit(now: .zero), .rejected(retryAfter: .seconds(max(seconds, 10))))
  }

  @Test("stays open for as long as any failure has asked for, not only that which opens it", arguments: [true, false])
  func hintBefore(isProbing: Bool) throws {
    let policy = try CircuitBreakerPolicy(
      consecutiveFailures: 2,
      openTime: .seconds(10),
      openGrowth: 1,
      probes: 2,
      probeFailureRatio: 1
    )
    var machine = Machine(policy)
    if isProbing { for _ in 1...2 { call(&machine, failure) } }
    let start = isProbing ? Duration.seconds(10) : .zero
    for (second, outcome) in [Machine.Outcome.failure(hint: .seconds(60)), failure].enumerated() {
      let now = start + .seconds(second)
      guard case .granted(let permit) = machine.admit(now: now) else { break }
      machine.settle(permit, outcome, now: now)
    }
    expectEqual(machine.admit(now: start + .seconds(1)), .rejected(retryAfter: .seconds(59)))
    // What was asked for then is over and done with.
    machine.close()
    for _ in 1...2 { call(&machine, failure) }
    expectEqual(machine.snapshot(now: .zero, refused: 0).retryAfter, .seconds(10))
  }

  @Test(
    "stays open for no longer than its policy allows the service to ask for",
    arguments: [(nil, 1_000_000_000, 3_600), (20, 21, 20), (20, 15, 15), (5, 100, 10), (0, 100, 10)]
      as [(Int?, Int, Int)]
  )
  func maxHint(most: Int?, hint: Int, open: Int) throws {
    let maxHint = try most.map { Duration.seconds($0) } ?? CircuitBreakerPolicy().maxHint
    let policy = try CircuitBreakerPolicy(consecutiveFailures: 1, openTime: .seconds(10), maxHint: maxHint)
    var machine = Machine(policy)
    call(&machine, .failure(hint: .seconds(hint)))
    expectEqual(machine.admit(now: .zero), .rejected(retryAfter: .seconds(open)))
  }

  @Test(
    "moves the open time up or down by chance, but not over its limit, nor under what the service asks for",
    arguments: [(0, 5), (0.5, 10), (0.75, 12.5), (0.875, 13.75)]
  )
  func jitter(chance: Double, seconds: Double) throws {
    func opened(by outcome: Machine.Outcome, after openTime: Int, upTo most: Int) throws -> Machine {
      var machine = Machine(
        try CircuitBreakerPolicy(
          consecutiveFailures: 1,
          openTime: .seconds(openTime),
          openJitter: 0.5,
          maxOpenTime: .seconds(most)
        )
      )
      guard case .granted(let permit) = machine.admit(now: .zero) else { return machine }
      machine.settle(permit, outcome, now: .zero, chance: chance)
      return machine
    }
    var free = try opened(by: failure, after: 10, upTo: 60)
    expectEqual(free.admit(now: .zero), .rejected(retryAfter: .seconds(seconds)))
    var capped = try opened(by: failure, after: 10, upTo: 12)
    expectEqual(capped.admit(now: .zero), .rejected(retryAfter: .seconds(min(seconds, 12))))
    var hinted = try opened(by: .failure(hint: .seconds(13)), after: 10, upTo: 60)
    expectEqual(hinted.admit(now: .zero), .rejected(retryAfter: .seconds(max(seconds, 13))))
  }

  // MARK: Metrics

  @Test("shows what it has counted, and changes nothing by being looked at")
  func metrics() throws {
    let slowness = CircuitBreakerPolicy.Slowness(duration: .seconds(2), ratio: 1)
    var machine = try machine(slowness: slowness, minimum: 10, window: .time(.seconds(10)))
    call(&machine, .success, taking: .seconds(2))
    call(&machine, failure)
    call(&machine, failure)
    let before = machine
    let metrics = machine.snapshot(now: .seconds(3), refused: 7)
    expectEqual(
      metrics,
      CircuitBreaker.Snapshot(
        state: .closed,
        calls: 3,
        failures: 2,
        slowCalls: 1,
        failuresInARow: 2,
        refused: 7
      )
    )
    expectEqual(metrics.failureRatio, 2.0 / 3)
    expectEqual(metrics.slowRatio, 1.0 / 3)
    // Out of the window by then, though no call has come.
    expectEqual(machine.snapshot(now: .seconds(30), refused: 0).calls, 0)
    #expect(machine.snapshot(now: .seconds(30), refused: 0).failureRatio == nil)
    expectEqual(machine, before)
  }

  @Test("shows for how long the service is out, how often it opened, and the probes under way")
  func metricsWhenOut() throws {
    var machine = try opened()
    var metrics = machine.snapshot(now: .seconds(4), refused: 0)
    expectEqual(metrics.retryAfter, .seconds(6))
    expectEqual(metrics.outFor, .seconds(4))
    _ = machine.admit(now: .seconds(10))
    metrics = machine.snapshot(now: .seconds(12), refused: 0)
    expectEqual(metrics.probes, 1)
    expectEqual(metrics.outFor, .seconds(12))
    #expect(metrics.retryAfter == nil)
    call(&machine, failure, at: .seconds(20))
    expectEqual(machine.snapshot(now: .seconds(20), refused: 0).openings, 2)
    call(&machine, .success, at: .seconds(40))
    expectEqual(machine.snapshot(now: .seconds(40), refused: 0), CircuitBreaker.Snapshot(state: .closed))
  }

  @Test("becomes half open when somebody looks after the open time, and not before")
  func poll() throws {
    var machine = try opened()
    machine.poll(now: .seconds(9))
    expectEqual(machine.state, .open)
    machine.poll(now: .seconds(10))
    expectEqual(machine.state, .halfOpen)
    expectEqual(machine.liveProbes(now: .seconds(10)), 0)
  }

  // MARK: Half open

  @Test("lets as many probes through as there are to be, counted when they begin")
  func probes() throws {
    var machine = try opened(probes: 3)
    let admissions = (0..<5).map { _ in machine.admit(now: .seconds(10)) }
    expectEqual(admissions.count { if case .granted = $0 { true } else { false } }, 3)
  }

  @Test("opens again once the probes cannot reach the ratio any more, and closes once they cannot miss it")
  func probeRatio() throws {
    for (outcomes, state) in [
      ([failure, .success], CircuitBreaker.State.halfOpen), ([failure, .success, failure], .open),
      ([failure, .success, .success], .closed), ([failure, failure], .open), ([.success, .success], .closed),
    ] {
      var machine = try opened(probes: 3)
      for outcome in outcomes { call(&machine, outcome, at: .seconds(10)) }
      expectEqual(machine.state, state)
    }
  }

  @Test("gives a cancelled probe's place to another call")
  func cancelledProbe() throws {
    var machine = try opened()
    call(&machine, .ignored, at: .seconds(10))
    expectEqual(machine.state, .halfOpen)
    call(&machine, .success, at: .seconds(10))
    expectEqual(machine.state, .closed)
  }

  @Test("lets as many probes through as there are to be in all, however many of them have ended")
  func endedProbes() throws {
    var machine = try opened(probes: 2)
    call(&machine, .success, at: .seconds(10))
    expectEqual(machine.state, .halfOpen)
    guard case .granted = machine.admit(now: .seconds(10)) else {
      Issue.record("the second probe is refused")
      return
    }
    expectEqual(machine.admit(now: .seconds(11)), .rejected(retryAfter: .seconds(9)))
  }

  @Test("gives up a probe that never ends, and takes no notice of it afterwards")
  func hungProbe() throws {
    var machine = try opened()
    guard case .granted(let hung) = machine.admit(now: .seconds(10)) else { return #expect(Bool(false), "no probe") }
    guard case .granted(let next) = machine.admit(now: .seconds(20)) else { return #expect(Bool(false), "wedged") }
    machine.settle(hung, .success, now: .seconds(20))
    expectEqual(machine.state, .halfOpen)
    machine.settle(next, failure, now: .seconds(21))
    expectEqual(machine.state, .open)
  }

  @Test("takes no notice of a result from an earlier state")
  func lateResult() throws {
    var machine = try machine(consecutive: 1)
    guard case .granted(let early) = machine.admit(now: .zero) else { return #expect(Bool(false), "closed") }
    call(&machine, failure)
    _ = machine.admit(now: .seconds(10))
    machine.settle(early, .success, now: .seconds(10))
    expectEqual(machine.state, .halfOpen)
    machine.settle(early, failure, now: .seconds(10))
    expectEqual(machine.state, .halfOpen)
  }

  @Test("stays closed when a call from before it opened fails after a probe has closed it")
  func lateFailure() throws {
    var machine = try machine(consecutive: 1)
    guard case .granted(let early) = machine.admit(now: .zero) else { return #expect(Bool(false), "closed") }
    call(&machine, failure)
    call(&machine, .success, at: .seconds(10))
    expectEqual(machine.state, .closed)
    machine.settle(early, failure, now: .seconds(11))
    expectEqual(machine.state, .closed)
    expectEqual(machine.snapshot(now: .seconds(11), refused: 0).calls, 0)
  }

  @Test("obeys a person")
  func byHand() throws {
    var machine = try machine(consecutive: 1)
    machine.isolate()
    expectEqual(machine.admit(now: .seconds(1_000)), .rejected(retryAfter: nil))
    machine.disable()
    call(&machine, failure)
    expectEqual(machine.state, .disabled)
    machine.close()
    expectEqual(machine.state, .closed)
  }

  // MARK: All interleavings

  /// What can happen next: a call starts, one under way ends in one of three ways, or time passes.
  private enum Step: CustomStringConvertible {
    case start
    case end(Int, Machine.Outcome)
    case wait(Duration)

    var description: String {
      switch self {
      case .start: "start"
      case .end(let index, let outcome): "end \(index) \(outcome)"
      case .wait(let duration): "wait \(duration)"
      }
    }
  }

  /// One point of the search: a machine, the calls under way (also those given up), and the tally of a reference that
  /// knows only the rules.
  private struct Point {
    var machine: Machine
    var now = Duration.zero
    var calls: [(permit: Machine.Permit, lapse: Duration?)] = []
    /// Successes of probes that count, since the breaker was last half open.
    var goodProbes = 0
    var trail: [Step] = []
  }

  @Test(
    "is never wedged and never closed wrongly, in any order of seven or eight steps with up to three calls",
    arguments: [1, 2, 3],
    [false, true]
  )
  func allInterleavings(probes: Int, startsOpen: Bool) throws {
    var start = Point(machine: try machine(consecutive: 1, probes: probes))
    var faults: [String] = []
    if startsOpen {
      // Open, with a call under way that was let through before.
      for step in [Step.start, .start, .end(0, failure)] {
        start = take(step, from: start, probes: probes, &faults)
      }
      expectEqual(start.machine.state, .open)
    }
    var visited = 0
    explore(start, depth: startsOpen ? 7 : 8, probes: probes, visited: &visited, faults: &faults)
    expectEqual(faults.prefix(3), [])
    #expect(visited > 10_000)
  }

  private func explore(_ point: Point, depth: Int, probes: Int, visited: inout Int, faults: inout [String]) {
    visited += 1
    check(point, probes: probes, faults: &faults)
    guard depth > 0, faults.isEmpty else { return }
    var steps: [Step] = [.wait(.seconds(5)), .wait(.seconds(25))]
    if point.calls.count < 3 { steps.append(.start) }
    for index in point.calls.indices {
      steps += [.end(index, .success), .end(index, failure), .end(index, .ignored)]
    }
    for step in steps {
      // Two waits in a row are one longer wait.
      if case .wait = step, case .wait = point.trail.last { continue }
      explore(
        take(step, from: point, probes: probes, &faults),
        depth: depth - 1,
        probes: probes,
        visited: &visited,
        faults: &faults
      )
    }
  }

  private func take(_ step: Step, from point: Point, probes: Int, _ faults: inout [String]) -> Point {
    var next = point
    next.trail.append(step)
    let before = point.machine.state
    switch step {
    case .wait(let duration):
      next.now += duration
    case .start:
      if case .granted(let permit) = next.machine.admit(now: next.now) {
        if next.machine.state == .halfOpen, before != .halfOpen { next.goodProbes = 0 }
        next.calls.append((permit, next.machine.state == .halfOpen ? next.now + .seconds(10) : nil))
      }
    case .end(let index, let outcome):
      let (permit, lapse) = next.calls.remove(at: index)
      next.machine.settle(permit, outcome, now: next.now)
      if permit.generation != point.machine.generation, next.machine != point.machine {
        faults.append("heeds a result from an earlier state: \(next.trail)")
      }
      let counts = permit.generation == point.machine.generation && lapse.map { $0 > next.now } ?? false
      if before == .halfOpen, counts, outcome == .success { next.goodProbes += 1 }
      if before != .closed, next.machine.state == .closed {
        // More than half of the probes, in time and of this very state.
        if !(before == .halfOpen && counts && outcome == .success && next.goodProbes * 2 > probes) {
          faults.append("closed wrongly: \(next.trail)")
        }
      }
    }
    return next
  }

  private func check(_ point: Point, probes: Int, faults: inout [String]) {
    if point.machine.liveProbes(now: point.now) > probes { faults.append("too many probes: \(point.trail)") }
    // However it came to be, once all open times and leases are over it lets calls through, and closes if they succeed.
    var machine = point.machine
    let later = point.now + .seconds(1_000)
    for _ in 0..<probes where machine.state != .closed {
      guard case .granted(let permit) = machine.admit(now: later) else {
        return faults.append("wedged: \(point.trail)")
      }
      machine.settle(permit, .success, now: later)
    }
    if machine.state == .open { faults.append("does not close: \(point.trail)") }
    if machine.state == .halfOpen, point.machine.state != .halfOpen { faults.append("does not close: \(point.trail)") }
  }
}
