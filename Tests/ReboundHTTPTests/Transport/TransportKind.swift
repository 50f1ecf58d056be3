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

  /// What stands at ``URLSessionTransport``.
  var lacking: Set<TransportContract.Feature> {
    #if canImport(Darwin)
      self == .urlSession ? [.connectLimit] : []
    #else
      self == .urlSession ? [.connectLimit, .backpressure, .growingFiles] : []
    #endif
  }

  /// What it has to do in the clear: all that any transport does, but for what it lacks.
  var contract: TransportContract { TransportContract(lacking: lacking) { make($0, reachability: $1) } }

  #if Curl && os(Linux)
    /// Makes one that trusts the authority of the tests' certificates, if the process does.
    var trustingMaker: TransportContract.Maker {
      get throws {
        switch self {
        case .urlSession: return { make($0, reachability: $1) }
        case .curl:
          let configuration = try CurlTransport.Configuration.trustingTests()
          return { CurlTransport(configuration, time: $0, reachability: $1) }
        }
      }
    }
  #endif

  /// Foundation on Linux stops the process, which no test survives; ``FoundationFaultTests`` has it.
  func stopsProcess(at promise: TransportContract.Case) -> Bool {
    #if canImport(Darwin)
      false
    #else
      stopsProcess(at: promise.faultCase) || self == .urlSession && promise.http2FaultCase == .refusedOrder
    #endif
  }

  func stopsProcess(at faultCase: FaultCase?) -> Bool {
    #if canImport(Darwin)
      false
    #else
      self == .urlSession && [.closeInFields, .trailers].contains(faultCase?.fault)
    #endif
  }
}
