import Expectations
import Rebound
import Testing

@Suite("HedgeMachine")
struct HedgeMachineTests {
  private typealias Machine = HedgeMachine<TestFailure>
  private typealias Policy = HedgePolicy<TestFailure>

  private let events = Log<String>()

  private func machine(_ policy: Policy) -> Machine {
    Machine(policy.onEvent { [events] in events.write($0.description) })
  }

  /// A machine whose primary attempt runs and is waited for.
  private func running(_ policy: Policy) -> (Machine, [Int]) {
    var machine = machine(policy)
    machine.begin(now: .zero)
    let begun = [0] + machine.watch(now: .zero).launches.map(\.hedge)
    return (machine, begun)
  }

  @Test("begins a hedge after each delay, counted from the attempt before, and no more than there are to be")
  func latency() throws {
    var (machine, begun) = running(try Policy(maxHedges: 2, delay: .after(.seconds(2))))
    expectEqual(begun, [0])
    expectEqual(machine.due, .seconds(2))
    #expect(machine.timeHasCome(now: .seconds(1)).launches.isEmpty)
    expectEqual(machine.timeHasCome(now: .seconds(2)).launches.map(\.hedge), [1])
    expectEqual(machine.due, .seconds(4))
    expectEqual(machine.timeHasCome(now: .seconds(4)).launches.map(\.hedge), [2])
    #expect(machine.due == nil)
    expectEqual(events.entries.first, "hedge 1 begins after 2.0 seconds (delay of 2.0 seconds)")
  }

  @Test("begins all at once when told to")
  func parallel() throws {
    let (machine, begun) = running(try Policy(maxHedges: 3, delay: .parallel))
    expectEqual(begun, [0, 1, 2, 3])
    #expect(machine.due == nil)
    expectEqual(events.entries[2], "hedge 3 begins after 0.0 seconds (parallel)")
  }

  @Test("begins a hedge only after a failure when told to")
  func afterFailure() throws {
    var (machine, begun) = running(try Policy(maxHedges: 1, delay: .afterFailure))
    expectEqual(begun, [0])
    #expect(machine.due == nil)
    expectEqual(machine.failed(0, with: .transient, now: .seconds(9)).launches.map(\.hedge), [1])
    expectEqual(
      events.entries,
      [
        "primary attempt failed after 9.0 seconds (transient)", "hedge 1 begins after 9.0 seconds (failure)",
      ]
    )
  }

  @Test("begins the next at once after a failure, and counts the delay from there")
  func failureBeforeDelay() throws {
    var (machine, _) = running(try Policy(maxHedges: 2, delay: .after(.seconds(2))))
    expectEqual(machine.failed(0, with: .transient, now: .seconds(1)).launches.map(\.hedge), [1])
    expectEqual(machine.due, .seconds(3))
  }

  @Test("asks a closure for each hedge: a delay, at once, or only after a failure")
  func custom() throws {
    var (machine, begun) = running(
      try Policy(maxHedges: 3, delay: .custom { [1: .seconds(1), 2: .seconds(-1)][$0] })
    )
    expectEqual(begun, [0])
    expectEqual(machine.timeHasCome(now: .seconds(1)).launches.map(\.hedge), [1, 2])
    #expect(machine.due == nil)
  }

  @Test("fails as the primary attempt did when all have failed, with the others kept")
  func exhausted() throws {
    let policy = try Policy(maxHedges: 2, delay: .parallel)
    var (machine, _) = running(policy)
    var (other, _) = running(policy.onExhaustion { .numbered(100 + $0.errors.count + $0.errors[0].hedge) })
    for hedge in [2, 0] {
      #expect(machine.failed(hedge, with: .numbered(hedge), now: .zero).failure == nil)
      _ = other.failed(hedge, with: .numbered(hedge), now: .zero)
    }
    expectEqual(machine.failed(1, with: .numbered(1), now: .seconds(3)).failure, .numbered(0))
    expectEqual(other.failed(1, with: .numbered(1), now: .zero).failure, .numbered(105))
    #expect(events.entries.contains("all 3 attempts failed after 3.0 seconds"))
    let all = HedgesFailed(errors: [(1, TestFailure.transient), (0, .permanent)], underlying: .permanent)
    expectEqual(all.description, "All 2 attempts failed. hedge 1: transient; primary: permanent")
  }

  @Test("ends at once with a fatal failure, whoever has it and whatever runs")
  func fatal() throws {
    var (machine, _) = running(try Policy(maxHedges: 2, delay: .parallel).when(\.isTransient))
    expectEqual(machine.failed(1, with: .permanent, now: .seconds(1)).failure, .permanent)
    expectEqual(events.entries.last, "hedge 1 failed after 1.0 seconds, fatally (permanent)")
    #expect(machine.failed(0, with: .transient, now: .seconds(2)).failure == nil)
    #expect(machine.due == nil)
  }

  @Test("begins no more hedges after a failure that asks for a pause, and lets the others go on")
  func pushback() throws {
    var (machine, _) = running(try Policy(maxHedges: 3, delay: .after(.seconds(1))))
    _ = machine.timeHasCome(now: .seconds(1))
    let step = machine.failed(0, with: .busy(.seconds(30)), now: .seconds(1))
    #expect(step.launches.isEmpty)
    #expect(step.failure == nil)
    #expect(machine.due == nil)
    expectEqual(events.entries.last, "no more hedges after 1.0 seconds (asked to wait 30.0 seconds)")
    expectEqual(machine.failed(1, with: .numbered(1), now: .seconds(2)).failure, .busy(.seconds(30)))
  }

