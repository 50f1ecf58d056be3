// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-service-lifecycle 2.11.0: the names and signatures that the adapter uses.
///
/// The real package has a `ServiceGroup` begin a shutdown; here a test does, for the tasks below it.
public protocol Service: Sendable {
  func run() async throws
}

/// Of the stand-in alone: a shutdown that a test begins.
public struct StandInShutdown: Sendable {
  @TaskLocal static var current: StandInShutdown?

  let signal: AsyncStream<Void>
  let continuation: AsyncStream<Void>.Continuation

  public init() {
    (signal, continuation) = AsyncStream.makeStream()
  }

  public func begin() { continuation.finish() }

  public func over(_ service: some Service) async throws {
    try await Self.$current.withValue(self) { try await service.run() }
  }
}

public func gracefulShutdown() async throws {
  let signal = StandInShutdown.current?.signal ?? AsyncStream { _ in }
  for await _ in signal {}
  try Task.checkCancellation()
}
