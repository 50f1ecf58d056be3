import Rebound
import ReboundOutbox
import ReboundServiceLifecycle
import ReboundTelemetry
import ServiceLifecycle
import Synchronization
import Testing

#if Redis
  import ReboundRedis
#endif

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

  @Test func linesAreReadWhileTheirServiceRuns() async throws {
    let (steps, shutdown) = (Steps(), StandInShutdown())
    let lines = JSONLines { $0 }
    let service = BackgroundService {
      defer { steps.note("started") }
      return lines.read { _ in }
    }
    async let run: Void = shutdown.over(service)
    #expect(await steps.next() == "started")
    #expect(lines.isRead)
    shutdown.begin()
    try await run
    #expect(!lines.isRead)
  }

  // MARK: Credentials

  @Test func aCredentialIsObtainedBeforeARequestNeedsItAndNotLostAtTheShutdown() async throws {
    let (steps, server, shutdown) = (Steps(), Steps(), StandInShutdown())
    let session = TokenRefresher<Int>(obtaining: { () async throws(Refusal) in
      steps.note("asked")
      _ = await server.next()
      return 7
    })
    async let run: Void = shutdown.over(TokenRefresherService(session))
    #expect(await steps.next() == "asked")
    #expect(session.credential == nil)
    shutdown.begin()
    server.note("issued")
    try await run
    #expect(session.credential == 7)
  }

  @Test func aCredentialThatCannotBeHadDoesNotEndTheProgram() async throws {
    let (steps, shutdown) = (Steps(), StandInShutdown())
    let session = TokenRefresher<Int>(obtaining: { () async throws(Refusal) in throw Refusal() })
      .onEvent { if case .failed = $0 { steps.note("failed") } }
    async let run: Void = shutdown.over(TokenRefresherService(session))
    #expect(await steps.next() == "failed")
    shutdown.begin()
    try await run
  }

  @Test func whereNobodyIsSignedInNothingIsRenewed() async throws {
    let shutdown = StandInShutdown()
    let session = TokenRefresher<Int> { _ in .refreshed(7) }
    shutdown.begin()
    try await shutdown.over(TokenRefresherService(session))
    #expect(session.credential == nil)
  }

  @Test func aCancelDoesNotWaitForARefresh() async {
    let (steps, server, shutdown) = (Steps(), Steps(), StandInShutdown())
    let session = TokenRefresher<Int>(obtaining: { () async throws(Refusal) in
      steps.note("asked")
      _ = await server.next()
      return 7
    })
    let task = Task { try await shutdown.over(TokenRefresherService(session)) }
    #expect(await steps.next() == "asked")
    shutdown.begin()
    task.cancel()
    _ = await task.result
    #expect(session.credential == nil)
    server.note("issued")
  }

  // MARK: Fleets

  #if Redis
    @Test func aMemberLeavesItsFleetAtTheShutdown() async throws {
      let (steps, shutdown) = (Steps(), StandInShutdown())
      // Nobody answers there; the member goes by itself.
      let fleet = try Fleet("shop", at: .tcp("127.0.0.1", port: 1), instances: 2)
      fleet.onEvent { steps.note($0.word) }
      shutdown.begin()
      try await shutdown.over(FleetService(fleet))
      #expect(await steps.next() == "left")
    }
  #endif
}
