// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-http-types 1.6.0: the names and signatures that the adapter and its tests use.
public struct HTTPField: Hashable, Sendable {
  public struct Name: Hashable, Sendable {
    public let rawName: String

    public init?(_ name: String) {
      guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
      rawName = name
    }

    public static func == (left: Name, right: Name) -> Bool { left.rawName.lowercased() == right.rawName.lowercased() }
    public func hash(into hasher: inout Hasher) { hasher.combine(rawName.lowercased()) }
  }

  public var name: Name
  public var value: String

  public init(name: Name, value: String) {
    self.name = name
    self.value = value
  }
}

public struct HTTPFields: Hashable, Sendable, Sequence, ExpressibleByArrayLiteral {
  private var fields: [HTTPField] = []

  public init() {}

  public init(arrayLiteral elements: HTTPField...) {
    fields = elements
  }

  public subscript(name: HTTPField.Name) -> String? {
    get {
      let values = fields.filter { $0.name == name }.map(\.value)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
    set {
      fields.removeAll { $0.name == name }
      if let newValue { fields.append(HTTPField(name: name, value: newValue)) }
    }
  }

  public mutating func append(_ field: HTTPField) { fields.append(field) }
  public func makeIterator() -> IndexingIterator<[HTTPField]> { fields.makeIterator() }
}

public struct HTTPRequest: Hashable, Sendable {
  public struct Method: Hashable, Sendable {
    public let rawValue: String

    public init?(_ name: String) {
      guard !name.isEmpty else { return nil }
      rawValue = name
    }

    private init(known name: String) {
      rawValue = name
    }

    public static var get: Method { Method(known: "GET") }
    public static var post: Method { Method(known: "POST") }
  }

  public var method: Method
  public var scheme: String?
  public var authority: String?
  public var path: String?
  public var headerFields: HTTPFields

  public init(method: Method, scheme: String?, authority: String?, path: String?, headerFields: HTTPFields = [:]) {
    self.method = method
    self.scheme = scheme
    self.authority = authority
    self.path = path
    self.headerFields = headerFields
  }
}

public struct HTTPResponse: Hashable, Sendable {
  public struct Status: Hashable, Sendable {
    public let code: Int
    public let reasonPhrase: String

    public init(code: Int, reasonPhrase: String = "") {
      self.code = code
      self.reasonPhrase = reasonPhrase
    }
  }

  public var status: Status
  public var headerFields: HTTPFields

  public init(status: Status, headerFields: HTTPFields = [:]) {
    self.status = status
    self.headerFields = headerFields
  }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
    for (name, value) in elements { append(HTTPField(name: name, value: value)) }
  }
}
