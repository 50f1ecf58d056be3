import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry

extension WebAPIClient {
  /// The same client, watched by whoever wants to know what its calls do and cost.
  ///
  /// - Parameters:
  ///   - metrics: Gets what the calls cost.
  ///   - lines: Gets a line for each thing that happens in a call.
  ///   - onEvent: Is told of each thing that happens in a call.
  public func watched(
    by metrics: (any MetricsSink)?,
    _ lines: JSONLines?,
    _ onEvent: (@Sendable (HTTPEvent) -> Void)?
  ) -> WebAPIClient {
    let told = onEvent.map(self.onEvent) ?? self
    return (lines.map(told.writing) ?? told).reporting(to: metrics)
  }

  /// A client of a small service: it waits 15 s for a sign of life, delivers where answers arrive, and is watched.
  public init(
    baseURL: URL,
    transport: any Transport,
    watchedBy metrics: (any MetricsSink)?,
    _ lines: JSONLines?,
    _ onEvent: (@Sendable (HTTPEvent) -> Void)?
  ) {
    var client = WebAPIClient(baseURL: baseURL, transport: transport, deliveringOn: nil)
    client.limits = TransportLimits(idle: .seconds(15))
    self = client.watched(by: metrics, lines, onEvent)
  }
}
