import Combine
import Foundation

// Publishers, subscribers, subscriptions, subjects and schedulers of one's own, as apps and libraries make them.

struct Countdown: Publisher {
  typealias Output = Int
  typealias Failure = Never

  let start: Int

  func receive<S>(subscriber: S) where S: Subscriber, S.Failure == Failure, S.Input == Output {
    subscriber.receive(subscription: CountdownSubscription(start: start, subscriber: subscriber))
  }
}

private final class CountdownSubscription<S: Subscriber>: Subscription where S.Input == Int, S.Failure == Never {
  private var next: Int
  private var subscriber: S?

  init(start: Int, subscriber: S) {
    next = start
    self.subscriber = subscriber
  }

  func request(_ demand: Subscribers.Demand) {
    var demand = demand
    while let subscriber = subscriber, demand > 0, next > 0 {
      next -= 1
      demand -= 1
      demand += subscriber.receive(next + 1)
    }
    if next == 0 {
      subscriber?.receive(completion: .finished)
      subscriber = nil
    }
  }

  func cancel() {
    subscriber = nil
  }
}

final class IntSubscriber: Subscriber {
  typealias Input = Int
  typealias Failure = Never

  private(set) var values: [Int] = []
  private(set) var isFinished = false
  private var subscription: Subscription?

  func receive(subscription: Subscription) {
    self.subscription = subscription
    subscription.request(.max(1))
  }

  func receive(_ input: Int) -> Subscribers.Demand {
    values.append(input)
    return .max(1)
  }

  func receive(completion: Subscribers.Completion<Never>) {
    isFinished = true
    subscription = nil
  }
}

extension Publisher {
  /// An operator as libraries define them.
  func unwrap<T>() -> Publishers.CompactMap<Self, T> where Output == T? {
    compactMap { $0 }
  }

  func asResult() -> AnyPublisher<Result<Output, Failure>, Never> {
    map(Result.success).catch { Just(.failure($0)) }.eraseToAnyPublisher()
  }

  func withLatestFrom<Other: Publisher>(_ other: Other) -> AnyPublisher<Other.Output, Failure>
  where Other.Failure == Failure {
    let upstream = map { (value: $0, time: UUID()) }.share()
    return
      other
      .map { second in upstream.map { _ in second } }
      .switchToLatest()
      .zip(upstream)
      .map { $0.0 }
      .eraseToAnyPublisher()
  }
}

extension Publisher where Failure == Never {
  func assignWeakly<Root: AnyObject>(
    to keyPath: ReferenceWritableKeyPath<Root, Output>,
    on object: Root
  ) -> AnyCancellable {
    sink { [weak object] in object?[keyPath: keyPath] = $0 }
  }
}

extension Publishers {
  struct Doubled<Upstream: Publisher>: Publisher where Upstream.Output == Int {
    typealias Output = Int
    typealias Failure = Upstream.Failure

    let upstream: Upstream

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Upstream.Failure {
      upstream.subscribe(Inner(downstream: subscriber))
    }

    private struct Inner<S: Subscriber>: Subscriber where S.Input == Int, S.Failure == Upstream.Failure {
      let combineIdentifier = CombineIdentifier()
      let downstream: S

      func receive(subscription: Subscription) { downstream.receive(subscription: subscription) }
      func receive(_ input: Int) -> Subscribers.Demand { downstream.receive(input * 2) }
      func receive(completion: Subscribers.Completion<Upstream.Failure>) { downstream.receive(completion: completion) }
    }
  }
}

final class RelaySubject<Output>: Subject {
  typealias Failure = Never

  private let subject = PassthroughSubject<Output, Never>()

  func send(_ value: Output) { subject.send(value) }
  func send(completion: Subscribers.Completion<Never>) {}
  func send(subscription: Subscription) { subject.send(subscription: subscription) }

  func receive<S>(subscriber: S) where S: Subscriber, Never == S.Failure, Output == S.Input {
    subject.subscribe(subscriber)
  }
}

/// A scheduler over that of another, with its times.
struct LoggingScheduler<Base: Scheduler>: Scheduler {
  typealias SchedulerTimeType = Base.SchedulerTimeType
  typealias SchedulerOptions = Base.SchedulerOptions

  let base: Base
  let log: (String) -> Void

  var now: SchedulerTimeType { base.now }
  var minimumTolerance: SchedulerTimeType.Stride { base.minimumTolerance }

  func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    log("now")
    base.schedule(options: options, action)
  }

  func schedule(
    after date: SchedulerTimeType,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    log("after")
    base.schedule(after: date, tolerance: tolerance, options: options, action)
  }

  func schedule(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) -> Cancellable {
    log("every")
    return base.schedule(after: date, interval: interval, tolerance: tolerance, options: options, action)
  }
}

/// A scheduler with times of its own.
final class StepScheduler: Scheduler {
  struct SchedulerTimeType: Strideable {
    struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric {
      var magnitude: Int

      init(_ magnitude: Int) { self.magnitude = magnitude }
      init(integerLiteral value: Int) { magnitude = value }
      init?<T: BinaryInteger>(exactly source: T) {
        guard let magnitude = Int(exactly: source) else { return nil }
        self.magnitude = magnitude
      }

      static func < (lhs: Stride, rhs: Stride) -> Bool { lhs.magnitude < rhs.magnitude }
      static func + (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.magnitude + rhs.magnitude) }
      static func - (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.magnitude - rhs.magnitude) }
      static func * (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.magnitude * rhs.magnitude) }
      static func += (lhs: inout Stride, rhs: Stride) { lhs = lhs + rhs }
      static func -= (lhs: inout Stride, rhs: Stride) { lhs = lhs - rhs }
      static func *= (lhs: inout Stride, rhs: Stride) { lhs = lhs * rhs }

      static func seconds(_ s: Int) -> Stride { Stride(s * 1000) }
      static func seconds(_ s: Double) -> Stride { Stride(Int(s * 1000)) }
      static func milliseconds(_ ms: Int) -> Stride { Stride(ms) }
      static func microseconds(_ us: Int) -> Stride { Stride(us / 1000) }
      static func nanoseconds(_ ns: Int) -> Stride { Stride(ns / 1_000_000) }
    }

    var step: Int

    func distance(to other: SchedulerTimeType) -> Stride { Stride(other.step - step) }
    func advanced(by n: Stride) -> SchedulerTimeType { SchedulerTimeType(step: step + n.magnitude) }
  }

  typealias SchedulerOptions = Never

  private(set) var now = SchedulerTimeType(step: 0)
  let minimumTolerance = SchedulerTimeType.Stride(0)
  private var jobs: [(due: SchedulerTimeType, action: () -> Void)] = []

  func schedule(options: Never?, _ action: @escaping () -> Void) {
    jobs.append((now, action))
  }

  func schedule(
    after date: SchedulerTimeType,
    tolerance: SchedulerTimeType.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    jobs.append((date, action))
  }

  func schedule(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride,
    tolerance: SchedulerTimeType.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> Cancellable {
    var isCancelled = false
    func tick(_ date: SchedulerTimeType) {
      jobs.append(
        (
          date,
          {
            guard !isCancelled else { return }
            action()
            tick(date.advanced(by: interval))
          }
        )
      )
    }
    tick(date)
    return AnyCancellable { isCancelled = true }
  }

  func advance(by stride: SchedulerTimeType.Stride) {
    let end = now.advanced(by: stride)
    while let index = jobs.indices.filter({ jobs[$0].due <= end }).min(by: { jobs[$0].due < jobs[$1].due }) {
      let job = jobs.remove(at: index)
      now = max(now, job.due)
      job.action()
    }
    now = end
  }
}
