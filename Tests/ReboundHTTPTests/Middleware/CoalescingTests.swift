import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundTesting
import StreamSupport
import Testing

@Suite("Coalescing")
struct CoalescingTests {
  @Test("a hundred requests for the same thing are one, and all get the response")
  func joins() throws {
    let test = ClientUnderTest([.ok(rome).after(.seconds(1))], [Coalescing()])
    let recorders = (0..<100).map { _ in test.send(Forecast(city: "Rome")) }
    try test.scheduler.run()
    expectEqual(test.transport.count, 1)
    #expect(recorders.allSatisfy { $0.values.count == 1 && $0.isFinished })
  }

  @Test("the last one that loses interest cancels it, and none before")
  func cancels() throws {
    let test = ClientUnderTest([.ok(rome).after(.seconds(1))], [Coalescing()])
    let recorders = (0..<3).map { _ in test.send(Forecast(city: "Rome")) }
    recorders[0].cancel()
    recorders[1].cancel()
    expectEqual(test.transport.calls.map(\.isCancelled), [false])
    recorders[2].cancel()
    expectEqual(test.transport.calls.map(\.isCancelled), [true])
  }

  @Test("who has no more time leaves, be it the first, and ends nobody else's call", arguments: [0, 1])
  func deadlines(hurried: Int) throws {
    let test = ClientUnderTest([.ok(rome).after(.seconds(3))], [Coalescing()])
    let recorders = (0..<2).map { number in
      Deadline.$current.withValue(number == hurried ? Deadline(in: .seconds(1), on: test.scheduler.time) : nil) {
        test.send(Forecast(city: "Rome"))
      }
    }
    try test.scheduler.run()
    expectEqual(recorders[hurried].failure?.kind, .deadlineExceeded)
    expectEqual(recorders[1 - hurried].values.count, 1)
    expectEqual(test.transport.count, 1)
  }

  @Test("so does who has it from middleware", arguments: [0, 1])
  func deadlinesOfMiddleware(hurried: Int) throws {
    let hurry = Hurry(hurried, limit: .seconds(1))
    let test = ClientUnderTest([.ok(rome).after(.seconds(3))], [hurry, Coalescing()])
    let recorders = (0..<2).map { _ in test.send(Forecast(city: "Rome")) }
    try test.scheduler.run()
    expectEqual(recorders[hurried].failure?.kind, .deadlineExceeded)
    expectEqual(recorders[hurried].completionTime, VirtualTime(nanoseconds: 1_000_000_000))
    expectEqual(recorders[1 - hurried].values.count, 1)
    expectEqual(test.transport.count, 1)
  }

  @Test("a failure is shared, and not kept")
  func failures() throws {
    let test = ClientUnderTest([.status(500).after(.seconds(1)), .ok(rome)], [Coalescing()])
    let recorders = (0..<2).map { _ in test.send(Forecast(city: "Rome")) }
    try test.scheduler.run()
    expectEqual(recorders.map { $0.failure?.kind }, [.serverError(500), .serverError(500)])
    try expectEqual(test.run(Forecast(city: "Rome")).values.count, 1)
  }

  @Test("who finds other answers valid asks by itself: nobody gets what another would have refused, or the reverse")
  func judgement() throws {
    struct Named: Request {
      typealias Response = Data
      var path: RequestPath { "" }
      let operation: String
    }
    let test = ClientUnderTest([.status(404).after(.seconds(1))], repeatingLast: true, [Coalescing()])
    let busy = ResponseValidator { _ in .serverError(503) }
    let strict = test.send(Anything())
    let tolerant = test.send(Anything(validStatuses: 200...404))
    let validating = test.send(Anything(validStatuses: 200...404, validator: busy))
    let named = ["A", "B"].map { test.send(Named(operation: $0)) }
    try test.scheduler.run()
    expectEqual(strict.failure?.kind, .notFound)
    expectEqual(tolerant.values, [Data()])
    expectEqual(validating.failure?.kind, .serverError(503))
    expectEqual(named.map { $0.failure?.call.operation }, ["A", "B"])
    expectEqual(test.transport.count, 5)
  }

  @Test("what differs in address, fields, method or user is not the same")
  func differences() throws {
    var test = ClientUnderTest([.ok(rome).after(.seconds(1))], repeatingLast: true, [Coalescing()])
    let user = User()
    test.client = test.client.identifying { user.name }
    let requests = [
      Anything(), Anything(query: ["a": 1]), Anything(headers: ["Accept": "a/b"]), Anything(method: .head),
      Anything(isAuthenticated: false), Anything(deadline: .seconds(9)),
    ]
    let recorders = requests.map { test.send($0) }
    user.name = "other"
    let other = test.send(Anything())
    try test.scheduler.run()
    expectEqual(test.transport.count, requests.count + 1)
    #expect((recorders + [other]).allSatisfy { $0.isFinished })
  }

  @Test("what is not safe is never joined")
  func unsafe() throws {
    let test = ClientUnderTest([.status(200).after(.seconds(1))], repeatingLast: true, [Coalescing()])
    for _ in 0..<2 { _ = test.send(Anything(method: .put, body: .form(["a": 1]))) }
    expectEqual(test.transport.count, 2)
  }
}

/// Gives one of several calls a deadline, outside of all other middleware.
final class Hurry: HTTPMiddleware, Sendable {
  private let number: Int
  private let limit: Duration
  private let count = Locked(0)

  /// - Parameters:
  ///   - number: Which call, from 0.
  ///   - limit: When it is to be done, from its beginning.
  init(_ number: Int, limit: Duration) {
    (self.number, self.limit) = (number, limit)
  }

  var place: MiddlewarePlace { .fallback }

  func answer(_ request: HTTPRequest, next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer) -> HTTPAnswer {
    let isMeant = count.withLock { count in
      count += 1
      return count == number + 1
    }
    var request = request
    if isMeant { request.deadline = Deadline(in: limit, on: request.time) }
    return next(request)
  }
}

/// Who is signed in.
///
/// Unchecked, because the lock guards the only state.
final class User: @unchecked Sendable {
  private let lock = Lock()
  private var value: String?

  var name: String? {
    get { lock.withLock { value } }
    set { lock.withLock { value = newValue } }
  }
}
