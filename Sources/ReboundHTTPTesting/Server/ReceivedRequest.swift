/// A request that reached a ``MisbehavingServer``.
public struct ReceivedRequest: Hashable, Sendable {
  /// A line of the head, taken apart.
  public struct Field: Hashable, Sendable {
    /// As the client wrote it.
    public let name: String
    /// Without the space around it.
    public let value: String
  }

  /// The method.
  public internal(set) var method: String
  /// The path with the query, as the client wrote it.
  public internal(set) var target: String
  /// All fields, in order.
  public internal(set) var fields: [Field]
  /// What was read of the body; at most the first 64 KiB are kept.
  public internal(set) var body: [UInt8] = []
  /// How many bytes of the body were read.
  public internal(set) var bodyCount = 0
  /// Which connection it came on, counted from zero.
  public internal(set) var connection: Int

  /// The target without the query.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// The value of the first field of a name, whatever its letters' case.
  public subscript(field name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Reads a head: the request line and the fields, without the empty line at the end.
  init?(head: String, connection: Int) {
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
    guard !lines.isEmpty else { return nil }
    let words = lines.removeFirst().split(separator: " ")
    guard words.count == 3 else { return nil }
    method = String(words[0])
    target = String(words[1])
    fields = lines.compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return Field(name: String(line[..<colon]), value: String(value))
    }
    self.connection = connection
  }
}
