import Combine
import Foundation
import Rebound
import ReboundTelemetry
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

  @Test("attempts of two requests with one text tell whose they are, and those of one request are the same one's")
  func exchanges() {
    let log = makeLog()
    let policy = RetryPolicy<Trouble>(clamping: 1, backoff: .constant(.seconds(2)))
    func send(retrying policy: RetryPolicy<Trouble>?) -> AnyPublisher<Int, Trouble> {
      let request = Fail<Int, Trouble>(error: .busy).eraseToAnyPublisher()
      return log.writingDown("GET /x", request, retrying: policy, success: { "\($0)" }, failure: { "\($0)" })
    }
    let retried = send(retrying: policy)
    var subscriptions = [retried.asResult().sink { _ in }]
    scheduler.advance(by: .seconds(1))
    subscriptions.append(send(retrying: nil).asResult().sink { _ in })
    log.note("GET /x", "noted")
    scheduler.advance(by: .seconds(2))
    // Somebody asks again.
    subscriptions.append(retried.asResult().sink { _ in })
    scheduler.advance()
    #expect(log.attempts.map(\.number) == [1, 1, 1, 2, 3])
    #expect(log.attempts.map(\.exchange) == [1, 2, 3, 1, 1])
    for subscription in subscriptions { subscription.cancel() }
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

  // MARK: Runs

  private func makeLines(_ kept: Kept) -> (JSONLines, AnyCancellable) {
    let lines = JSONLines(time: scheduler.time) { $0 }
    return (lines, lines.read { kept.write($0) })
  }

  @Test("each turn of a request is a line with its number, and leaves a run with its decisions and its failure")
  func runs() throws {
    let kept = Kept()
    let (lines, reading) = makeLines(kept)
    let log = AttemptLog(scheduler: scheduler, lines: lines)
    let request = Fail<Int, Trouble>(error: .busy).eraseToAnyPublisher()
    let subscription = log.writingDown(
      "GET /x",
      request,
      retrying: RetryPolicy(clamping: 1, backoff: .constant(.seconds(2))),
      standingIn: { true },
      success: { "\($0)" },
      failure: { "\($0)" }
    )
    .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    try scheduler.run()
    #expect(
      kept.events == [
        "began", "demand", "attempt", "attempt_failed", "retrying", "attempt", "attempt_failed", "attempts_exhausted",
        "fallback", "failed",
      ]
    )
    let run = try #require(log.runs.first)
    #expect(log.runs.count == 1)
    #expect(run.request == "GET /x")
    #expect(run.isRetried)
    #expect(run.decisions.map(\.word) == ["retrying", "attempts_exhausted"])
    #expect(run.failure as? Trouble == .busy)
    subscription.cancel()
    reading.cancel()
  }

  @Test("each request for values is a line at its moment, with its number, also while an attempt is under way")
  func demand() throws {
    let kept = Kept()
    let (lines, reading) = makeLines(kept)
    let log = AttemptLog(scheduler: scheduler, lines: lines)
    let answer = PassthroughSubject<Int, Trouble>()
    let recorder = Recorder<Int, Trouble>(requesting: .max(1))
    log.writingDown("GET /x", answer.eraseToAnyPublisher(), success: { "\($0)" }, failure: { "\($0)" })
      .subscribe(recorder)
    scheduler.advance(by: .seconds(1))
    recorder.request(.max(20))
    scheduler.advance(by: .seconds(2))
    recorder.request(.unlimited)
    recorder.cancel()
    try scheduler.run()
    #expect(kept.demands == ["0.0: 1", "1.0: 20", "3.0: unlimited"])
    #expect(kept.events.last == "cancelled")
    reading.cancel()
  }

  @Test("a request that is given up says so once, and one that is asked again is another run")
  func cancelledAndAgain() throws {
    let kept = Kept()
    let (lines, reading) = makeLines(kept)
    let log = AttemptLog(scheduler: scheduler, lines: lines)
    let answer = PassthroughSubject<Int, Trouble>()
    let publisher = log.writingDown(
      "GET /x",
      answer.eraseToAnyPublisher(),
      success: { "200 \($0)" },
      failure: { "\($0)" }
    )
    .asResult()
    publisher.sink { _ in }.cancel()
    let second = publisher.sink { _ in }
    answer.send(7)
    answer.send(completion: .finished)
    try scheduler.run()
    second.cancel()
    try scheduler.run()
    #expect(kept.events.filter { $0 == "cancelled" }.count == 1)
    #expect(kept.events.suffix(2) == ["value", "finished"])
    #expect(log.runs.map(\.id) == [1, 2])
    #expect(log.runs.allSatisfy { $0.failure == nil && !$0.isRetried })
    #expect(log.attempts.map(\.number) == [1, 2])
    reading.cancel()
  }

  @Test("only the last 50 runs are kept")
  func bounded() {
    let log = makeLog()
    for number in 1...60 {
      let answer = Result<Int, Trouble>.success(number).publisher.eraseToAnyPublisher()
      _ = log.writingDown("GET /\(number)", answer, success: { "\($0)" }, failure: { "\($0)" }).asResult().sink { _ in }
    }
    #expect(log.runs.map(\.id) == Array(11...60))
  }
}

/// Keeps the events of lines.
///
/// Unchecked: virtual time has one thread, that of the test.
private final class Kept: @unchecked Sendable {
  private var lines: [String] = []

  func write(_ line: String) { lines.append(line) }

  var demands: [String] {
    lines.compactMap { line in
      line.firstMatch(of: /"time":([0-9.]+),.*"demand":"(\w+)"/).map { "\($0.1): \($0.2)" }
    }
  }

  var events: [String] {
    lines.compactMap { $0.firstMatch(of: /"event":"(\w+)"/).map { String($0.1) } }
  }
}