  @Test("draws each hedge from the budget, and begins no more when that is used up")
  func budget() throws {
    let budget = try RetryBudget.ratio(0, floor: 1)
    var (machine, begun) = running(try Policy(maxHedges: 3, delay: .parallel).within(budget))
    expectEqual(begun, [0, 1])
    expectEqual(events.entries.last, "no more hedges after 0.0 seconds (budget exhausted)")
    expectEqual(budget.snapshot().denied, 1)
    _ = machine.failed(1, with: .transient, now: .zero)
    expectEqual(machine.failed(0, with: .numbered(0), now: .zero).failure, .numbered(0))
    expectEqual(budget.snapshot().denied, 1)
  }

  @Test(
    "gives the budget back what the hedge took that wins, and one token when the primary attempt wins",
    arguments: [(winner: 1, tokens: 10, left: 2), (0, 10, 1), (0, 11, 2)]
  )
  func earns(winner: Int, tokens: Int, left: Int) throws {
    let budget = try RetryBudget.bucket(tokens: tokens, cost: 4)
    var machine = machine(try Policy(maxHedges: 1, delay: .parallel).within(budget))
    machine.begin(now: .zero)
    // One that never begins gives its tokens back by itself.
    for launch in machine.watch(now: .zero).launches { launch.begin() }
    expectEqual(budget.snapshot().available, 1)
    machine.won(winner, now: .zero)
    expectEqual(budget.snapshot().available, left)
  }

  @Test("gives back to the budget a hedge that never began")
  func givesBack() throws {
    let budget = try RetryBudget.bucket(tokens: 4, cost: 4)
    do {
      var (machine, _) = running(try Policy(maxHedges: 1, delay: .after(.seconds(1))).within(budget))
      let step = machine.timeHasCome(now: .seconds(1))
      expectEqual(budget.snapshot().queued, 1)
      machine.cancel()
      withExtendedLifetime(step) {}
    }
    expectEqual(budget.snapshot().queued, 0)
    expectEqual(budget.snapshot().available, 1)
  }

  @Test("learns from the winner how long a call takes, and from those it cancels how long it takes at least")
  func latencies() throws {
    let recorder = LatencyRecorder(capacity: 10, minimumCount: 1)
    let policy = try Policy(maxHedges: 1, delay: .percentile(0.95, of: recorder, atFirst: .seconds(3)))
    var (machine, _) = running(policy)
    expectEqual(machine.due, .seconds(3))
    _ = machine.timeHasCome(now: .seconds(3))
    machine.won(1, now: .seconds(4))
    expectEqual(events.entries.last, "hedge 1 won after 4.0 seconds (cancelled: 1)")
    expectEqual(recorder.percentile(0), .seconds(1))
    expectEqual(recorder.percentile(1), .seconds(4))
    expectEqual(running(policy).0.due, .seconds(4))
  }

  @Test("learns nothing from the time before anybody waits")
  func latenciesOfWaits() throws {
    let recorder = LatencyRecorder(capacity: 10, minimumCount: 1)
    let policy = try Policy(maxHedges: 2, delay: .percentile(0.95, of: recorder, atFirst: .seconds(3)))
    var machine = machine(policy)
    machine.begin(isAwaited: false, now: .zero)
    // A hedge that begins after a failure is not waited for, either.
    expectEqual(machine.failed(0, with: .transient, now: .seconds(10)).launches.map(\.hedge), [1])
    _ = machine.watch(now: .seconds(600))
    _ = machine.timeHasCome(now: .seconds(603))
    machine.won(1, now: .seconds(604))
    expectEqual(recorder.count, 2)
    expectEqual(recorder.percentile(1), .seconds(4))
    expectEqual(recorder.percentile(0), .seconds(1))
    // Whoever waits from the start waits for the begin of the attempt, too.
    var (early, _) = running(policy)
    _ = early.watch(now: .seconds(1))
    early.won(0, now: .seconds(9))
    expectEqual(recorder.percentile(1), .seconds(9))
  }

  @Test("takes no notice of what comes after the end, or from an attempt that is not under way")
  func late() throws {
    var (machine, _) = running(try Policy(maxHedges: 1, delay: .after(.seconds(1))))
    #expect(machine.failed(7, with: .permanent, now: .zero).failure == nil)
    machine.won(7, now: .zero)
    machine.won(0, now: .zero)
    let count = events.count
    #expect(machine.due == nil)
    #expect(machine.timeHasCome(now: .seconds(1)).launches.isEmpty)
    #expect(machine.failed(0, with: .transient, now: .zero).launches.isEmpty)
    #expect(machine.watch(now: .zero).launches.isEmpty)
    machine.won(0, now: .zero)
    expectEqual(events.count, count)
  }

  @Test("counts no delay before anybody waits")
  func notWatched() throws {
    var machine = machine(try Policy(maxHedges: 1, delay: .after(.seconds(1))))
    machine.begin(now: .zero)
    #expect(machine.due == nil)
    _ = machine.watch(now: .seconds(60))
    expectEqual(machine.due, .seconds(61))
    _ = machine.watch(now: .milliseconds(60_500))
    expectEqual(machine.due, .seconds(61))
  }
}
