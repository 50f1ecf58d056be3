import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Future")
struct FutureTests {
  /// A future and its promise.
  private func pending() -> (future: Future<Int, TestFailure>, promise: Future<Int, TestFailure>.Promise) {
    var promise: Future<Int, TestFailure>.Promise = { _ in }
    let future = Future<Int, TestFailure> { promise = $0 }
    return (future, promise)
  }

  @Test("the work starts with the future, and once only")
  func startsAtOnce() {
    var starts = 0
    let future = Future<Int, Never> { promise in
      starts += 1
      promise(.success(7))
    }
    expectEqual(starts, 1)

    let recorders = [Recorder<Int, Never>(), Recorder<Int, Never>()]
    for recorder in recorders { future.subscribe(recorder) }

    expectEqual(starts, 1)
    #expect(recorders.allSatisfy { $0.events == [.subscription, .value(7), .completion(.finished)] })
  }

  @Test("the value waits for a request of any size, whoever comes first")
  func waitsForRequest() {
    let (future, promise) = pending()
    let early = Recorder<Int, TestFailure>(requesting: .max(1))
    let late = Recorder<Int, TestFailure>(requesting: .none)
    future.subscribe(early)
    future.subscribe(late)
    #expect(early.values.isEmpty)

    promise(.success(7))
    expectEqual(early.events, [.subscription, .value(7), .completion(.finished)])
    expectEqual(late.events, [.subscription])

    late.request(.unlimited)
    late.request(.unlimited)
    expectEqual(late.events, [.subscription, .value(7), .completion(.finished)])
  }

  @Test("nothing is kept of who cancels, though it is never fulfilled")
  func releasesWhoCancels() {
    expectNothingKeptOfWhoCancels(pending().0)
  }

  @Test("a failure comes unasked, also to those who subscribe after it")
  func failure() {
    let (future, promise) = pending()
    let early = Recorder<Int, TestFailure>(requesting: .none)
    let late = Recorder<Int, TestFailure>(requesting: .none)
    future.subscribe(early)
    promise(.failure(.expected))
    future.subscribe(late)
    expectEqual(early.events, [.subscription, .completion(.failure(.expected))])
    expectEqual(late.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("the first result counts")
  func firstResult() {
    let (future, promise) = pending()
    promise(.success(1))
    promise(.success(2))
    promise(.failure(.expected))
    let recorder = Recorder<Int, TestFailure>()
    future.subscribe(recorder)
    expectEqual(recorder.values, [1])
  }

  @Test("subscribers are served in the order of their subscriptions")
  func order() {
    let (future, promise) = pending()
    var served: [Int] = []
    for number in 0..<20 {
      future.subscribe(
        Recorder(answering: { _, _ in
          served.append(number)
          return .none
        })
      )
    }
    promise(.success(7))
    expectEqual(served, Array(0..<20))
  }

  @Test("a promise kept from inside the subscription is delivered after it")
  func fulfilledInside() {
    let (future, promise) = pending()
    var events: [String] = []
    future.subscribe(
      AnySubscriber(
        receiveSubscription: { _ in
          promise(.failure(.expected))
          events.append("subscription")
        },
        receiveCompletion: { _ in events.append("completion") }
      )
    )
    expectEqual(events, ["subscription", "completion"])
  }

  @Test("who cancels from inside the subscription gets nothing, and is let go")
  func cancelInside() {
    let (future, promise) = pending()
    weak var released: Recorder<Int, TestFailure>?
    do {
      let recorder = Recorder<Int, TestFailure>()
      released = recorder
      future.subscribe(
        AnySubscriber(
          receiveSubscription: { $0.cancel() },
          receiveValue: recorder.receive,
          receiveCompletion: recorder.receive(completion:)
        )
      )
      promise(.success(1))
      #expect(recorder.events.isEmpty)
    }
    #expect(released == nil)
  }

  @Test("who cancels from inside the value gets no end")
  func cancelInsideValue() {
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    let (future, promise) = pending()
    future.subscribe(recorder)
    promise(.success(1))
    expectEqual(recorder.events, [.subscription, .value(1)])
  }

  @Test("a request from inside the value delivers nothing twice")
  func requestInsideValue() {
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.request(.max(1))
      return .max(1)
    })
    let (future, promise) = pending()
    future.subscribe(recorder)
    promise(.success(1))
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("a cancelled subscriber gets nothing and is let go at once")
  func cancel() {
    let (future, promise) = pending()
    weak var released: Recorder<Int, TestFailure>?
    do {
      let recorder = Recorder<Int, TestFailure>()
      released = recorder
      future.subscribe(recorder)
      recorder.cancel()
    }
    #expect(released == nil)

    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    future.subscribe(recorder)
    promise(.success(1))
    recorder.cancel()
    expectEqual(recorder.events, [.subscription])
  }

  @Test("the promise keeps the future alive, and nothing else but its users does")
  func lifetime() {
    weak var future: Future<Int, TestFailure>?
    var promise: Future<Int, TestFailure>.Promise?
    let recorder = Recorder<Int, TestFailure>()
    do {
      let made = Future<Int, TestFailure> { promise = $0 }
      future = made
      made.subscribe(recorder)
    }
    #expect(future != nil)
    promise?(.success(1))
    #expect(recorder.isFinished)

    promise = nil
    #expect(future == nil)
  }

  @Test("subscribers that wait are let go with a future whose promise is gone")
  func forgottenPromise() {
    weak var released: Recorder<Int, TestFailure>?
    do {
      let recorder = Recorder<Int, TestFailure>(requesting: .none)
      released = recorder
      var holder: Future<Int, TestFailure>? = Future { _ in }
      holder?.subscribe(Keeper())
      holder?.subscribe(AnySubscriber(receiveValue: recorder.receive))
      holder = nil
    }
    #expect(released == nil)
  }

  @Test("describes itself as Future, and shows nothing of others once it is over")
  func reflection() {
    let (future, promise) = pending()
    let labels = ["parent", "downstream", "hasAnyDemand", "subject"]
    let keeper = Keeper<Int, TestFailure>()
    future.subscribe(keeper)
    let subscription = keeper.subscription
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("Future", labels: labels))
    expectEqual(toldText("hasAnyDemand", of: subscription), "false")
    #expect(toldText("parent", of: subscription) != "nil")

    subscription?.request(.max(1))
    expectEqual(toldText("hasAnyDemand", of: subscription), "true")

    promise(.success(1))
    expectEqual(toldText("parent", of: subscription), "nil")
    expectEqual(toldText("downstream", of: subscription), "nil")
    expectEqual(toldText("subject", of: subscription), "nil")
    expectEqual(toldText("hasAnyDemand", of: subscription), "true")
  }

