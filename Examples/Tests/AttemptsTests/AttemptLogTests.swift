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
}
