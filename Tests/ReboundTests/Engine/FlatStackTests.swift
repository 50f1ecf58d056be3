import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

/// Calls that answer at once, one after the other, stand beside each other on the stack and not on each other.
@Suite("The stack stays flat")
struct FlatStackTests {
  private static let many = 10_000
  /// Enough for a frame of 32 bytes a round to be seen, where there are many rows of a table.
  private static let some = 2_000

  private let depths = EventLog<UInt>()

  private func noteDepth() {
    var here = 0
    withUnsafePointer(to: &here) { depths.write(UInt(bitPattern: $0)) }
  }

  private func expectFlat(_ count: Int) {
    #expect(depths.count >= count)
    // AddressSanitizer keeps such a variable elsewhere, in a place that it does not use again soon.
    #if !ASAN
      #expect((depths.entries.max() ?? 0) - (depths.entries.min() ?? 0) < 64 * 1_024)
    #endif
  }

  /// What each call does: nothing is waited for, since timers of this time ring while they are set.
  private let time = TimeSource(ImmediateScheduler.shared)

  @Test("under a stage that is gone through again and again", arguments: StageUnderTest.all, [false, true])
  func stage(row: StageUnderTest, fails: Bool) throws {
    let subject = try row.make(time)
    let call = Deferred { () -> AnyPublisher<Int, any Error> in
      noteDepth()
      return fails
        ? Fail(error: TestFailure.transient).eraseToAnyPublisher()
        : Just(1).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    let recorder = Recorder<Int, any Error>()
    let protected = subject.protect(call.eraseToAnyPublisher())
      // Also where the call is not made, as with a value that is kept.
      .handleEvents(receiveCompletion: { _ in noteDepth() })
    if fails, row.replacement == nil {
      protected.retry(RetryPolicy(clamping: Self.some, backoff: .immediate), time: time).subscribe(recorder)
    } else {
      protected.protected(by: RepeatPolicy(clamping: Self.some), time: time).subscribe(recorder)
    }
    expectEqual(recorder.completions.count, 1)
    expectFlat(Self.some)
  }

  @Test("under a policy that is gone through again and again", arguments: PolicyUnderTest.all, [false, true])
  func policy(row: PolicyUnderTest, fails: Bool) throws {
    let subject = try row.make(TestScheduler())
    let call = Deferred { () -> AnyPublisher<Int, any Error> in
      noteDepth()
      return fails
        ? Fail(error: TestFailure.permanent).eraseToAnyPublisher()
        : Just(1).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    let recorder = Recorder<Int, any Error>()
    let protected = subject.protect(call.eraseToAnyPublisher(), time)
      // Also where the call is refused.
      .handleEvents(receiveCompletion: { _ in noteDepth() })
    if fails {
      protected.retry(RetryPolicy(clamping: Self.some, backoff: .immediate), time: time).subscribe(recorder)
    } else {
      protected.protected(by: RepeatPolicy(clamping: Self.some), time: time).subscribe(recorder)
    }
    recorder.cancel()
    expectFlat(1)
  }

  @Test("when one value after the other is not good enough")
  func values() {
    let recorder = Recorder<Int, any Error>()
    let call = Deferred { () -> AnyPublisher<Int, any Error> in
      noteDepth()
      return Just(1).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    let policy = RetryPolicy<any Error>(clamping: Self.many, backoff: .immediate)
    call.retry(policy, rejecting: { _ in TestFailure.transient }, time: time).subscribe(recorder)
    expectEqual(recorder.completions.count, 1)
    expectFlat(Self.many + 1)
  }

  @Test("when those who wait for one call begin another at its end")
  func waiters() {
    let coalescer = Coalescer<String, Int, any Error>()
    let gate = TestPublisher<Int, any Error>()
    let call = gate.coalesced(by: coalescer, for: "first")
    let recorders = (0..<1_000).map { _ in Recorder<Int, any Error>() }
    let next = Deferred { () -> Just<Int> in
      noteDepth()
      return Just(2)
    }
    for recorder in recorders {
      call.append(next.setFailureType(to: (any Error).self).coalesced(by: coalescer, for: "second")).subscribe(recorder)
    }
    gate.send(completion: .finished)
    expectEqual(recorders.count(where: \.isFinished), recorders.count)
    expectEqual(coalescer.inFlightCount, 0)
    expectFlat(1_000)
  }
}
