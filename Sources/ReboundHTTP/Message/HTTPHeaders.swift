/// The header fields of a message, in their order.
///
///     var headers: HTTPHeaders = ["Accept": "application/json"]
///     headers["accept"]                      // "application/json": names know no case
///     headers.add("Via", "1.1 proxy")
///     headers.values(of: "Via")
///
/// Several fields may have the same name; order and spelling stay as they were given.
///
/// - Complexity: Finding a name is O(n) in the fields, of which there are few.
public struct HTTPHeaders: Hashable, Sendable {
  /// One header field.
  public struct Field: Hashable, Sendable {
    /// The name, as it was given.
    public let name: String
    /// The value.
    public let value: String

    /// Makes a field.
    ///
    /// - Parameters:
    ///   - name: A token of RFC 9110 §5.6.2, for it to be ``isValid``.
    ///   - value: Text without control characters, for it to be ``isValid``.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }

    /// Whether the field may be sent: a line break in it would let its author write further fields.
    public var isValid: Bool {
      !name.isEmpty && Field.consists(name, of: Field.isTokenByte)
        && Field.consists(value) { $0 == UInt8(ascii: "\t") || ($0 >= 0x20 && $0 != 0x7F) }
    }

    @inline(__always)
    private static func consists(_ text: String, of isAllowed: (UInt8) -> Bool) -> Bool {
      // By its bytes in memory, as names are compared. All of them: nearly all are allowed, and a processor looks at many at once
      // where none of them is the end.
      text.utf8.withContiguousStorageIfAvailable { $0.reduce(true) { isAllowed($1) && $0 } }
        ?? text.utf8.allSatisfy(isAllowed)
    }

    @inline(__always)
    private static func isTokenByte(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        return true
      default:
        return "!#$%&'*+.^_`|~".utf8.contains(byte)
      }
    }
  }

  private var fields: [Field]

  /// Makes headers of these fields, in this order.
  public init(_ fields: some Sequence<Field> = []) {
    self.fields = Array(fields)
  }

  /// The value of a name: of several fields, all values joined with commas (RFC 9110 §5.3).
  ///
  /// Setting it replaces all fields of that name, in the place of the first; setting `nil` removes them. Set-Cookie may
  /// not be joined, so reading it gives the first; use ``values(of:)``.
  public subscript(name: String) -> String? {
    get {
      guard let first = firstIndex(of: name) else { return nil }
      // Most fields are there once, and that takes no array.
      guard firstIndex(of: name, from: first + 1) != nil, !HTTPHeaders.equal(name, "Set-Cookie") else {
        return fields[first].value
      }
      return values(of: name).joined(separator: ", ")
    }
    set {
      guard let place = firstIndex(of: name) else {
        if let newValue { add(name, newValue) }
        return
      }
      fields.removeAll { HTTPHeaders.equal($0.name, name) }
      if let newValue { fields.insert(Field(name, newValue), at: place) }
    }
  }

  func firstIndex(of name: String, from start: Int = 0) -> Int? {
    // By their places in memory: elsewhere a field is copied to be looked at.
    fields.withUnsafeBufferPointer { fields in
      (start..<fields.count).first { HTTPHeaders.equal(fields[$0].name, name) }
    }
  }

  /// Hands over all fields in order, where they are in memory.
  func forEach(_ body: (Field) -> Void) {
    fields.withUnsafeBufferPointer { for field in $0 { body(field) } }
  }

  /// The values of all fields of a name, in order.
  public func values(of name: String) -> [String] {
    // Most names that are asked for are not there.
    guard let first = firstIndex(of: name) else { return [] }
    return fields[first...].compactMap { HTTPHeaders.equal($0.name, name) ? $0.value : nil }
  }

  /// The members of a list that all fields of a name make together, white space around them taken off.
  ///
  /// For lists without quoted commas in them, such as those of Vary and Cache-Control's tokens.
  public func members(of name: String) -> [String] {
    values(of: name).flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
      .map { String(decoding: trimmed($0), as: UTF8.self) }
      .filter { !$0.isEmpty }
  }

  /// Adds a field behind the others, also if there is one of that name.
  public mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name, value))
  }

  /// Sets every name of other headers, in place of the fields of that name here.
  public mutating func set(_ others: HTTPHeaders) {
    guard !others.fields.isEmpty else { return }
    let names = others.fields.map(\.name)
    fields.removeAll { field in names.contains { HTTPHeaders.equal($0, field.name) } }
    fields += others.fields
  }

  /// Whether there is a field of that name.
  public func contains(name: String) -> Bool {
    firstIndex(of: name) != nil
  }

  /// Whether a field says where the body of a request ends, which is the transport's to say.
  ///
  /// libcurl and URLSession would send it in the place of their own. A server takes what is behind a length that is too short for
  /// the next request, and waits for the rest of one that is too long (RFC 9112 §6.3).
  public static func isFraming(_ name: String) -> Bool {
    equal(name, "Content-Length") || equal(name, "Transfer-Encoding")
  }

  /// Whether two names are the same; only the letters of ASCII have two cases here.
  public static func equal(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    // By their bytes in memory: an iterator of a text decides anew at each byte how the text is kept.
    let isEqual = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in
        left.indices.allSatisfy { lowercased(left[$0]) == lowercased(right[$0]) }
      }
    }
    return (isEqual ?? nil) ?? zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  /// Whether a value begins with a text of ASCII, of any case, also if an accent stands behind that text.
  static func begins(_ value: String, with start: String) -> Bool {
    equal(String(decoding: value.utf8.prefix(start.utf8.count), as: UTF8.self), start)
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}

extension HTTPHeaders: RandomAccessCollection {
  /// The position of the first field.
  public var startIndex: Int { 0 }
  /// The position behind the last field.
  public var endIndex: Int { fields.count }
  /// The field at a position.
  public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Makes headers of these names and values, in this order.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field($0.0, $0.1) }
  }
}

extension HTTPHeaders: CustomStringConvertible {
  /// Each field on its line, secrets replaced as ``Redaction/standard`` says.
  public var description: String { fields.map(\.description).joined(separator: "\n") }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
  /// Name and value, secrets replaced as ``Redaction/standard`` says: "Accept: application/json".
  public var description: String { "\(name): \(Redaction.standard.value(of: self))" }
  /// Shows no secrets either.
  public var customMirror: Mirror {
    Mirror(self, children: ["name": name, "value": Redaction.standard.value(of: self)])
  }
}
