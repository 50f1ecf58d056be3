// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-service-lifecycle 2.11.0: the names and signatures that the adapter and its tests use.
///
/// The real package has a `ServiceGroup` begin a shutdown, too; here only a test does, for the tasks below it.
public protocol Service: Sendable {
  func run() async throws
}

package struct Shutdown: Sendable {
  @TaskLocal package static var current: Shutdown?

  fileprivate let signal: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  package init() {
    (signal, continuation) = AsyncStream.makeStream()
  }

  package func begin() { continuation.finish() }
}

public func gracefulShutdown() async throws {
  let signal = Shutdown.current?.signal ?? AsyncStream { _ in }
  for await _ in signal {}
  try Task.checkCancellation()
}
