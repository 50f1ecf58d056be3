/// One thing that is known about an event, by name: what `JSONLines` of ReboundTelemetry writes, for programs to read.
///
///     [EventField("attempt", 2), EventField("delay", .seconds(1))]   // "attempt":2,"delay":1.0
public struct EventField: Hashable, Sendable {
  /// What is known.
  public enum Value: Hashable, Sendable {
    /// A text.
    case text(String)
    /// A number.
    case number(Double)
    /// A whole number.
    case whole(Int)
    /// Whether it is so.
    case flag(Bool)
    /// Several things, by name.
    case object([EventField])
  }

  /// What it is called, in lower case, with underscores between words.
  public let name: String
  /// What is known.
  public let value: Value

  /// Describes a field.
  public init(_ name: String, _ value: Value) {
    (self.name, self.value) = (name, value)
  }

  /// Describes a text.
  public init(_ name: String, _ text: String) { self.init(name, .text(text)) }

  /// Describes a whole number.
  public init(_ name: String, _ number: Int) { self.init(name, .whole(number)) }

  /// Describes a number; one that is none, or infinite, is written as `null`.
  public init(_ name: String, _ number: Double) { self.init(name, .number(number)) }

  /// Describes a length of time, in seconds to the microsecond.
  public init(_ name: String, _ duration: Duration) {
    self.init(name, .number((duration.inSeconds * 1e6).rounded() / 1e6))
  }

  /// Describes whether something is so.
  public init(_ name: String, _ flag: Bool) { self.init(name, .flag(flag)) }

  /// Describes several things.
  public init(_ name: String, _ fields: [EventField]) { self.init(name, .object(fields)) }
}
