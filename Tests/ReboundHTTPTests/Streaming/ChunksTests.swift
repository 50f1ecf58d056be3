import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// What a server says about a body, with times in seconds from the start of the test.
struct ValidatorCase: Sendable {
  var headers: HTTPHeaders
  var isStrong: Bool

  init(headers: HTTPHeaders = [:], changed: Int64? = nil, date: Int64? = nil, isStrong: Bool = false) {
    self.headers = headers
    self.isStrong = isStrong
    if let changed { self.headers["Last-Modified"] = ClientUnderTest.serverDate(changed) }
    if let date { self.headers["Date"] = ClientUnderTest.serverDate(date) }
  }
}

@Suite("A body as it comes")
struct ChunksTests {
  static let retrying = Retrying(RetryPolicy(clamping: 3, backoff: .constant(.seconds(1)), random: .fixed(0)))
  static let script = RangeScript(body: RangeScript.bytes(1_000))

  /// Sends again whatever the failure is.
  private struct Stubborn: HTTPMiddleware {
    let place = MiddlewarePlace.retry

    func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
      Deferred { next(request) }.retry(2).eraseToAnyPublisher()
    }
  }

  static func run(
    _ steps: [ScriptedTransport.Step],
    _ request: Anything = Anything(),
    _ middleware: any HTTPMiddleware = retrying
  ) throws -> (recorder: Recorder<Data, NetworkFailure>, transport: ScriptedTransport) {
    let test = ClientUnderTest(steps, [middleware])
    let recorder = Recorder<Data, NetworkFailure>(on: test.scheduler)
    test.client.chunks(for: request).subscribe(recorder)
    try test.scheduler.run()
    return (recorder, test.transport)
  }

  @Test("pieces arrive when they come, and nothing is sent before one is asked for")
  func pieces() throws {
    let test = ClientUnderTest([.chunks(200, [:], [Data("ab".utf8), Data("c".utf8)], every: .seconds(1))])
    let recorder = Recorder<Data, NetworkFailure>(requesting: .none, on: test.scheduler)
    test.client.chunks(for: Anything()).subscribe(recorder)
    try test.scheduler.run()
    expectEqual(test.transport.count, 0)
    recorder.request(.unlimited)
    try test.scheduler.run()
    expectEqual(recorder.values, [Data("ab".utf8), Data("c".utf8)])
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [0, 1_000_000_000])
    #expect(recorder.isFinished)
  }

  @Test("the transport is paused while more than 48 KiB wait that nobody has asked for, and no longer")
  func demand() throws {
    let chunks = (0..<4).map { _ in Data(count: 32_768) }
    let test = ClientUnderTest([.chunks(200, [:], chunks, every: .seconds(1))])
    let recorder = Recorder<Data, NetworkFailure>(requesting: .max(1), on: test.scheduler)
    test.client.chunks(for: Anything()).subscribe(recorder)
    test.scheduler.advance(by: 1.5)
    expectEqual(recorder.values.count, 1)
    #expect(!test.transport.calls[0].isPaused, "32 KiB wait")
    test.scheduler.advance(by: 1)
    #expect(test.transport.calls[0].isPaused, "64 KiB wait")
    recorder.request(.max(1))
    #expect(!test.transport.calls[0].isPaused)
    recorder.request(.unlimited)
    try test.scheduler.run()
    #expect(recorder.values.count == 4 && recorder.isFinished)
  }

  @Test("after a break the rest is asked for, so that each byte comes once, in order")
  func resumes() throws {
    let (recorder, transport) = try Self.run([
      Self.script.answer(breakingAfter: 300), .offline, Self.script.answer(breakingAfter: 0), Self.script.answer(),
    ])
    expectEqual(Data(recorder.values.joined()), Self.script.body)
    #expect(recorder.isFinished)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=300-", "bytes=300-", "bytes=300-"])
    expectEqual(transport.calls.map { $0.request.headers["If-Range"] }, [nil, "\"one\"", "\"one\"", "\"one\""])
    #expect(transport.calls.allSatisfy { $0.request.headers["Accept-Encoding"] == "identity" })
    expectEqual(transport.calls.map(\.time), [.zero, .seconds(1), .seconds(2), .seconds(3)])
  }

  @Test("a server that gives all of it again has what came already passed over")
  func ignored() throws {
    let (recorder, _) = try Self.run([Self.script.answer(breakingAfter: 300), Self.script.whole()])
    expectEqual(Data(recorder.values.joined()), Self.script.body)
    #expect(recorder.isFinished)
  }

  @Test("another body cannot go on where the first has broken")
  func changed() throws {
    var other = Self.script
    other.headers["ETag"] = "\"two\""
    let (recorder, transport) = try Self.run([Self.script.answer(breakingAfter: 300), other.whole()])
    expectEqual(recorder.failure?.kind, .mismatch)
    #expect(recorder.failure?.underlying as? BodyChanged != nil)
    expectEqual(transport.count, 2, "it would not change back")
  }

  @Test("another body cannot go on where the first has broken, either, if middleware sends it again all the same")
  func changedAndSentAgain() throws {
    var other = Self.script
    other.headers["ETag"] = "\"two\""
    let (recorder, transport) = try Self.run(
      [Self.script.answer(breakingAfter: 300), other.whole(), other.answer(), other.whole()],
      Anything(),
      Stubborn()
    )
    #expect(recorder.failure?.underlying as? BodyChanged != nil)
    expectEqual(Data(recorder.values.joined()), Self.script.body.prefix(300))
    expectEqual(transport.calls.map { $0.request.headers["If-Range"] }, [nil, "\"one\"", "\"one\"", nil])
    let (back, _) = try Self.run(
      [Self.script.answer(breakingAfter: 300), other.whole(), Self.script.answer()],
      Anything(),
      Stubborn()
    )
    expectEqual(Data(back.values.joined()), Self.script.body)
    #expect(back.isFinished)
  }

  @Test(
    "the whole is asked for once more, within the same attempt, after what is no answer to the range",
    arguments: [
      .response(416, ["Content-Range": "bytes */1000"]),
      .response(206, ["Content-Range": "bytes 0-999/1000"], Data(count: 1_000)),
      .response(206, ["Content-Range": "bytes 300-899/900"], Data(count: 600)),
      .response(206, ["Content-Range": "bytes 300-999/1000", "ETag": "\"two\""], Data(count: 700)),
      .response(206, ["Content-Type": "multipart/byteranges; boundary=x"], Data(count: 700)),
      .response(206, ["Content-Range": "bytes 999-300/1000"], Data(count: 700)),
      .response(206, ["Content-Range": "bytes 300-9999/1000"], Data(count: 700)),
      .response(206, ["Content-Range": "bytes 300-999/1000"], Data(count: 701)),
      .response(206, ["Content-Range": "bytes 300-999/1000", "Content-Encoding": "gzip"], Data(count: 700)),
    ] as [ScriptedTransport.Step]
  )
  func refusedRange(step: ScriptedTransport.Step) throws {
    let (recorder, transport) = try Self.run([Self.script.answer(breakingAfter: 300), step, Self.script.whole()])
    expectEqual(Data(recorder.values.joined()), Self.script.body)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=300-", nil])
    expectEqual(transport.calls.map(\.time), [.zero, .seconds(1), .seconds(1)])
  }

  @Test("a date that has changed is no answer to the range; a server need not say it again")
  func changedDate() throws {
    var script = Self.script
    script.headers = ValidatorCase(changed: -60, date: 0).headers
    let other = ValidatorCase(headers: ["Content-Range": "bytes 300-999/1000"], changed: -30, date: 0)
    let (recorder, transport) = try Self.run([
      script.answer(breakingAfter: 300), .response(206, other.headers, Data(count: 700)), script.whole(),
    ])
    expectEqual(Data(recorder.values.joined()), Self.script.body)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=300-", nil])
    let rest = Data(Self.script.body[300...])
    let (unsaid, _) = try Self.run([
      script.answer(breakingAfter: 300), .response(206, ["Content-Range": "bytes 300-999/1000"], rest),
    ])
    expectEqual(Data(unsaid.values.joined()), Self.script.body)
    #expect(unsaid.isFinished)
  }

  @Test("nothing is handed on beyond the range, and it is not gone on with a body that has more")
  func overlongRange() throws {
    let headers: HTTPHeaders = ["Content-Range": "bytes 300-999/1000", "Content-Length": "700", "ETag": "\"one\""]
    let rest = Data(Self.script.body[300...])
    let (recorder, transport) = try Self.run([
      Self.script.answer(breakingAfter: 300), .chunks(206, headers, [rest, Data(count: 1)]),
    ])
    expectEqual(Data(recorder.values.joined()), Self.script.body)
    expectEqual(recorder.failure?.kind, .mismatch)
    expectEqual((recorder.failure?.underlying as? BodyChanged)?.count, 1_000)
    #expect(transport.count == 2 && transport.calls[1].isCancelled)
  }

  @Test("nothing goes on behind a range that had more than it said, if middleware sends it again all the same")
  func overlongRangeSentAgain() throws {
    let headers: HTTPHeaders = ["Content-Range": "bytes 300-999/1000", "Content-Length": "700", "ETag": "\"one\""]
    let (recorder, transport) = try Self.run(
      [
        Self.script.answer(breakingAfter: 300), .chunks(206, headers, [Data(count: 400), Data(count: 301)]),
        Self.script.whole(),
      ],
      Anything(),
      Stubborn()
    )
    expectEqual((recorder.failure?.underlying as? BodyChanged)?.count, 700)
    expectEqual(Data(recorder.values.joined()), Self.script.body.prefix(300) + Data(count: 400))
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=300-", nil])
  }

  @Test("a piece that ends the call is not told as one that has come")
  func toldOfTheEnd() throws {
    let headers: HTTPHeaders = ["Content-Range": "bytes 300-999/1000", "Content-Length": "700", "ETag": "\"one\""]
    let rest = Data(Self.script.body[300...])
    let test = ClientUnderTest(
      [Self.script.answer(breakingAfter: 300), .chunks(206, headers, [rest, Data(count: 1)])],
      [Self.retrying]
    )
    let recorder = Recorder<Data, NetworkFailure>(on: test.scheduler)
    test.client.chunks(for: Anything()).subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.failure?.kind, .mismatch)
    let isEnd = if case .failed = test.log.events.last?.kind { true } else { false }
    #expect(isEnd, "\(test.log.lines)")
  }

  @Test("a range that was not asked for is no answer")
  func unaskedRange() throws {
    let (recorder, transport) = try Self.run([
      .response(206, ["Content-Range": "bytes 300-999/1000"], Data(count: 700))
    ])
    expectEqual(recorder.failure?.kind, .unexpectedContentType)
    #expect(recorder.values.isEmpty)
    expectEqual(transport.count, 1)
  }

  @Test("a shorter range than was asked for is gone on with")
  func shortRange() throws {
    let part = Data(Self.script.body[300..<500])
    let (recorder, transport) = try Self.run([
      Self.script.answer(breakingAfter: 300),
      .response(206, ["Content-Range": "bytes 300-499/1000", "ETag": "\"one\""], part), Self.script.answer(),
    ])
    expectEqual(Data(recorder.values.joined()), Self.script.body)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=300-", "bytes=500-"])
  }

  @Test("behind a range of a body whose length nobody says there may be more, so the whole is asked for")
  func endUnknown() throws {
    let head = ResponseHead(status: 200, headers: ["ETag": "\"one\""], url: .service)
    let headers: HTTPHeaders = ["Content-Range": "bytes 300-499/*", "ETag": "\"one\""]
    let (recorder, transport) = try Self.run([
      .failure(TransportFailure(.truncated), after: head, [Data(Self.script.body[..<300])]),
      .response(206, headers, Data(Self.script.body[300..<500])), Self.script.whole(),
    ])
    expectEqual(Data(recorder.values.joined()), Self.script.body)
    #expect(recorder.isFinished)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=300-", nil])
  }

  @Test("what is missing of a range is asked for, too, also where only the first answer has said how long the whole is")
  func unfinishedRange() throws {
    let headers: HTTPHeaders = ["Content-Range": "bytes 300-999/*", "Content-Length": "700", "ETag": "\"one\""]
    let (recorder, transport) = try Self.run([
      Self.script.answer(breakingAfter: 300), .response(206, headers, Data(Self.script.body[300..<500])),
      Self.script.answer(),
    ])
    expectEqual(Data(recorder.values.joined()), Self.script.body)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, "bytes=300-", "bytes=500-"])
  }

  @Test(
    "only a strong validator allows to go on (RFC 9110 §8.8.2.2, §13.1.5)",
    arguments: [
      ValidatorCase(headers: ["ETag": "W/\"one\""]),
      ValidatorCase(headers: ["ETag": "one"]),
      ValidatorCase(headers: [:]),
      ValidatorCase(headers: ["ETag": "\"one\"", "Content-Encoding": "gzip"]),
      ValidatorCase(changed: -60, date: 0, isStrong: true),
      ValidatorCase(changed: -59, date: 0),
      ValidatorCase(changed: -60),
      ValidatorCase(headers: ["ETag": "W/\"one\""], changed: -60, date: 0),
    ]
  )
  func validators(validator: ValidatorCase) throws {
    var script = Self.script
    script.headers = validator.headers
    let (recorder, transport) = try Self.run([script.answer(breakingAfter: 300), script.answer()])
    let expected = validator.isStrong ? validator.headers["Last-Modified"] : nil
    expectEqual(transport.calls[1].request.headers["If-Range"], expected)
    expectEqual(transport.calls[1].request.headers["Range"], expected.map { _ in "bytes=300-" })
    if validator.isStrong { #expect(recorder.isFinished) } else { expectEqual(recorder.failure?.kind, .mismatch) }
  }

  @Test("a range of the caller's own is a whole to him")
  func ownRange() throws {
    let part = Data(Self.script.body[..<10])
    let (recorder, transport) = try Self.run(
      [.response(206, ["Content-Range": "bytes 0-9/1000", "ETag": "\"one\""], part)],
      Anything(headers: ["Range": "bytes=0-9"])
    )
    expectEqual(Data(recorder.values.joined()), part)
    #expect(recorder.isFinished)
    #expect(transport.calls[0].request.headers["If-Range"] == nil)
  }

  @Test("a refusal is a failure with the server's words, of which no more is read than is kept")
  func refusal() throws {
    let text = #"{"message":"No."}"#
    let long = Data(text.utf8) + Data(repeating: 32, count: NetworkFailure.bodyLimit)
    let (recorder, transport) = try Self.run([.chunks(403, ["Content-Type": "application/json"], [long, long])])
    expectEqual(recorder.failure?.kind, .forbidden)
    expectEqual(recorder.failure?.body.count, NetworkFailure.bodyLimit)
    #expect(transport.calls[0].isCancelled)
    let (short, _) = try Self.run([.status(403, text)])
    expectEqual(short.failure?.serverMessage, "No.")
  }

  @Test("a redirect is asked for the rest, too")
  func redirect() throws {
    let (recorder, transport) = try Self.run([
      .redirect(to: "/elsewhere"), Self.script.answer(breakingAfter: 300), .redirect(to: "/elsewhere"),
      Self.script.answer(),
    ])
    expectEqual(Data(recorder.values.joined()), Self.script.body)
    expectEqual(transport.calls.map { $0.request.headers["Range"] }, [nil, nil, "bytes=300-", "bytes=300-"])
  }

  @Test("a cancel stops the network")
  func cancel() {
    let test = ClientUnderTest([.chunks(200, [:], [Data(count: 1), Data(count: 1)], every: .seconds(1))])
    let recorder = Recorder<Data, NetworkFailure>(on: test.scheduler)
    test.client.chunks(for: Anything()).subscribe(recorder)
    test.scheduler.advance(by: 0.5)
    recorder.cancel()
    test.scheduler.advance(by: 5)
    #expect(recorder.values.count == 1 && !recorder.isFinished)
    #expect(test.transport.calls[0].isCancelled)
  }

  @Test("requests for the same body are not joined, and leave no copy")
  func apart() throws {
    let test = ClientUnderTest(
      [.chunks(200, ["Cache-Control": "max-age=60"], [Data("a".utf8)])],
      repeatingLast: true,
      [Coalescing(), Caching(in: HTTPCache())]
    )
    let recorders = (0..<2).map { _ in Recorder<Data, NetworkFailure>(on: test.scheduler) }
    for recorder in recorders { test.client.chunks(for: Anything()).subscribe(recorder) }
    try test.scheduler.run()
    expectEqual(recorders.map { Data($0.values.joined()) }, [Data("a".utf8), Data("a".utf8)])
    expectEqual(test.transport.count, 2)
    try expectEqual(test.run(Anything()).values.count, 1)
    expectEqual(test.transport.count, 3)
  }

  @Test("a transport whose reader catches up while it is being told to pause is told to go on behind that, too")
  func pace() {
    let transport = PacedTransport()
    let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: nil)
    let recorder = Recorder<Data, NetworkFailure>(requesting: .max(1), on: TestScheduler())
    transport.whenPausing { recorder.request(.unlimited) }
    client.chunks(for: Anything()).subscribe(recorder)
    for _ in 0..<3 { transport.send(40_000) }
    transport.finish()
    expectEqual(transport.pace, ["pausing", "resuming", "resumed", "paused", "resuming", "resumed"])
    #expect(recorder.values.count == 3 && recorder.isFinished)
  }

  @Test("no more comes than may wait while a transport takes its time to go on")
  func lateResume() {
    let transport = PacedTransport()
    let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: nil)
    let recorder = Recorder<Data, NetworkFailure>(requesting: .max(1), on: TestScheduler())
    client.chunks(for: Anything()).subscribe(recorder)
    for _ in 0..<3 { transport.send(40_000) }
    // What comes meanwhile, as over a connection that another thread reads.
    transport.whenResuming {
      for _ in 0..<10 where !transport.isPaused { transport.send(40_000) }
    }
    recorder.request(.max(1))
    expectEqual(transport.sent, 4)
    #expect(transport.isPaused)
  }
}
