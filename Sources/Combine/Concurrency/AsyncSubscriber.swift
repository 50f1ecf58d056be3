import StreamSupport

/// Hands the values of a publisher to the tasks that wait for them, one value asked for each.
///
/// Some publishers send without being asked: `objectWillChange`, or the last group of `collect` by time. Of what nobody
/// waits for, the newest value is kept for who comes next.
///
/// Unchecked, because the lock guards every access to what it knows, and a value goes to one task only.
final class AsyncSubscriber<Input, Failure: Error>: Subscriber, Cancellable, @unchecked Sendable {
  /// What a task gets: a value, nil at the end, or the failure.
  ///
  /// Nobody else uses it afterwards.
  private typealias Delivery = Confined<Result<Input?, Failure>>

  private enum Phase {
    /// No subscription has come; so many values are to be asked for when it does.
    case awaitingSubscription(Subscribers.Demand)
    case subscribed(any Subscription)
    case over
  }

  // Unsafe ones may be resumed once only: who resumes one has taken it out under `lock`.
  private typealias Waiter = UnsafeContinuation<Delivery, Never>

  private let lock = Lock()
  // All guarded by `lock`.
  private var phase = Phase.awaitingSubscription(.none)
  private var waiters: [Waiter] = []
  // Both kept until somebody takes them: a value that came while nobody waited, and then the failure.
  private var unasked: Input?
  private var failure: Failure?

  /// The next value; nil at the end.
  ///
  /// Cancelling the task cancels the subscription.
  func next() async -> Result<Input?, Failure> {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { wait($0) }.value
    } onCancel: {
      cancel()
    }
  }

  private func wait(_ waiter: Waiter) {
    lock.lock()
    if let value = unasked.take() {
      lock.unlock()
      return waiter.resume(returning: Delivery(.success(value)))
    }
    switch phase {
    case .awaitingSubscription(let demand):
      waiters.append(waiter)
      phase = .awaitingSubscription(demand + 1)
      lock.unlock()
    case .subscribed(let subscription):
      waiters.append(waiter)
      lock.unlock()
      subscription.request(.max(1))
    case .over:
      let failure = failure
      self.failure = nil
      lock.unlock()
      waiter.resume(returning: Delivery(failure.map { .failure($0) } ?? .success(nil)))
    }
  }

  func receive(subscription: any Subscription) {
    lock.lock()
    guard case .awaitingSubscription(let demand) = phase else {
      lock.unlock()
      subscription.cancel()
      return
    }
    phase = .subscribed(subscription)
    lock.unlock()
    if demand > .none { subscription.request(demand) }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    lock.lock()
    switch phase {
    case .awaitingSubscription:
      // Apple's way: a value that no subscription announced ends the waiting, and is lost; what was to be asked for
      // still is.
      let waiters = takeWaiters()
      lock.unlock()
      resume(waiters)
    case .subscribed:
      guard !waiters.isEmpty else {
        let replaced = unasked
        unasked = input
        lock.unlock()
        // Outside the lock: a value may run code of its own when it goes.
        withExtendedLifetime(replaced) {}
        return .none
      }
      let waiter = waiters.removeFirst()
      lock.unlock()
      waiter.resume(returning: Delivery(.success(input)))
    case .over:
      lock.unlock()
    }
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    lock.lock()
    if case .over = phase {
      lock.unlock()
      return
    }
    let ended = phase
    phase = .over
    var waiters = takeWaiters()
    var thrown: (waiter: Waiter, failure: Failure)?
    if case .failure(let error) = completion {
      if waiters.isEmpty { failure = error } else { thrown = (waiters.removeFirst(), error) }
    }
    lock.unlock()
    if let thrown { thrown.waiter.resume(returning: Delivery(.failure(thrown.failure))) }
    resume(waiters)
    // The subscription goes here, outside the lock.
    withExtendedLifetime(ended) {}
  }

  func cancel() {
    lock.lock()
    let ended = phase
    phase = .over
    let waiters = takeWaiters()
    let dropped = unasked.take()
    lock.unlock()
    if case .subscribed(let subscription) = ended { subscription.cancel() }
    resume(waiters)
    // Outside the lock, as the subscription.
    withExtendedLifetime(dropped) {}
  }

  /// Called under the lock.
  private func takeWaiters() -> [Waiter] {
    let taken = waiters
    waiters = []
    return taken
  }

  private func resume(_ waiters: [Waiter]) {
    for waiter in waiters { waiter.resume(returning: Delivery(.success(nil))) }
  }
}

/// Holds a subscriber for an iterator, and cancels it when the last copy of the iterator goes.
final class AsyncSubscriberLease<Input, Failure: Error> {
  let subscriber = AsyncSubscriber<Input, Failure>()

  deinit { subscriber.cancel() }
}