  @Test("a request for nothing stops the process")
  func requestNone() async {
    await #expect(processExitsWith: .failure) {
      Future<Int, Never> { $0(.success(1)) }.subscriptionForTesting()?.request(.none)
    }
  }

  @Test("its value can be awaited, before and after it is there")
  func value() async {
    var promise: Future<Int, Never>.Promise = { _ in }
    let future = Future<Int, Never> { promise = $0 }
    // Kept as soon as the wait has begun: the future is in this task alone until then.
    future.subscribe(AnySubscriber(receiveSubscription: { _ in promise(.success(7)) }))
    await expectEqual(future.value, 7)
    await expectEqual(future.value, 7)
  }

  @Test("cancelling the task that awaits its value does not end the wait")
  func cancelledWait() async throws {
    var promise: Future<Int, TestFailure>.Promise = { _ in }
    let future = SharedUnchecked(Future<Int, TestFailure> { promise = $0 })
    let executor = ReadersExecutor()
    let reader = Task(executorPreference: executor) { try await future.value.value }
    executor.waitUntilIdle()
    reader.cancel()
    executor.waitUntilIdle()
    promise(.success(7))
    try await expectEqual(reader.value, 7)
  }

  @Test("awaiting its value throws its failure")
  func valueThrows() async {
    await #expect(throws: TestFailure.expected) {
      try await Future<Int, TestFailure> { $0(.failure(.expected)) }.value
    }
  }

  @Test("a value kept on another thread reaches a task that waits")
  func valueFromElsewhere() async throws {
    let future = Future<Int, TestFailure> { promise in
      // Called once, and by nobody else.
      nonisolated(unsafe) let promise = promise
      Task.detached { promise(.success(7)) }
    }
    try await expectEqual(future.value, 7)
  }
}
