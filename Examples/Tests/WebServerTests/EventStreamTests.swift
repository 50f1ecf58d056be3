import ServerTesting
import Testing

@testable import WebServer

@Suite("EventStream")
struct EventStreamTests {
  /// Counts how often the stream puts its connection to sleep and wakes it.
  private final class Sleeper: Sendable {
    let log = Locked<[String]>([])

    var connection: EventStream.Connection {
      EventStream.Connection(
        suspend: { self.log.withLock { $0.append("suspend") } },
        resume: { self.log.withLock { $0.append("resume") } }
      )
    }
  }

  private func read(_ stream: EventStream, capacity: Int = 4096) -> String {
    var buffer = [UInt8](repeating: 0, count: capacity)
    let chunk = buffer.withUnsafeMutableBytes { stream.read(into: $0) }
    guard case .bytes(let count) = chunk else { return "\(chunk)" }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  /// A connected stream whose first comment has been read.
  private func connected(capacity: Int = 256, overflow: EventStream.Overflow = .closeStream) -> (EventStream, Sleeper) {
    let stream = EventStream(capacity: capacity, overflow: overflow)
    let sleeper = Sleeper()
    stream.connect(sleeper.connection)
    #expect(read(stream) == ":\n\n")
    return (stream, sleeper)
  }

  @Test(
    "events are written as the standard says",
    arguments: [
      (nil, nil, "a", "data: a\n\n"),
      ("state", "7", "a", "event: state\nid: 7\ndata: a\n\n"),
      (nil, nil, "", "data: \n\n"),
      (nil, nil, "a\nb\r\nc\rd", "data: a\ndata: b\ndata: c\ndata: d\n\n"),
      (nil, nil, "a\n", "data: a\ndata: \n\n"),
      ("x\ndata: forged", "1\r\n2\0", "a", "event: xdata: forged\nid: 12\ndata: a\n\n"),
    ] as [(String?, String?, String, String)]
  )
  func encoding(event: String?, id: String?, data: String, text: String) {
    #expect(String(decoding: EventStream.encode(event: event, id: id, data: data), as: UTF8.self) == text)
  }

  @Test("what was sent before the connection is delivered after it, in order")
  func early() {
    let stream = EventStream()
    #expect(stream.send(data: "1"))
    #expect(stream.send(data: "2"))
    stream.connect(Sleeper().connection)
    #expect(read(stream) == ":\n\ndata: 1\n\ndata: 2\n\n")
  }

  @Test("an empty stream sleeps, and an event wakes it once")
  func sleeping() {
    let (stream, sleeper) = connected()
    #expect(read(stream) == "nothingYet")
    stream.send(data: "1")
    stream.send(data: "2")
    #expect(sleeper.log.withLock { $0 } == ["suspend", "resume"])
    #expect(read(stream) == "data: 1\n\ndata: 2\n\n")
  }

  @Test("an event longer than the buffer is written in pieces")
  func pieces() {
    let (stream, _) = connected()
    stream.send(data: "12345")
    #expect(read(stream, capacity: 8) == "data: 12")
    #expect(read(stream, capacity: 8) == "345\n\n")
  }

  @Test("a closed stream delivers what is waiting, ends, and takes no more")
  func closing() {
    let (stream, _) = connected()
    stream.send(data: "1")
    stream.close()
    stream.close()
    #expect(stream.isClosed)
    #expect(!stream.send(data: "2"))
    #expect(read(stream) == "data: 1\n\n")
    #expect(read(stream) == "end")
  }

  @Test("closing wakes a sleeping connection")
  func closingWakes() {
    let (stream, sleeper) = connected()
    #expect(read(stream) == "nothingYet")
    stream.close()
    #expect(sleeper.log.withLock { $0 } == ["suspend", "resume"])
  }

  @Test("a full stream is closed and broken off")
  func overflowCloses() {
    let (stream, _) = connected(capacity: 2)
    #expect(stream.send(data: "1"))
    #expect(stream.send(data: "2"))
    #expect(!stream.send(data: "3"))
    #expect(stream.isClosed)
    #expect(read(stream) == "failure")
  }

  @Test("in a full stream of newest states the oldest event of the same name gives way")
  func overflowDrops() {
    let (stream, _) = connected(capacity: 3, overflow: .dropOldestOfSameName)
    stream.send(event: "state", data: "1")
    stream.send(event: "log", data: "2")
    stream.send(event: "state", data: "3")
    #expect(stream.send(event: "state", data: "4"))
    #expect(
      read(stream) == "event: log\ndata: 2\n\nevent: state\ndata: 3\n\nevent: state\ndata: 4\n\n"
    )
  }

  @Test("in a full stream without an event of the same name, the stream is closed")
  func overflowWithoutSameName() {
    let (stream, _) = connected(capacity: 1, overflow: .dropOldestOfSameName)
    stream.send(event: "log", data: "1")
    #expect(!stream.send(event: "state", data: "2"))
    #expect(stream.isClosed)
  }

  @Test("a heartbeat is a comment, and only written if there is nothing else")
  func heartbeat() {
    let (stream, _) = connected()
    stream.beat()
    stream.beat()
    #expect(read(stream) == ":\n\n")
    stream.send(data: "1")
    stream.beat()
    #expect(read(stream) == "data: 1\n\n")
  }

  @Test("onClose runs once when the connection ends, and at once after that")
  func onClose() async throws {
    let (stream, _) = connected()
    let closed = Signal()
    let count = Locked(0)
    stream.onClose {
      count.withLock { $0 += 1 }
      closed.give()
    }
    stream.connectionEnded()
    stream.connectionEnded()
    try await closed.wait()
    stream.onClose { closed.give() }
    try await closed.wait()
    #expect(count.withLock { $0 } == 1)
    #expect(stream.isClosed)
  }

  @Test("a stream that overflows before it has a connection is over")
  func overflowUnconnected() async throws {
    let stream = EventStream(capacity: 1)
    let closed = Signal()
    stream.onClose { closed.give() }
    stream.send(data: "1")
    stream.send(data: "2")
    try await closed.wait()
  }
}
