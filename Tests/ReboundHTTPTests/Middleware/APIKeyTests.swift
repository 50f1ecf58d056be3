import Expectations
import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("APIKey")
struct APIKeyTests {
  @Test("goes into the query, encoded once, behind what is there")
  func query() throws {
    let test = ClientUnderTest([.ok(rome), .ok(rome)], [APIKey(.query("appid"), "a+b&c")])
    _ = try test.run(Forecast(city: "Rome"))
    _ = try test.run(Anything())
    expectEqual(test.transport.calls.map(\.request.url.query), ["q=Rome&appid=a%2Bb%26c", "appid=a%2Bb%26c"])
    #expect(!test.log.lines.joined().contains("a%2Bb"))
  }

  @Test("goes into a header field, for its own host only")
  func header() throws {
    let test = ClientUnderTest([.status(200), .status(200)], [APIKey(.header("X-API-Key"), "k", for: "API.example")])
    _ = try test.run(Anything())
    _ = try test.run(Anything(baseURL: URL(string: "https://other.example")))
    expectEqual(test.transport.calls.map { $0.request.headers["X-API-Key"] }, ["k", nil])
  }

  @Test(
    "without a host, goes to no other service than the client's and those that it trusts",
    arguments: [APIKey.Placement.header("X-API-Key"), .query("key")]
  )
  func otherService(placement: APIKey.Placement) throws {
    var test = ClientUnderTest([.status(200)], repeatingLast: true, [APIKey(placement, "secret")])
    for trusted in [[], [URL(string: "https://OTHER.example:443/x")]] {
      test.client.trustedOrigins = trusted.compactMap(\.self)
      for base in ["https://other.example/v2", "https://api.example/v2", "http://other.example"] {
        _ = try test.run(Anything(baseURL: URL(string: base)))
      }
    }
    let hasKey = test.transport.calls.map { call in
      call.request.headers["X-API-Key"] == "secret" || call.request.url.query == "key=secret"
    }
    expectEqual(hasKey, [false, true, false, true, true, false])
  }

  @Test("a client without an address of its own has no other services")
  func noOwnService() throws {
    let transport = ScriptedTransport([.status(200)])
    let client = WebAPIClient(transport: transport, middleware: [APIKey(.header("X-API-Key"), "k")], deliveringOn: nil)
    let recorder = Recorder<Data, NetworkFailure>()
    client.publisher(for: Anything(baseURL: .service)).subscribe(recorder)
    expectEqual(transport.calls.map { $0.request.headers["X-API-Key"] }, ["k"])
  }

  @Test("a key that would write another field is not sent", arguments: ["k\r\nX-Admin: 1", "k\n", "k\u{0}"])
  func lineBreak(key: String) throws {
    let test = ClientUnderTest([.status(200)], [APIKey(.header("X-API-Key"), key)])
    let failure = try test.run(Anything()).failure
    expectEqual(failure?.kind, .invalidRequest)
    expectEqual(failure?.invalidRequest.map { "\($0)".contains("X-API-Key") }, true)
    expectEqual(failure.map { "\($0)".contains("X-Admin") }, false)
    expectEqual(test.transport.count, 0)
  }

  @Test(
    "is hidden by the client, under whatever name it goes, and whatever is said of secrets later",
    arguments: [APIKey.Placement.header("X-Door"), .query("edition")]
  )
  func hidden(placement: APIKey.Placement) throws {
    var test = ClientUnderTest([.status(404)], repeatingLast: true, [APIKey(placement, "s3cret")])
    for redaction in [nil, Redaction(headers: [], parameters: [], guessing: false), .standard.showing("edition")] {
      if let redaction { test.client.redaction = redaction }
      #expect(
        test.client.redaction.hides(header: "x-door") || test.client.redaction.hides(parameter: "Edition"),
        "\(placement)"
      )
      let failure = try #require(try test.run(Anything()).failure)
      #expect(!"\(failure)".contains("s3cret"))
      #expect(!failure.call.url.contains("s3cret"))
    }
    #expect(!test.log.lines.joined().contains("s3cret"))
    #expect(!Redaction.standard.hides(header: "X-Door") && !Redaction.standard.hides(parameter: "edition"))
  }

  @Test(
    "stays with the origin that the request was made for",
    arguments: [APIKey.Placement.header("X-API-Key"), .query("key")]
  )
  func redirect(placement: APIKey.Placement) throws {
    let test = ClientUnderTest(
      [
        .redirect(to: "/b"), .redirect(to: "https://other.example/"), .redirect(to: "https://api.example/"),
        .status(200),
      ],
      [APIKey(placement, "secret")]
    )
    #expect(try test.run(Anything()).failure == nil)
    let hasKey = test.transport.calls.map { call in
      call.request.headers["X-API-Key"] == "secret" || call.request.url.query == "key=secret"
    }
    expectEqual(hasKey, [true, true, false, false])
  }
}
