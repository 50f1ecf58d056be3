import Foundation

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// Server-sent events: the same whatever the pieces, and as the standard has them.
  static let events = FuzzTarget(
    "events",
    seeds: [
      "\u{7F}\u{7F}\u{7F}\0\u{4}\u{301}\u{327}: a\n\n",
      "\u{1}\u{2}\u{3}: hello\nid: 7\nevent: news\ndata: a\ndata: b\n\n",
      "\u{1}\u{1}\u{1}\u{FEFF}data: a\r\rdata:b\r\n\r\nretry: 250\n\ndata\n\n",
      "\u{9}\0\u{4}id\ndata: x\n\nid: a\0b\ndata:  y\n\nretry: 99999999999999999999\nretry: +5\n",
    ],
    words: [
      "\u{301}\u{327}", "data", "data: ", "event: ", "id: ", "retry: ", "\n\n", "\r\n\r\n", "\r\r", "\u{FEFF}", ":",
      "\0",
    ]
  ) { input in
    let sizes = (0..<3).map { _ in Int(input.byte()) + 1 }
    let bytes = input.rest()
    var whole = EventStreamParser()
    guard let events = try? whole.events(in: Data(bytes)) else { return expect(false, "refused: too long") }
    var (parser, pieces, position, turn) = (EventStreamParser(), [ServerSentEvent](), 0, 0)
    while position < bytes.count {
      let end = min(position + sizes[turn % 3], bytes.count)
      guard let some = try? parser.events(in: Data(bytes[position..<end])) else { return expect(false, "refused") }
      pieces += some
      (position, turn) = (end, turn + 1)
    }
    expectEqual(pieces, events, "in pieces of \(sizes)")
    expectEqual(parser.lastEventID, whole.lastEventID, "the last id")
    expectEqual(parser.retry, whole.retry, "the pause")
    expectEqual(events, standardEvents(bytes), "beside the standard")
    if let retry = whole.retry { expect(retry >= .zero, "a pause of \(retry)") }
    let count = events.reduce(0) { $0 + $1.data.utf8.count }
    expect(count <= bytes.count * 3, "\(count) bytes of data in \(bytes.count)")
  }

  /// The events of a whole stream, read the slow way, line by line (HTML Standard §9.2.6).
  private static func standardEvents(_ bytes: [UInt8]) -> [ServerSentEvent] {
    var (lines, line, position) = ([[UInt8]](), [UInt8](), bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    while position < bytes.count {
      if bytes[position] == 0x0D || bytes[position] == 0x0A {
        if bytes[position] == 0x0D, position + 1 < bytes.count, bytes[position + 1] == 0x0A { position += 1 }
        lines.append(line)
        line = []
      } else {
        line.append(bytes[position])
      }
      position += 1
    }
    var (events, id, type, data) = ([ServerSentEvent](), "", "", [[UInt8]]())
    for line in lines {
      if line.isEmpty {
        let text = String(decoding: Array(data.joined(separator: [0x0A])), as: UTF8.self)
        if !data.isEmpty { events.append(ServerSentEvent(id: id, type: type.isEmpty ? "message" : type, data: text)) }
        (type, data) = ("", [])
        continue
      }
      let colon = line.firstIndex(of: 0x3A) ?? line.count
      var value = Array(line[colon...].dropFirst())
      if value.first == 0x20 { value.removeFirst() }
      switch line[..<colon] {
      case Array("data".utf8)[...]: data.append(value)
      case Array("event".utf8)[...]: type = String(decoding: value, as: UTF8.self)
      case Array("id".utf8)[...] where !value.contains(0): id = String(decoding: value, as: UTF8.self)
      default: break
      }
    }
    return events
  }
}
