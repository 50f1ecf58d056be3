/// What a person did on the page.
enum Action: Decodable, Sendable {
  enum Field: String, Decodable, Sendable {
    case userName, password, passwordConfirmation
  }

  case edit(Field, text: String)
  case submit
  case press(surface: String, id: String, button: String)
  case fault(FaultOrder)
  case clearFaults

  private enum CodingKeys: CodingKey {
    case type, field, text, surface, id, button
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(String.self, forKey: .type) {
    case "edit":
      self = .edit(
        try container.decode(Field.self, forKey: .field),
        text: try container.decode(String.self, forKey: .text)
      )
    case "submit":
      self = .submit
    case "press":
      self = .press(
        surface: try container.decode(String.self, forKey: .surface),
        id: try container.decode(String.self, forKey: .id),
        button: try container.decode(String.self, forKey: .button)
      )
    case "fault":
      self = .fault(try FaultOrder(from: decoder))
    case "clearFaults":
      self = .clearFaults
    case let other:
      throw DecodingError.dataCorruptedError(
        forKey: .type,
        in: container,
        debugDescription: "There is no action '\(other)'."
      )
    }
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
