import Combine
import ReboundTesting
import Testing

@Suite("values of a publisher that can't fail")
struct AsyncPublisherTests {
  @Test("a loop gets every value and ends with the publisher, and a value is asked for each time")
  func loops() async {
    let publisher = AnsweringPublisher<Int, Never> { subscriber, count in
      if count <= 3 { _ = subscriber.receive(count) } else { subscriber.receive(completion: .finished) }
    }
    var values: [Int] = []

    for await value in publisher.values { values.append(value) }

    #expect(values == [1, 2, 3])
    #expect(publisher.requests == [.max(1), .max(1), .max(1), .max(1)])
    #expect(publisher.cancelCount == 0)
  }

  @Test("an iterator subscribes when it is made, each on its own")
  func subscribes() {
    let publisher = TestPublisher<Int, Never>()
    let values = publisher.values
    #expect(publisher.subscriptionCount == 0)

    let first = values.makeAsyncIterator()
    let second = values.makeAsyncIterator()

    #expect(publisher.subscriptionCount == 2)
    #expect(publisher.requests == [])
    withExtendedLifetime((first, second)) {}
  }

  @Test("leaving the loop cancels the subscription")
  func leaves() async {
    let publisher = AnsweringPublisher<Int, Never> { subscriber, count in _ = subscriber.receive(count) }

    for await value in publisher.values where value == 2 { break }

    #expect(publisher.requests.count == 2)
    #expect(publisher.cancelCount == 1)
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

    #expect(values == [1])
    #expect(publisher.cancelCount == 1)
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
    #expect(publisher.requests == [])
    #expect(publisher.cancelCount == 1)
  }

  @Test("after the end there is nothing more, and it is not cancelled")
  func end() async {
    let publisher = AnsweringPublisher<Int, Never> { subscriber, _ in subscriber.receive(completion: .finished) }
    do {
      var iterator = publisher.values.makeAsyncIterator()
      #expect(await iterator.next() == nil)
      #expect(await iterator.next() == nil)
    }

    #expect(publisher.requests == [.max(1)])
    #expect(publisher.cancelCount == 0)
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
    #expect(second.cancelCount == 1)

    let third = TestPublisher<Int, Never>()
    let iterator = TestPublisher<Int, Never>(handingOver: {
      $0.receive(subscription: Subscriptions.empty)
      third.subscribe($0)
    }).values.makeAsyncIterator()
    #expect(third.cancelCount == 1)
    withExtendedLifetime(iterator) {}
  }

  @Test("a value that nobody waits for stops the process")
  func valueBeyondDemand() async {
    await #expect(processExitsWith: .failure) {
      let publisher = TestPublisher<Int, Never>()
      let iterator = publisher.values.makeAsyncIterator()
      publisher.send(1)
      withExtendedLifetime(iterator) {}
    }
  }

  @Test("a value that comes before the subscription ends the waiting, and is lost")
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
    // Nobody waits any more, so nothing is asked for; the recorder has asked for everything.
    #expect(subscription.requests == [.unlimited])
  }
}
