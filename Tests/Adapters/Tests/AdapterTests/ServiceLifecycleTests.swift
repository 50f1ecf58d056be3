import Rebound
import ReboundServiceLifecycle
import ServiceLifecycle
import Synchronization
import Testing

@Suite struct ServiceLifecycleTests {
  private struct Refusal: Error {}

  /// What a service has done, for whoever waits for it.
  private final class Steps: Sendable {
    private let (stream, continuation) = AsyncStream<String>.makeStream()

    func note(_ step: String) { continuation.yield(step) }

    func next() async -> String? {
      for await step in stream { return step }
      return nil
    }
  }

  @Test func workIsStoppedAtTheShutdown() async throws {
    let (steps, shutdown) = (Steps(), StandInShutdown())
    let service = BackgroundService {
      steps.note("started")
      return 7
    } stop: {
      steps.note("stopped \($0)")
    }
    async let run: Void = shutdown.over(service)
    #expect(await steps.next() == "started")
    shutdown.begin()
    try await run
    #expect(await steps.next() == "stopped 7")
  }

  @Test func workIsStoppedWhenTheProgramIsCancelled() async {
    let (steps, shutdown) = (Steps(), StandInShutdown())
    let service = BackgroundService {
      steps.note("started")
    } stop: {
      steps.note("stopped")
    }
    let task = Task { try await shutdown.over(service) }
    #expect(await steps.next() == "started")
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await steps.next() == "stopped")
  }

  @Test func workThatDoesNotStartEndsTheProgram() async {
    let steps = Steps()
    let service = BackgroundService {
      throw Refusal()
    } stop: { (_: Int) in
      steps.note("stopped")
    }
    await #expect(throws: Refusal.self) { try await StandInShutdown().over(service) }
  }

  @Test func anOutboxIsOpenWhileItsServiceRuns() async throws {
    let (steps, shutdown) = (Steps(), StandInShutdown())
    let storage = InMemoryOutboxStorage()
    let outbox = Outbox<Int>("orders", storage: storage) { entry in
      steps.note("delivered \(entry.payload)")
      return .delivered
    }
    async let run: Void = shutdown.over(OutboxService(outbox))
    _ = try await outbox.enqueue(7, key: "a")
    #expect(await steps.next() == "delivered 7")
    shutdown.begin()
    try await run
    // Another one may have the storage now.
    _ = try storage.open()
  }
}
