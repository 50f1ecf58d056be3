import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("Event streams")
struct WebAPIClientEventsTests {
  static func stream(_ texts: String..., every pause: Duration = .zero) -> ScriptedTransport.Step {
    .chunks(200, ["Content-Type": "text/event-stream; charset=utf-8"], texts.map { Data($0.utf8) }, every: pause)
  }

  static let policy = RetryPolicy<NetworkFailure>(clamping: nil, backoff: .constant(.seconds(1)), random: .fixed(0))
    .countingInARow()

  static func listen(
    _ test: ClientUnderTest,
    requesting demand: Subscribers.Demand = .unlimited
  ) -> Recorder<ServerSentEvent, NetworkFailure> {
    let recorder = Recorder<ServerSentEvent, NetworkFailure>(requesting: demand, on: test.scheduler)
    test.client.events(for: Anything(), reconnecting: policy).subscribe(recorder)
    return recorder
  }

  @Test("events arrive as they come, however they are cut")
  func events() throws {
    let test = ClientUnderTest([Self.stream("data: a\n\nda", "ta: b\n\n", every: .seconds(1)), .silence])
    let recorder = Self.listen(test)
    test.scheduler.advance(by: 1)
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [0, 1_000_000_000])
    expectEqual(recorder.values.map(\.data), ["a", "b"])
    expectEqual(test.transport.calls[0].request.headers["Accept"], "text/event-stream")
    #expect(test.transport.calls[0].request.headers["Last-Event-ID"] == nil)
    recorder.cancel()
  }

  @Test("there is no limit on how much may come, whatever the request says", arguments: [nil, 10] as [Int64?])
  func unlimited(bytes: Int64?) throws {
    let test = ClientUnderTest([.silence])
    let request = Anything(limits: bytes.map { TransportLimits(idle: .seconds(60), responseBytes: $0) })
    let recorder = Recorder<ServerSentEvent, NetworkFailure>(on: test.scheduler)
    test.client.events(for: request).subscribe(recorder)
    let limits = try #require(test.transport.calls.first?.request.limits)
    #expect(limits.responseBytes == nil)
    expectEqual(limits.idle, bytes == nil ? nil : .seconds(60))
    recorder.cancel()
  }

  @Test("a closed or broken connection is made again, from the last id, after the server's pause")
  func reconnects() throws {
    let test = ClientUnderTest([
      Self.stream("retry: 5000\nid: 7\ndata: a\n\n"), .offline, Self.stream("data: b\n\n"), .status(204),
    ])
    let recorder = Self.listen(test)
    try test.scheduler.run()
    expectEqual(recorder.values.map(\.data), ["a", "b"])
    expectEqual(recorder.values.map(\.id), ["7", "7"])
    #expect(recorder.isFinished, "204 means that there is no more")
    expectEqual(test.transport.calls.map { $0.request.headers["Last-Event-ID"] }, [nil, "7", "7", "7"])
    expectEqual(test.transport.calls.map(\.time), [.zero, .seconds(5), .seconds(10), .seconds(15)])
  }

  @Test("a key that is drawn for each call lets nobody make the whole call again")
  func generatedKey() throws {
    let test = ClientUnderTest([.status(503)])
    let recorder = Recorder<ServerSentEvent, NetworkFailure>(on: test.scheduler)
    let request = Anything(method: .post, body: .form(["a": 1]), idempotency: .generatedKey)
    test.client.events(for: request, reconnecting: RetryPolicy(clamping: 0, backoff: .immediate)).subscribe(recorder)
    try test.scheduler.run()
    let failure = try #require(recorder.failure)
    expectEqual(failure.kind, .serverError(503))
    #expect(!failure.isRetryable)
  }

  @Test("nor does it after a connection before may have arrived, of which the failure tells")
  func generatedKeyThenOffline() throws {
    let test = ClientUnderTest([.status(503), .offline])
    let recorder = Recorder<ServerSentEvent, NetworkFailure>(on: test.scheduler)
    let request = Anything(method: .post, body: .form(["a": 1]), idempotency: .generatedKey)
    test.client.events(for: request, reconnecting: RetryPolicy(clamping: 1, backoff: .immediate)).subscribe(recorder)
    try test.scheduler.run()
    let failure = try #require(recorder.failure)
    expectEqual(failure.kind, .transport(.offline))
    expectEqual(failure.earlier.map(\.kind), [.serverError(503)])
    #expect(!failure.isRetryable)
  }

  @Test("unless told otherwise, a connection is made again after any pause that the server asks for")
  func longPause() throws {
    let test = ClientUnderTest([
      Self.stream("retry: 121000\n\n"), .status(503, retryAfter: 86_400), .status(204),
    ])
    let recorder = Recorder<ServerSentEvent, NetworkFailure>(on: test.scheduler)
    test.client.events(for: Anything()).subscribe(recorder)
    try test.scheduler.run()
    #expect(recorder.failure == nil)
    #expect(recorder.isFinished)
    let times = test.transport.calls.map(\.time)
    try #require(times.count == 3)
    // Chance has its part in each pause, at the end of it.
    #expect(times[1] >= .seconds(121) && times[1] < .seconds(125))
    #expect(times[2] - times[1] >= .seconds(86_400) && times[2] - times[1] < .seconds(86_405))
  }

  @Test(
    "what is no stream ends it, with status and server's words",
    arguments: [(.status(403, #"{"message":"No."}"#), .forbidden), (.ok("{}"), .unexpectedContentType)]
      as [(ScriptedTransport.Step, NetworkFailure.Kind)]
  )
  func refusal(step: ScriptedTransport.Step, kind: NetworkFailure.Kind) throws {
    let test = ClientUnderTest([step])
    let recorder = Self.listen(test)
    try test.scheduler.run()
    expectEqual(recorder.failure?.kind, kind)
    #expect(kind != .forbidden || recorder.failure?.serverMessage == "No.")
    expectEqual(test.transport.count, 1)
  }

  @Test(
    "of what is no stream no more is read than is kept: it may have no end",
    arguments: [(403, .forbidden), (200, .unexpectedContentType)] as [(Int, NetworkFailure.Kind)]
  )
  func endlessRefusal(status: Int, kind: NetworkFailure.Kind) throws {
    let pieces = [Data](repeating: Data(count: 10_000), count: 9)
    let test = ClientUnderTest([.chunks(status, ["Content-Type": "audio/mpeg"], pieces, every: .seconds(1))])
    let recorder = Self.listen(test)
    test.scheduler.advance(by: 0.5)
    #expect(recorder.completions.isEmpty)
    test.scheduler.advance(by: 1)
    expectEqual(recorder.failure?.kind, kind)
    expectEqual(recorder.failure?.body.count, NetworkFailure.bodyLimit)
    expectEqual(test.transport.calls.map(\.isCancelled), [true])
  }

  @Test("a refusal whose body does not end is one all the same, with what has come of it, and holds nothing up")
  func silentRefusal() throws {
    let words = [Data(#"{"message":"No."}"#.utf8), Data(" ".utf8)]
    let busy = ScriptedTransport.Step.chunks(503, ["Content-Type": "application/json"], words, every: .seconds(86_400))
    let test = ClientUnderTest([busy, Self.stream("data: a\n\n"), busy])
    let recorder = Recorder<ServerSentEvent, NetworkFailure>(on: test.scheduler)
    let policy = RetryPolicy<NetworkFailure>(clamping: 2, backoff: .constant(.seconds(1)))
    test.client.events(for: Anything(), reconnecting: policy).subscribe(recorder)
    test.scheduler.advance(by: 60)
    expectEqual(recorder.values.map(\.data), ["a"])
    expectEqual(recorder.failure?.kind, .serverError(503))
    expectEqual(recorder.failure?.serverMessage, "No.")
    expectEqual(test.transport.calls.map(\.time), [.zero, .seconds(11), .seconds(12)])
    expectEqual(test.transport.calls.map(\.isCancelled), [true, false, true])
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("a cancel ends the wait for the body of a refusal")
  func cancelInRefusal() {
    let test = ClientUnderTest([.chunks(503, [:], [Data(count: 1), Data(count: 1)], every: .seconds(86_400))])
    let recorder = Self.listen(test)
    test.scheduler.advance(by: 1)
    recorder.cancel()
    expectEqual(test.transport.calls.map(\.isCancelled), [true])
    expectEqual(test.scheduler.pendingCount, 0)
  }

  @Test("a service in trouble is asked again")
  func serviceUnavailable() throws {
    let test = ClientUnderTest([.status(503, retryAfter: 3), Self.stream("data: a\n\n"), .status(204)])
    let recorder = Self.listen(test)
    try test.scheduler.run()
    expectEqual(recorder.values.map(\.data), ["a"])
    expectEqual(test.transport.calls.map(\.time), [.zero, .seconds(3), .seconds(4)])
  }

  @Test("no event is delivered beyond the demand, and the transport pauses meanwhile")
  func demand() throws {
    let test = ClientUnderTest([
      Self.stream("data: a\n\ndata: b\n\ndata: c\n\n", ": still there\n", every: .seconds(9)), .status(204),
    ])
    let recorder = Self.listen(test, requesting: .max(1))
    test.scheduler.advance()
    expectEqual(recorder.values.map(\.data), ["a"])
    #expect(test.transport.calls[0].isPaused)
    recorder.request(.max(1))
    expectEqual(recorder.values.map(\.data), ["a", "b"])
    #expect(test.transport.calls[0].isPaused)
    recorder.request(.max(1))
    expectEqual(recorder.values.map(\.data), ["a", "b", "c"])
    #expect(!test.transport.calls[0].isPaused)
    try test.scheduler.run()
    #expect(recorder.isFinished)
  }

  @Test("a transport whose reader catches up while it is being told to pause is told to go on behind that")
  func pace() {
    let (transport, recorder) = Self.paced()
    transport.whenPausing { recorder.request(.unlimited) }
    transport.send(Data("data: a\n\ndata: b\n\n".utf8))
    expectEqual(recorder.values.map(\.data), ["a", "b"])
    expectEqual(transport.pace, ["pausing", "paused", "resuming", "resumed"])
    transport.send(Data("data: c\n\n".utf8))
    expectEqual(recorder.values.map(\.data), ["a", "b", "c"])
    recorder.cancel()
  }

  @Test("a transport whose reader falls behind while it is being told to go on is told to pause behind that")
  func latePace() {
    let (transport, recorder) = Self.paced()
    transport.send(Data("data: a\n\ndata: b\n\n".utf8))
    transport.whenResuming { transport.send(Data("data: c\n\n".utf8)) }
    recorder.request(.max(1))
    expectEqual(recorder.values.map(\.data), ["a", "b"])
    expectEqual(transport.pace, ["pausing", "paused", "resuming", "resumed", "pausing", "paused"])
    recorder.cancel()
  }

  /// A stream that tells what it is told, and a reader who has asked for one event.
  static func paced() -> (PacedTransport, Recorder<ServerSentEvent, NetworkFailure>) {
    let transport = PacedTransport(["Content-Type": "text/event-stream"])
    let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: nil)
    let recorder = Recorder<ServerSentEvent, NetworkFailure>(requesting: .max(1))
    client.events(for: Anything(), reconnecting: policy).subscribe(recorder)
    return (transport, recorder)
  }

  @Test("a connection that is closed is made again when the events before are delivered, and not sooner")
  func endBehindEvents() throws {
    let test = ClientUnderTest([Self.stream("data: a\n\ndata: b\n\n"), .status(204)])
    let recorder = Self.listen(test, requesting: .max(1))
    test.scheduler.advance(by: 60)
    expectEqual(recorder.values.map(\.data), ["a"])
    expectEqual(test.transport.count, 1)
    recorder.request(.max(1))
    try test.scheduler.run()
    expectEqual(recorder.values.map(\.data), ["a", "b"])
    expectEqual(test.transport.count, 2)
    #expect(recorder.isFinished)
  }

  @Test("a cancel closes the connection, or ends the wait for the next")
  func cancel() throws {
    let open = ClientUnderTest([Self.stream("data: a\n\n", "data: b\n\n", every: .seconds(9))])
    let first = Self.listen(open)
    open.scheduler.advance(by: 1)
    first.cancel()
    try open.scheduler.run()
    expectEqual(open.transport.calls.map(\.isCancelled), [true])
    expectEqual(first.values.count, 1)
    let waiting = ClientUnderTest([.offline])
    let second = Self.listen(waiting)
    waiting.scheduler.advance(by: 0.5)
    second.cancel()
    try waiting.scheduler.run()
    expectEqual(waiting.transport.count, 1)
    let opening = ClientUnderTest([.silence])
    Self.listen(opening).cancel()
    expectEqual(opening.transport.calls.map(\.isCancelled), [true])
  }

  @Test("a stream is not opened with a field that would write another")
  func lineBreak() throws {
    let test = ClientUnderTest([.silence], [APIKey(.header("X-API-Key"), "k\r\nX-Admin: 1")])
    let recorder = Self.listen(test)
    try test.scheduler.run()
    expectEqual(recorder.failure?.kind, .invalidRequest)
    expectEqual(test.transport.count, 0)
  }

  @Test("a stream is opened with the user's credential, renewed if it is refused")
  func credential() throws {
    let refreshes = TestPublisher<String, NetworkFailure>()
    let session = TokenRefresher<String>(
      rejectedWhen: { (_: NetworkFailure) in false },
      refreshingWith: { _ in refreshes.eraseToAnyPublisher() }
    )
    session.signIn(with: "old")
    let test = ClientUnderTest(
      [.status(401), Self.stream("data: a\n\n"), .status(204)],
      [Authenticating(with: session) { $0["Authorization"] = $1 }]
    )
    let recorder = Self.listen(test)
    try test.scheduler.run()
    refreshes.send("new")
    try test.scheduler.run()
    expectEqual(recorder.values.map(\.data), ["a"])
    expectEqual(test.transport.calls.map { $0.request.headers["Authorization"] }, ["old", "new", "new"])
  }
}
