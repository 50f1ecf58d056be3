import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Awaited values")
struct AwaitedValuesTests {
  private struct Failed: Error {}

  /// Sends from a task what it is given, once it is subscribed to.
  private func sending(_ values: [Int], _ completion: Subscribers.Completion<Failed>?) -> TestPublisher<Int, Failed> {
    TestPublisher(whenSubscribed: { connection in
      Task {
        for value in values { connection.send(value) }
        if let completion { connection.send(completion: completion) }
      }
    })
  }

  @Test("wake the test up as soon as enough are there")
  func reads() async throws {
    let publisher = sending([1, 2, 3], nil)
    try await expectEqual(publisher.nextValues(2), [1, 2])
    expectEqual(publisher.requests, [.max(2)])
    expectEqual(publisher.cancelCount, 1)
    try await expectEqual(sending([1, 2], nil).firstValue(), 1)
    try await expectEqual(sending([1, 2], .finished).lastValue(), 2)
    try await expectEqual(sending([], nil).nextValues(0), [])
    try await expectEqual([5, 6].publisher.nextValues(2), [5, 6])
  }

  @Test("leave nothing behind if their task is cancelled before the subscription comes")
  func cancelledEarly() async {
    let (scheduler, probe) = (TestScheduler(), PublisherProbe())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) {
        try await PassthroughSubject<Int, Never>().probed(by: probe).subscribe(on: scheduler).firstValue()
      }
    }
    await task.value
    scheduler.advance()
    expectEqual(probe.counts.open, 0)
    #expect(!probe.wasRequested)
  }

  @Test("that do not come are an error")
  func missing() async {
    let line = #line + 1
    let error = await #expect(throws: MissingValues.self) { try await sending([1], .finished).nextValues(2) }
    expectEqual(error?.description.hasSuffix("expected 2 values, but 1 value came and then the finish."), true)
    expectEqual(error?.location.line, line)
    await #expect(throws: MissingValues.self) { try await sending([], .finished).firstValue() }
    await #expect(throws: MissingValues.self) { try await sending([], .finished).lastValue() }
    await #expect(throws: Failed.self) { try await sending([1], .failure(Failed())).lastValue() }
  }

  @Test("are waited for no longer when the task is cancelled")
  func cancelled() async {
    let publisher = TestPublisher<Int, Failed>()
    let task = Task { try await publisher.nextValues(1) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
