/// Any value of JSON.
public enum JSONValue: Hashable, Sendable {
  /// Nothing.
  case null
  /// True or false.
  case bool(Bool)
  /// A number.
  case number(Double)
  /// A text.
  case string(String)
  /// Values in order.
  case array([JSONValue])
  /// Values by name.
  case object([String: JSONValue])

  /// The text, if it is one.
  public var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The number, if it is one.
  public var number: Double? {
    if case .number(let number) = self { number } else { nil }
  }

  /// The members, if it is an object.
  public var members: [String: JSONValue]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The elements, if it is an array.
  public var elements: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The member of this name, if it is an object that has one.
  public subscript(name: String) -> JSONValue? { members?[name] }

  /// What it is, in words, for messages: "a text".
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a text"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONValue: Decodable {
  /// How many arrays and objects may lie in each other.
  ///
  /// Each takes up to 4 KB of the stack, and some threads have 512 KB: those of dispatch queues on Apple's platforms. A
  /// decoder's own limit is 512 of them, with which any server could end the process.
  static let deepest = 64

  /// Reads a value of any kind.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if more than 64 arrays and objects lie in each other.
  public init(from decoder: any Decoder) throws {
    let path = decoder.codingPath
    if path.count > JSONValue.deepest {
      let text = "More than \(JSONValue.deepest) arrays and objects lie in each other."
      throw DecodingError.dataCorrupted(.init(codingPath: path, debugDescription: text))
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let elements = try? container.decode([JSONValue].self) {
      self = .array(elements)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }
}

extension JSONValue: Encodable {
  /// Writes the value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let bool): try container.encode(bool)
    case .number(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .array(let elements): try container.encode(elements)
    case .object(let members): try container.encode(members)
    }
  }
}
