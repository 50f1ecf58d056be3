import ReboundTesting
import Testing

@testable import Combine

/// What is asked of an upstream may bring values from inside, through turnstiles that other threads hold while they wait
/// for this one.
@Suite("What joining and flattening operators ask of their upstreams")
struct CourierTests {
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
        log.askedInside.append(log.courier?.turnstile.isMine == true)
        if demand == .max(1) { _ = subscriber.receive(0) }
      }

      func cancel() {}
    }
  }

  private final class Log {
    var courier: Courier?
    var asked: [Subscribers.Demand] = []
    var askedInside: [Bool] = []

    /// A subscriber that asks for more from inside each value, as long as there are demands left.
    func subscriber(first: Subscribers.Demand, inside: [Subscribers.Demand]) -> AnySubscriber<Int, TestFailure> {
      var rest = inside[...]
      return AnySubscriber(
        receiveSubscription: { subscription in
          self.courier = subscription as? Courier
          if first != .none { subscription.request(first) }
        },
        receiveValue: { [weak self] _ in
          if let demand = rest.popFirst() { self?.courier?.request(demand) }
          return .none
        }
      )
    }

    /// Whether the operator has asked, and never from inside its turnstile.
    func expect(_ demands: [Subscribers.Demand], sourceLocation: SourceLocation = #_sourceLocation) {
      #expect(courier != nil, sourceLocation: sourceLocation)
      #expect(asked == demands, sourceLocation: sourceLocation)
      #expect(!askedInside.contains(true), "\(askedInside)", sourceLocation: sourceLocation)
      courier = nil
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
    log.courier?.request(.max(1))
    log.expect([.max(1), .max(1)])
  }

  @Test("merge passes on that there is no limit when the value whose answer said so has been delivered")
  func mergeOfAnswers() {
    let (log, subject) = (Log(), Values())
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1), answering: { _, _ in .unlimited })
    Prompt(log: log).merge(with: subject).handleEvents(receiveSubscription: { log.courier = $0 as? Courier })
      .subscribe(recorder)
    recorder.request(.max(1))
    #expect(recorder.values == [0])
    log.expect([.max(1), .unlimited])
  }

  @Test("flatMap asks the publishers made when a value has been delivered")
  func flatMap() {
    let (log, outer) = (Log(), Values())
    outer.flatMap { _ in Prompt(log: log) }.subscribe(log.subscriber(first: .none, inside: [.max(1), .unlimited]))
    outer.send(0)
    log.courier?.request(.max(1))
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
      receiveSubscription: { log.courier = $0 as? Courier },
      receiveOutput: { _ in inner.first?.send(completion: .finished) }
    )
    .subscribe(Recorder<Int, TestFailure>())
    inner.first?.send(1)
    #expect(inner.count == 2)
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
      .handleEvents(receiveSubscription: { log.courier = $0 as? Courier }).subscribe(recorder)
    outer.send(1)
    before.send(1)
    #expect(recorder.values == [1, 0])
    log.expect([.max(1)])
  }

  @Test("zip asks for the next row when the turnstile is open, also if the row at hand came from inside another")
  func zipInside() {
    let (log, subject) = (Log(), Values())
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(2),
      answering: { value, _ in
        if value == 1 { subject.send(2) }
        return .max(1)
      }
    )
    Prompt(log: log).zip(subject) { $1 }.handleEvents(receiveSubscription: { log.courier = $0 as? Courier })
      .subscribe(recorder)
    log.courier?.request(.max(1))
    log.courier?.request(.max(1))
    subject.send(1)
    #expect(recorder.values == [1, 2])
    log.expect([.max(2), .max(1), .max(1), .max(1), .max(1)])
  }

  /// A publisher that sends one value upon each request, once `whenAsked` returns.
  private final class Faucet: Publisher {
    typealias Output = Int
    typealias Failure = TestFailure

    var whenAsked: () -> Void = {}

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == TestFailure {
      subscriber.receive(subscription: Connection(faucet: self, subscriber: AnySubscriber(subscriber)))
    }

    private struct Connection: Subscription {
      let faucet: Faucet
      let subscriber: AnySubscriber<Int, TestFailure>
      let combineIdentifier = CombineIdentifier()

      func request(_ demand: Subscribers.Demand) {
        faucet.whenAsked()
        _ = subscriber.receive(0)
      }

      func cancel() {}
    }
  }

  /// How the rows reach what joins them.
  enum Way: CaseIterable {
    case straight, pastOnePipe, pastAnother
  }

  @Test("two threads with a row each that ask for the other row do not wait for each other", arguments: Way.allCases)
  func rowsOfRows(way: Way) {
    let sides = (0..<2).map { _ in (subject: Values(), faucet: Faucet()) }
    func row(_ index: Int) -> AnyPublisher<Int, TestFailure> {
      let row = sides[index].subject.zip(sides[index].faucet) { $0 + $1 }
      return switch way {
      case .straight: row.eraseToAnyPublisher()
      case .pastOnePipe: row.removeDuplicates { _, _ in false }.eraseToAnyPublisher()
      case .pastAnother:
        row.combineLatest(Just(0).setFailureType(to: TestFailure.self)) { $0 + $1 }.eraseToAnyPublisher()
      }
    }
    var sums: [Int] = []
    var subscription: (any Subscription)?
    row(0).combineLatest(row(1)).subscribe(
      AnySubscriber(
        receiveSubscription: {
          subscription = $0
          $0.request(.max(1))
        },
        receiveValue: {
          sums.append($0 + $1)
          subscription?.request(.max(1))
          return .none
        }
      )
    )
    for side in sides { side.subject.send(0) }
    #expect(sums == [0])

    // Each thread asks the other row while it is on its way back from its own.
    let (firstAsks, secondAsks) = (Signal(), Signal())
    let firstHasAsked = Shared(false)
    sides[1].faucet.whenAsked = {
      let isFirst = firstHasAsked.change { hasAsked in
        defer { hasAsked = true }
        return !hasAsked
      }
      guard isFirst else { return }
      firstAsks.send()
      #expect(secondAsks.wait())
    }
    sides[0].faucet.whenAsked = { if firstHasAsked.value { secondAsks.send() } }
    let areDone = RaceCrew(size: 2).run([
      { sides[0].subject.send(1) },
      {
        #expect(firstAsks.wait())
        sides[1].subject.send(2)
      },
    ])
    #expect(areDone)
    #expect(sums == [0, 1, 3])
    if areDone { subscription?.cancel() }
    subscription = nil
  }

  /// What delivers on a scheduler goes through a turnstile of its own, in which the subscriber may ask.
  enum Hopping: CaseIterable {
    case receiveOn, delay, collectByTime
  }

  @Test("on the immediate scheduler nobody waits for who asks from inside", arguments: Hopping.allCases)
  func atOnce(hopping: Hopping) {
    let (subject, faucet) = (Values(), Faucet())
    let row = subject.zip(faucet) { $0 + $1 }
    let scheduler = ImmediateScheduler.shared
    let hop =
      switch hopping {
      case .receiveOn: row.receive(on: scheduler).eraseToAnyPublisher()
      case .delay: row.delay(for: 1, scheduler: scheduler).eraseToAnyPublisher()
      case .collectByTime:
        row.collect(.byTimeOrCount(scheduler, 1, 1)).compactMap(\.first).eraseToAnyPublisher()
      }
    let isInside = Signal()
    var values: [Int] = []
    var subscription: (any Subscription)?
    hop.subscribe(
      AnySubscriber(
        receiveSubscription: {
          subscription = $0
          $0.request(.max(1))
        },
        receiveValue: {
          values.append($0)
          guard $0 == 1 else { return .none }
          isInside.send()
          subscription?.request(.max(1))
          return .max(1)
        }
      )
    )
    let areDone = RaceCrew(size: 2).run([
      { subject.send(1) },
      {
        #expect(isInside.wait())
        subscription?.request(.max(1))
      },
    ])
    #expect(areDone)
    if areDone { for value in 2...5 { subject.send(value) } }
    #expect(values == [1, 2, 3, 4])
    subscription = nil
  }
}
