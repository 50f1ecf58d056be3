import Expectations
import Testing

@testable import ReboundHTTPTesting

@Suite("FrameServer", .timeLimit(.minutes(5)))
struct FrameServerTests {
  typealias Frame = FrameServer.Frame

  /// A client that says byte for byte what it is told.
  private final class Client {
    struct Received: Equatable {
      let type: UInt8
      var flags: UInt8 = 0
      var stream: UInt32 = 0
      var payload: [UInt8] = []
    }

    private let socket: Socket
    private var buffer: [UInt8] = []
    private var pingCount: UInt8 = 0

    /// Connects, and takes the server's preface.
    init(to server: FrameServer, settings: [UInt8] = []) throws {
      socket = try .connected(to: server.port)
      _ = socket.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
      send(4, settings)
      expectEqual(read()?.type, 4)
      expectEqual(read(), Received(type: 4, flags: 1))
    }

    func send(_ type: UInt8, flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = []) {
      let octets: (Int) -> [UInt8] = { number in [24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) } }
      _ = socket.send(octets(payload.count).dropFirst() + [type, flags] + octets(Int(stream)) + payload)
    }

    /// GET or POST, as the static table has them.
    func ask(_ stream: UInt32, isWhole: Bool = true) {
      send(1, flags: isWhole ? 5 : 4, on: stream, [isWhole ? 0x82 : 0x83, 0x86, 0x84])
    }

    func read() -> Received? {
      guard let head = take(9), let payload = take(Int(Self.number(head[..<3]))) else { return nil }
      return Received(type: head[3], flags: head[4], stream: Self.number(head[5...]), payload: payload)
    }

    /// What comes before the server has read all that was sent.
    func readAll() -> [Received] {
      pingCount += 1
      let mark = [pingCount] + [UInt8](repeating: 0xFF, count: 7)
      send(6, mark)
      var received: [Received] = []
      while let frame = read(), frame.payload != mark { received.append(frame) }
      return received
    }

    private func take(_ count: Int) -> [UInt8]? {
      socket.receive(exactly: count, buffering: &buffer)
    }

