import ReboundHTTP
import StreamSupport

/// A transport whose exchanges do what the test says, and go on after a cancel.
final class StubbornTransport: Transport, Sendable {
  private final class Exchange: TransportExchange {
    func cancel() {}
    func pause() {}
    func resume() {}
  }

  private let receivers = Locked<[@Sendable (TransportEvent) -> Void]>([])

  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    receivers.withLock { $0.append(receiver) }
    return Exchange()
  }

  func tell(_ event: TransportEvent, of number: Int) {
    receivers.withLock { $0.indices.contains(number) ? $0[number] : nil }?(event)
  }
}
