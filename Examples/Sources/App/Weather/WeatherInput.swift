/// What a person did with the weather.
enum WeatherInput: Decodable, Sendable {
  case edit(String)
  case search
  case located(latitude: Double, longitude: Double)
  case notLocated(isForbidden: Bool)
  case useKey(String)
  case refresh
  case press(Press)

  private enum CodingKeys: CodingKey {
    case type, text, latitude, longitude, isForbidden, key
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(String.self, forKey: .type) {
    case "edit": self = .edit(try container.decode(String.self, forKey: .text))
    case "search": self = .search
    case "located":
      self = .located(
        latitude: try container.decode(Double.self, forKey: .latitude),
        longitude: try container.decode(Double.self, forKey: .longitude)
      )
    case "notLocated": self = .notLocated(isForbidden: try container.decode(Bool.self, forKey: .isForbidden))
    case "useKey": self = .useKey(try container.decode(String.self, forKey: .key))
    case "refresh": self = .refresh
    case "press": self = .press(try Press(from: decoder))
    case let other: throw container.noSuchAction(other, forKey: .type)
    }
  }
}
