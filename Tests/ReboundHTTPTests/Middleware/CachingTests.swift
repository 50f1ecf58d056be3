import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTPTesting
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("Caching")
struct CachingTests {
  /// A client with a cache, and the parts of its story that these tests look at.
  struct Setting {
    var test: ClientUnderTest
    let kind: CacheKind
    let cache: HTTPCache

    init(
      _ kind: CacheKind,
      _ script: [ScriptedTransport.Step],
      staleIfError: Duration = .zero,
      _ more: [any HTTPMiddleware] = []
    ) {
      self.kind = kind
      cache = kind.cache(staleIfError: staleIfError)
      test = ClientUnderTest(script, [Caching(in: cache)] + more)
    }

    /// Sends a request, and tells the response and where it came from.
    func get(_ request: Anything = Anything()) throws -> (
      text: String?, source: ResponseSource?, failure: NetworkFailure?
    ) {
      kind.prepare(cache)
      let recorder = try test.runDetailed(request)
      let response = recorder.values.first
      return (response.map { String(decoding: $0.value, as: UTF8.self) }, response?.source, recorder.failure)
    }

    func wait(_ time: Duration) { test.scheduler.advance(by: .init(time)) }

    var conditions: [String?] { test.transport.calls.map { $0.request.headers["If-None-Match"] } }
  }

  static func answer(_ text: String, _ headers: HTTPHeaders) -> ScriptedTransport.Step {
    .response(200, headers, Data(text.utf8))
  }

  @Test("a copy answers as long as it is fresh, and says how old it is", arguments: CacheKind.allCases)
  func fresh(kind: CacheKind) throws {
    let setting = Setting(kind, [Self.answer("a", ["Cache-Control": "max-age=60"]), Self.answer("b", [:])])
    try expectEqual(setting.get().source, .network)
    setting.wait(.seconds(59))
    let second = try setting.get()
    expectEqual(second.text, "a")
    expectEqual(second.source, .cache(age: .seconds(59), .fresh))
    setting.wait(.seconds(1))
    try expectEqual(setting.get().text, "b")
    expectEqual(setting.test.log.cacheDecisions, [.miss, .stored, .hit(.fresh, age: .seconds(59)), .miss])
    let lines = setting.test.log.lines
    #expect(lines.contains { $0.hasSuffix("cache: a copy answers (59.0 seconds old, fresh)") })
    #expect(lines.contains { $0.hasSuffix("succeeded, from the cache (59.0 seconds old, fresh)") })
  }

  @Test("the time that an answer was on its way counts as age", arguments: CacheKind.allCases)
  func timeOnTheWay(kind: CacheKind) throws {
    let setting = Setting(
      kind,
      [
        Self.answer("a", ["Cache-Control": "max-age=60"]).after(.seconds(5)), Self.answer("b", [:]),
      ]
    )
    _ = try setting.get()
    setting.wait(.seconds(54))
    try expectEqual(setting.get().source, .cache(age: .seconds(59), .fresh))
    setting.wait(.seconds(1))
    try expectEqual(setting.get().text, "b")
  }

  @Test("an old copy is asked about by its ETag, and a 304 makes it new", arguments: CacheKind.allCases)
  func etag(kind: CacheKind) throws {
    let setting = Setting(
      kind,
      [
        Self.answer("a", ["Cache-Control": "max-age=60", "ETag": "\"1\"", "X-Kept": "1", "X-Changed": "1"]),
        .response(304, ["Cache-Control": "max-age=10", "X-Changed": "2", "Content-Length": "0"]),
        Self.answer("b", [:]),
      ]
    )
    _ = try setting.get()
    setting.wait(.seconds(60))
    let second = try setting.test.runDetailed(Anything()).values.first
    expectEqual(second?.value, Data("a".utf8))
    expectEqual(second?.source, .cache(age: .zero, .revalidated))
    expectEqual(second?.head.headers["X-Kept"], "1")
    expectEqual(second?.head.headers["X-Changed"], "2")
    expectEqual(second?.source.isStale, false)
    setting.wait(.seconds(9))
    try expectEqual(setting.get().source, .cache(age: .seconds(9), .fresh))
    setting.wait(.seconds(1))
    try expectEqual(setting.get().text, "b")
    expectEqual(setting.conditions, [nil, "\"1\"", "\"1\""])
  }

  @Test(
    "a 304 has no body, so that what it says about one changes nothing",
    arguments: ["Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection"],
    CacheKind.allCases
  )
  func fieldsOfTheBody(name: String, kind: CacheKind) throws {
    let setting = Setting(
      kind,
      [
        Self.answer("a", ["Cache-Control": "max-age=60", "ETag": "\"1\"", name: "1"]), .response(304, [name: "0"]),
      ]
    )
    _ = try setting.get()
    setting.wait(.seconds(60))
    let second = try setting.test.runDetailed(Anything()).values.first
    expectEqual(second?.source, .cache(age: .zero, .revalidated))
    expectEqual(second?.head.headers.values(of: name), ["1"])
  }

  @Test("without an ETag the date of the last change is asked about", arguments: CacheKind.allCases)
  func lastModified(kind: CacheKind) throws {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let setting = Setting(
      kind,
      [Self.answer("a", ["Cache-Control": "no-cache", "Last-Modified": date]), .response(304)]
    )
    _ = try setting.get()
    try expectEqual(setting.get().text, "a")
    expectEqual(setting.test.transport.calls.last?.request.headers["If-Modified-Since"], date)
  }

  @Test("a 304 that nobody asked for is a failure", arguments: CacheKind.allCases)
  func unasked304(kind: CacheKind) throws {
    let setting = Setting(kind, [.response(304)])
    try expectEqual(setting.get().failure?.kind, .unexpectedStatus(304))
  }

  @Test(
    "lifetimes are read from these fields, against the server's own clock",
    arguments: [
      (["Cache-Control": "max-age=100"], 100), (["Cache-Control": "public, MAX-AGE=\"100\""], 100),
      (["Cache-Control": "max-age=100", "Age": "40"], 60), (["Cache-Control": "s-maxage=100"], 0),
      (["Cache-Control": "max-age=nonsense"], 0), (["Cache-Control": "max-age=-5"], 0),
      (["Expires": ClientUnderTest.serverDate(100), "Date": ClientUnderTest.serverDate()], 100),
      (["Expires": "0", "Date": ClientUnderTest.serverDate()], 0),
      (
        [
          "Expires": ClientUnderTest.serverDate(100), "Cache-Control": "max-age=5",
          "Date": ClientUnderTest.serverDate(),
        ], 5
      ),
      (["Last-Modified": ClientUnderTest.serverDate(-1_000), "Date": ClientUnderTest.serverDate()], 100),
      (["Cache-Control": "no-cache, max-age=100"], 0), (["Cache-Control": "no-store, max-age=100"], 0),
      (["Cache-Control": "max-age=100", "Vary": "*"], 0), ([:], 0),
    ] as [(HTTPHeaders, Int)],
    CacheKind.allCases
  )
  func lifetimes(lifetime: (headers: HTTPHeaders, seconds: Int), kind: CacheKind) throws {
    let (headers, seconds) = lifetime
    let setting = Setting(kind, Array(repeating: Self.answer("a", headers), count: 9))
    _ = try setting.get()
    guard seconds > 0 else {
      _ = try setting.get()
      expectEqual(setting.test.transport.count, 2)
      return
    }
    setting.wait(.seconds(seconds - 1))
    _ = try setting.get()
    expectEqual(setting.test.transport.count, 1)
    setting.wait(.seconds(1))
    _ = try setting.get()
    expectEqual(setting.test.transport.count, 2)
  }

