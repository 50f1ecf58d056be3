import Combine
import Foundation
import Rebound
import ReboundTelemetry

/// What makes a client.
struct ClientSettings: Sendable {
  var baseURL: URL?
  /// The base taken apart; `nil` where there is none, or one that makes no sense.
  var service: ServiceAddress?
  var transport: any Transport
  /// In the order of its places.
  var middleware: [any HTTPMiddleware]
  /// That of them, with what every client has, which sees each attempt as one.
  var aroundAttempts: [any HTTPMiddleware]
  /// That of them which sees each request that goes over the wire: an attempt, and what redirects make of it.
  ///
  /// The first ones only adapt it.
  var adapters: RequestAdapters
  /// All behind them.
  var aroundHops: [any HTTPMiddleware]
  /// Whether there is more than what adapts requests, besides the limit of a call that has one.
  var hasStages: Bool
  var delivery: (any Scheduler & Sendable)?
  var time: TimeSource
  var random: RandomSource
  var ids: CallIDs

  var limits = TransportLimits.standard
  var deadline: Duration?
  var deadlineHeader: String?
  var redirects = RedirectPolicy.follow()
  var trustedOrigins: [URL] = []
  var headers: HTTPHeaders = [:]
  var redaction = Redaction.standard
  var identity: (@Sendable () -> String?)?
  var observer: (@Sendable (HTTPEvent) -> Void)?
  /// Where events are written while somebody reads.
  var lines: JSONLines?

  /// Whether an address belongs to another service than this client's, and to none that is trusted like it.
  func isElsewhere(_ address: URL) -> Bool {
    guard let baseURL else { return false }
    let origin = Origin(address)
    return !([baseURL] + trustedOrigins).contains { Origin($0) == origin }
  }

  /// The same for a client and its calls, which would else copy all of it at each step.
  final class Shared: Sendable {
    let settings: ClientSettings

    init(_ settings: ClientSettings) {
      self.settings = settings
    }
  }
}
