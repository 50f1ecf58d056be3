import Expectations
import Rebound
import Testing

@Suite("FallbackPolicy.run")
struct FallbackPolicyRunTests {
  private let events = Log<String>()

  private var policy: FallbackPolicy<any Error> {
    FallbackPolicy<any Error>()
      .when { ($0 as? TestFailure)?.isTransient ?? true }
      .onEvent { [events] in events.write($0.description) }
  }

  @Test("returns what the first one returns that does not fail")
  func returns() async throws {
    try await expectEqual(
      policy.run {
        1
      } fallback: { _ in
        2
      },
      1
    )
    try await expectEqual(
      policy.run {
        throw TestFailure.transient
      } fallback: { _ in
        2
      },
      2
    )
    expectEqual(events.entries, ["falling back from transient"])
  }

  @Test("throws on what the policy does not cover")
  func predicate() async {
    await #expect(throws: TestFailure.permanent) {
      try await policy.run {
        throw TestFailure.permanent
      } fallback: { _ in
      }
    }
    expectEqual(events.entries, ["no fallback for permanent"])
  }

  @Test("carries both errors when both fail")
  func bothFail() async {
    let failed = await #expect(throws: FallbackFailed.self) {
      try await policy.run {
        throw TestFailure.transient
      } fallback: { _ in
        throw TestFailure.numbered(2)
      }
    }
    expectEqual(failed?.original as? TestFailure, .transient)
    expectEqual(failed?.failure as? TestFailure, .numbered(2))
    expectEqual(events.entries.last, "fallback failed (numbered(2)) after transient")
  }

  @Test("has no fallback in a task that is cancelled, nor for a cancel", arguments: [true, false])
  func cancellation(ofTask: Bool) async {
    let task = Task {
      try await policy.run {
        if ofTask { withUnsafeCurrentTask { $0?.cancel() } }
        throw ofTask ? TestFailure.transient as any Error : CancellationError()
      } fallback: { _ in
      }
    }
    let error = await #expect(throws: (any Error).self) { try await task.value }
    expectEqual(error is CancellationError, !ofTask)
    expectEqual(events.count, 0)
  }

  @Test("has no fallback behind an observer who cancels the task")
  func cancelledByObserver() async {
    let policy = FallbackPolicy<TestFailure>().onEvent { _ in withUnsafeCurrentTask { $0?.cancel() } }
    let task = Task {
      try await policy.run { () throws(TestFailure) in
        throw .transient
      } fallback: { _ in
        Issue.record("it is called")
      }
    }
    await #expect(throws: TestFailure.transient) { try await task.value }
  }
}
