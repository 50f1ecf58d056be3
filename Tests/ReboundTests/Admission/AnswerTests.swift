import Combine
import Dispatch
import Expectations
import Rebound
import StreamSupport
import Testing

@Suite("Answer")
struct AnswerTests {
  /// Keeps the closure that answers.
  ///
  /// Unchecked, because it is set before the stream says so, and called after.
  private final class Slot: @unchecked Sendable {
    var answer: (Result<Int, TestFailure>) -> Void = { _ in }
  }

  @Test("returns or throws what is answered, at once or later", arguments: [true, false])
  func answers(later: Bool) async throws {
    @Sendable func ask(_ result: Result<Int, TestFailure>) async throws -> Int {
      try await Answer<Int>.wait { (answer: @escaping (Result<Int, TestFailure>) -> Void) in
        guard later else {
          answer(result)
          return nil
        }
        let slot = Slot()
        slot.answer = answer
        DispatchQueue.global().async { slot.answer(result) }
        return nil
      }
    }
    try await expectEqual(ask(.success(7)), 7)
    await #expect(throws: TestFailure.transient) { try await ask(.failure(.transient)) }
  }

  @Test("asks for nothing in a task that is cancelled already")
  func cancelledBefore() async {
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await Answer<Int>.wait { (_: @escaping (Result<Int, TestFailure>) -> Void) in
        Issue.record("asked")
        return nil
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("ends once when an answer meets a cancel", arguments: 0..<200)
  func race(round: Int) async {
    let (slot, stops) = (Slot(), EventLog<Int>())
    let asked = AsyncStream<Void>.makeStream()
    let task = Task {
      try await Answer<Int>.wait { (answer: @escaping (Result<Int, TestFailure>) -> Void) in
        slot.answer = answer
        asked.continuation.yield()
        return AnyCancellable { stops.write(1) }
      }
    }
    for await _ in asked.stream { break }
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      if index == 0 { task.cancel() } else { slot.answer(.success(7)) }
    }
    switch await task.result {
    case .success(let value): expectEqual(value, 7)
    case .failure(let error): #expect(error is CancellationError)
    }
    // A second answer does nothing.
    slot.answer(.success(8))
  }
}
