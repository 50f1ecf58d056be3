import Expectations
import Foundation
import Testing

@testable import ReboundHTTPTesting

@Suite("MisbehavingServer")
struct MisbehavingServerTests {
  @Test("a stall that was told to go on is no reason for the next one of the connection to do so")
  func stallsAgain() throws {
    let (state, bell) = (ServerState(), try Bell())
    func isRung() -> Bool {
      var condition = pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&condition, 1, 0) > 0
    }
    for _ in 1...2 {
      #expect(state.beginStall(of: 0, bell))
      #expect(!isRung())
      for _ in 1...3 { state.goOn() }
      #expect(isRung())
      state.endStall(of: 0)
    }
    state.goOn()
    #expect(!isRung())
  }

  @Test("fields behind the last chunk are no part of the next request", arguments: 0...3)
  func trailers(count: Int) throws {
    let server = try MisbehavingServer()
    server.program("/", .answer("ok."))
    let client = try Socket.connected(to: server.port)
    let fields = (0..<count).map { "X-\($0): 1\r\n" }.joined()
    for _ in 1...2 {
      #expect(client.send("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\(fields)\r\n".utf8))
      #expect(client.readAnswer().hasSuffix("ok."))
    }
    expectEqual(server.requests.map(\.method), ["PUT", "PUT"])
    expectEqual(server.requests.map(\.bodyCount), [2, 2])
  }

  @Test(
    "a body in chunks ends where it does, whatever stands in it and however much of it was read before",
    arguments: 0...50
  )
  func chunks(count: Int) throws {
    let server = try MisbehavingServer()
    let answer = Fault.head(length: 1) + "."
    let steps: [Fault.Step] = (count > 0 ? [.readSome(atMost: count)] : []) + [.readBody, .send(answer)]
    server.program("/", Fault("read in two parts", at: .request, steps))
    let client = try Socket.connected(to: server.port)
    for _ in 1...2 {
      // Within a part of a form, this is the end of a head.
      let chunks = "12;x=y\r\nLength: 10\r\n\r\nabcd\r\n2\r\nef\r\n0\r\nX-Sum: 1\r\n\r\n"
      _ = client.send("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)".utf8)
      #expect(client.readAnswer().hasSuffix("\r\n\r\n."))
    }
    expectEqual(server.requests.map(\.method), ["PUT", "PUT"])
    expectEqual(
      server.requests.map { String(decoding: $0.body, as: UTF8.self) },
      Array(repeating: "Length: 10\r\n\r\nabcdef", count: 2)
    )
  }

  @Test(
    "what is read behind the end of a body is counted with it",
    arguments: [
      "Content-Length: 2\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    ]
  )
  func smuggled(rest: String) throws {
    let server = try MisbehavingServer()
    let steps: [Fault.Step] = [.readBody, .readSome(atMost: 64), .send(Fault.head(length: 1) + ".")]
    server.program("/", Fault("read too far", at: .request, steps))
    let client = try Socket.connected(to: server.port)
    _ = client.send("PUT / HTTP/1.1\r\n\(rest)GET".utf8)
    #expect(client.readAnswer().hasSuffix("\r\n\r\n."))
    expectEqual(server.requests.map(\.body), [Array("abGET".utf8)])
  }

  @Test("a number of a fault that makes no sense counts as the nearest that does")
  func numbers() throws {
    let server = try MisbehavingServer()
    let steps: [Fault.Step] = [
      .readSome(atMost: -1), .flood([46], times: -1), .readBody, .send(Fault.head(length: 1)), .send("."),
    ]
    server.program("/", Fault("odd", at: .body, steps))
    let client = try Socket.connected(to: server.port)
    _ = client.send("PUT / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab".utf8)
    #expect(client.readAnswer().hasSuffix("\r\n\r\n."))
    expectEqual(server.requests.map(\.bodyCount), [2])
    for (count, length) in [(-65_537, "0"), (.max, "\(Int.max - 65_535)")] {
      for fault in [Fault.endlessBody(of: count), .redirectWithBody(of: count)] {
        guard case .send(let head) = fault.steps[1] else { continue }
        #expect(String(decoding: head, as: UTF8.self).contains("Content-Length: \(length)\r\n"))
      }
    }
  }

  @Test("once it is stopped, connections are refused")
  func stopped() throws {
    let servers = (try MisbehavingServer(), try FrameServer([]), try ForwardProxy())
    servers.0.stop()
    servers.1.stop()
    servers.2.stop()
    for port in [servers.0.port, servers.1.port, servers.2.port] {
      #expect(throws: SocketError.self) { try Socket.connected(to: port) }
    }
  }

  @Test("whoever waits for what never comes goes on when the task is cancelled, before or after the wait has begun")
  func cancelled() async throws {
    let (server, frames) = (try MisbehavingServer(), try FrameServer([]))
    let waits: [@Sendable () async -> Void] = [
      { await server.stallsReached() }, { await server.connectionsEnded(3) }, { await frames.stallsReached() },
      { await frames.floodsSent() },
    ]
    for wait in waits {
      let waiting = Task { await wait() }
      waiting.cancel()
      await waiting.value
      let (isThere, begun) = AsyncStream<Void>.makeStream()
      let later = Task {
        begun.yield()
        await wait()
      }
      for await _ in isThere { break }
      later.cancel()
      await later.value
    }
  }
}
