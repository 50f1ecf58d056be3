import Expectations
import Foundation
import Testing

@testable import ReboundHTTPTesting

@Suite("BreakingRelay")
struct BreakingRelayTests {
  private static let piece = [UInt8](repeating: 46, count: 65_536)

  @Test("a connection whose client reads nothing is broken as any other")
  func unread() async throws {
    let server = try MisbehavingServer()
    // More than all buffers on the way hold.
    let (head, flood) = (Fault.head(length: 2_000 * 65_536), Fault.Step.flood(Self.piece, times: 2_000))
    server.program("/", Fault("flood", at: .body, [.send(head), flood]))
    let relay = try BreakingRelay(to: server.port)
    let client = try Socket.connected(to: relay.port)
    _ = client.send("GET / HTTP/1.1\r\n\r\n".utf8)
    // By then the relay has nowhere to put what comes.
    var (carried, looks) = (0, 0)
    while looks < 1_000 {
      await Task.yield()
      looks = carried > 0 && carried == relay.carried.first ? looks + 1 : 0
      carried = relay.carried.first ?? 0
    }
    relay.breakAll(.reset)
    await server.connectionsEnded()
    #expect(client.count() < 2_000 * 65_536)
  }

  @Test("what a server sends while it reads nothing comes to the client")
  func bothWays() throws {
    let server = try MisbehavingServer()
    let flood = Fault.Step.flood(Self.piece, times: 200)
    let head = Fault.head(length: 200 * 65_536, fields: ["Connection: close"])
    server.program("/", Fault("answer before the request", at: .body, [.send(head), flood, .readBody, .close]))
    let relay = try BreakingRelay(to: server.port)
    let client = try Socket.connected(to: relay.port)
    let count = 200 * 65_536
    Thread.detachNewThread {
      _ = client.send("PUT / HTTP/1.1\r\nContent-Length: \(count)\r\n\r\n".utf8)
      for _ in 1...200 { _ = client.send(Self.piece) }
    }
    let received = client.count()
    expectEqual(received, head.utf8.count + count)
    expectEqual(relay.carried, [received])
    expectEqual(server.requests.map(\.bodyCount), [count])
  }

  @Test("a limit ends a connection in order, behind the last byte that it allows")
  func limit() throws {
    let server = try MisbehavingServer()
    server.program("/", .answer("whole"))
    let relay = try BreakingRelay(to: server.port, endingAfter: [40])
    for expected in [40, Fault.head(length: 5).utf8.count + 5] {
      let client = try Socket.connected(to: relay.port)
      _ = client.send("GET / HTTP/1.1\r\n\r\n".utf8)
      expectEqual(client.count(upTo: expected), expected)
      if expected == 40 { #expect(client.receive(atMost: 1).isEmpty) }
    }
  }
}
