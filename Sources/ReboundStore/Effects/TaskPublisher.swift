import Combine
import StreamSupport

/// Publishes what an asynchronous function returns, and cancels its task when it is cancelled.
///
/// The task begins with the first demand, once for each subscriber.
struct TaskPublisher<Output>: Publisher {
  typealias Failure = Never

  private let operation: @Sendable () async -> Output?

  init(_ operation: @escaping @Sendable () async -> Output?) {
    self.operation = operation
  }

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
    subscriber.receive(subscription: TaskSubscription(operation, for: AnySubscriber(subscriber)))
  }
}

/// Unchecked, because the lock guards all that changes, and no foreign code runs under it.
private final class TaskSubscription<Output>: Subscription, @unchecked Sendable {
  private let operation: @Sendable () async -> Output?
  private let lock = Lock()
  /// `nil` when it is over.
  private var subscriber: AnySubscriber<Output, Never>?
  private var hasBegun = false
  private var task: Task<Void, Never>?

  init(_ operation: @escaping @Sendable () async -> Output?, for subscriber: AnySubscriber<Output, Never>) {
    self.operation = operation
    self.subscriber = subscriber
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let begins = lock.withLock {
      let begins = !hasBegun && subscriber != nil
      hasBegun = true
      return begins
    }
    guard begins else { return }
    let task = Task { end(with: await operation()) }
    let isOver = lock.withLock {
      self.task = subscriber == nil ? nil : task
      return subscriber == nil
    }
    // Cancelled while it began, or at its end already, where a cancel does nothing.
    if isOver { task.cancel() }
  }

  func cancel() {
    let (rest, task) = letGo()
    task?.cancel()
    withExtendedLifetime(rest) {}
  }

  private func end(with value: Output?) {
    guard let subscriber = letGo().subscriber else { return }
    if let value { _ = subscriber.receive(value) }
    subscriber.receive(completion: .finished)
  }

  private func letGo() -> (subscriber: AnySubscriber<Output, Never>?, task: Task<Void, Never>?) {
    lock.withLock {
      let rest = (subscriber, task)
      subscriber = nil
      task = nil
      return rest
    }
  }
}
