/// What a person did with the sign-up form.
enum SignUpAction: Decodable, Sendable {
  enum Field: String, Decodable, Sendable {
    case userName, password, passwordConfirmation
  }

  case edit(Field, text: String)
  case submit
  case press(Press)

  private enum CodingKeys: CodingKey {
    case type, field, text
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decode(String.self, forKey: .type) {
    case "edit":
      self = .edit(
        try container.decode(Field.self, forKey: .field),
        text: try container.decode(String.self, forKey: .text)
      )
    case "submit": self = .submit
    case "press": self = .press(try Press(from: decoder))
    case let other: throw container.noSuchAction(other, forKey: .type)
    }
  }
}
