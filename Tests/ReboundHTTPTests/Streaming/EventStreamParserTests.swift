import Expectations
import Foundation
import Rebound
import Testing

@testable import ReboundHTTP

@Suite("EventStreamParser")
struct EventStreamParserTests {
  static func parse(_ text: String, inPiecesOf size: Int = .max) throws -> ([ServerSentEvent], EventStreamParser) {
    var (parser, events) = (EventStreamParser(), [ServerSentEvent]())
    var rest = Data(text.utf8)
    while !rest.isEmpty {
      events += try parser.events(in: rest.prefix(size))
      rest = rest.dropFirst(size)
    }
    return (events, parser)
  }

  @Test(
    "reads what the HTML Standard's examples say, in whatever pieces it comes",
    arguments: [
      ("data: YHOO\ndata: +2\ndata: 10\n\n", [.init(data: "YHOO\n+2\n10")]),
      (
        ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
        [.init(id: "1", data: "first event"), .init(data: "second event")]
      ),
      ("data\n\ndata\ndata\n\ndata:", [.init(data: ""), .init(data: "\n")]),
      ("data:test\n\ndata: test\n\n", [.init(data: "test"), .init(data: "test")]),
      ("event: add\ndata: 73857293\n\nevent:\ndata: x\n\n", [.init(type: "add", data: "73857293"), .init(data: "x")]),
      ("event: add\n\ndata: x\n\n", [.init(data: "x")]),
      ("id: 1\n\ndata: x\n\nid: a\0b\ndata: y\n\n", [.init(id: "1", data: "x"), .init(id: "1", data: "y")]),
      ("\u{FEFF}data: ü日\r\n\r\ndata: b\r\rdata: c\n\n", [.init(data: "ü日"), .init(data: "b"), .init(data: "c")]),
      ("foo: bar\ndata: a:b\n\n", [.init(data: "a:b")]),
    ] as [(String, [ServerSentEvent])]
  )
  func standard(text: String, events: [ServerSentEvent]) throws {
    for size in [1, 2, 3, Int.max] { try expectEqual(Self.parse(text, inPiecesOf: size).0, events) }
  }

  @Test(
    "the pause is read if it is a number",
    arguments: [("1500", 1_500), ("0", 0), ("-1", nil), ("1.5", nil), ("", nil)] as [(String, Int?)]
  )
  func retry(text: String, milliseconds: Int?) throws {
    try expectEqual(Self.parse("retry: \(text)\n\n").1.retry, milliseconds.map { .milliseconds($0) })
  }

  @Test("an id counts once its event is complete")
  func lastEventID() throws {
    try expectEqual(Self.parse("id: 1\ndata: a\n\nid: 2\ndata: b\n").1.lastEventID, "1")
  }

  @Test("an event without an end is refused, not kept")
  func tooLong() {
    let endless = String(repeating: "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", count: 90_000)
    #expect(throws: EventStreamParser.TooLong.self) { try Self.parse(endless) }
  }

  @Test("the events before one that is too long are not lost, also if they come in the same piece")
  func eventsBeforeTooLong() {
    let text = "id: 1\ndata: a\n\ndata: " + String(repeating: "x", count: EventStreamParser.longestEvent)
    var parser = EventStreamParser()
    let refusal = #expect(throws: EventStreamParser.TooLong.self) { try parser.events(in: Data(text.utf8)) }
    expectEqual(refusal?.before, [ServerSentEvent(id: "1", data: "a")])
    expectEqual(parser.lastEventID, "1")
  }
}
