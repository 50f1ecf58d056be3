import Expectations
import Rebound
import StreamSupport
import Testing

/// All that runs a function, and is no row of the tables of policies and stages.
@Suite("Nothing begins in a task that was cancelled before")
struct CancelledTaskTests {
  typealias Operation = @Sendable () async throws -> Int

  struct Form: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (@escaping Operation) async throws -> Int
  }

  static let forms = [
    Form(testDescription: "a retry that judges values") { operation in
      try await RetryPolicy<any Error>.standard.run(rejecting: { _ in nil }) { try await operation() }
    },
    Form(testDescription: "a timeout") { try await TimeoutPolicy.attempt(.seconds(10)).run($0) },
    Form(testDescription: "a cooperative timeout") {
      try await TimeoutPolicy.attempt(.seconds(10)).cooperative().run($0)
    },
    Form(testDescription: "a hedge") { operation in
      try await HedgePolicy<any Error>.standard.run { _ in try await operation() }
    },
    Form(testDescription: "a fallback") { operation in
      try await FallbackPolicy<any Error>().run({ try await operation() }, fallback: { _ in try await operation() })
    },
    Form(testDescription: "a last good value") { operation in
      let store = try LastGood<String, Int>()
      store.remember(1, for: "key")
      return try await store.run(for: "key") { try await operation() }.value
    },
    Form(testDescription: "a cache") { operation in
      let cache = Cache<String, Int, any Error>(policy: try CachePolicy(fresh: .seconds(10)))
      return try await cache.value(for: "key", operation).value
    },
    Form(testDescription: "a coalescer") { try await Coalescer<String, Int, any Error>().run("key", $0) },
    Form(testDescription: "idempotency keys") { operation in
      try await IdempotencyKeys<Int>(keptFor: .seconds(10)).run("key") { try await operation() }
    },
    Form(testDescription: "chaos") { operation in
      try await Chaos<Int, any Error>().run { try await operation() }
    },
    Form(testDescription: "a credential") { operation in
      let session = TokenRefresher<String> { _ in .refreshed("other") }
      session.signIn(with: "token")
      return try await session.run(when: { _ in true }) { _ in try await operation() }
    },
    Form(testDescription: "a pipeline that somebody hears") { operation in
      let events = PolicyEvents()
      let subscription = events.sink { _ in }
      defer { subscription.cancel() }
      let pipeline = try Pipeline<Int>("weather", events: events) {
        Fallback(to: 7)
        Stopwatch()
        Retry()
      }
      return try await pipeline.run { try await operation() }
    },
  ]

  @Test("and a cancel is what it ends with", arguments: forms)
  func cancelledBefore(form: Form) async throws {
    let calls = Log<Void>()
    let task = Task {
      await untilCancelled()
      return try await form.run {
        calls.write(())
        return 1
      }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(calls.count, 0)
  }
}
