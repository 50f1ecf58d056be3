import Expectations
import Foundation
import Rebound
import Testing

@Suite("FallbackPolicy")
struct FallbackPolicyTests {
  @Test("asks all of its conditions, and tells all of its observers, in order")
  func composition() async {
    let log = Log<String>()
    let policy = FallbackPolicy<TestFailure>()
      .when(\.isTransient)
      .when { $0 != .numbered(1) }
      .onEvent { log.write("first: \($0)") }
      .onEvent { log.write("second: \($0)") }
    for error in [TestFailure.permanent, .numbered(1)] {
      await #expect(throws: error) {
        try await policy.run { () throws(TestFailure) in
          throw error
        } fallback: { _ in
        }
      }
    }
    await #expect(throws: Never.self) {
      try await policy.run { () throws(TestFailure) in
        throw .numbered(2)
      } fallback: { _ in
      }
    }
    expectEqual(
      log.entries,
      [
        "first: no fallback for permanent", "second: no fallback for permanent", "first: no fallback for numbered(1)",
        "second: no fallback for numbered(1)", "first: falling back from numbered(2)",
        "second: falling back from numbered(2)",
      ]
    )
  }

  @Test("asks for the pause that the answer's own failure asked for, not for the fallback's")
  func hint() {
    let failed = FallbackFailed(failure: TestFailure.busy(.seconds(1)), original: TestFailure.busy(.seconds(9)))
    expectEqual(failed.retryAfter, .seconds(9))
    #expect(FallbackFailed(failure: TestFailure.busy(.seconds(1)), original: TestFailure.transient).retryAfter == nil)
    #expect(failed.mayBeRepeated)
    #expect(!FallbackFailed(failure: TestFailure.transient, original: PerhapsOrdered()).mayBeRepeated)
  }

  @Test("has the words for people of the answer's own failure, and none if that has none")
  func words() {
    let open = CircuitOpen(name: "weather", retryAfter: .seconds(9), lastError: TimedOut(.total, limit: .seconds(1)))
    let failed = FallbackFailed(failure: TestFailure.permanent, original: open)
    expectEqual(failed.localizedDescription, "The service does not answer as it should.")
    expectEqual(failed.failureReason, "The service did not answer in time.")
    expectEqual(failed.recoverySuggestion, "Try again in 9 seconds.")
    #expect(FallbackFailed(failure: open, original: TestFailure.permanent).errorDescription == nil)
  }
}
