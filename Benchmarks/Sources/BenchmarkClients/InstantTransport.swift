import Foundation
import ReboundHTTP

/// Answers at once, so that nothing is measured but what a client does itself.
public struct InstantTransport: Transport {
  /// Makes one.
  public init() {}

  /// Answers with the same reading each time.
  public func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    receiver(.head(ResponseHead(status: 200, headers: InstantTransport.headers, url: request.url)))
    receiver(.chunk(InstantTransport.body))
    receiver(.finished)
    return Exchange.over
  }

  private static let body = Data(#"{"temperature": 21.5}"#.utf8)
  private static let headers: HTTPHeaders = [
    "Connection": "keep-alive", "Content-Length": "21", "Content-Type": "application/json",
    "Date": "Sun, 22 Nov 2026 02:10:21 GMT", "Server": "nginx",
  ]

  private final class Exchange: TransportExchange {
    /// One for all: there is nothing left to be told.
    static let over = Exchange()

    func cancel() {}
    func pause() {}
    func resume() {}
  }
}