    static func number(_ bytes: some Sequence<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  private static let head = Client.Received(type: 1, flags: 4, stream: 1, payload: [0x20, 0x88])

  private static func data(_ text: String, isLast: Bool = false, on stream: UInt32 = 1) -> Client.Received {
    Client.Received(type: 0, flags: isLast ? 1 : 0, stream: stream, payload: Array(text.utf8))
  }

  @Test("trailers end a request, and are none of their own")
  func trailers() throws {
    let server = try FrameServer([[.head, .wholeRequest, .data("ok", isLast: true)], [.reset(2)]])
    let client = try Client(to: server)
    client.ask(1, isWhole: false)
    client.send(0, on: 1, Array("body".utf8))
    expectEqual(client.readAll().first, Self.head)
    client.send(1, flags: 5, on: 1, [0x00, 0x01, 0x61, 0x01, 0x62])
    expectEqual(client.readAll(), [Self.data("ok", isLast: true)])
    expectEqual(server.requestCount, 1)
  }

  @Test("what a client has sent it may send again: of the body, of its padding, and in all", arguments: [false, true])
  func clientWindows(isPadded: Bool) throws {
    let server = try FrameServer([[.wholeRequest, .head]])
    let client = try Client(to: server)
    client.ask(1, isWhole: false)
    for _ in 1...8 {
      client.send(0, flags: isPadded ? 8 : 0, on: 1, [3] + [UInt8](repeating: 0, count: 16_383))
      let grants = [0, 1].map { Client.Received(type: 8, stream: $0, payload: [0, 0, 0x40, 0]) }
      try #require(client.readAll() == grants)
    }
    // Of a stream on which no more comes, none is wanted.
    client.send(0, flags: 1, on: 1, [0])
    expectEqual(client.readAll().map(\.stream), [0, 1])
    expectEqual(server.requestCount, 1)
  }

  @Test("no more data comes than a client takes on a stream, whenever it changes its mind")
  func streamWindow() throws {
    let server = try FrameServer([[.head, .data("hello", isLast: true)]])
    let client = try Client(to: server, settings: [0, 4, 0, 0, 0, 3])
    client.ask(1)
    expectEqual(client.readAll(), [Self.head, Self.data("hel")])
    // Two less than have come: the next two are none.
    client.send(4, [0, 4, 0, 0, 0, 1])
    client.send(8, on: 1, [0, 0, 0, 2])
    expectEqual(client.readAll().map(\.type), [4])
    client.send(8, on: 1, [0, 0, 0, 1])
    expectEqual(client.readAll(), [Self.data("l")])
    client.send(4, [0, 3, 0, 0, 0, 9, 0, 4, 0, 0, 0, 2])
    expectEqual(client.readAll(), [Client.Received(type: 4, flags: 1), Self.data("o", isLast: true)])
  }

  @Test("no more data comes than a client takes in all")
  func connectionWindow() throws {
    let text = String(repeating: "x", count: 255)
    let server = try FrameServer([[.head] + Array(repeating: .data(text), count: 258)])
    let client = try Client(to: server, settings: [0, 4, 0x7F, 0xFF, 0xFF, 0xFF])
    client.ask(1)
    let count: ([Client.Received]) -> Int = { $0.filter { $0.type == 0 }.reduce(0) { $0 + $1.payload.count } }
    expectEqual(count(client.readAll()), 65_535)
    client.send(8, [0, 0, 0, 100])
    expectEqual(count(client.readAll()), 100)
    client.send(8, [0, 0, 1, 0])
    expectEqual(count(client.readAll()), 155)
  }

  @Test("a head in several frames is a request once it is whole")
  func continuation() throws {
    let server = try FrameServer([[.head, .data("ok", isLast: true)]])
    let client = try Client(to: server)
    client.send(1, flags: 1, on: 1, [0x82])
    expectEqual(client.readAll(), [])
    client.send(9, on: 1, [0x86])
    expectEqual(client.readAll(), [])
    client.send(9, flags: 4, on: 1, [0x84])
    expectEqual(client.readAll(), [Self.head, Self.data("ok", isLast: true)])
    expectEqual(server.requestCount, 1)
  }

  @Test("a weight is found behind the length of the padding")
  func paddedWeight() throws {
    let server = try FrameServer([[.head]])
    let client = try Client(to: server)
    client.send(1, flags: 0x2D, on: 1, [2, 0, 0, 0, 0, 41, 0x82, 0x86, 0x84, 0, 0])
    client.send(1, flags: 0x25, on: 3, [0, 0, 0, 0, 219, 0x82, 0x86, 0x84])
    client.send(1, flags: 0x0D, on: 5, [2, 0x82, 0x86, 0x84, 0, 0])
    expectEqual(client.readAll().map(\.stream), [1, 3, 5])
    expectEqual(server.weights, [42, 220, nil])
  }

  @Test("of two requests at once each is answered to its end, and a PING holds up its own answer alone")
  func together() throws {
    let server = try FrameServer([
      [.head, .ping, .data("one", isLast: true)], [.head, .ping, .wholeRequest, .data("two", isLast: true)],
    ])
    let client = try Client(to: server)
    client.ask(1)
    client.ask(3, isWhole: false)
    let pings = client.readAll().filter { $0.type == 6 }
    try #require(pings.count == 2)
    client.send(6, flags: 1, pings[1].payload)
    client.send(0, flags: 1, on: 3)
    expectEqual(client.readAll(), [Self.data("two", isLast: true, on: 3)])
    client.send(6, flags: 1, pings[0].payload)
    expectEqual(client.readAll(), [Self.data("one", isLast: true)])
  }

  @Test("a request that the client takes back gets no more of its answer")
  func takenBack() throws {
    let server = try FrameServer([[.head, .ping, .data("late", isLast: true)]])
    let client = try Client(to: server)
    client.ask(1)
    let ping = try #require(client.readAll().last)
    client.send(3, on: 1, [0, 0, 0, 8])
    client.send(6, flags: 1, ping.payload)
    expectEqual(client.readAll(), [])
  }

  @Test("a frame that is larger than was allowed ends the connection, in order and with the reason")
  func oversized() throws {
    let server = try FrameServer([[.head]])
    let client = try Client(to: server)
    client.ask(1)
    expectEqual(client.read(), Self.head)
    client.send(0, on: 1, [UInt8](repeating: 0, count: 16_385))
    expectEqual(client.read(), Client.Received(type: 7, payload: [0, 0, 0, 1, 0, 0, 0, 6]))
    #expect(client.read() == nil)
  }
}
