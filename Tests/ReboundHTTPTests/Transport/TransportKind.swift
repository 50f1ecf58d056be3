import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
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

  /// What it has to do: all that any transport does, but for what stands at ``URLSessionTransport``.
  var contract: TransportContract {
    #if canImport(Darwin)
      let lacking: Set<TransportContract.Feature> = self == .urlSession ? [.connectLimit] : []
    #else
      let lacking: Set<TransportContract.Feature> =
        self == .urlSession ? [.connectLimit, .backpressure, .growingFiles] : []
    #endif
    return TransportContract(lacking: lacking) { make($0, reachability: $1) }
  }

  /// Foundation on Linux stops the process, which no test survives; ``FoundationFaultTests`` has it.
  func stopsProcess(at faultCase: FaultCase?) -> Bool {
    #if canImport(Darwin)
      false
    #else
      self == .urlSession && [.closeInFields, .trailers].contains(faultCase?.fault)
    #endif
  }
}
