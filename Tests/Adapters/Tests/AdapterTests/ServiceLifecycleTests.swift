import Rebound
import ReboundOutbox
import ReboundServiceLifecycle
import ReboundTelemetry
import ServiceLifecycle
import ServiceLifecycleTestKit
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
    let steps = Steps()
    let service = BackgroundService {
      steps.note("started")
      return 7
    } stop: {
      steps.note("stopped \($0)")
    }
    try await testGracefulShutdown { trigger in
      async let run: Void = service.run()
      #expect(await steps.next() == "started")
      trigger.triggerGracefulShutdown()
      try await run
    }
    #expect(await steps.next() == "stopped 7")
  }

  @Test func workIsStoppedWhenTheProgramIsCancelled() async {
    let steps = Steps()
    let service = BackgroundService {
      steps.note("started")
    } stop: {
      steps.note("stopped")
    }
    await testGracefulShutdown { _ in
      let task = Task { try await service.run() }
      #expect(await steps.next() == "started")
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(await steps.next() == "stopped")
  }

  @Test func workThatDoesNotStartEndsTheProgram() async {
    let steps = Steps()
    let service = BackgroundService {
      throw Refusal()
    } stop: { (_: Int) in
      steps.note("stopped")
    }
    await #expect(throws: Refusal.self) {
      try await testGracefulShutdown { _ in try await service.run() }
    }
  }

  @Test func anOutboxIsOpenWhileItsServiceRuns() async throws {
    let steps = Steps()
    let storage = InMemoryOutboxStorage()
    let outbox = Outbox<Int>("orders", storage: storage) { entry in
      steps.note("delivered \(entry.payload)")
      return .delivered
    }
    try await testGracefulShutdown { trigger in
      async let run: Void = OutboxService(outbox).run()
      _ = try await outbox.enqueue(7, key: "a")
      #expect(await steps.next() == "delivered 7")
      trigger.triggerGracefulShutdown()
      try await run
    }
    // Another one may have the storage now.
    _ = try storage.open()
  }

  @Test func linesAreReadWhileTheirServiceRuns() async throws {
    let steps = Steps()
    let lines = JSONLines { $0 }
    let service = BackgroundService {
      defer { steps.note("started") }
      return lines.read { _ in }
    }
    try await testGracefulShutdown { trigger in
      async let run: Void = service.run()
      #expect(await steps.next() == "started")
      #expect(lines.isRead)
      trigger.triggerGracefulShutdown()
      try await run
    }
    #expect(!lines.isRead)
  }

  // MARK: Credentials

  @Test func aCredentialIsObtainedBeforeARequestNeedsItAndNotLostAtTheShutdown() async throws {
    let (steps, server) = (Steps(), Steps())
    let session = TokenRefresher<Int>(obtaining: { () async throws(Refusal) in
      steps.note("asked")
      _ = await server.next()
      return 7
    })
    try await testGracefulShutdown { trigger in
      async let run: Void = TokenRefresherService(session).run()
      #expect(await steps.next() == "asked")
      #expect(session.credential == nil)
      trigger.triggerGracefulShutdown()
      server.note("issued")
      try await run
    }
    #expect(session.credential == 7)
  }

  @Test func aCredentialThatCannotBeHadDoesNotEndTheProgram() async throws {
    let steps = Steps()
    let session = TokenRefresher<Int>(obtaining: { () async throws(Refusal) in throw Refusal() })
      .onEvent { if case .failed = $0 { steps.note("failed") } }
    try await testGracefulShutdown { trigger in
      async let run: Void = TokenRefresherService(session).run()
      #expect(await steps.next() == "failed")
      trigger.triggerGracefulShutdown()
      try await run
    }
  }

  @Test func whereNobodyIsSignedInNothingIsRenewed() async throws {
    let session = TokenRefresher<Int> { _ in .refreshed(7) }
    try await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      try await TokenRefresherService(session).run()
    }
    #expect(session.credential == nil)
  }

  @Test func aCancelDoesNotWaitForARefresh() async {
    let (steps, server) = (Steps(), Steps())
    let session = TokenRefresher<Int>(obtaining: { () async throws(Refusal) in
      steps.note("asked")
      _ = await server.next()
      return 7
    })
    await testGracefulShutdown { trigger in
      let task = Task { try await TokenRefresherService(session).run() }
      #expect(await steps.next() == "asked")
      trigger.triggerGracefulShutdown()
      task.cancel()
      _ = await task.result
    }
    #expect(session.credential == nil)
    server.note("issued")
  }

  // MARK: Fleets

  #if Redis
    @Test func aMemberLeavesItsFleetAtTheShutdown() async throws {
      let steps = Steps()
      // Nobody answers there; the member goes by itself.
      let fleet = try Fleet("shop", at: .tcp("127.0.0.1", port: 1), instances: 2)
      // Whether the server has refused the connection by then is another matter.
      fleet.onEvent { if $0.word == "left" { steps.note($0.word) } }
      try await testGracefulShutdown { trigger in
        trigger.triggerGracefulShutdown()
        try await FleetService(fleet).run()
      }
      #expect(await steps.next() == "left")
    }
  #endif
}
