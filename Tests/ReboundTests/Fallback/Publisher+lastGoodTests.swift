import Combine
import Expectations
import ReboundTesting
import Testing

@testable import Rebound

@Suite("fallback(to:for:)")
struct PublisherLastGoodTests {
  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<Int, TestFailure>()
  private let events = Log<String>()

  private var policy: FallbackPolicy<TestFailure> {
    FallbackPolicy<TestFailure>().when(\.isTransient).onEvent { [events] in events.write($0.description) }
  }

  private func store() throws -> LastGood<String, Int> {
    try LastGood()
  }

  @Test("delivers the saved copy with its age in place of a failure, and fresh values as such")
  func savedCopy() throws {
    let store = try store()
    let recorders = (0..<2).map { _ in Recorder<Sourced<Int>, TestFailure>() }
    let publisher = upstream.remember(in: store, for: "Bern", time: scheduler.time).fallback(
      to: store,
      for: "Bern",
      policy,
      time: scheduler.time
    )
    publisher.subscribe(recorders[0])
    upstream.send(7)
    upstream.send(completion: .finished)
    scheduler.advance(by: 300)
    publisher.subscribe(recorders[1])
    upstream.send(completion: .failure(.transient))
    expectEqual(recorders[0].values.map(\.value), [7])
    expectEqual(recorders[0].values.map(\.age), [nil])
    expectEqual(recorders[1].values.map(\.value), [7])
    expectEqual(recorders[1].values.first?.age, .seconds(300))
    expectEqual(recorders[1].values.first?.reason as? TestFailure, .transient)
    #expect(recorders[1].isFinished)
    expectEqual(events.entries, ["falling back from transient"])
  }

  @Test(
    "passes the failure on when nothing is saved, it is too old, or the policy does not cover the failure",
    arguments: [("Oslo", 300, TestFailure.transient), ("Bern", 59, .transient), ("Bern", 300, .permanent)]
  )
  func nothing(city: String, maxAge: Int, error: TestFailure) throws {
    let store = try store()
    store.remember(7, for: "Bern", at: scheduler.elapsed)
    scheduler.advance(by: 60)
    let recorder = Recorder<Sourced<Int>, TestFailure>()
    upstream.fallback(to: store, for: city, maxAge: .seconds(maxAge), policy, time: scheduler.time).subscribe(recorder)
    upstream.send(completion: .failure(error))
    expectEqual(recorder.failure, error)
    expectEqual(events.entries, error == .permanent ? ["no fallback for permanent"] : [])
  }

  @Test("has no saved copy for a wait that has ended with the deadline of the subscription")
  func overdueWait() throws {
    let store = try store()
    store.remember(7, for: "Bern", at: scheduler.elapsed)
    let deadline = Deadline(in: .seconds(2), on: scheduler.time)
    let upstream = TestPublisher<Int, any Error>()
    let recorder = Recorder<Sourced<Int>, any Error>()
    Deadline.$current.withValue(deadline) {
      upstream.fallback(to: store, for: "Bern", time: scheduler.time).subscribe(recorder)
    }
    upstream.send(completion: .failure(TimedOut(waitingUntil: deadline, limit: .seconds(2))))
    #expect(recorder.values.isEmpty)
    #expect(recorder.failure is TimedOut)
  }

  @Test("does the same for a function")
  func function() async throws {
    let store = try store()
    let fresh = try await store.run(for: "Bern", policy, time: scheduler.time) { () throws(TestFailure) in 7 }
    #expect(fresh.age == nil)
    scheduler.advance(by: 5)
    let saved = try await store.run(for: "Bern", policy, time: scheduler.time) { () throws(TestFailure) in
      throw .transient
    }
    expectEqual(saved.value, 7)
    expectEqual(saved.age, .seconds(5))
    await #expect(throws: TestFailure.permanent) {
      _ = try await store.run(for: "Bern", policy, time: scheduler.time) { () throws(TestFailure) in throw .permanent }
    }
    await #expect(throws: TestFailure.transient) {
      _ = try await store.run(for: "Oslo", policy, time: scheduler.time) { () throws(TestFailure) in throw .transient }
    }
  }

  @Test("has no saved copy for a task that an observer of the fallback cancels")
  func cancelledByObserver() async throws {
    let store = try store()
    store.remember(7, for: "Bern", at: scheduler.elapsed)
    let policy = FallbackPolicy<TestFailure>().onEvent { _ in withUnsafeCurrentTask { $0?.cancel() } }
    let task = Task {
      try await store.run(for: "Bern", policy, time: scheduler.time) { () throws(TestFailure) in throw .transient }
    }
    await #expect(throws: TestFailure.transient) { _ = try await task.value }
  }

  @Test("has no saved copy for a task that is cancelled")
  func cancelled() async throws {
    let store = try store()
    store.remember(7, for: "Bern", at: scheduler.elapsed)
    let policy = policy
    let task = Task {
      try await store.run(for: "Bern", policy, time: scheduler.time) { () throws(TestFailure) in
        withUnsafeCurrentTask { $0?.cancel() }
        throw .transient
      }
    }
    await #expect(throws: TestFailure.transient) { _ = try await task.value }
    expectEqual(events.count, 0)
  }
}