  @Test("Vary: each variant has a copy of its own", arguments: CacheKind.allCases)
  func vary(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language, X-Other"]
    let setting = Setting(kind, [Self.answer("ciao", headers), Self.answer("hallo", headers)])
    let (italian, german) = (Anything(headers: ["accept-language": "it"]), Anything(headers: ["Accept-Language": "de"]))
    try expectEqual(setting.get(italian).text, "ciao")
    try expectEqual(setting.get(german).text, "hallo")
    try expectEqual(setting.get(italian).text, "ciao")
    try expectEqual(setting.get(german).text, "hallo")
    expectEqual(setting.test.transport.count, 2)
  }

  @Test("what one user has asked for is not given to another", arguments: CacheKind.allCases)
  func identity(kind: CacheKind) throws {
    let user = User()
    var setting = Setting(kind, [Self.answer("a", ["Cache-Control": "max-age=60"]), Self.answer("b", [:])])
    setting.test.client = setting.test.client.identifying { user.name }
    try expectEqual(setting.get().text, "a")
    user.name = "other"
    try expectEqual(setting.get().text, "b")
    user.name = nil
    try expectEqual(setting.get().text, "a")
  }

  @Test(
    "stale-if-error: an old copy stands in when the service or the network fails, and says so",
    arguments: [
      (.status(500), true), (.status(503), true), (.offline, true), (.timeout, true), (.captivePortal, true),
      (.status(404), false), (.status(501), false), (.failure(.tls(.untrusted)), false), (.status(401), false),
    ]
      as [(ScriptedTransport.Step, Bool)],
    CacheKind.allCases
  )
  func staleIfError(failure: (step: ScriptedTransport.Step, standsIn: Bool), kind: CacheKind) throws {
    let (step, standsIn) = failure
    let setting = Setting(kind, [Self.answer("{}", ["Cache-Control": "max-age=60, stale-if-error=30"]), step])
    struct Object: Request {
      var path: RequestPath { "" }
      var parser: ResponseParser<[String: Int]> { .json() }
    }
    _ = try setting.test.run(Object())
    setting.wait(.seconds(89))
    let recorder = try setting.test.runDetailed(Object())
    expectEqual(recorder.values.first?.source == .cache(age: .seconds(89), .staleIfError), standsIn)
    expectEqual(recorder.failure == nil, standsIn)
    #expect(recorder.values.first?.source.isStale != false)
  }

  @Test(
    "stale-if-error ends with its window, and the server's word wins over the client's default",
    arguments: CacheKind.allCases
  )
  func staleIfErrorWindow(kind: CacheKind) throws {
    let said = Setting(
      kind,
      [Self.answer("a", ["Cache-Control": "max-age=60, stale-if-error=30"]), .offline],
      staleIfError: .seconds(999)
    )
    _ = try said.get()
    said.wait(.seconds(90))
    try expectEqual(said.get().failure?.kind, .transport(.offline))
    let unsaid = Setting(
      kind,
      [Self.answer("a", ["Cache-Control": "max-age=60"]), .offline, .offline],
      staleIfError: .seconds(100)
    )
    _ = try unsaid.get()
    unsaid.wait(.seconds(159))
    try expectEqual(unsaid.get().source, .cache(age: .seconds(159), .staleIfError))
    unsaid.wait(.seconds(1))
    try expectEqual(unsaid.get().failure?.kind, .transport(.offline))
  }

  @Test("must-revalidate: no old copy stands in, whatever else is said", arguments: CacheKind.allCases)
  func mustRevalidate(kind: CacheKind) throws {
    let headers: HTTPHeaders = [
      "Cache-Control": "max-age=60, must-revalidate, stale-if-error=30, stale-while-revalidate=30"
    ]
    let setting = Setting(kind, [Self.answer("a", headers), .offline], staleIfError: .seconds(999))
    _ = try setting.get()
    setting.wait(.seconds(61))
    try expectEqual(setting.get().failure?.kind, .transport(.offline))
  }

  @Test(
    "stale-while-revalidate: the old copy answers at once and is renewed behind it, once",
    arguments: CacheKind.allCases
  )
  func staleWhileRevalidate(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-while-revalidate=30"]
    let setting = Setting(kind, [Self.answer("a", headers), Self.answer("b", headers).after(.seconds(1))])
    _ = try setting.get()
    setting.wait(.seconds(89))
    let recorders = (0..<3).map { _ in setting.test.send(Anything()) }
    expectEqual(recorders.map { $0.values.first }, Array(repeating: Data("a".utf8), count: 3))
    try setting.test.scheduler.run()
    expectEqual(setting.test.transport.count, 2)
    try expectEqual(setting.get().text, "b")
    #expect(setting.test.log.cacheDecisions.contains(.hit(.staleWhileRevalidating, age: .seconds(89))))
  }

  @Test(
    "stale-while-revalidate: the time of who has got the old copy is not the limit of the renewal",
    arguments: CacheKind.allCases
  )
  func renewalWithoutDeadline(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-while-revalidate=30"]
    let setting = Setting(kind, [Self.answer("a", headers), Self.answer("b", headers).after(.seconds(3))])
    _ = try setting.get()
    setting.wait(.seconds(70))
    let deadline = Deadline(in: .seconds(2), on: setting.test.scheduler.time)
    try Deadline.$current.withValue(deadline) { _ = try setting.get() }
    #expect(setting.test.transport.calls.last?.request.limits.total == nil)
    setting.wait(.seconds(3))
    try expectEqual(setting.get().text, "b")
  }

  @Test("nor is a deadline that middleware has given it", arguments: CacheKind.allCases)
  func renewalWithoutOwnDeadline(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-while-revalidate=30"]
    let setting = Setting(
      kind,
      [Self.answer("a", headers), Self.answer("b", headers).after(.seconds(3))],
      [Hurry(1, limit: .seconds(2))]
    )
    _ = try setting.get()
    setting.wait(.seconds(70))
    try expectEqual(setting.get().source, .cache(age: .seconds(70), .staleWhileRevalidating))
    #expect(setting.test.transport.calls.last?.request.limits.total == nil)
    try expectEqual(setting.get().text, "b")
  }

