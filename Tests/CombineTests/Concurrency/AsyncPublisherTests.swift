import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("values of a publisher that can't fail")
struct AsyncPublisherTests {
  @Test("a loop gets every value and ends with the publisher, and a value is asked for each time")
  func loops() async {
    let publisher = AnsweringPublisher<Int, Never> { subscriber, count in
      if count <= 3 { _ = subscriber.receive(count) } else { subscriber.receive(completion: .finished) }
    }
    var values: [Int] = []

    for await value in publisher.values { values.append(value) }

    expectEqual(values, [1, 2, 3])
    expectEqual(publisher.requests, [.max(1), .max(1), .max(1), .max(1)])
    expectEqual(publisher.cancelCount, 0)
  }

  @Test("an iterator subscribes when it is made, each on its own")
  func subscribes() {
    let publisher = TestPublisher<Int, Never>()
    let values = publisher.values
    expectEqual(publisher.subscriptionCount, 0)

    let first = values.makeAsyncIterator()
    let second = values.makeAsyncIterator()

    expectEqual(publisher.subscriptionCount, 2)
    expectEqual(publisher.requests, [])
    withExtendedLifetime((first, second)) {}
  }

  @Test("leaving the loop cancels the subscription")
  func leaves() async {
    let publisher = AnsweringPublisher<Int, Never> { subscriber, count in _ = subscriber.receive(count) }

    for await value in publisher.values where value == 2 { break }

    expectEqual(publisher.requests.count, 2)
    expectEqual(publisher.cancelCount, 1)
  }

  @Test("cancelling the task ends the loop with the value that is awaited, and cancels the subscription once")
  func cancelsTask() async {
    let publisher = AnsweringPublisher<Int, Never> { subscriber, count in
      if count == 2 { withUnsafeCurrentTask { $0?.cancel() } }
      _ = subscriber.receive(count)
    }
    let values = await Task {
      var values: [Int] = []
      for await value in publisher.values { values.append(value) }
      return values
    }.value

    expectEqual(values, [1])
    expectEqual(publisher.cancelCount, 1)
  }

  @Test("in a task that is cancelled already nothing is asked for")
  func cancelledTask() async {
    let publisher = AnsweringPublisher<Int, Never> { subscriber, count in _ = subscriber.receive(count) }
    let value = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var iterator = publisher.values.makeAsyncIterator()
      return await iterator.next()
    }.value

