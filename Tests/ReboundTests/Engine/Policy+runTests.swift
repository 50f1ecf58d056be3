import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

/// What the driver of asynchronous functions does with decisions, whichever policy takes them.
@Suite("Policy.run")
struct PolicyRunTests {
  @Test("a machine is asked at its own time also while it waits, as that of a publisher is", arguments: [false, true])
  func timeInAWait(parks: Bool) throws {
    let scheduler = TestScheduler()
    let recorder = Recorder<Int, any Error>(on: scheduler)
    let request = Just(1).setFailureType(to: (any Error).self)
    request.protected(by: Impatient(parks: parks), time: scheduler.time).subscribe(recorder)
    scheduler.advance(by: .seconds(1))
    #expect(recorder.completion == nil)
    scheduler.advance(by: .seconds(1))
    expectEqual(recorder.failure as? TestFailure, .permanent)

    try Simulation(seed: 1).run {
      let start = TimeSource.current.now
      do {
        let value = try await Impatient(parks: parks).run { () async throws -> Int in 1 }
        try requireEqual(value, 0, "in a minute")
      } catch let error as TestFailure {
        try requireEqual(error, .permanent)
      }
      try requireEqual(TimeSource.current.now - start, .seconds(2))
    }
  }

  @Test("a wait goes on behind the machine's own time", arguments: [false, true])
  func waitGoesOn(parks: Bool) throws {
    try Simulation(seed: 1).run {
      let policy = Impatient(parks: parks, pause: .milliseconds(1_500))
      let start = TimeSource.current.now
      let task = Task { try await policy.run { () async throws -> Int in 1 } }
      // In virtual time.
      try await TimeSource.current.sleep(for: .milliseconds(1_500))
      for waker in policy.wakers.entries { waker.wake() }
      try requireEqual(try await task.value, 1)
      try requireEqual(TimeSource.current.now - start, .milliseconds(1_500))
    }
  }

  @Test("a cancel ends a wait that has gone on, and what was kept for it")
  func cancelledWait() throws {
    try Simulation(seed: 1).run {
      let (policy, cancels) = (Impatient(parks: true), Log<Void>())
      let task = Task { try await policy.run { () async throws -> Int in 1 } }
      // In virtual time.
      try await TimeSource.current.sleep(for: .milliseconds(1_500))
      for waker in policy.wakers.entries { waker.keep(AnyCancellable { cancels.write(()) }) }
      task.cancel()
      do {
        try requireEqual(try await task.value, 0, "cancelled")
      } catch is CancellationError {}
      try requireEqual(cancels.count, 1)
    }
  }
}

/// Waits before the attempt, and gives up at the second of its own times: one and two seconds after the beginning.
private struct Impatient: Policy {
  let parks: Bool
  var pause = Duration.seconds(60)
  let wakers = Log<Waker>()

  var descriptor: StageDescriptor { StageDescriptor(PolicyKind("impatient")) }
  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(policy: self) }

  struct Machine: TimedMachine {
    let policy: Impatient
    var hasWaited = false
    var times = 0
    var wakeTime: Duration?

    mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      defer { hasWaited = true }
      wakeTime = hasWaited ? nil : execution.now + .seconds(1)
      if hasWaited { return .proceed }
      return policy.parks ? .park(policy.wakers.write) : .wait(policy.pause)
    }

    mutating func timerFired(_ execution: ExecutionContext) -> Decision<any Error> {
      times += 1
      wakeTime = execution.now + .seconds(1)
      return times < 2 ? .proceed : .refuse(TestFailure.permanent)
    }
  }
}
