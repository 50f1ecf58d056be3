import Foundation
import Rebound

/// A message of an event stream.
public struct ServerSentEvent: Hashable, Sendable {
  /// The last id that the server has given, with this event or before; empty if none.
  public let id: String
  /// What kind of event it is; "message" unless the server says otherwise.
  public let type: String
  /// The data, its lines apart by line feeds.
  public let data: String

  /// Makes an event.
  ///
  /// - Parameters:
  ///   - id: The last id that the server has given.
  ///   - type: What kind of event it is.
  ///   - data: The data.
  public init(id: String = "", type: String = "message", data: String) {
    self.id = id
    self.type = type
    self.data = data
  }
}

/// Takes an event stream apart, in whatever pieces it comes (HTML Standard, "Interpreting an event stream").
struct EventStreamParser {
  /// An event is longer than any honest one: nothing may grow without end.
  struct TooLong: Error {
    /// The events of the same bytes that were complete before.
    let before: [ServerSentEvent]
  }

  /// How many bytes an event may have.
  static let longestEvent = 4_000_000

  private static let event = Array("event".utf8)[...]
  private static let data = Array("data".utf8)[...]
  private static let id = Array("id".utf8)[...]
  private static let retry = Array("retry".utf8)[...]

  /// The last id that an event has come with.
  private(set) var lastEventID: String
  /// How long the server wants its clients to wait before they come back.
  private(set) var retry: Duration?

  private var line: [UInt8] = []
  private var isFirstLine = true
  /// Whether a line feed belongs to the carriage return before it.
  private var skipsLineFeed = false
  private var id: String
  private var type = ""
  private var data: [UInt8] = []
  private var hasData = false

  init(lastEventID: String = "") {
    self.lastEventID = lastEventID
    id = lastEventID
  }

  /// The events that are complete with these bytes.
  mutating func events(in bytes: Data) throws(TooLong) -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    for byte in bytes {
      switch byte {
      case 0x0A where skipsLineFeed:
        skipsLineFeed = false
      case 0x0A, 0x0D:
        skipsLineFeed = byte == 0x0D
        if let event = endLine() { events.append(event) }
      default:
        skipsLineFeed = false
        line.append(byte)
        if line.count + data.count > Self.longestEvent { throw TooLong(before: events) }
      }
    }
    return events
  }

  private mutating func endLine() -> ServerSentEvent? {
    defer { line.removeAll(keepingCapacity: true) }
    if isFirstLine {
      isFirstLine = false
      if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    }
    if line.isEmpty { return endEvent() }
    let name = line.prefix { $0 != UInt8(ascii: ":") }
    var value = line[name.endIndex...].dropFirst()
    if value.first == UInt8(ascii: " ") { value.removeFirst() }
    // Bytes, since to compare texts takes time that grows with the square of a run of combining marks.
    switch name {
    case Self.event:
      type = String(decoding: value, as: UTF8.self)
    case Self.data:
      if hasData { data.append(0x0A) }
      data += value
      hasData = true
    case Self.id where !value.contains(0):
      id = String(decoding: value, as: UTF8.self)
    case Self.retry where !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }:
      retry = .milliseconds(Int64(String(decoding: value, as: UTF8.self)) ?? .max / 1_000_000)
    default:
      break
    }
    return nil
  }

  private mutating func endEvent() -> ServerSentEvent? {
    defer {
      (type, hasData) = ("", false)
      data.removeAll(keepingCapacity: true)
    }
    lastEventID = id
    guard hasData else { return nil }
    return ServerSentEvent(
      id: id,
      type: type.isEmpty ? "message" : type,
      data: String(decoding: data, as: UTF8.self)
    )
  }
}
