import Combine
import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@Suite("checkpoint")
struct CheckpointTests {
  @Test("notes in a failure by which places it came, in order, and names the line")
  func places() throws {
    let recorder = Recorder<Int, any Error>()
    let line = #line as UInt
    Fail<Int, TestFailure>(error: .busy(.seconds(9)))
      .checkpoint("request")
      .map { $0 + 1 }
      .traced()
      .subscribe(recorder)
    let traced = try #require(recorder.failure as? TracedError)
    expectEqual(traced.underlying as? TestFailure, .busy(.seconds(9)))
    expectEqual(traced.trace.map(\.name), ["request", nil])
    expectEqual(traced.trace.map(\.line), [line + 2, line + 4])
    expectEqual(
      traced.description,
      "busy(9.0 seconds), by way of request (ReboundTests/CheckpointTests.swift:\(line + 2)), "
        + "then ReboundTests/CheckpointTests.swift:\(line + 4)"
    )
    expectEqual(traced.withoutTrace as? TestFailure, .busy(.seconds(9)))
    expectEqual(TestFailure.transient.withoutTrace as? TestFailure, .transient)
  }

  @Test("hides neither the pause that was asked for nor a cancel")
  func transparent() {
    let error = Recorder<Int, any Error>()
    Fail<Int, TestFailure>(error: .busy(.seconds(9))).traced().subscribe(error)
    expectEqual((error.failure as? any RetryAfterProviding)?.retryAfter, .seconds(9))
    expectEqual((error.failure as? any RetryAfterProviding)?.mayBeRepeated, true)
    let order = Recorder<Int, any Error>()
    Fail<Int, PerhapsOrdered>(error: PerhapsOrdered()).traced().subscribe(order)
    expectEqual((order.failure as? any RetryAfterProviding)?.mayBeRepeated, false)
    let cancel = Recorder<Int, any Error>()
    Fail<Int, any Error>(error: CancellationError()).checkpoint("request").subscribe(cancel)
    #expect(cancel.failure is CancellationError)
  }

  @Test("notes the same in what a function throws")
  func function() async throws {
    try await expectEqual(Checkpoint(name: "request").run { 1 }, 1)
    let outer = Checkpoint()
    let traced = await #expect(throws: TracedError.self) {
      try await outer.run { try await Checkpoint(name: "request").run { throw TestFailure.permanent } }
    }
    expectEqual(traced?.underlying as? TestFailure, .permanent)
    expectEqual(traced?.trace.map(\.name), ["request", nil])
    expectEqual(traced?.trace.last?.line, outer.line)
  }

  @Test("leaves a failure its words for people")
  func words() async throws {
    let traced = await #expect(throws: TracedError.self) {
      try await Checkpoint().run { throw CircuitOpen(name: "weather", retryAfter: .seconds(9)) }
    }
    expectEqual(traced?.localizedDescription, "The service does not answer as it should.")
    expectEqual(traced?.recoverySuggestion, "Try again in 9 seconds.")
    let untold = await #expect(throws: TracedError.self) { try await Checkpoint().run { throw TestFailure.permanent } }
    #expect(untold?.errorDescription == nil)
  }
}
