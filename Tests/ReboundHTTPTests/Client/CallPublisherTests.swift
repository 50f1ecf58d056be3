import Combine
import Expectations
import Foundation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@testable import ReboundHTTP

extension Call where Output: Sendable {
  /// Subscribes as a client's subscribers do.
  fileprivate func start(_ recorder: Recorder<Output, NetworkFailure>) {
    CallPublisher { self }.subscribe(recorder)
  }
}

@Suite("CallPublisher")
struct CallPublisherTests {
  private let test = ClientUnderTest([])
  private let answers = PassthroughSubject<HTTPResponse, NetworkFailure>()
  private let answer = HTTPResponse(
    head: ResponseHead(status: 200, url: .service),
    body: Data("12".utf8),
    receivedAt: ClientUnderTest.serverStart
  )

  private func call<Output: Sendable>(
    through exchange: HTTPAnswer? = nil,
    _ parse: @escaping (HTTPResponse) throws -> Output
  ) throws -> Call<Output> {
    let answers = Confined(exchange ?? answers.eraseToAnyPublisher())
    return Call(try subscription(over: test, through: RequestHandler { answers.value.subscribe($1) }), parse: parse)
  }

  private func subscription(
    over test: ClientUnderTest,
    through next: RequestHandler? = nil
  ) throws -> CallSubscription {
    let request = RequestParts(Anything(), Anything().parser)
    let context = test.client.context(for: request, test.log.write)
    let prepared = try test.client.prepare(request, limits: .none, context)
    return CallSubscription(prepared, of: test.client.shared, .call, through: next)
  }

  private func run<Output: Sendable>(_ call: Call<Output>) -> Recorder<Output, NetworkFailure> {
    let recorder = Recorder<Output, NetworkFailure>()
    call.start(recorder)
    return recorder
  }

  @Test("each value is parsed, and the end passes as it is")
  func values() throws {
    let recorder = run(try call { $0.body.count })
    answers.send(answer)
    answers.send(completion: .finished)
    answers.send(answer)
    expectEqual(recorder.values, [2])
    #expect(recorder.completions.count == 1 && recorder.isFinished)
  }

  @Test("a second subscription is cancelled, and the call goes on with the first")
  func secondSubscription() throws {
    let (upstream, other) = (
      TestPublisher<HTTPResponse, NetworkFailure>(), TestPublisher<HTTPResponse, NetworkFailure>()
    )
    other.subscribe(Recorder<HTTPResponse, NetworkFailure>())
    let recorder = run(try call(through: upstream.eraseToAnyPublisher()) { $0.body.count })
    upstream.connections[0].send(subscription: other.connections[0])
    upstream.send(answer)
    expectEqual(other.cancelCount, 1)
    expectEqual(upstream.cancelCount, 0)
    expectEqual(recorder.values, [2])
  }

  @Test("what the parser throws ends the call, and stops what it came from")
  func refusal() throws {
    var stopCount = 0
    let call = try call(
      through: answers.handleEvents(receiveCancel: { stopCount += 1 }).eraseToAnyPublisher(),
      { _ -> Int in throw NoData() }
    )
    let recorder = run(call)
    answers.send(answer)
    answers.send(answer)
    expectEqual(recorder.failure?.kind, .noData)
    #expect(recorder.completions.count == 1 && recorder.values.isEmpty)
    expectEqual(stopCount, 1)
  }

  @Test("after a cancel within the parser, neither a value nor an end comes, and nothing is told but the cancel")
  func cancelWhileParsing() throws {
    let recorder = Recorder<Int, NetworkFailure>()
    try call { answer in
      recorder.cancel()
      return answer.body.count
    }
    .start(recorder)
    answers.send(answer)
    answers.send(completion: .finished)
    recorder.cancel()
    #expect(recorder.values.isEmpty && recorder.completions.isEmpty)
    expectEqual(test.log.lines.filter { $0.contains("cancelled") }.count, 1)
    #expect(!test.log.lines.contains { $0.contains("succeeded") })
  }

