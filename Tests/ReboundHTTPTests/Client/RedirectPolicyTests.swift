import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("RedirectPolicy")
struct RedirectPolicyTests {
  static func run(
    _ script: [ScriptedTransport.Step],
    _ request: Anything = Anything(),
    _ redirects: RedirectPolicy = .follow()
  ) throws -> (calls: [ScriptedTransport.Call], failure: NetworkFailure?) {
    var test = ClientUnderTest(script)
    test.client.redirects = redirects
    let recorder = try test.run(request)
    return (test.transport.calls, recorder.failure)
  }

  @Test(
    "methods and bodies after a redirect are those of RFC 9110 §15.4",
    arguments: [
      (301, .get, .get), (302, .get, .get), (301, .post, .get), (302, .post, .get), (303, .post, .get),
      (303, .put, .get), (303, .head, .head), (301, .put, .put), (307, .post, .post), (308, .post, .post),
      (308, .delete, .delete),
    ] as [(Int, HTTPMethod, HTTPMethod)]
  )
  func methods(status: Int, before: HTTPMethod, after: HTTPMethod) throws {
    let body: RequestBody = before == .get || before == .head ? .none : .form(["a": 1])
    let (calls, failure) = try Self.run(
      [.redirect(status, to: "/other"), .status(200)],
      Anything(method: before, body: body)
    )
    #expect(failure == nil)
    expectEqual(calls.map(\.request.method), [before, after])
    #expect(calls.last?.request.url.absoluteString == "https://api.example/other")
    expectEqual(calls.last?.body, after == before ? calls.first?.body : Data())
    expectEqual(calls.last?.request.headers.contains(name: "Content-Type"), after == before && !body.isNone)
  }

  @Test("without its body, a request has no fields that speak of it (RFC 9110 §15.4)", arguments: [301, 302, 303, 307])
  func fieldsOfTheBody(status: Int) throws {
    let names = [
      "content-encoding", "Content-Language", "Content-Location", "Content-MD5", "Content-Digest", "Repr-Digest",
      "Digest", "Last-Modified",
    ]
    let headers = HTTPHeaders((names + ["Accept", "X-Content"]).map { HTTPHeaders.Field($0, "a") })
    let order = Anything(method: .post, headers: headers, body: .form(["a": 1]))
    let (calls, _) = try Self.run([.redirect(status, to: "/other"), .status(200)], order)
    let kept = try #require(calls.last?.request.headers)
    for name in names { expectEqual(kept.contains(name: name), status == 307, "\(name)") }
    #expect(kept.contains(name: "Accept") && kept.contains(name: "X-Content"))
  }

