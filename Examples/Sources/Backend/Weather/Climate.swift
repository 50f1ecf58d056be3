import Foundation

/// Weather that is made up, but sensible: warm near the equator, cold in winter, another at each hour, and the same for
/// everyone who asks within it.
struct Climate {
  enum Condition: String, Encodable, CaseIterable {
    case clear, cloudy, rain, snow, storm
  }

  struct Observation: Encodable, Equatable {
    let city: String
    let country: String
    let latitude: Double
    let longitude: Double
    /// Degrees Celsius, to one decimal place.
    let temperature: Double
    /// Per cent.
    let humidity: Int
    let condition: Condition
    /// The hour for which this holds, as ISO 8601 writes it.
    let observed: String
  }

  static func observe(_ city: City, at date: Date) -> Observation {
    let secondsPerHour = 3600.0
    let hour = (date.timeIntervalSince1970 / secondsPerHour).rounded(.down)
    var chance = Chance(seed: stableHash(of: city.name.utf8) &+ UInt64(max(0, hour)))
    let temperature = averageTemperature(of: city, hour: hour) + Double.random(in: -4...4, using: &chance)
    let condition = Condition.allCases.randomElement(using: &chance) ?? .clear
    return Observation(
      city: city.name,
      country: city.country,
      latitude: city.latitude,
      longitude: city.longitude,
      temperature: (temperature * 10).rounded() / 10,
      humidity: Int.random(in: 30...95, using: &chance),
      condition: condition == .snow && temperature > 2 ? .rain : condition,
      observed: Date(timeIntervalSince1970: hour * secondsPerHour).ISO8601Format()
    )
  }

  /// Falls with the distance from the equator, swings with the season, which is the other way round in the south.
  private static func averageTemperature(of city: City, hour: Double) -> Double {
    let distance = abs(city.latitude)
    let yearly = 27 - 0.4 * max(0, distance - 10)
    let warmestHour = 24 * 200.0
    let hoursPerYear = 24 * 365.25
    let season = cos((hour - warmestHour) / hoursPerYear * 2 * .pi) * (city.latitude < 0 ? -1 : 1)
    return yearly + season * distance / 5
  }
}
