import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

/// The transports that are tested side by side.
enum TransportKind: String, CaseIterable, Codable, CustomTestStringConvertible {
  case urlSession = "URLSession"
  #if Curl
    case curl
  #endif

  func make(
    _ time: TimeSource = .current,
    reachability: any Reachability = ManualReachability()
  ) -> any Transport {
    switch self {
    case .urlSession: URLSessionTransport(time: time, reachability: reachability)
    #if Curl
      case .curl: CurlTransport(time: time, reachability: reachability)
    #endif
    }
  }

  var testDescription: String { rawValue }

  /// Whether the transport can make the server wait; Foundation's on Linux cannot, see ``URLSessionTransport``.
  var canPause: Bool { self != .urlSession }
}
