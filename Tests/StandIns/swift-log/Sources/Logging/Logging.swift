// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-log 1.14.0: the names and signatures that the adapter and its tests use.
public struct Logger: Sendable {
  public enum Level: String, CaseIterable, Comparable, Sendable {
    case trace, debug, info, notice, warning, error, critical

    public static func < (left: Level, right: Level) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  public struct Message: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, CustomStringConvertible, Sendable
  {
    public let description: String

    public init(stringLiteral value: String) {
      description = value
    }
  }

  public typealias Metadata = [String: MetadataValue]

  public enum MetadataValue: Sendable, CustomStringConvertible {
    case string(String)
    case stringConvertible(any CustomStringConvertible & Sendable)
    case dictionary(Metadata)
    case array([MetadataValue])

    public var description: String {
      switch self {
      case .string(let text): text
      case .stringConvertible(let value): value.description
      case .dictionary(let values): values.mapValues(\.description).description
      case .array(let values): values.map(\.description).description
      }
    }
  }

  public let label: String
  private var handler: any LogHandler

  public init(label: String, factory: (String) -> any LogHandler) {
    self.label = label
    handler = factory(label)
  }

  public var logLevel: Level {
    get { handler.logLevel }
    set { handler.logLevel = newValue }
  }

  public func log(
    level: Level,
    _ message: @autoclosure () -> Message,
    metadata: @autoclosure () -> Metadata? = nil,
    source: @autoclosure () -> String? = nil,
    file: String = #fileID,
    function: String = #function,
    line: UInt = #line
  ) {
    guard level >= logLevel else { return }
    handler.log(
      level: level,
      message: message(),
      metadata: metadata(),
      source: source() ?? "",
      file: file,
      function: function,
      line: line
    )
  }
}

public protocol LogHandler: Sendable {
  var logLevel: Logger.Level { get set }
  var metadata: Logger.Metadata { get set }
  subscript(metadataKey key: String) -> Logger.MetadataValue? { get set }

  func log(
    level: Logger.Level,
    message: Logger.Message,
    metadata: Logger.Metadata?,
    source: String,
    file: String,
    function: String,
    line: UInt
  )
}
