import Foundation
import ReboundHTTP

/// The weather of one place.
public struct Weather: Hashable, Codable, Sendable {
  /// The city.
  public let city: String
  /// The country, in two letters.
  public let country: String
  /// Degrees Celsius.
  public let temperature: Double
  /// Per cent.
  public let humidity: Int
  /// `clear`, `cloudy`, `rain`, `snow` or `storm`.
  public let condition: String
}

/// Where the weather is wanted.
public enum Place: Hashable, Sendable {
  /// In a city.
  case city(String)
  /// Around a point, in degrees, north and east positive.
  case position(latitude: Double, longitude: Double)
}

/// What the weather is now.
struct CurrentWeather: Request {
  let place: Place
  var path: RequestPath { "weather" }
  var query: Parameters {
    switch place {
    case .city(let name): ["city": name]
    case .position(let latitude, let longitude): ["latitude": String(latitude), "longitude": String(longitude)]
    }
  }
  typealias Response = Weather
}

/// An access token, for the API key.
struct AccessToken: Request {
  struct Grant: Decodable, Sendable {
    let accessToken: String
    let expiresInSeconds: Int
  }

  let key: String
  var path: RequestPath { "token" }
  var method: HTTPMethod { .post }
  var headers: HTTPHeaders { ["X-API-Key": key] }
  var isAuthenticated: Bool { false }
  typealias Response = Grant
}

/// Whether the service is there.
struct Health: Request {
  var path: RequestPath { "health" }
  var isAuthenticated: Bool { false }
  typealias Response = NoContent
}
