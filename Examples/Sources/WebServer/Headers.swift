/// Header fields in the order in which they came; names are compared without regard to case, repeated fields are kept.
public struct Headers: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// One header field.
  public struct Field: Sendable, Equatable {
    /// The name as it was spelled.
    public let name: String
    /// The value, without surrounding white space.
    public let value: String
  }

  /// All fields, in order.
  public private(set) var fields: [Field] = []

  /// Makes headers from names and values, in order.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { add(name, value) }
  }

  /// The value of the first field of this name; setting it replaces all fields of this name.
  public subscript(name: String) -> String? {
    get { values(of: name).first }
    set {
      fields.removeAll { Headers.areEqual($0.name, name) }
      if let newValue { add(name, newValue) }
    }
  }

  /// The values of every field of this name, in order.
  public func values(of name: String) -> [String] {
    fields.filter { Headers.areEqual($0.name, name) }.map(\.value)
  }

  /// Adds a field and keeps those of the same name.
  public mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  private static func areEqual(_ left: String, _ right: String) -> Bool {
    left.lowercased() == right.lowercased()
  }
}
