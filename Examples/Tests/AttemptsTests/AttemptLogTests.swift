import Combine
import Foundation
import Rebound
import ReboundTesting
import Testing

@testable import Attempts

@Suite("AttemptLog")
struct AttemptLogTests {
  private enum Trouble: Error {
    case busy
  }

  private let scheduler = TestScheduler()

  private func makeLog() -> AttemptLog<TestScheduler> {
    AttemptLog(scheduler: scheduler, now: { Date(timeIntervalSince1970: 0) })
  }

  @Test("each attempt is written down, with what follows it")
  func attempts() {
    let log = makeLog()
    var results: [Result<Int, Trouble>] = [.failure(.busy), .success(7)]
    let request = Deferred { results.removeFirst().publisher }.eraseToAnyPublisher()
    var values: [Int] = []
    let subscription = log.writingDown(
      "GET /x",
      request,
      retrying: RetryPolicy(clamping: 1, backoff: .constant(.seconds(2))),
      success: { "200 \($0)" },
      failure: { "\($0)" }
    )
    .sink(receiveCompletion: { _ in }, receiveValue: { values.append($0) })
    scheduler.advance()
    #expect(log.attempts.map(\.outcome) == ["busy"])
    #expect(log.attempts.map(\.next) == ["retrying in 2.0 s (back-off)"])
    scheduler.advance(by: .seconds(2))
    scheduler.advance()
    #expect(log.attempts.map(\.outcome) == ["busy", "200 7"])
    #expect(log.attempts.map(\.number) == [1, 2])
    #expect(log.attempts.map(\.tone) == [.error, .ok])
    #expect(values == [7])
    subscription.cancel()
  }

  @Test("without a policy a failure passes on, written down")
  func noPolicy() {
    let log = makeLog()
    var failure: Trouble?
    let subscription = log.writingDown(
      "GET /x",
      Fail<Int, Trouble>(error: .busy).eraseToAnyPublisher(),
      success: { "\($0)" },
      failure: { "\($0)" }
    )
    .sink(receiveCompletion: { if case .failure(let error) = $0 { failure = error } }, receiveValue: { _ in })
    scheduler.advance()
    #expect(failure == .busy)
    #expect(log.attempts.map(\.next) == [""])
    subscription.cancel()
  }

  @Test("an attempt whose answer nobody waits for any more says so")
  func superseded() {
    let log = makeLog()
    let subscription = log.writingDown(
      "GET /x",
      Empty<Int, Trouble>(completeImmediately: false).eraseToAnyPublisher(),
      success: { "\($0)" },
      failure: { "\($0)" }
    )
    .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    subscription.cancel()
    #expect(log.attempts.map(\.outcome) == ["not waited for any more"])
    #expect(log.attempts.map(\.tone) == [.info])
  }

  @Test("the log keeps the latest fifty")
  func capacity() {
    let log = makeLog()
    let request = Empty<Int, Trouble>(completeImmediately: false).eraseToAnyPublisher()
    for number in 1...60 {
      _ = log.writingDown("GET /\(number)", request, success: { "\($0)" }, failure: { "\($0)" })
        .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    }
    #expect(log.attempts.count == 50)
    #expect(log.attempts.first?.request == "GET /11")
  }

  /// What a log tells of three attempts that all fail.
  private func toldOfFailures(_ policy: RetryPolicy<Trouble>, hasCopy: Bool) -> (decisions: [String], next: [String]) {
    let events = PolicyEvents()
    var decisions: [String] = []
    let listening = events.sink { decisions.append("\($0)") }
    let log = AttemptLog(scheduler: scheduler, source: "zoo", events: events)
    let subscription = log.writingDown(
      "GET /x",
      Fail<Int, Trouble>(error: .busy).eraseToAnyPublisher(),
      retrying: policy,
      standingIn: { hasCopy },
      success: { "\($0)" },
      failure: { "\($0)" }
    )
    .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    scheduler.advance(by: .seconds(10))
    subscription.cancel()
    listening.cancel()
    return (decisions, log.attempts.map(\.next))
  }

  @Test("what is decided is told to the events, under the app's name")
  func events() {
    let told = toldOfFailures(RetryPolicy(clamping: 1, backoff: .constant(.seconds(2))), hasCopy: false)
    #expect(
      told.decisions == [
        "zoo: retry: attempt 1 failed (busy); retrying in 2.0 seconds (computed)",
        "zoo: retry: attempt 2 failed (busy); stopped: attempts exhausted",
      ]
    )
    #expect(told.next == ["retrying in 2.0 s (back-off)", "giving up after 2 attempts"])
  }

  @Test("a saved copy that stands in is written beside the last attempt, and told once")
  func savedCopy() {
    let told = toldOfFailures(RetryPolicy(clamping: 1, backoff: .constant(.seconds(2))), hasCopy: true)
    #expect(told.decisions.last == "zoo: fallback: falling back from busy")
    #expect(told.decisions.count == 3)
    #expect(told.next.last == "giving up after 2 attempts; a saved copy stands in")
    #expect(told.next.first == "retrying in 2.0 s (back-off)")
  }

  @Test("a retry that the budget does not grant says so")
  func budget() throws {
    let budget = try RetryBudget.bucket(tokens: 1, cost: 1)
    let told = toldOfFailures(
      RetryPolicy<Trouble>(clamping: 5, backoff: .constant(.seconds(1))).within(budget),
      hasCopy: false
    )
    #expect(told.next == ["retrying in 1.0 s (back-off)", "giving up: the budget for retries is used up"])
  }
}
