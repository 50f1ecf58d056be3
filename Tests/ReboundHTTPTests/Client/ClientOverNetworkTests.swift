import Combine
import Dispatch
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// The client and the transports together, over real connections.
@Suite("A client over the network", .timeLimit(.minutes(10)))
struct ClientOverNetworkTests {
  static func client(
    _ server: MisbehavingServer,
    _ transport: any Transport,
    _ middleware: [any HTTPMiddleware] = []
  ) -> WebAPIClient {
    WebAPIClient(baseURL: server.url("/"), transport: transport, middleware: middleware, deliveringOn: nil)
  }

  @Test("tries again after a 503 and a broken connection, and parses the answer", arguments: TransportKind.allCases)
  func retries(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/data/2.5/weather", .status(503), .resetBeforeHead, .answer(rome))
    let client = Self.client(server, kind.make(), [Retrying(RetryPolicy(clamping: 2, backoff: .immediate))])
    let place = try await client.value(of: Forecast(city: "Rome"))
    expectEqual(place, Place(name: "Rome", temperature: 12))
    expectEqual(server.requests.count, 3)
    server.stop()
  }

  @Test("sends a JSON body as JSON, and the query encoded once", arguments: TransportKind.allCases)
  func body(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/orders", .answer())
    let request = Anything(path: "orders", method: .post, query: ["q": "a+b &c"], body: .json(["n": 1]))
    _ = try await Self.client(server, kind.make()).value(of: request)
    let received = try #require(server.requests.first)
    expectEqual(String(decoding: received.body, as: UTF8.self), #"{"n":1}"#)
    expectEqual(received.target, "/orders?q=a%2Bb%20%26c")
    server.stop()
  }

  @Test("follows a redirect itself", arguments: TransportKind.allCases)
  func redirect(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/a", .redirect(to: "/b"))
    server.program("/b", .answer("there"))
    let data = try await Self.client(server, kind.make()).value(of: Anything(path: "a"))
    expectEqual(String(decoding: data, as: UTF8.self), "there")
    server.stop()
  }

  @Test(
    "stops an answer that is too large, counted as it is unpacked, and says how much came and how to allow it",
    arguments: TransportKind.allCases,
    [Fault.gzipBomb(of: 1_000_000), .endlessBody(of: 1_000_000)]
  )
  func tooLarge(kind: TransportKind, fault: Fault) async throws {
    let server = try MisbehavingServer()
    server.program("/", fault, fault)
    var client = Self.client(server, kind.make(), [Retrying(RetryPolicy(clamping: 2, backoff: .immediate))])
    client.limits.responseBytes = 100_000
    do throws(NetworkFailure) {
      _ = try await client.value(of: Anything())
      Issue.record("all of it came")
    } catch {
      expectEqual(error.kind, .transport(.tooLarge))
      let failure = try #require(error.transport)
      expectEqual(failure.responseLimit, 100_000)
      #expect(failure.bytesReceived > 100_000 && failure.bytesReceived < 1_000_000)
      #expect("\(error)".contains("raise TransportLimits.responseBytes"))
    }
    expectEqual(server.requests.count, 1, "it would be as large the next time")
    let data = try await client.value(of: Anything(limits: TransportLimits(responseBytes: nil)))
    #expect(data.count >= 1_000_000)
    server.stop()
  }

  @Test("names a connection that is refused, which proves that nothing was sent", arguments: TransportKind.allCases)
  func refused(kind: TransportKind) async throws {
    let port = try RefusingPort()
    let client = WebAPIClient(
      baseURL: URL(string: "http://127.0.0.1:\(port.port)"),
      transport: kind.make(),
      deliveringOn: nil
    )
    do throws(NetworkFailure) {
      _ = try await client.value(of: Anything(method: .post, body: .form(["a": 1])))
      Issue.record("somebody answered")
    } catch {
      expectEqual(error.kind, .transport(.connect))
      #expect(error.isRetryable)
    }
  }

  @Test("the session's own configuration is in use")
  func configuration() async throws {
    let server = try MisbehavingServer()
    server.program("/", .answer())
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-Configured": "yes"]
    _ = try await Self.client(server, URLSessionTransport(configuration: configuration)).value(of: Anything())
    expectEqual(server.requests.first?[field: "X-Configured"], "yes")
    server.stop()
  }

  @Test("cancels and answers that race leave one end each, and nothing behind")
  func race() async {
    var random = SeededRandom(seed: 7)
    let queue = DispatchQueue(label: "answers")
    for _ in 0..<300 {
      let transport = ScriptedTransport([.status(503), .ok(rome)], time: TimeSource(queue))
      let client = WebAPIClient(
        baseURL: .service,
        transport: transport,
        middleware: [Retrying(RetryPolicy(clamping: 1, backoff: .immediate)), Caching(in: HTTPCache()), Coalescing()],
        deliveringOn: nil
      )
      let ends = ValueLog<Int>()
      let task = Task {
        _ = try? await client.value(of: Forecast(city: "Rome"))
        ends.append(1)
      }
      let spins = Int(random.next() % 200)
      queue.async { (0..<spins).forEach { _ in _ = transport.count } }
      if random.next() % 2 == 0 { task.cancel() }
      await task.value
      expectEqual(ends.values, [1])
      #expect(transport.count <= 2)
    }
  }
}
