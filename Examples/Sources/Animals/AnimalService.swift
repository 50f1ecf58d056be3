import Attempts
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry

/// The zoo's server, over HTTP.
public struct AnimalService: AnimalProviding, Sendable {
  private struct RandomAnimal: Request {
    var path: RequestPath { "animals/random" }
    typealias Response = Animal
  }

  private let client: WebAPIClient

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - baseURL: Where the server is, as in `http://127.0.0.1:8080`.
  ///   - transport: Sends the requests; answers are delivered where it sends them.
  ///   - metrics: Gets what the requests cost.
  ///   - lines: Gets a line for each thing that happens in a call.
  ///   - onEvent: Is told of each thing that happens in a call.
  public init(
    baseURL: URL,
    transport: any Transport,
    metrics: (any MetricsSink)? = nil,
    lines: JSONLines? = nil,
    onEvent: (@Sendable (HTTPEvent) -> Void)? = nil
  ) {
    client = WebAPIClient(baseURL: baseURL, transport: transport, watchedBy: metrics, lines, onEvent)
  }

  /// Any animal.
  public func randomAnimal() -> AnyPublisher<Animal, AnimalFailure> {
    client.publisher(for: RandomAnimal()).mapError(AnimalFailure.init).eraseToAnyPublisher()
  }
}

extension AnimalFailure {
  /// Sorts what the network layer says into what this app can do about it.
  init(_ failure: NetworkFailure) {
    switch failure.kind {
    case .transport: self = .network
    case .decoding, .noData, .captivePortal: self = .unknown(reason: "The zoo's answer can't be read")
    default: self = .unknown(reason: failure.serverMessage)
    }
  }
}
