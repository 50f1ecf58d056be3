import Expectations
import ReboundTesting
import Testing

@testable import Combine

/// What is asked of an upstream may bring values from inside, through combining locks that other threads hold while they wait
/// for this one.
@Suite("What joining and flattening operators ask of their upstreams")
struct SerialSubscriptionTests {
  typealias Values = PassthroughSubject<Int, TestFailure>

  /// A publisher that sends as many values as it is asked for, at once, and notes where it is asked.
  private struct Prompt: Publisher {
    typealias Output = Int
    typealias Failure = TestFailure

    let log: Log

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == TestFailure {
      subscriber.receive(subscription: Connection(log: log, subscriber: AnySubscriber(subscriber)))
    }

    private struct Connection: Subscription {
      let log: Log
      let subscriber: AnySubscriber<Int, TestFailure>
      let combineIdentifier = CombineIdentifier()

      func request(_ demand: Subscribers.Demand) {
        log.asked.append(demand)
        log.askedInside.append(log.owner?.combiningLock.isMine == true)
        if demand == .max(1) { _ = subscriber.receive(0) }
      }

      func cancel() {}
    }
  }

  private final class Log {
    var owner: SerialSubscription?
    var asked: [Subscribers.Demand] = []
    var askedInside: [Bool] = []

    /// A subscriber that asks for more from inside each value, as long as there are demands left.
    func subscriber(first: Subscribers.Demand, inside: [Subscribers.Demand]) -> AnySubscriber<Int, TestFailure> {
      var rest = inside[...]
      return AnySubscriber(
        receiveSubscription: { subscription in
          self.owner = subscription as? SerialSubscription
          if first != .none { subscription.request(first) }
        },
        receiveValue: { [weak self] _ in
          if let demand = rest.popFirst() { self?.owner?.request(demand) }
          return .none
        }
      )
    }

    /// Whether the operator has asked, and never from inside its combining lock.
    func expect(_ demands: [Subscribers.Demand], sourceLocation: SourceLocation = #_sourceLocation) {
      #expect(owner != nil, sourceLocation: sourceLocation)
      #expect(asked == demands, sourceLocation: sourceLocation)
      #expect(!askedInside.contains(true), "\(askedInside)", sourceLocation: sourceLocation)
      owner = nil
    }
  }

  @Test("merge asks for the next value, and for all, when the value before has been delivered")
  func merge() {
    let (log, subject) = (Log(), Values())
    Prompt(log: log).merge(with: subject).subscribe(log.subscriber(first: .max(1), inside: [.max(1), .unlimited]))
    subject.send(1)
    log.expect([.max(1), .unlimited])
  }

  @Test("merge asks to replace a value that had to wait when it has been delivered")
  func mergeOfWaiting() {
    let log = Log()
    Prompt(log: log).merge(with: Values())
      .subscribe(log.subscriber(first: .none, inside: []))
    log.owner?.request(.max(1))
    log.expect([.max(1), .max(1)])
  }

  @Test("merge passes on that there is no limit when the value whose answer said so has been delivered")
  func mergeOfAnswers() {
    let (log, subject) = (Log(), Values())
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1), answering: { _, _ in .unlimited })
    Prompt(log: log).merge(with: subject).handleEvents(receiveSubscription: { log.owner = $0 as? SerialSubscription })
      .subscribe(recorder)
    recorder.request(.max(1))
    expectEqual(recorder.values, [0])
    log.expect([.max(1), .unlimited])
  }

  @Test("flatMap asks the publishers made when a value has been delivered")
  func flatMap() {
    let (log, outer) = (Log(), Values())
    outer.flatMap { _ in Prompt(log: log) }.subscribe(log.subscriber(first: .none, inside: [.max(1), .unlimited]))
    outer.send(0)
    log.owner?.request(.max(1))
    log.expect([.max(1), .max(1), .unlimited])
  }

  @Test("flatMap asks for the next value to make a publisher of when the value at hand has been delivered")
  func flatMapOuter() {
    let log = Log()
    var inner: [Values] = []
    Prompt(log: log).flatMap(maxPublishers: .max(1)) { _ in
      inner.append(Values())
      return inner[inner.count - 1]
    }
    .handleEvents(
      receiveSubscription: { log.owner = $0 as? SerialSubscription },
      receiveOutput: { _ in inner.first?.send(completion: .finished) }
    )
    .subscribe(Recorder<Int, TestFailure>())
    inner.first?.send(1)
    expectEqual(inner.count, 2)
    log.expect([.max(1), .max(1)])
  }

  @Test("switchToLatest asks the latest publisher when the value at hand has been delivered")
  func switchToLatest() {
    let (log, outer) = (Log(), Values())
    outer.map { _ in Prompt(log: log) }.switchToLatest()
      .subscribe(log.subscriber(first: .max(1), inside: [.max(1), .max(2)]))
    outer.send(0)
    log.expect([.max(1), .max(1), .max(2)])
  }

  @Test("switchToLatest asks the latest publisher for what one before it was answered when the value is delivered")
  func switchToLatestFromBefore() {
    let (log, outer, before) = (Log(), Values(), Values())
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(1),
      answering: { value, _ in
        guard value == 1 else { return .none }
        outer.send(0)
        return .max(1)
      }
    )
    outer.map { $0 == 0 ? Prompt(log: log).eraseToAnyPublisher() : before.eraseToAnyPublisher() }.switchToLatest()
      .handleEvents(receiveSubscription: { log.owner = $0 as? SerialSubscription }).subscribe(recorder)
    outer.send(1)
    before.send(1)
    expectEqual(recorder.values, [1, 0])
    log.expect([.max(1)])
  }

  @Test("zip asks for the next row when the combining lock is open, also if the row at hand came from inside another")
  func zipInside() {
    let (log, subject) = (Log(), Values())
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(2),
      answering: { value, _ in
        if value == 1 { subject.send(2) }
        return .max(1)
      }
    )
    Prompt(log: log).zip(subject) { $1 }.handleEvents(receiveSubscription: { log.owner = $0 as? SerialSubscription })
      .subscribe(recorder)
    log.owner?.request(.max(1))
    log.owner?.request(.max(1))
    subject.send(1)
    expectEqual(recorder.values, [1, 2])
    log.expect([.max(2), .max(1), .max(1), .max(1), .max(1)])
  }

  @Test("a value that comes while another thread is inside a join is left to that thread, and does not wait")
  func leftToTheThreadInside() {
    let subjects = SharedUnchecked([Values(), Values()])
    let (isInside, hasSent) = (Signal(), Signal())
    let received = Shared<[Int]>([])
    let subscription = subjects.value[0].merge(with: subjects.value[1]).sink(
      receiveCompletion: { _ in },
      receiveValue: { value in
        received.change { $0.append(value) }
        guard value == 1 else { return }
        isInside.send()
        #expect(hasSent.wait())
        expectEqual(received.value, [1])
      }
    )
    let areDone = RaceCrew(size: 2).run([
      { subjects.value[0].send(1) },
      {
        #expect(isInside.wait())
        subjects.value[1].send(2)
        hasSent.send()
      },
    ])
    #expect(areDone)
    expectEqual(received.value, [1, 2])
    subscription.cancel()
  }
}