    #expect(value == nil)
    expectEqual(publisher.requests, [])
    expectEqual(publisher.cancelCount, 1)
  }

  @Test("after the end there is nothing more, and it is not cancelled")
  func end() async {
    let publisher = AnsweringPublisher<Int, Never> { subscriber, _ in subscriber.receive(completion: .finished) }
    do {
      var iterator = publisher.values.makeAsyncIterator()
      #expect(await iterator.next() == nil)
      #expect(await iterator.next() == nil)
    }

    expectEqual(publisher.requests, [.max(1)])
    expectEqual(publisher.cancelCount, 0)
  }

  @Test("a second subscription is cancelled, and so is one that comes after the iterator has gone")
  func secondSubscription() {
    var late: AnySubscriber<Int, Never>?
    let second = TestPublisher<Int, Never>()
    do {
      let iterator = TestPublisher<Int, Never>(handingOver: { late = $0 }).values.makeAsyncIterator()
      withExtendedLifetime(iterator) {}
    }
    if let late { second.subscribe(late) }
    expectEqual(second.cancelCount, 1)

    let third = TestPublisher<Int, Never>()
    let iterator = TestPublisher<Int, Never>(handingOver: {
      $0.receive(subscription: Subscriptions.empty)
      third.subscribe($0)
    }).values.makeAsyncIterator()
    expectEqual(third.cancelCount, 1)
    withExtendedLifetime(iterator) {}
  }

  @Test("what is awaited before the subscription comes is asked for in one request, and goes to who waited longest")
  func requestsAddUp() async {
    let subscriber = AsyncSubscriber<Int, Never>()
    let spy = SubscriptionSpy()
    let executor = ReadersExecutor()
    let readers = (0..<3).map { _ in Task(executorPreference: executor) { await subscriber.next().get() } }
    executor.waitUntilIdle()
    subscriber.receive(subscription: spy)
    expectEqual(spy.requests, [.max(3)])
    for value in 1...3 { expectEqual(subscriber.receive(value), .none) }
    for (index, reader) in readers.enumerated() { await expectEqual(reader.value, index + 1) }
  }

  @Test("the end gives nil to all who wait, and events after it change nothing")
  func endForAll() async {
    let subscriber = AsyncSubscriber<Int, Never>()
    let spy = SubscriptionSpy()
    subscriber.receive(subscription: spy)
    let executor = ReadersExecutor()
    let readers = (0..<3).map { _ in Task(executorPreference: executor) { await subscriber.next().get() } }
    executor.waitUntilIdle()
    subscriber.receive(completion: .finished)
    for reader in readers { #expect(await reader.value == nil) }
    expectEqual(subscriber.receive(1), .none)
    subscriber.receive(completion: .finished)
    subscriber.cancel()
    #expect(await subscriber.next().get() == nil)
    expectEqual(spy.requests, [.max(1), .max(1), .max(1)])
    expectEqual(spy.cancelCount, 0)
  }

  @Test("a failure goes to who has waited longest, and the others get nil")
  func failureForFirst() async {
    let subscriber = AsyncSubscriber<Int, TestFailure>()
    let executor = ReadersExecutor()
    let readers = (0..<3).map { _ in Task(executorPreference: executor) { await subscriber.next() } }
    executor.waitUntilIdle()
    subscriber.receive(subscription: SubscriptionSpy())
    subscriber.receive(completion: .failure(.expected))
    await expectEqual(readers[0].value, .failure(.expected))
    await expectEqual(readers[1].value, .success(nil))
    await expectEqual(readers[2].value, .success(nil))
  }

  @Test("what a publisher sends while nobody waits is lost, if it sends only what it was asked for")
  func hotPublisher() async {
    let subject = PassthroughSubject<Int, Never>()
    let executor = ReadersExecutor()
    let iterator = SharedUnchecked(subject.values.makeAsyncIterator())
    var values: [Int?] = []
    for round in 1...2 {
      subject.send(round)
      let reader = Task(executorPreference: executor) {
        var own = iterator.value
        return await own.next()
      }
      executor.waitUntilIdle()
      subject.send(10 * round)
      values.append(await reader.value)
    }
    expectEqual(values, [10, 20])
  }

  @Test("cancelled before the subscription comes, it cancels that; a task that is cancelled ends the wait of all")
  func cancelForAll() async {
    let subscriber = AsyncSubscriber<Int, Never>()
    let executor = ReadersExecutor()
    let readers = (0..<2).map { _ in Task(executorPreference: executor) { await subscriber.next().get() } }
    executor.waitUntilIdle()
    readers[1].cancel()
    for reader in readers { #expect(await reader.value == nil) }
    let spy = SubscriptionSpy()
    subscriber.receive(subscription: spy)
    subscriber.cancel()
    expectEqual(spy.cancelCount, 1)
    #expect(spy.requests.isEmpty)
  }

  @Test("what subscribes can be cancelled")
  func form() throws {
    var seen: AnySubscriber<Int, Never>?
    let iterator = TestPublisher<Int, Never>(handingOver: { seen = $0 }).values.makeAsyncIterator()
    let subject = try #require(seen?.erased.subject)
    #expect(subject is any Cancellable)
    #expect(!(subject is any CustomStringConvertible) && !(subject is any CustomReflectable))
    #expect(!(subject is any CustomPlaygroundDisplayConvertible))
    withExtendedLifetime(iterator) {}
  }

  @Test("of what comes without being asked for, the newest value is kept for who waits next, past the end as well")
  func valueBeyondDemand() async {
    let publisher = TestPublisher<Int, Never>()
    var iterator = publisher.values.makeAsyncIterator()
    publisher.send(1)
    publisher.send(2)
    await expectEqual(iterator.next(), 2)
    publisher.send(3)
    publisher.send(completion: .finished)
    await expectEqual(iterator.next(), 3)
    #expect(await iterator.next() == nil)
    expectEqual(publisher.requests, [])
  }

  @Test("a change of an object that nobody waits for is there the next time")
  func changeBeyondDemand() async {
    let publisher = ObservableObjectPublisher()
    let executor = ReadersExecutor()
    let iterator = SharedUnchecked(publisher.values.makeAsyncIterator())
    // From the first request on it sends everything.
    let reader = Task(executorPreference: executor) {
      var own = iterator.value
      return await own.next() != nil
    }
    executor.waitUntilIdle()
    publisher.send()
    #expect(await reader.value)
    publisher.send()
    publisher.send()
    var own = iterator.value
    let isTold = await own.next() != nil
    #expect(isTold)
  }

  @Test("a value that is kept goes with a cancel")
  func keptValueGoes() async {
    final class Value: Sendable {}
    let subscriber = AsyncSubscriber<Value, Never>()
    weak var released: Value?
    do {
      let value = Value()
      released = value
      subscriber.receive(subscription: SubscriptionSpy())
      _ = subscriber.receive(value)
    }
    #expect(released != nil)
    subscriber.cancel()
    #expect(released == nil)
    let next = await subscriber.next().get()
    #expect(next == nil)
  }

  @Test("a value that comes before the subscription ends the waiting, and is lost; what was to be asked for still is")
  func valueBeforeSubscription() async {
    let handed = Shared<AnySubscriber<Int, Never>?>(nil)
    let publisher = TestPublisher<Int, Never>(handingOver: { handed.value = $0 })
    let iterator = SharedUnchecked(publisher.values.makeAsyncIterator())
    let isOver = Shared(false)
    let reader = Task {
      var own = iterator.value
      let value = await own.next()
      isOver.value = true
      return value
    }
    // The first value that comes while the task waits ends the waiting.
    while !isOver.value {
      _ = handed.value?.receive(1)
      await Task.yield()
    }
    #expect(await reader.value == nil)
    let subscription = TestPublisher<Int, Never>()
    subscription.subscribe(Recorder<Int, Never>())
    subscription.connections.first.map { handed.value?.receive(subscription: $0) }
    // Before that, the recorder has asked for everything.
    expectEqual(subscription.requests, [.unlimited, .max(1)])
  }
}
