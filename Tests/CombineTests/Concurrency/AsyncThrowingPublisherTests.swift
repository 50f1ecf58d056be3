import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("values of a publisher that may fail")
struct AsyncThrowingPublisherTests {
  @Test("a loop gets the values and throws the failure")
  func fails() async {
    let publisher = AnsweringPublisher<Int, TestFailure> { subscriber, count in
      if count <= 2 { _ = subscriber.receive(count) } else { subscriber.receive(completion: .failure(.expected)) }
    }
    var values: [Int] = []

    await #expect(throws: TestFailure.expected) {
      for try await value in publisher.values { values.append(value) }
    }

    expectEqual(values, [1, 2])
    expectEqual(publisher.cancelCount, 0)
  }

  @Test("a failure that nobody waits for is thrown to the next who does, once, even before a subscription")
  func failsEarly() async throws {
    let publisher = TestPublisher<Int, TestFailure>(handingOver: { $0.receive(completion: .failure(.expected)) })
    var iterator = publisher.values.makeAsyncIterator()

    await #expect(throws: TestFailure.expected) { _ = try await iterator.next() }
    #expect(try await iterator.next() == nil)
  }

  @Test("cancelling the task ends the loop without an error")
  func cancelsTask() async throws {
    let publisher = AnsweringPublisher<Int, TestFailure> { subscriber, count in
      if count == 2 { withUnsafeCurrentTask { $0?.cancel() } }
      _ = subscriber.receive(count)
    }
    let values = try await Task {
      var values: [Int] = []
      for try await value in publisher.values { values.append(value) }
      return values
    }.value

    expectEqual(values, [1])
    expectEqual(publisher.cancelCount, 1)
  }

  @Test("leaving the loop cancels the subscription")
  func leaves() async throws {
    let publisher = AnsweringPublisher<Int, TestFailure> { subscriber, count in _ = subscriber.receive(count) }

    for try await value in publisher.values where value == 2 { break }

    expectEqual(publisher.cancelCount, 1)
  }

  @Test("of several who wait one gets the failure, and the others nil")
  func failsForOne() async {
    let publisher = TestPublisher<Int, TestFailure>()
    let iterator = SharedUnchecked(publisher.values.makeAsyncIterator())
    let executor = ReadersExecutor()
    let readers = (0..<3).map { _ in
      Task(executorPreference: executor) { () -> String in
        var own = iterator.value
        do { return try await own.next().map { "\($0)" } ?? "nil" } catch { return "\(error)" }
      }
    }
    executor.waitUntilIdle()
    publisher.send(completion: .failure(.expected))
    var results: [String] = []
    for reader in readers { results.append(await reader.value) }
    expectEqual(results.sorted(), ["expected", "nil", "nil"])
  }
}
