import ReboundHTTP
import Synchronization

/// A transport whose one request is answered by the test.
final class HandTransport: Transport {
  private final class Exchange: TransportExchange {
    let log = Mutex<[String]>([])

    func cancel() { log.withLock { $0.append("cancel") } }
    func pause() { log.withLock { $0.append("pause") } }
    func resume() { log.withLock { $0.append("resume") } }
  }

  private let exchange = Exchange()
  private let (receivers, continuation) = AsyncStream<@Sendable (TransportEvent) -> Void>.makeStream()

  /// What the exchange was told.
  var log: [String] { exchange.log.withLock { $0 } }

  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    continuation.yield(receiver)
    return exchange
  }

  /// Tells the events of the request, once there is one.
  func receiver() async -> @Sendable (TransportEvent) -> Void {
    for await receiver in receivers { return receiver }
    return { _ in }
  }
}
