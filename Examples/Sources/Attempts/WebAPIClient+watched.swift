import Rebound
import ReboundHTTP

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
}
