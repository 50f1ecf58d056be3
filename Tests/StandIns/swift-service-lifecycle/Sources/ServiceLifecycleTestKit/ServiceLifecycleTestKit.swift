// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for ServiceLifecycleTestKit of swift-service-lifecycle 2.11.0.
import ServiceLifecycle

public struct GracefulShutdownTestTrigger: Sendable {
  fileprivate let shutdown: Shutdown

  public func triggerGracefulShutdown() { shutdown.begin() }
}

public func testGracefulShutdown<T>(
  operation: (GracefulShutdownTestTrigger) async throws -> T
) async rethrows -> T {
  let shutdown = Shutdown()
  return try await Shutdown.$current.withValue(shutdown) {
    try await operation(GracefulShutdownTestTrigger(shutdown: shutdown))
  }
}