  @Test("without middleware, a cancel within the parser is the end, too, and what has ended is not stopped again")
  func cancelWhileParsingOverTransport() throws {
    let test = ClientUnderTest([.ok("12")])
    let recorder = Recorder<Int, NetworkFailure>(on: test.scheduler)
    Call(try subscription(over: test)) { answer in
      recorder.cancel()
      return answer.body.count
    }
    .start(recorder)
    try test.scheduler.run()
    recorder.cancel()
    #expect(recorder.values.isEmpty && recorder.completions.isEmpty)
    expectEqual(test.log.lines.filter { $0.contains("cancelled") }.count, 1)
    expectEqual(test.transport.calls.map(\.isCancelled), [false])
  }

  @Test("without middleware, what the parser throws is the one end of the call, after an attempt that has succeeded")
  func refusalOverTransport() throws {
    let test = ClientUnderTest([.ok("12")])
    let recorder = Recorder<Int, NetworkFailure>(on: test.scheduler)
    Call(try subscription(over: test)) { _ -> Int in throw NoData() }.start(recorder)
    try test.scheduler.run()
    expectEqual(recorder.failure?.kind, .noData)
    #expect(recorder.completions.count == 1 && recorder.values.isEmpty)
    let ends = test.log.events.compactMap { event -> String? in
      switch event.kind {
      case .attemptSucceeded: "attempt succeeded"
      case .attemptFailed: "attempt failed"
      case .succeeded: "succeeded"
      case .failed: "failed"
      case .cancelled: "cancelled"
      default: nil
      }
    }
    expectEqual(ends, ["attempt succeeded", "failed"])
  }

  @Test("who has the response and cancels then has not cancelled the call, with middleware or without")
  func cancelAfterAnswer() throws {
    for middleware in [[], [Passing()]] {
      let test = ClientUnderTest([.ok("12")], middleware)
      let recorder = Recorder<Data, NetworkFailure>(on: test.scheduler)
      test.client.publisher(for: Anything()).first().subscribe(recorder)
      try test.scheduler.run()
      expectEqual(recorder.values, [Data("12".utf8)])
      expectEqual(test.log.lines.filter { $0.contains("succeeded") || $0.contains("cancelled") }.count, 2)
      #expect(!test.log.lines.contains { $0.contains("cancelled") })
      expectEqual(test.transport.calls.map(\.isCancelled), [false])
    }
  }

  @Test("without middleware, nothing is sent for no demand, and a cancel before any is told once")
  func cancelBeforeDemand() throws {
    let test = ClientUnderTest([.ok("12")])
    let recorder = Recorder<Int, NetworkFailure>(requesting: .none)
    Call(try subscription(over: test)) { $0.body.count }.start(recorder)
    let subscription = try #require(recorder.subscription)
    subscription.request(.none)
    subscription.cancel()
    subscription.request(.unlimited)
    subscription.cancel()
    try test.scheduler.run()
    #expect(test.transport.calls.isEmpty)
    #expect(recorder.values.isEmpty && recorder.completions.isEmpty)
    expectEqual(test.log.lines.filter { $0.contains("cancelled") }.count, 1)
  }

  @Test("middleware that answers more often than it was asked to ends no process")
  func moreThanAskedFor() throws {
    let test = ClientUnderTest([], [Heedless(answer: answer)])
    let recorder = Recorder<Data, NetworkFailure>(requesting: .max(1), on: test.scheduler)
    test.client.publisher(for: Anything()).subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.values, [answer.body, answer.body, answer.body])
    #expect(recorder.isFinished)
  }

  @Test("a call that cannot be prepared is a failure at once, for each subscriber")
  func unprepared() {
    let publisher = CallPublisher<Int> { () throws(NetworkFailure) in
      throw NetworkFailure(.invalidRequest, call: .init())
    }
    for _ in 0..<2 {
      let recorder = Recorder<Int, NetworkFailure>(requesting: .none)
      publisher.subscribe(recorder)
      expectEqual(recorder.failure?.kind, .invalidRequest)
    }
  }
}

/// Middleware that heeds no demand.
private struct Heedless: HTTPMiddleware {
  let answer: HTTPResponse

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    Answers(answer: answer).eraseToAnyPublisher()
  }

  struct Answers: Publisher {
    typealias Output = HTTPResponse
    typealias Failure = NetworkFailure

    let answer: HTTPResponse

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      subscriber.receive(subscription: Subscriptions.empty)
      for _ in 0..<3 { _ = subscriber.receive(answer) }
      subscriber.receive(completion: .finished)
    }
  }
}
