/// The apps on the page, one tab each.
enum Tab: String, CaseIterable, Codable, Sendable {
  case signUp, weather, animals
}

/// What a person did on the page.
enum Action: Decodable, Sendable {
  case show(Tab)
  /// The inspector was opened, or closed.
  case inspect(Bool)
  case fault(FaultOrder)
  case clearFaults
  case order(ServiceOrder)
  case signUp(SignUpAction)
  case weather(WeatherInput)
  case animals(AnimalsInput)

  private enum CodingKeys: CodingKey {
    case tab, type, order, isOpen
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(String.self, forKey: .type) {
    case "show": self = .show(try container.decode(Tab.self, forKey: .tab))
    case "inspect": self = .inspect(try container.decode(Bool.self, forKey: .isOpen))
    case "fault": self = .fault(try FaultOrder(from: decoder))
    case "clearFaults": self = .clearFaults
    case "order": self = .order(try container.decode(ServiceOrder.self, forKey: .order))
    default:
      switch try container.decode(Tab.self, forKey: .tab) {
      case .signUp: self = .signUp(try SignUpAction(from: decoder))
      case .weather: self = .weather(try WeatherInput(from: decoder))
      case .animals: self = .animals(try AnimalsInput(from: decoder))
      }
    }
  }
}

/// A button that was pressed on something that the app shows.
struct Press: Decodable, Sendable {
  let surface: String
  let id: String
  let button: String
}

extension KeyedDecodingContainer {
  /// The complaint about a type of action that an app does not know.
  func noSuchAction(_ name: String, forKey key: Key) -> DecodingError {
    DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "There is no action '\(name)'.")
  }
}

/// How the backend is told to fail.
struct FaultOrder: Codable, Sendable {
  let path: String
  let fault: String
  let status: Int?
  let retryAfter: String?
  let latencyMilliseconds: Int?
  let times: Int?
}

/// What a service of the backend is told beside faults.
enum ServiceOrder: String, Codable, Sendable {
  /// Another API key counts from now on: `new-key`.
  case revokeKey
  /// No access token is good any more.
  case expireTokens
}