  @Test("stale-while-revalidate: one that was forgotten before it was under way leaves the next one of its copy alone")
  func forgottenRenewal() throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=1, stale-while-revalidate=1000"]
    let setting = Setting(.inMemory, [Self.answer("a", headers), Self.answer("b", headers), .silence, .silence])
    let (test, cache) = (setting.test, setting.cache)
    _ = try setting.get()
    setting.wait(.seconds(2))
    let (began, cancelled, between) = (ValueLog<String>(), ValueLog<Int>(), ValueLog<Data?>())
    let watched = test.client.onEvent { event in
      // Nobody is told with the lock of the cache held.
      if case .cancelled = event.kind { cancelled.append(cache.usedBytes) }
    }
    let client = watched.onEvent { event in
      guard case .began = event.kind else { return }
      began.append(event.requestID)
      // The call's own, and then that of its renewal, which is not under way yet.
      guard began.values.count == 2 else { return }
      cache.removeAll()
      for pause in [Duration.zero, .seconds(2)] {
        test.scheduler.advance(by: .init(pause))
        let recorder = Recorder<Data, NetworkFailure>()
        watched.publisher(for: Anything()).subscribe(recorder)
        test.scheduler.advance(by: .zero)
        between.append(recorder.values.first)
      }
    }
    let recorder = Recorder<Data, NetworkFailure>()
    client.publisher(for: Anything()).subscribe(recorder)
    expectEqual(recorder.values, [Data("a".utf8)])
    expectEqual(between.values, [Data("b".utf8), Data("b".utf8)])
    expectEqual(cancelled.values.count, 1)
    expectEqual(test.transport.calls.map(\.isCancelled), [false, false, false, true])
    cache.removeAll()
    expectEqual(cancelled.values.count, 2)
    expectEqual(test.transport.calls.map(\.isCancelled), [false, false, true, true])
  }

  @Test("a 304 that speaks of another copy does not begin the time of the call anew", arguments: CacheKind.allCases)
  func otherCopyInTime(kind: CacheKind) throws {
    for isOfCaller in [false, true] {
      var setting = Setting(
        kind,
        [
          Self.answer("a", ["Cache-Control": "no-cache", "ETag": "\"a\""]),
          .response(304, ["ETag": "\"b\""]).after(.seconds(4)), .silence,
        ]
      )
      _ = try setting.get()
      let start = setting.test.scheduler.elapsed
      if !isOfCaller { setting.test.client.deadline = .seconds(5) }
      let deadline = isOfCaller ? Deadline(in: .seconds(5), on: setting.test.scheduler.time) : nil
      let failure = try Deadline.$current.withValue(deadline) { try setting.get().failure }
      expectEqual(failure?.kind, .deadlineExceeded)
      expectEqual(setting.test.scheduler.elapsed - start, .seconds(5), "\(isOfCaller)")
      expectEqual(setting.test.transport.count, 3)
    }
  }

  @Test(
    "then each of those who have shared the question goes on in its own time",
    arguments: [0, 1],
    CacheKind.allCases
  )
  func otherCopyShared(hurried: Int, kind: CacheKind) throws {
    let setting = Setting(
      kind,
      [
        Self.answer("a", ["Cache-Control": "no-cache", "ETag": "\"a\""]),
        .response(304, ["ETag": "\"b\""]).after(.seconds(4)), Self.answer("c", [:]).after(.seconds(3)),
      ],
      [Coalescing()]
    )
    _ = try setting.get()
    let start = setting.test.scheduler.now
    let calls = (0..<2).map { number in
      let deadline = number == hurried ? Deadline(in: .seconds(5), on: setting.test.scheduler.time) : nil
      return Deadline.$current.withValue(deadline) { setting.test.send(Anything()) }
    }
    try setting.test.scheduler.run()
    expectEqual(calls[hurried].failure?.kind, .deadlineExceeded)
    expectEqual(calls[hurried].completionTime, start.advanced(by: .seconds(5)))
    expectEqual(calls[1 - hurried].values, [Data("c".utf8)])
    expectEqual(setting.test.transport.count, 3)
  }

  @Test("stale-while-revalidate: to those who watch, the renewal is a call of its own", arguments: CacheKind.allCases)
  func renewalIsACall(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-while-revalidate=30"]
    let setting = Setting(kind, [Self.answer("a", headers), .status(503).after(.seconds(1))])
    _ = try setting.get()
    setting.wait(.seconds(89))
    try expectEqual(setting.get().source, .cache(age: .seconds(89), .staleWhileRevalidating))
    let events = Dictionary(grouping: setting.test.log.events, by: \.requestID)
    let renewal = try #require(setting.test.transport.calls.last?.request.headers["X-Request-ID"])
    let stages = events.mapValues { $0.map { String("\($0.kind)".prefix { $0 != "(" }) } }
    expectEqual(stages.count, 3)
    expectEqual(stages[renewal], ["began", "cache", "attemptBegan", "responded", "attemptFailed", "failed"])
    #expect(stages.values.contains(["began", "cache", "succeeded"]))
  }

  @Test("stale-while-revalidate: each copy that has become old is renewed anew", arguments: CacheKind.allCases)
  func staleWhileRevalidateAgain(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-while-revalidate=30"]
    let setting = Setting(kind, ["a", "b", "c"].map { Self.answer($0, headers) })
    var texts: [String?] = []
    for _ in 0..<3 {
      texts.append(try setting.get().text)
      setting.wait(.seconds(70))
    }
    expectEqual(texts, ["a", "a", "b"])
    expectEqual(setting.test.transport.count, 3)
  }

  @Test("a request for copies alone asks nobody, whatever its fields say", arguments: CacheKind.allCases)
  func onlyCachedWithNoCache(kind: CacheKind) throws {
    let setting = Setting(kind, [Self.answer("a", [:])])
    let request = Anything(headers: ["Cache-Control": "no-cache"], cacheMode: .onlyCached)
    try expectEqual(setting.get(request).failure?.kind, .notCached)
    expectEqual(setting.test.transport.count, 0)
  }

  @Test(
    "nor does one that no copy could answer",
    arguments: [
      Anything(method: .head, cacheMode: .onlyCached),
      Anything(headers: ["Range": "bytes=0-1"], cacheMode: .onlyCached),
      Anything(headers: ["Cache-Control": "no-store"], cacheMode: .onlyCached),
      Anything(method: .put, body: .form(["x": 1]), cacheMode: .onlyCached),
    ],
    CacheKind.allCases
  )
  func onlyCachedWithoutCopies(request: Anything, kind: CacheKind) throws {
    let setting = Setting(kind, [Self.answer("a", ["Cache-Control": "max-age=60"]), Self.answer("b", [:])])
    _ = try setting.get()
    try expectEqual(setting.get(request).failure?.kind, .notCached)
    expectEqual(setting.test.transport.count, 1)
    try expectEqual(setting.get().text, "a")
  }

  @Test(
    "the modes of a request",
    arguments: [CacheMode.standard, .revalidate, .bypass, .onlyCached],
    CacheKind.allCases
  )
  func modes(mode: CacheMode, kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "1"]
    let setting = Setting(kind, [Self.answer("a", headers), Self.answer("b", headers)])
    if mode == .onlyCached {
      let failure = try setting.get(Anything(cacheMode: mode)).failure
      expectEqual(failure?.kind, .notCached)
    }
    _ = try setting.get()
    let second = try setting.get(Anything(cacheMode: mode))
    switch mode {
    case .standard, .onlyCached: expectEqual(second.source, .cache(age: .zero, .fresh))
    case .revalidate: #expect(second.text == "b" && setting.conditions == [nil, "1"])
    case .bypass: #expect(second.text == "b" && setting.conditions == [nil, nil])
    }
    setting.wait(.seconds(1_000))
    if mode == .onlyCached {
      try expectEqual(setting.get(Anything(cacheMode: mode)).source, .cache(age: .seconds(1_000), .onlyCached))
    }
  }

  @Test(
    "writing to an address forgets its copies, and those of the addresses that the server names",
    arguments: CacheKind.allCases
  )
  func invalidation(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(
      kind,
      [
        Self.answer("a", headers), Self.answer("b", headers), Self.answer("c", headers),
        .response(201, ["Location": "/v1/b", "Content-Location": "https://other.example/c"]),
        Self.answer("a2", headers), Self.answer("b2", headers), Self.answer("c2", headers),
      ]
    )
    let paths: [RequestPath] = ["a", "b", "c"]
    for path in paths { _ = try setting.get(Anything(path: path)) }
    _ = try setting.get(Anything(path: "a", method: .put, body: .form(["x": 1])))
    let texts = try paths.map { try setting.get(Anything(path: $0)).text }
    expectEqual(texts, ["a2", "b2", "c"])
  }

  @Test(
    "a server names no copies of another origin as changed",
    arguments: ["https://other.example/v1", "https://api.example:8443/v1", "http://api.example/v1"],
    CacheKind.allCases
  )
  func otherOrigin(address: String, kind: CacheKind) throws {
    for field in ["Location", "Content-Location"] { try otherOrigin(address, field, kind) }
  }

  private func otherOrigin(_ address: String, _ field: String, _ kind: CacheKind) throws {
    let other = try #require(URL(string: address))
    let setting = Setting(
      kind,
      [
        Self.answer("a", ["Cache-Control": "max-age=60"]), .response(201, [field: "\(address)/a"]),
      ]
    )
    _ = try setting.get(Anything(baseURL: other, path: "a"))
    _ = try setting.get(Anything(path: "b", method: .post, body: .form(["x": 1])))
    try expectEqual(setting.get(Anything(baseURL: other, path: "a")).source, .cache(age: .zero, .fresh))
  }

  @Test(
    "an address is the same to write to as to read, however a server spells it",
    arguments: ["/v1/b#top", "https://api.example:443/v1/b", "https://API.example/v1/b", "HTTPS://api.example/v1/b"],
    CacheKind.allCases
  )
  func spelling(location: String, kind: CacheKind) throws {
    let setting = Setting(
      kind,
      [
        Self.answer("old", ["Cache-Control": "max-age=60"]), .response(201, ["Location": location]),
        Self.answer("new", [:]),
      ]
    )
    _ = try setting.get(Anything(path: "b"))
    _ = try setting.get(Anything(path: "a", method: .post, body: .form(["x": 1])))
    try expectEqual(setting.get(Anything(path: "b")).text, "new")
  }

  @Test(
    "a write is one wherever redirects have led it, and whatever comes of that (RFC 9111 §4.4)",
    arguments: [
      (.put, [.redirect(307, to: "/v1/b"), .response(204)], ["c"]),
      (.put, [.redirect(307, to: "/v1/b"), .status(409)], ["c"]),
      (.put, [.redirect(307, to: "/v1/b"), .redirect(307, to: "/v1/c"), .response(204)], []),
      (.put, [.redirect(307, to: "/v1/b"), .reset, .refused], ["c"]),
      (.put, [.redirect(307, to: "https://other.example/v1/b")], ["b", "c"]),
      (.post, [.redirect(303, to: "/v1/b"), .response(200)], ["c"]),
      (.post, [.redirect(302, to: "/v1/b"), .status(500)], ["c"]),
      (.post, [.redirect(303, to: "/v1/b"), .offline], ["c"]),
      (.post, [.redirect(303, to: "/v1/b"), .redirect(to: "/v1/c"), .response(200)], ["c"]),
      (.post, [.response(300, ["Location": "/v1/b"])], ["c"]),
      (.post, [.captivePortal], ["a", "b", "c"]),
    ] as [(HTTPMethod, [ScriptedTransport.Step], [RequestPath])],
    CacheKind.allCases
  )
  func redirectedWrite(
    write: (method: HTTPMethod, steps: [ScriptedTransport.Step], kept: [RequestPath]),
    kind: CacheKind
  )
    throws
  {
    let paths: [RequestPath] = ["a", "b", "c"]
    let retrying = Retrying(RetryPolicy(clamping: 1, backoff: .constant(.seconds(1))))
    let setting = Setting(
      kind,
      paths.map { _ in Self.answer("old", ["Cache-Control": "max-age=60"]) } + write.steps,
      [retrying]
    )
    for path in paths { _ = try setting.get(Anything(path: path)) }
    struct Object: Request {
      let method: HTTPMethod
      var path: RequestPath { "a" }
      var body: RequestBody { .form(["x": 1]) }
      var parser: ResponseParser<Data> { ResponseParser(takesWebPages: false) { $0.body } }
    }
    _ = try setting.test.run(Object(method: write.method))
    expectEqual(setting.test.transport.count, 3 + write.steps.count)
    let kept = try paths.filter { try setting.get(Anything(path: $0, cacheMode: .onlyCached)).text == "old" }
    expectEqual(kept, write.kept)
  }

  /// What comes between a redirect and the end of a call.
  enum End: CaseIterable, Sendable {
    case deadline, cancel, refresh
  }

  @Test(
    "also where the call's time, whoever waits, or a credential that cannot be renewed ends it",
    arguments: End.allCases,
    CacheKind.allCases
  )
  func endedWrite(end: End, kind: CacheKind) throws {
    let paths: [RequestPath] = ["a", "b", "c"]
    let refresher = TokenRefresher<String>(
      rejectedWhen: { (_: NetworkFailure) in false },
      refreshingWith: { _ in Fail(error: NetworkFailure(.serverError(503))).eraseToAnyPublisher() }
    )
    let setting = Setting(
      kind,
      paths.map { _ in Self.answer("old", ["Cache-Control": "max-age=60"]) }
        + [.redirect(307, to: "/v1/b"), end == .refresh ? .status(401) : .silence],
      [Authenticating(with: refresher) { $0["Authorization"] = $1 }]
    )
    refresher.signIn(with: "token", at: setting.test.scheduler.elapsed)
    for path in paths { _ = try setting.get(Anything(path: path)) }
    let deadline: Duration? = end == .deadline ? .seconds(5) : nil
    let write = setting.test.send(Anything(path: "a", method: .put, body: .form(["x": 1]), deadline: deadline))
    setting.wait(.seconds(1))
    if end == .cancel { write.cancel() }
    try setting.test.scheduler.run()
    expectEqual(write.failure?.kind, [.deadline: .deadlineExceeded, .refresh: .serverError(503)][end])
    expectEqual(setting.test.transport.count, 5)
    let kept = try paths.filter { try setting.get(Anything(path: $0, cacheMode: .onlyCached)).text == "old" }
    expectEqual(kept, ["c"])
  }

  @Test("what comes while whoever waits cancels leads it nowhere that is not forgotten")
  func redirectDuringCancel() throws {
    let paths: [RequestPath] = ["a", "b", "c"]
    let setting = Setting(
      .inMemory,
      paths.map { _ in Self.answer("old", ["Cache-Control": "max-age=60"]) }
        + [.redirect(307, to: "/v1/b"), .redirect(307, to: "/v1/c").after(.seconds(2)), .silence]
    )
    for path in paths { _ = try setting.get(Anything(path: path)) }
    let test = setting.test
    let client = test.client.onEvent { event in
      if case .cache(.invalidated) = event.kind { test.scheduler.advance(by: .seconds(5)) }
    }
    let write = Recorder<Data, NetworkFailure>()
    client.publisher(for: Anything(path: "a", method: .put, body: .form(["x": 1]))).subscribe(write)
    setting.wait(.seconds(1))
    write.cancel()
    expectEqual(test.transport.count, 5)
    expectEqual(test.log.cacheDecisions.last, .invalidated)
    let kept = try paths.filter { try setting.get(Anything(path: $0, cacheMode: .onlyCached)).text == "old" }
    expectEqual(kept, ["c"])
  }

  @Test("what a write makes forgotten is so once, also where whoever waits wants no more than the answer")
  func forgottenOnce() async throws {
    let (log, cache) = (EventLog(), HTTPCache())
    let client = WebAPIClient(
      baseURL: .service,
      transport: ScriptedTransport([.redirect(307, to: "/v1/b"), .response(200)]),
      middleware: [Caching(in: cache)],
      deliveringOn: nil
    )
    .onEvent(log.write)
    _ = try await client.value(of: Anything(method: .post, body: .form(["x": 1])))
    expectEqual(log.cacheDecisions, [.invalidated])
    expectEqual(cache.generation, 1)
  }

  @Test("a redirect that is not followed has come from a server that may have acted", arguments: CacheKind.allCases)
  func unfollowedRedirect(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    var setting = Setting(
      kind,
      [Self.answer("old", headers), .redirect(303, to: "/v1/b"), Self.answer("new", headers)]
    )
    setting.test.client.redirects = .none
    _ = try setting.get()
    try expectEqual(setting.get(Anything(method: .post, body: .form(["x": 1]))).failure?.kind, .unexpectedStatus(303))
    try expectEqual(setting.get().text, "new")
  }

  @Test("a copy that a redirect has led to goes with what it is a copy of", arguments: CacheKind.allCases)
  func redirectedCopy(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(
      kind,
      [
        .redirect(301, to: "/v1/b#1"), Self.answer("old", headers), .response(204),
        .redirect(301, to: "/v1/b#1"), Self.answer("new", headers),
      ]
    )
    _ = try setting.get(Anything(path: "a"))
    try expectEqual(setting.get(Anything(path: "a")).source, .cache(age: .zero, .fresh))
    _ = try setting.get(Anything(path: "b", method: .put, body: .form(["x": 1])))
    try expectEqual(setting.get(Anything(path: "a")).text, "new")
    try expectEqual(setting.get(Anything(path: "a")).source, .cache(age: .zero, .fresh))
  }

  @Test("so does one behind several redirects with each address on the way", arguments: CacheKind.allCases)
  func copyBehindSeveral(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let way = { (text: String) in
      [.redirect(301, to: "/v1/b"), .redirect(301, to: "https://other.example/c"), .redirect(301, to: "/d")]
        + [Self.answer(text, headers)]
    }
    let other = try #require(URL(string: "https://other.example"))
    for (base, path) in [(nil, "b"), (other, "c"), (other, "d")] as [(URL?, RequestPath)] {
      let setting = Setting(kind, way("old") + [.response(204)] + way("new"))
      _ = try setting.get(Anything(path: "a"))
      try expectEqual(setting.get(Anything(path: "a")).source, .cache(age: .zero, .fresh))
      _ = try setting.get(Anything(baseURL: base, path: path, method: .put, body: .form(["x": 1])))
      try expectEqual(setting.get(Anything(path: "a")).text, "new")
      try expectEqual(setting.get(Anything(path: "a")).source, .cache(age: .zero, .fresh))
    }
  }

  @Test(
    "so it does where middleware adds to each address, which those who write do not know",
    arguments: CacheKind.allCases
  )
  func redirectedCopyWithKey(kind: CacheKind) throws {
    struct Edition: HTTPMiddleware {
      func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
        var request = request
        request.message.url.append(queryItems: [URLQueryItem(name: "edition", value: "7")])
        return next(request)
      }
    }
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(
      kind,
      [
        .redirect(301, to: "/v1/b"), Self.answer("old", headers), .response(204), .redirect(301, to: "/v1/b"),
        Self.answer("new", headers),
      ],
      [Edition()]
    )
    _ = try setting.get(Anything(path: "a"))
    try expectEqual(setting.get(Anything(path: "a")).source, .cache(age: .zero, .fresh))
    _ = try setting.get(Anything(path: "b", method: .put, body: .form(["x": 1])))
    try expectEqual(setting.get(Anything(path: "a")).text, "new")
    try expectEqual(setting.get(Anything(path: "a")).source, .cache(age: .zero, .fresh))
    expectEqual(setting.test.transport.calls[1].request.url.query, "edition=7")
  }

  // MARK: What is under way meanwhile

  @Test(
    "an answer that was asked for before its address was written to, or all was forgotten, is not kept",
    arguments: [true, false],
    CacheKind.allCases
  )
  func lateAnswer(isWrite: Bool, kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(kind, [Self.answer("old", headers).after(.seconds(2))])
    let early = setting.test.send(Anything())
    if isWrite {
      setting.test.transport.append(.response(204))
      _ = try setting.get(Anything(method: .put, body: .form(["x": 1])))
    } else {
      setting.cache.removeAll()
    }
    try setting.test.scheduler.run()
    expectEqual(early.values, [Data("old".utf8)])
    expectEqual(setting.cache.usedBytes, 0)
    setting.test.transport.append(Self.answer("new", headers))
    try expectEqual(setting.get().text, "new")
    try expectEqual(setting.get().source, .cache(age: .zero, .fresh))
  }

  @Test("nor is it however much was forgotten since", arguments: CacheKind.allCases)
  func lateAnswerAfterMany(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(kind, [Self.answer("old", headers).after(.seconds(2)), Self.answer("new", headers)])
    let early = setting.test.send(Anything())
    setting.cache.invalidate([.service])
    for number in 0..<1_001 { setting.cache.invalidate([URL.service.appendingPathComponent("\(number)")]) }
    try setting.test.scheduler.run()
    expectEqual(early.values, [Data("old".utf8)])
    expectEqual(setting.cache.usedBytes, 0)
    try expectEqual(setting.get().text, "new")
    try expectEqual(setting.get().source, .cache(age: .zero, .fresh))
  }

  @Test("then what is older than such an answer does not come back, either", arguments: CacheKind.allCases)
  func olderThanLateAnswer(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(kind, [Self.answer("old", headers), Self.answer("late", headers).after(.seconds(2))])
    _ = try setting.get()
    let late = setting.test.send(Anything(cacheMode: .revalidate))
    for number in 0..<1_001 { setting.cache.invalidate([URL.service.appendingPathComponent("\(number)")]) }
    try setting.test.scheduler.run()
    expectEqual(late.values, [Data("late".utf8)])
    try expectEqual(setting.get(Anything(cacheMode: .onlyCached)).failure?.kind, .notCached)
  }

  @Test("nor does it take away what was asked for after that", arguments: CacheKind.allCases)
  func lateAnswerAfterNew(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(
      kind,
      [
        Self.answer("old", headers), Self.answer("late", headers).after(.seconds(2)), .response(204),
        Self.answer("new", headers),
      ]
    )
    _ = try setting.get()
    let early = setting.test.send(Anything(cacheMode: .revalidate))
    let write = setting.test.send(Anything(method: .put, body: .form(["x": 1])))
    setting.wait(.seconds(1))
    let new = setting.test.send(Anything())
    try setting.test.scheduler.run()
    expectEqual([early, write, new].map { $0.values.first }, [Data("late".utf8), Data(), Data("new".utf8)])
    let last = try setting.get()
    expectEqual(last.text, "new")
    expectEqual(last.source?.isStale, false)
    expectEqual(setting.test.transport.count, 4)
  }

  @Test("nor is a renewal behind the back of those who have got the old copy", arguments: CacheKind.allCases)
  func lateRenewal(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-while-revalidate=30"]
    let setting = Setting(
      kind,
      [
        Self.answer("old", headers), Self.answer("renewed", headers).after(.seconds(2)), .response(204),
        Self.answer("new", headers),
      ]
    )
    _ = try setting.get()
    setting.wait(.seconds(70))
    let stale = setting.test.send(Anything())
    expectEqual(stale.values, [Data("old".utf8)])
    _ = try setting.get(Anything(method: .put, body: .form(["x": 1])))
    expectEqual(setting.cache.usedBytes, 0)
    try expectEqual(setting.get().text, "new")
  }

  @Test("nor is one of an address that redirects lead to, where that was written to", arguments: CacheKind.allCases)
  func lateRedirectedAnswer(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(
      kind,
      [
        .redirect(301, to: "/v1/b"), Self.answer("old", headers).after(.seconds(2)), .response(204),
        Self.answer("new", headers),
      ]
    )
    let early = setting.test.send(Anything(path: "a"))
    setting.wait(.seconds(1))
    _ = try setting.get(Anything(path: "b", method: .put, body: .form(["x": 1])))
    expectEqual(early.values, [Data("old".utf8)])
    try expectEqual(setting.get(Anything(path: "a")).text, "new")
  }

  @Test("who asks after a write joins nobody who has asked before", arguments: CacheKind.allCases)
  func coalescing(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(
      kind,
      [Self.answer("old", headers).after(.seconds(2)), .response(204), Self.answer("new", headers).after(.seconds(2))],
      [Coalescing()]
    )
    let early = [setting.test.send(Anything()), setting.test.send(Anything())]
    let write = setting.test.send(Anything(method: .put, body: .form(["x": 1])))
    setting.wait(.seconds(1))
    let late = [setting.test.send(Anything()), setting.test.send(Anything())]
    try setting.test.scheduler.run()
    #expect(write.isFinished)
    expectEqual((early + late).map { $0.values.first }, ["old", "old", "new", "new"].map { Data($0.utf8) })
    expectEqual(setting.test.transport.count, 3)
    try expectEqual(setting.get().text, "new")
  }

  @Test(
    "who asks after a write to where a redirect leads joins nobody who has asked before",
    arguments: CacheKind.allCases
  )
  func coalescingRedirected(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(
      kind,
      [
        .redirect(301, to: "/v1/b"), Self.answer("old", headers).after(.seconds(2)), .response(204),
        .redirect(301, to: "/v1/b"), Self.answer("new", headers).after(.seconds(2)),
      ],
      [Coalescing()]
    )
    let early = setting.test.send(Anything())
    setting.wait(.milliseconds(500))
    let write = setting.test.send(Anything(path: "b", method: .put, body: .form(["x": 1])))
    setting.wait(.milliseconds(500))
    let late = setting.test.send(Anything())
    try setting.test.scheduler.run()
    #expect(write.isFinished)
    expectEqual([early, late].map(\.values), [[Data("old".utf8)], [Data("new".utf8)]])
    try expectEqual(setting.get().text, "new")
  }

  @Test("nor does who asks past the cache", arguments: CacheKind.allCases)
  func coalescingPastTheCache(kind: CacheKind) throws {
    let setting = Setting(
      kind,
      [Self.answer("old", [:]).after(.seconds(2)), .response(204), Self.answer("new", [:]).after(.seconds(2))],
      [Coalescing()]
    )
    let early = setting.test.send(Anything(cacheMode: .bypass))
    let write = setting.test.send(Anything(method: .put, body: .form(["x": 1])))
    setting.wait(.seconds(1))
    let late = setting.test.send(Anything(cacheMode: .bypass))
    try setting.test.scheduler.run()
    #expect(write.isFinished)
    expectEqual([early, late].map(\.values), [[Data("old".utf8)], [Data("new".utf8)]])
  }

  @Test("a refused write forgets nothing", arguments: CacheKind.allCases)
  func refusedWrite(kind: CacheKind) throws {
    let setting = Setting(kind, [Self.answer("a", ["Cache-Control": "max-age=60"]), .status(409)])
    _ = try setting.get()
    _ = try setting.get(Anything(method: .put, body: .form(["x": 1])))
    try expectEqual(setting.get().text, "a")
  }

  @Test(
    "after an answer that is not kept the older copy does not come back",
    arguments: [
      CachingTests.answer("b", ["Cache-Control": "no-store"]), CachingTests.answer("b", [:]),
      CachingTests.answer(String(repeating: "b", count: 9_000), ["ETag": "2"]),
      .response(304, ["Cache-Control": "no-store"]), .status(404), .status(410),
    ] as [ScriptedTransport.Step],
    CacheKind.allCases
  )
  func notKept(step: ScriptedTransport.Step, kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-if-error=999", "ETag": "\"1\""]
    let cache = kind.cache(capacity: 90_000)
    let test = ClientUnderTest([Self.answer("a", headers), step], [Caching(in: cache)])
    for mode in [CacheMode.standard, .revalidate] {
      kind.prepare(cache)
      _ = try test.run(Anything(validStatuses: 200...404, cacheMode: mode))
    }
    expectEqual(test.transport.count, 2)
    expectEqual(cache.usedBytes, 0)
    try expectEqual(test.run(Anything(cacheMode: .onlyCached)).failure?.kind, .notCached)
  }

  @Test(
    "an answer that does not say what there is now leaves the copy where it is",
    arguments: [.status(503), .status(403), .status(429), .offline, .captivePortal] as [ScriptedTransport.Step],
    CacheKind.allCases
  )
  func stillKept(step: ScriptedTransport.Step, kind: CacheKind) throws {
    struct Object: Request {
      var path: RequestPath { "" }
      var cacheMode: CacheMode = .standard
      var validStatuses: ClosedRange<Int> = 200...299
      var parser: ResponseParser<[String: Int]> { .json() }
    }
    let setting = Setting(kind, [Self.answer("{}", ["Cache-Control": "max-age=60"]), step, .status(503)])
    _ = try setting.test.run(Object())
    _ = try setting.test.run(Object(cacheMode: .revalidate))
    _ = try setting.test.run(Object(cacheMode: .revalidate, validStatuses: 200...599))
    expectEqual(setting.test.transport.count, 3)
    setting.kind.prepare(setting.cache)
    try expectEqual(setting.test.runDetailed(Object()).values.first?.source, .cache(age: .zero, .fresh))
  }

  @Test("what one variant, or one user, gets that is not kept makes no other forgotten", arguments: CacheKind.allCases)
  func othersKept(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
    let user = User()
    let answers = ["ciao", "hallo", "ciao, Ada"].map { Self.answer($0, headers) }
    var setting = Setting(kind, answers + [Self.answer("new", ["Cache-Control": "no-store"])])
    setting.test.client = setting.test.client.identifying { user.name }
    let (italian, german) = (HTTPHeaders.Field("Accept-Language", "it"), HTTPHeaders.Field("Accept-Language", "de"))
    _ = try setting.get(Anything(headers: HTTPHeaders([italian])))
    _ = try setting.get(Anything(headers: HTTPHeaders([german])))
    user.name = "ada"
    _ = try setting.get(Anything(headers: HTTPHeaders([italian])))
    user.name = nil
    _ = try setting.get(Anything(headers: HTTPHeaders([german]), cacheMode: .revalidate))
    try expectEqual(
      setting.get(Anything(headers: HTTPHeaders([german]), cacheMode: .onlyCached)).failure?.kind,
      .notCached
    )
    try expectEqual(setting.get(Anything(headers: HTTPHeaders([italian]))).text, "ciao")
    user.name = "ada"
    try expectEqual(setting.get(Anything(headers: HTTPHeaders([italian]))).text, "ciao, Ada")
  }

  @Test("of answers to the same request the newest counts, whatever they depend on", arguments: CacheKind.allCases)
  func otherVary(kind: CacheKind) throws {
    for (first, second) in [("Accept, Origin", "Origin, Accept"), ("Accept", "Origin")] {
      let headers = [first, second].map { ["Cache-Control": "max-age=60", "Vary": $0] as HTTPHeaders }
      let setting = Setting(
        kind,
        [
          Self.answer("oldest", headers[0]), Self.answer("newer", headers[1]),
          Self.answer("newest", ["Cache-Control": "no-store"]),
        ]
      )
      for text in ["oldest", "newer", "newest"] {
        try expectEqual(setting.get(Anything(cacheMode: .revalidate)).text, text)
      }
      try expectEqual(setting.get(Anything(cacheMode: .onlyCached)).failure?.kind, .notCached)
    }
  }

  // MARK: Validators

  @Test("a 304 that speaks of another version makes no copy new (RFC 9111 §4.3.4)", arguments: CacheKind.allCases)
  func otherETag(kind: CacheKind) throws {
    let setting = Setting(
      kind,
      [
        Self.answer("1", ["Cache-Control": "max-age=60", "ETag": "\"1\""]), .response(304, ["ETag": "\"2\""]),
        Self.answer("2", ["Cache-Control": "max-age=60", "ETag": "\"2\""]), .response(304, ["ETag": "W/\"2\""]),
        .response(304, ["ETag": "\"3\""]), .status(404),
      ]
    )
    _ = try setting.get()
    setting.wait(.seconds(60))
    try expectEqual(setting.get().text, "2")
    try expectEqual(setting.get().source, .cache(age: .zero, .fresh))
    setting.wait(.seconds(60))
    try expectEqual(setting.get().source, .cache(age: .zero, .revalidated))
    expectEqual(setting.conditions, [nil, "\"1\"", nil, "\"2\""])
    try expectEqual(setting.get(Anything(cacheMode: .revalidate)).failure?.kind, .notFound)
    try expectEqual(setting.get(Anything(cacheMode: .onlyCached)).failure?.kind, .notCached)
  }

  @Test(
    "what cannot be sent back is no validator",
    arguments: ["ETag", "Last-Modified"],
    CacheKind.allCases
  )
  func unusableValidator(name: String, kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", name: "\"a\u{1}b\""]
    let setting = Setting(kind, [Self.answer("a", headers), Self.answer("b", [name: "\u{7F}"]), Self.answer("c", [:])])
    _ = try setting.get()
    setting.wait(.seconds(60))
    try expectEqual(setting.get().text, "b")
    try expectEqual(setting.get().text, "c")
    #expect(setting.test.transport.calls.allSatisfy { !$0.request.headers.contains { $0.name.hasPrefix("If-") } })
  }

  // MARK: Without a lifetime

  @Test(
    "an answer that is old at once and cannot be asked about is kept if it may stand in",
    arguments: [
      ("max-age=0", 100, .cache(age: .zero, .staleIfError)), ("private", 100, .cache(age: .zero, .staleIfError)),
      ("max-age=0", 0, nil), ("no-cache", 100, nil), ("max-age=0, must-revalidate", 100, nil),
      ("max-age=0, stale-if-error=9", 0, .cache(age: .zero, .staleIfError)),
      ("max-age=0, stale-while-revalidate=9", 0, .cache(age: .zero, .staleWhileRevalidating)),
    ] as [(String, Int, ResponseSource?)],
    CacheKind.allCases
  )
  func oldAtOnce(answer: (control: String, fallback: Int, source: ResponseSource?), kind: CacheKind) throws {
    let setting = Setting(
      kind,
      [Self.answer("a", ["Cache-Control": answer.control]), .status(503)],
      staleIfError: .seconds(answer.fallback)
    )
    _ = try setting.get()
    try expectEqual(setting.get().source, answer.source)
    let kept = try setting.get(Anything(cacheMode: .onlyCached))
    expectEqual(kept.failure?.kind == .notCached, answer.source == nil)
  }

  // MARK: Redirects

  @Test(
    "an answer that a redirect has led to is good for as long as both are (RFC 9111 §4.2)",
    arguments: [
      (302, [:], 0), (303, [:], 0), (307, [:], 0), (301, [:], 100), (308, [:], 100),
      (302, ["Cache-Control": "max-age=50"], 50), (307, ["Cache-Control": "max-age=500"], 100),
      (302, ["Cache-Control": "max-age=50", "Age": "20"], 30), (302, ["Cache-Control": "max-age=50", "Age": "60"], 0),
      (302, ["Expires": ClientUnderTest.serverDate(50), "Date": ClientUnderTest.serverDate()], 50),
      (301, ["Cache-Control": "max-age=0"], 0), (301, ["Expires": "0"], 0), (308, ["Cache-Control": "no-cache"], 0),
      (301, ["Cache-Control": "no-store"], 0),
    ] as [(Int, HTTPHeaders, Int)],
    CacheKind.allCases
  )
  func redirects(redirect: (status: Int, headers: HTTPHeaders, seconds: Int), kind: CacheKind) throws {
    let (status, fields, seconds) = redirect
    var headers = fields
    headers["Location"] = "/v1/1"
    let setting = Setting(
      kind,
      [
        .response(status, headers), Self.answer("1", ["Cache-Control": "max-age=140, immutable", "Age": "40"]),
        .redirect(to: "/v1/2"), Self.answer("2", [:]),
      ]
    )
    try expectEqual(setting.get().text, "1")
    if seconds > 0 {
      setting.wait(.seconds(seconds - 1))
      try expectEqual(setting.get().source, .cache(age: .seconds(seconds + 39), .fresh))
      setting.wait(.seconds(1))
    }
    try expectEqual(setting.get().text, "2")
    expectEqual(setting.test.transport.count, 4)
  }

  @Test(
    "of several redirects the shortest time counts, and none is kept if one may not be",
    arguments: CacheKind.allCases
  )
  func chain(kind: CacheKind) throws {
    for (controls, seconds) in [
      (["max-age=50", "max-age=20"], 20), (["max-age=20", "max-age=50"], 20), (["max-age=50", "no-store"], nil),
      (["no-store", "max-age=50"], nil),
    ] as [([String], Int?)] {
      let redirects = controls.enumerated().map {
        ScriptedTransport.Step.response(302, ["Location": "/v1/\($0)", "Cache-Control": $1])
      }
      let setting = Setting(
        kind,
        redirects + [Self.answer("a", ["Cache-Control": "max-age=60", "ETag": "1"]), .offline]
      )
      _ = try setting.get()
      guard let seconds else {
        try expectEqual(setting.get(Anything(cacheMode: .onlyCached)).failure?.kind, .notCached)
        continue
      }
      setting.wait(.seconds(seconds - 1))
      try expectEqual(setting.get().source, .cache(age: .seconds(seconds - 1), .fresh))
      setting.wait(.seconds(1))
      try expectEqual(setting.get().failure?.kind, .transport(.offline))
    }
  }

  @Test(
    "no copy is used while it is being renewed that a redirect may no longer lead to",
    arguments: CacheKind.allCases
  )
  func redirectedRenewal(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=10, stale-while-revalidate=999"]
    let setting = Setting(
      kind,
      [
        .response(302, ["Location": "/v1/1", "Cache-Control": "max-age=50"]), Self.answer("1", headers),
        .offline, .offline,
      ]
    )
    _ = try setting.get()
    setting.wait(.seconds(49))
    try expectEqual(setting.get().source, .cache(age: .seconds(49), .staleWhileRevalidating))
    setting.wait(.seconds(1))
    try expectEqual(setting.get().failure?.kind, .transport(.offline))
  }

  @Test("stale-if-error: the time of a copy ends where a redirect may lead elsewhere", arguments: CacheKind.allCases)
  func redirectedStandIn(kind: CacheKind) throws {
    let setting = Setting(
      kind,
      [
        .response(302, ["Location": "/v1/1", "Cache-Control": "max-age=20"]),
        Self.answer("1", ["Cache-Control": "max-age=60, stale-if-error=30"]), .offline, .offline,
      ]
    )
    _ = try setting.get()
    setting.wait(.seconds(49))
    try expectEqual(setting.get().source, .cache(age: .seconds(49), .staleIfError))
    setting.wait(.seconds(1))
    try expectEqual(setting.get().failure?.kind, .transport(.offline))
  }

  @Test(
    "what a redirect depends on tells copies apart, as what its target depends on does",
    arguments: CacheKind.allCases
  )
  func redirectVary(kind: CacheKind) throws {
    let target: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let redirect = { (place: String) in
      ScriptedTransport.Step.response(
        302,
        ["Location": place, "Cache-Control": "max-age=60", "Vary": "Accept-Language"]
      )
    }
    let setting = Setting(
      kind,
      [redirect("/v1/it"), Self.answer("ciao", target), redirect("/v1/de"), Self.answer("hallo", target)]
    )
    for _ in 0..<2 {
      for (language, text) in [("it", "ciao"), ("de", "hallo")] {
        try expectEqual(setting.get(Anything(headers: ["Accept-Language": language])).text, text)
      }
    }
    expectEqual(setting.test.transport.count, 4)
  }

  @Test("a copy is asked about where it came from, and nowhere else (RFC 9110 §8.8.3)", arguments: CacheKind.allCases)
  func questionElsewhere(kind: CacheKind) throws {
    for (first, second) in [("/v1/1", "/v1/2"), ("https://a.example/1", "https://b.example/1")] {
      let setting = Setting(
        kind,
        [
          .redirect(to: first), Self.answer("1", ["Cache-Control": "max-age=60", "ETag": "\"1\""]),
          .redirect(to: first), .response(304),
          .redirect(to: second), Self.answer("2", ["Cache-Control": "max-age=60", "ETag": "\"2\""]),
          Self.answer("3", ["Cache-Control": "no-cache", "ETag": "\"3\""]),
          .redirect(to: first), .response(304),
        ]
      )
      try expectEqual((0..<4).map { _ in try setting.get().text }, ["1", "1", "2", "3"])
      try expectEqual(setting.get().failure?.kind, .unexpectedStatus(304))
      expectEqual(setting.conditions, [nil, nil, nil, "\"1\"", nil, nil, nil, "\"3\"", nil])
      expectEqual(setting.test.log.cacheDecisions.filter { $0 == .revalidating }.count, 4)
    }
  }

  @Test(
    "what middleware makes of a redirected answer is no longer good than the redirect",
    arguments: CacheKind.allCases,
    [MiddlewarePlace.coalescing, .retry, .protection, .redirects, .adaptation, .signing]
  )
  func redirectThroughMiddleware(kind: CacheKind, place: MiddlewarePlace) throws {
    struct Remaking: HTTPMiddleware {
      let place: MiddlewarePlace

      func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
        next(request)
          .map { HTTPResponse(head: $0.head, body: $0.body + Data("!".utf8), receivedAt: $0.receivedAt) }
          .eraseToAnyPublisher()
      }
    }
    let fresh: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(
      kind,
      [.redirect(to: "/v1/1"), Self.answer("1", fresh), .redirect(to: "/v1/2"), Self.answer("2", fresh)],
      [Remaking(place: place)]
    )
    try expectEqual((0..<2).map { _ in try setting.get().text }, ["1!", "2!"])
  }

  @Test("requests with conditions or ranges of their own pass by", arguments: CacheKind.allCases)
  func ownConditions(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
    let setting = Setting(kind, [Self.answer("a", headers), Self.answer("b", headers), Self.answer("c", headers)])
    _ = try setting.get()
    try expectEqual(setting.get(Anything(headers: ["Range": "bytes=0-1"])).text, "b")
    try expectEqual(setting.get(Anything(headers: ["Cache-Control": "no-store"])).text, "c")
    try expectEqual(setting.get().text, "a")
  }

  @Test("a fresh copy answers while the breaker is open, and spares the retries", arguments: CacheKind.allCases)
  func outermost(kind: CacheKind) throws {
    let retrying = Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))))
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-if-error=600"]
    let setting = Setting(kind, [Self.answer("a", headers), .offline, .offline, .offline], [retrying])
    _ = try setting.get()
    setting.wait(.seconds(60))
    try expectEqual(setting.get().source, .cache(age: .seconds(62), .staleIfError))
    expectEqual(setting.test.transport.count, 4)
  }

  @Test(
    "room is bounded: what was not used for the longest time goes first, and what is too large is not kept",
    arguments: CacheKind.allCases
  )
  func capacity(kind: CacheKind) throws {
    let cache = kind.cache(capacity: 100_000)
    let body = String(repeating: "x", count: 5_000)
    let large = ScriptedTransport.Step.answering { request in
      Self.answer(request.url.path.hasSuffix("large") ? body + body : body, ["Cache-Control": "max-age=60"])
    }
    let test = ClientUnderTest([large], repeatingLast: true, [Caching(in: cache)])
    _ = try test.run(Anything(path: "large"))
    expectEqual(cache.usedBytes, 0)
    for number in 0..<200 {
      kind.prepare(cache)
      _ = try test.run(Anything(path: "\(number)"))
      _ = try test.run(Anything(path: "0"))
      #expect(cache.usedBytes <= 100_000)
    }
    expectEqual(test.transport.count, 201, "the one that is in use stays")
    cache.removeAll()
    expectEqual(cache.usedBytes, 0)
  }

  @Test("a copy that takes the place of another takes its room, too", arguments: CacheKind.allCases)
  func usedBytes(kind: CacheKind) throws {
    let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    let setting = Setting(
      kind,
      [
        Self.answer("a", headers), Self.answer("b", headers), .response(304), .response(204),
      ]
    )
    _ = try setting.get()
    let used = setting.cache.usedBytes
    #expect(used > 0)
    for _ in 0..<2 {
      try expectEqual(setting.get(Anything(cacheMode: .revalidate)).text, "b")
      expectEqual(setting.cache.usedBytes, used)
    }
    _ = try setting.get(Anything(method: .put, body: .form(["x": 1])))
    expectEqual(setting.cache.usedBytes, 0)
  }
}
