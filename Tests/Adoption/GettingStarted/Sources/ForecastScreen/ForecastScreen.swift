import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundPresentation

/// A place and its weather.
public struct Place: Decodable, Sendable {
  /// Its name.
  public let name: String
  /// In degrees Celsius.
  public let temperature: Double
}

/// Asks for the weather of a city.
public struct Forecast: Request {
  /// Which one.
  public let city: String
  /// Where the service has it.
  public var path: RequestPath { "forecast" }
  /// What it is asked.
  public var query: Parameters { ["q": city] }
  /// What it answers.
  public typealias Response = Place
}

/// The weather of one city, as a view draws it; for the main queue.
public final class ForecastScreen: ObservableObject {
  /// What is seen: "12.0 °C in Rome", or what went wrong.
  @Published public private(set) var text = ""

  private let forecast: RecoverableRequest<Place>
  private var watching: AnyCancellable?

  /// Makes a screen that has not loaded yet.
  public init(city: String, client: WebAPIClient) {
    forecast = RecoverableRequest(client.publisher(for: Forecast(city: city)))
    watching = forecast.$state.sink { [weak self] state in
      self?.text = state.problem?.rendered ?? state.value.map { "\($0.temperature) °C in \($0.name)" } ?? ""
    }
  }

  /// Asks for the weather.
  public func load() { forecast.load() }
}
