import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

/// What `PolicyContractTests` asks of all policies, for a key that only one call may have at a time.
@Suite("idempotent(by:for:) keeps the contract of policies")
struct IdempotencyContractTests {
  private typealias Upstream = TestPublisher<Int, any Error>

  /// What ends a call that has the key.
  enum End: CaseIterable {
    case success, finishWithoutValue, failure, cancel, cancelInValue, cancelOfCall, enoughValues
  }

  private let time = HandSetTime()
  private let upstream = Upstream()
  private let subscribed = EventLog<Void>()

  private func keys() throws -> IdempotencyKeys<Int> {
    try IdempotencyKeys(keptFor: .seconds(60), time: time.source)
  }

  private func subscribe(
    _ recorder: Recorder<Int, any Error>,
    _ keys: IdempotencyKeys<Int>,
    prefix count: Int = .max
  ) {
    let (subscribed, upstream) = (subscribed, upstream)
    let noted = Deferred {
      subscribed.write(())
      return upstream
    }
    noted.idempotent(by: keys, for: "order").prefix(count).subscribe(recorder)
  }

  /// Who has the key next: it was given back, unless there is an answer that is kept.
  private func next(_ keys: IdempotencyKeys<Int>) async throws -> Int {
    // Given back by whoever is in a task of its own.
    try await keys.run("order") { 8 }
  }

  @Test("the key is free or has an answer, whatever ends the call, and one end comes", arguments: End.allCases)
  func ends(end: End) async throws {
    let keys = try keys()
    let recorder = Recorder<Int, any Error>(answering: { _, recorder in
      if end == .cancelInValue { recorder.cancel() }
      return .none
    })
    subscribe(recorder, keys, prefix: end == .enoughValues ? 1 : .max)
    await subscribed.until(1)
    while upstream.subscriptionCount == 0 { await Task.yield() }
    switch end {
    case .success, .cancelInValue, .enoughValues: upstream.send(7)
    case .finishWithoutValue: upstream.send(completion: .finished)
    case .failure: upstream.send(completion: .failure(TestFailure.permanent))
    case .cancel: recorder.cancel()
    case .cancelOfCall: upstream.send(completion: .failure(CancellationError()))
    }
    // Whatever comes behind it is nobody's.
    for connection in upstream.connections {
      connection.send(9)
      connection.send(completion: .finished)
      connection.send(completion: .failure(TestFailure.transient))
    }
    let isAnswered = [.success, .cancelInValue, .enoughValues].contains(end)
    expectEqual(recorder.values, isAnswered ? [7] : [])
    expectEqual(recorder.completions.count, [.cancel, .cancelInValue].contains(end) ? 0 : 1)
    try await expectEqual(next(keys), isAnswered ? 7 : 8)
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test(
    "who waits for the call of another and is cancelled hears nothing, and takes nothing with it",
    arguments: [false, true]
  )
  func cancelInWait(isFunction: Bool) async throws {
    let keys = try keys()
    let first = Recorder<Int, any Error>()
    subscribe(first, keys)
    while upstream.subscriptionCount == 0 { await Task.yield() }
    if isFunction {
      let waiting = Task { try await keys.run("order") { 9 } }
      await time.delays.until(1)
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
    } else {
      let waiting = Recorder<Int, any Error>()
      subscribe(waiting, keys)
      await time.delays.until(1)
      waiting.cancel()
      expectEqual(waiting.events.count, 1)
    }
    upstream.send(7)
    expectEqual(first.values, [7])
    try await expectEqual(next(keys), 7)
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("a function gives the key back, whatever ends it", arguments: [false, true])
  func functions(isCancelled: Bool) async throws {
    let keys = try keys()
    let begun = EventLog<Void>()
    let task = Task {
      try await keys.run("order") {
        begun.write(())
        if isCancelled { await untilCancelled() }
        throw TestFailure.permanent
      }
    }
    await begun.until(1)
    if isCancelled { task.cancel() }
    await #expect(throws: TestFailure.permanent) { try await task.value }
    try await expectEqual(next(keys), 8)
  }
}
