import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

@Suite("HARLog")
struct HARLogTests {
  @Test("all attempts of a call are entries, in order, without secrets")
  func export() throws {
    var test = ClientUnderTest(
      [.status(503).after(.milliseconds(250)), .offline, .ok(#"{"token":"s3cret"}"#, ["Set-Cookie": "s3cret"])],
      [Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))))]
    )
    let log = HARLog(
      time: test.scheduler.time.withWallClock { .seconds(ClientUnderTest.serverStart.secondsSinceEpoch) }
    )
    test.client = test.client.onEvent(log.write)
    _ = try test.run(
      Anything(
        method: .post,
        headers: ["Authorization": "s3cret"],
        query: ["appid": "s3cret", "q": "a b"],
        body: .json(["password": "s3cret"]),
        idempotency: .idempotent
      )
    )
    let data = try log.export()
    #expect(!String(decoding: data, as: UTF8.self).contains("s3cret"))
    let archive = try JSONDecoder().decode(JSONValue.self, from: data)
    #expect(archive["log"]?["version"] == .string("1.2"))
    let entries = try #require(archive["log"]?["entries"]?.elements)
    #expect(entries.map { $0["response"]?["status"] } == [.number(503), .number(0), .number(200)])
    #expect(entries.map { $0["time"] } == [.number(250), .number(0), .number(0)])
    #expect(entries[0]["startedDateTime"] == .string("2027-01-15T08:00:00Z"))
    #expect(entries[0]["request"]?["queryString"]?.elements?.last?["value"] == .string("a b"))
    #expect(entries[1]["comment"]?.string?.contains("no network") == true)
  }

  @Test("no more attempts are kept than asked for, the last ones")
  func limit() throws {
    var test = ClientUnderTest([.status(204)], repeatingLast: true)
    let log = HARLog(limit: 2)
    test.client = test.client.onEvent(log.write)
    for path in ["a", "b", "c"] as [RequestPath] { _ = try test.run(Anything(path: path)) }
    let entries = try JSONDecoder().decode(JSONValue.self, from: log.export())["log"]?["entries"]?.elements
    #expect(entries?.map { $0["request"]?["url"]?.string?.suffix(1) } == ["b", "c"])
  }

  @Test("nothing is kept of an attempt that is cancelled")
  func cancelled() {
    final class Silence: Transport, TransportExchange {
      func start(
        _ request: TransportRequest,
        telling receiver: @escaping @Sendable (TransportEvent) -> Void
      ) -> any TransportExchange { self }
      func cancel() {}
      func pause() {}
      func resume() {}
    }
    final class Token: Sendable {}
    weak var kept: Token?
    let log = HARLog()
    let client = WebAPIClient(baseURL: .service, transport: Silence(), deliveringOn: nil).onEvent(log.write)
    let recorder = Recorder<Data, NetworkFailure>()
    do {
      let token = Token()
      kept = token
      let body = BodyStream { () throws -> any BodyReader in
        withExtendedLifetime(token) {}
        throw CancellationError()
      }
      client.publisher(for: Anything(method: .post, body: .stream(body, contentType: "a/b"))).subscribe(recorder)
    }
    #expect(kept != nil)
    recorder.cancel()
    withExtendedLifetime(log) {
      #expect(kept == nil)
    }
  }
}
