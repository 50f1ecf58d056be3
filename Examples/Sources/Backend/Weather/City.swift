import Foundation

/// A place whose weather the service knows.
struct City: Equatable {
  let name: String
  let country: String
  /// Degrees, north positive.
  let latitude: Double
  /// Degrees, east positive.
  let longitude: Double

  /// The city of this name, in any case and with or without accents.
  static func named(_ name: String) -> City? {
    let key = searchKey(of: name)
    return all.first { searchKey(of: $0.name) == key }
  }

  /// The nearest city.
  ///
  /// - Returns: The city, and how far it is on the surface of a sphere, in kilometres (haversine formula).
  static func nearest(latitude: Double, longitude: Double) -> (city: City, kilometres: Double)? {
    all.map { ($0, $0.kilometres(toLatitude: latitude, longitude: longitude)) }.min { $0.1 < $1.1 }
  }

  func kilometres(toLatitude other: Double, longitude otherLongitude: Double) -> Double {
    let radians = Double.pi / 180
    let half = { (degrees: Double) in pow(sin(degrees * radians / 2), 2) }
    let chord =
      half(other - latitude) + cos(latitude * radians) * cos(other * radians) * half(otherLongitude - longitude)
    let earthRadius = 6371.0
    return 2 * earthRadius * asin(min(1, chord.squareRoot()))
  }

  private static func searchKey(of name: String) -> String {
    name.trimmingCharacters(in: .whitespaces).folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive],
      locale: Locale(identifier: "en_US_POSIX")
    )
  }

  static let all: [City] = [
    City(name: "Amsterdam", country: "NL", latitude: 52.37, longitude: 4.90),
    City(name: "Athens", country: "GR", latitude: 37.98, longitude: 23.73),
    City(name: "Auckland", country: "NZ", latitude: -36.85, longitude: 174.76),
    City(name: "Bangkok", country: "TH", latitude: 13.76, longitude: 100.50),
    City(name: "Barcelona", country: "ES", latitude: 41.39, longitude: 2.17),
    City(name: "Beijing", country: "CN", latitude: 39.90, longitude: 116.41),
    City(name: "Berlin", country: "DE", latitude: 52.52, longitude: 13.41),
    City(name: "Bogotá", country: "CO", latitude: 4.71, longitude: -74.07),
    City(name: "Buenos Aires", country: "AR", latitude: -34.60, longitude: -58.38),
    City(name: "Cairo", country: "EG", latitude: 30.04, longitude: 31.24),
    City(name: "Cape Town", country: "ZA", latitude: -33.92, longitude: 18.42),
    City(name: "Chicago", country: "US", latitude: 41.88, longitude: -87.63),
    City(name: "Copenhagen", country: "DK", latitude: 55.68, longitude: 12.57),
    City(name: "Delhi", country: "IN", latitude: 28.61, longitude: 77.21),
    City(name: "Dublin", country: "IE", latitude: 53.35, longitude: -6.26),
    City(name: "Hamburg", country: "DE", latitude: 53.55, longitude: 9.99),
    City(name: "Helsinki", country: "FI", latitude: 60.17, longitude: 24.94),
    City(name: "Istanbul", country: "TR", latitude: 41.01, longitude: 28.98),
    City(name: "Lagos", country: "NG", latitude: 6.52, longitude: 3.38),
    City(name: "Lima", country: "PE", latitude: -12.05, longitude: -77.04),
    City(name: "Lisbon", country: "PT", latitude: 38.72, longitude: -9.14),
    City(name: "London", country: "GB", latitude: 51.51, longitude: -0.13),
    City(name: "Los Angeles", country: "US", latitude: 34.05, longitude: -118.24),
    City(name: "Madrid", country: "ES", latitude: 40.42, longitude: -3.70),
    City(name: "Melbourne", country: "AU", latitude: -37.81, longitude: 144.96),
    City(name: "Mexico City", country: "MX", latitude: 19.43, longitude: -99.13),
    City(name: "Montréal", country: "CA", latitude: 45.50, longitude: -73.57),
    City(name: "Nairobi", country: "KE", latitude: -1.29, longitude: 36.82),
    City(name: "New York", country: "US", latitude: 40.71, longitude: -74.01),
    City(name: "Oslo", country: "NO", latitude: 59.91, longitude: 10.75),
    City(name: "Paris", country: "FR", latitude: 48.86, longitude: 2.35),
    City(name: "Prague", country: "CZ", latitude: 50.08, longitude: 14.44),
    City(name: "Reykjavík", country: "IS", latitude: 64.15, longitude: -21.94),
    City(name: "Rome", country: "IT", latitude: 41.90, longitude: 12.50),
    City(name: "San Francisco", country: "US", latitude: 37.77, longitude: -122.42),
    City(name: "São Paulo", country: "BR", latitude: -23.55, longitude: -46.63),
    City(name: "Seoul", country: "KR", latitude: 37.57, longitude: 126.98),
    City(name: "Singapore", country: "SG", latitude: 1.35, longitude: 103.82),
    City(name: "Stockholm", country: "SE", latitude: 59.33, longitude: 18.07),
    City(name: "Sydney", country: "AU", latitude: -33.87, longitude: 151.21),
    City(name: "Tokyo", country: "JP", latitude: 35.68, longitude: 139.69),
    City(name: "Toronto", country: "CA", latitude: 43.65, longitude: -79.38),
    City(name: "Vancouver", country: "CA", latitude: 49.28, longitude: -123.12),
    City(name: "Vienna", country: "AT", latitude: 48.21, longitude: 16.37),
    City(name: "Warsaw", country: "PL", latitude: 52.23, longitude: 21.01),
    City(name: "Zürich", country: "CH", latitude: 47.37, longitude: 8.54),
  ]
}
