import Attempts
import Combine
import Foundation
import Rebound

/// The zoo's server, over HTTP.
public struct AnimalService: AnimalProviding, Sendable {
  private struct Problem: Decodable {
    let reason: String
  }

  private let url: URL
  private let session: URLSession
  private let metrics: (any MetricsSink)?

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - baseURL: Where the server is, as in `http://127.0.0.1:8080`.
  ///   - session: Sends the requests; answers are delivered on its delegate queue.
  ///   - metrics: Gets what the requests cost.
  public init(baseURL: URL, session: URLSession, metrics: (any MetricsSink)? = nil) {
    url = baseURL.appendingPathComponent("animals/random")
    self.session = session
    self.metrics = metrics
  }

  /// Any animal.
  public func randomAnimal() -> AnyPublisher<Animal, AnimalFailure> {
    session.dataTaskPublisher(for: url)
      .reporting(to: metrics, as: "RandomAnimal")
      .mapError { _ in AnimalFailure.network }
      .tryMap { data, response in
        guard let status = (response as? HTTPURLResponse)?.statusCode, 200...299 ~= status else {
          throw AnimalFailure.unknown(reason: try? JSONDecoder().decode(Problem.self, from: data).reason)
        }
        return data
      }
      .decode(type: Animal.self, decoder: JSONDecoder())
      .mapError { $0 as? AnimalFailure ?? .unknown(reason: "The zoo's answer can't be read") }
      .eraseToAnyPublisher()
  }
}