  @Test("a condition goes wherever the write goes: without it, what another has written there would be lost")
  func conditionsElsewhere() throws {
    let headers: HTTPHeaders = ["If-Match": #""v1""#, "If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"]
    for method: HTTPMethod in [.put, .delete] {
      let write = Anything(method: method, headers: headers, body: method == .put ? .form(["a": 1]) : .none)
      for location in ["/b", "https://other.example/b"] {
        let (calls, _) = try Self.run([.redirect(307, to: location), .status(204)], write, .follow().carryingBodies())
        expectEqual(calls.map(\.request.method), [method, method])
        expectEqual(calls.last?.request.headers["If-Match"], #""v1""#, "\(method) to \(location)")
        expectEqual(calls.last?.request.headers.contains(name: "If-Unmodified-Since"), true)
      }
    }
  }

  @Test(
    "what a write has led on to is asked for without its condition, which would fail now that it is done",
    arguments: [
      ("If-Match", #""v1""#), ("if-none-match", "*"), ("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
      ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ]
  )
  func conditionsOfWrites(name: String, value: String) throws {
    for (status, method, isKept) in [
      (303, .put, false), (303, .post, false), (302, .post, false), (303, .get, true), (307, .put, true),
    ] as [(Int, HTTPMethod, Bool)] {
      let (calls, _) = try Self.run(
        [.redirect(status, to: "/b"), .status(200)],
        Anything(method: method, headers: [name: value])
      )
      expectEqual(calls.count, 2)
      expectEqual(calls.last?.request.headers.contains(name: name), isKept, "\(status) after \(method)")
    }
  }

  @Test("an order that a redirect takes to another origin has its key there, so that a retry is known as one")
  func keyElsewhere() throws {
    var test = ClientUnderTest(
      [
        .redirect(307, to: "https://other.example/orders"), .reset,
        .redirect(307, to: "https://other.example/orders"), .status(200),
      ],
      [Retrying(.http)]
    )
    test.client.redirects = .follow().carryingBodies()
    _ = try test.run(Anything(method: .post, body: .form(["a": 1]), idempotency: .key("order 7")))
    expectEqual(
      test.transport.calls.map { $0.request.headers["Idempotency-Key"] },
      Array(repeating: "order 7", count: 4)
    )
  }

  @Test("fields go to the same origin only, but for those that say what is asked for, and those that are named")
  func credentials() throws {
    let request = Anything(
      headers: [
        "Authorization": "a", "Cookie": "b", "X-Access-Token": "c", "X-Other": "d", "Accept-Language": "it",
        "X-Lab": "e", "X-Request-ID": "f", "traceparent": "g", "Priority": "u=1",
      ]
    )
    for (location, keeps) in [
      ("/b", true), ("https://api.example:443/b", true), ("https://other.example/b", false),
      ("https://api.example:8443/b", false),
    ] {
      let (calls, _) = try Self.run(
        [.redirect(to: location), .status(200)],
        request,
        .follow().carrying(header: "X-Lab")
      )
      let headers = try #require(calls.last?.request.headers)
      for name in ["Authorization", "Cookie", "X-Access-Token", "X-Other", "X-Request-ID", "traceparent"] {
        expectEqual(headers.contains(name: name), keeps, "\(name) to \(location)")
      }
      expectEqual(headers["Accept-Language"], "it")
      expectEqual(headers["X-Lab"], "e")
      expectEqual(headers["Priority"], "u=1")
    }
  }

  @Test("a body is not taken to another origin: the failure says why, and what to do", arguments: [307, 308])
  func bodyElsewhere(status: Int) throws {
    let order = Anything(method: .post, body: .form(["a": 1]))
    let elsewhere = "https://other.example:8443/orders?s=cret"
    let (calls, failure) = try Self.run([.redirect(status, to: elsewhere), .status(200)], order)
    expectEqual(calls.count, 1)
    expectEqual(failure?.kind, .redirectRefused)
    expectEqual(failure?.status, status)
    expectEqual(failure?.isTransient, false)
    let refusal = try #require(failure?.underlying as? RedirectRefused)
    expectEqual(refusal.status, status)
    #expect(refusal.origin == "https://other.example:8443")
    expectEqual(failure?.description.contains("allow it with RedirectPolicy.carryingBodies()"), true)
    expectEqual(failure?.description.contains("s=cret"), false)
  }

  @Test("a body is taken to another origin if the policy says so, or if nothing is left of it")
  func bodyAllowed() throws {
    let order = Anything(method: .post, body: .form(["a": 1]))
    let elsewhere = "https://other.example/orders"
    let (allowed, failure) = try Self.run(
      [.redirect(307, to: elsewhere), .status(200)],
      order,
      .follow().carryingBodies()
    )
    #expect(failure == nil)
    expectEqual(allowed.map(\.body), [Data("a=1".utf8), Data("a=1".utf8)])
    let (asked, _) = try Self.run([.redirect(303, to: elsewhere), .status(200)], order)
    expectEqual(asked.map(\.request.method), [.post, .get])
    let (empty, _) = try Self.run([.redirect(307, to: elsewhere), .status(200)], Anything(method: .delete))
    expectEqual(empty.map(\.request.method), [.delete, .delete])
    let (home, _) = try Self.run([.redirect(307, to: "/orders"), .status(200)], order)
    expectEqual(home.map(\.body), [Data("a=1".utf8), Data("a=1".utf8)])
  }

  @Test(
    "no redirect leads out of https, or anywhere but to http",
    arguments: ["http://api.example/", "ftp://a.example/", "https:///x"]
  )
  func downgrade(location: String) throws {
    let (calls, failure) = try Self.run([.redirect(to: location)])
    expectEqual(calls.count, 1)
    expectEqual(failure?.kind, .unexpectedStatus(302))
  }

  @Test(
    "of several Location fields that differ none is followed; the same said again is said once",
    arguments: [(["/a", "/a"], true), (["/a", "/b"], false), (["/a", "/b", "/a"], false)] as [([String], Bool)]
  )
  func severalLocations(locations: [String], isFollowed: Bool) throws {
    let headers = HTTPHeaders(locations.map { HTTPHeaders.Field("Location", $0) })
    let (calls, failure) = try Self.run([.response(302, headers), .status(200)])
    let addresses = ["https://api.example/v1", "https://api.example/a"]
    expectEqual(calls.map(\.request.url.absoluteString), isFollowed ? addresses : [addresses[0]])
    expectEqual(failure?.kind, isFollowed ? nil : .unexpectedStatus(302))
  }

  @Test("a circle ends at the limit, and counts the redirects")
  func circle() throws {
    let (calls, failure) = try Self.run(Array(repeating: .redirect(to: "/a"), count: 20), Anything(), .follow(limit: 3))
    expectEqual(calls.count, 4)
    expectEqual(failure?.kind, .transport(.tooManyRedirects))
    expectEqual(failure?.transport?.redirects, 3)
  }

  @Test("what fails after a redirect proves nothing about the request before")
  func failureAfterRedirect() throws {
    let (_, failure) = try Self.run(
      [.redirect(307, to: "/b"), .refused],
      Anything(method: .post, body: .form(["a": 1]))
    )
    expectEqual(failure?.kind, .transport(.connect))
    expectEqual(failure?.isRetryable, false)
  }

  @Test("the exchange that was redirected is cancelled")
  func cancelsLast() throws {
    let (calls, _) = try Self.run([.redirect(to: "/b"), .status(200)])
    expectEqual(calls.map(\.isCancelled), [true, false])
  }

  @Test(
    "what comes late of an exchange that was redirected counts no more, also where middleware sees each",
    arguments: [[], [Passing()]]
  )
  func lateEvents(middleware: [Passing]) throws {
    let transport = StubbornTransport()
    let log = EventLog()
    let client = WebAPIClient(
      baseURL: .service,
      transport: transport,
      middleware: middleware,
      deliveringOn: nil
    )
    .onEvent(log.write)
    let recorder = Recorder<Data, NetworkFailure>()
    client.publisher(for: Anything()).subscribe(recorder)
    transport.tell(.head(ResponseHead(status: 302, headers: ["Location": "/b"], url: .service)), of: 0)
    transport.tell(.head(ResponseHead(status: 200, url: .service)), of: 1)
    let told = log.events.count
    transport.tell(.sent(1), of: 0)
    transport.tell(.head(ResponseHead(status: 404, url: .service)), of: 0)
    transport.tell(.chunk(Data("old".utf8)), of: 0)
    transport.tell(.finished, of: 0)
    transport.tell(.failed(TransportFailure(.reset)), of: 0)
    expectEqual(recorder.events.count, 1)
    expectEqual(log.events.count, told)
    transport.tell(.chunk(Data("new".utf8)), of: 1)
    transport.tell(.finished, of: 1)
    expectEqual(recorder.values, [Data("new".utf8)])
    #expect(recorder.isFinished)
  }

  @Test("each hop is given, and told, the time that is left then")
  func deadline() throws {
    var test = ClientUnderTest([.redirect(to: "/b").after(.seconds(2)), .status(200)])
    test.client.deadlineHeader = "Grpc-Timeout"
    #expect(try test.run(Anything(deadline: .seconds(10))).failure == nil)
    expectEqual(test.transport.calls.map(\.request.limits.total), [.seconds(10), .seconds(8)])
    expectEqual(test.transport.calls.map { $0.request.headers["Grpc-Timeout"] }, ["10000m", "8000m"])
  }

  @Test("none are followed, or only those that stay, if the client says so")
  func policies() throws {
    try expectEqual(Self.run([.redirect(to: "/b")], Anything(), .none).failure?.kind, .unexpectedStatus(302))
    #expect(try Self.run([.redirect(to: "https://b.example/")], Anything(), .sameOrigin()).calls.count == 1)
    #expect(try Self.run([.redirect(to: "/b"), .status(200)], Anything(), .sameOrigin()).failure == nil)
  }

  @Test("a body that can be read once is not sent elsewhere")
  func onceOnly() throws {
    let stream = BodyStream.once { _ in Data() }
    let request = Anything(method: .put, body: .stream(stream, contentType: "a/b"))
    let (calls, failure) = try Self.run([.redirect(307, to: "/b")], request)
    expectEqual(calls.count, 1)
    expectEqual(failure?.kind, .unexpectedStatus(307))
  }
}

/// Sees each request that goes over the wire, and leaves it as it is.
struct Passing: HTTPMiddleware {
  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    next(request)
  }
}

extension RequestBody {
  fileprivate var isNone: Bool { (try? Anything(body: self).message(base: .service).body.length) == 0 }
}
