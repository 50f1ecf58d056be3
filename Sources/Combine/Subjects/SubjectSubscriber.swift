import StreamSupport

/// Puts into a subject what it receives, without keeping the subject alive.
final class SubjectSubscriber<Downstream: Subject>: Subscriber, Subscription, CustomStringConvertible,
  CustomReflectable, CustomPlaygroundDisplayConvertible
{
  private let lock = Lock()
  // Guarded by `lock`.
  @exclusivity(unchecked) private weak var subject: Downstream?
  @exclusivity(unchecked) private var upstream: (any Subscription)?
  // Guarded by `lock`. A publisher may hand over its subscription long after somebody has cancelled, from a scheduler for
  // example; the cancel has to reach it then.
  @exclusivity(unchecked) private var isCancelled = false

  init(_ subject: Downstream) {
    self.subject = subject
  }

  /// The subject, once the subscription has come and until the end.
  private var activeSubject: Downstream? {
    lock.withLock { upstream == nil ? nil : subject }
  }

  func receive(subscription: any Subscription) {
    lock.lock()
    guard upstream == nil, let subject else {
      let isCancelled = isCancelled
      lock.unlock()
      if isCancelled { subscription.cancel() }
      return
    }
    upstream = subscription
    lock.unlock()
    subject.send(subscription: self)
  }

  func receive(_ input: Downstream.Output) -> Subscribers.Demand {
    activeSubject?.send(input)
    return .none
  }

  func receive(completion: Subscribers.Completion<Downstream.Failure>) {
    let subject = activeSubject
    _ = end()
    subject?.send(completion: completion)
  }

  func request(_ demand: Subscribers.Demand) {
    lock.withLock { upstream }?.request(demand)
  }

  func cancel() {
    lock.lock()
    let subscription = upstream
    upstream = nil
    subject = nil
    isCancelled = true
    lock.unlock()
    subscription?.cancel()
  }

  private func end() -> (any Subscription)? {
    lock.lock()
    defer { lock.unlock() }
    let subscription = upstream
    guard subscription != nil else { return nil }
    upstream = nil
    subject = nil
    return subscription
  }

  var description: String { "Subject" }
  var playgroundDescription: Any { description }
  var customMirror: Mirror {
    lock.lock()
    let subject = subject
    let upstream = upstream
    lock.unlock()
    return Mirror(
      self,
      children: [
        "downstreamSubject": subject as Any, "upstreamSubscription": upstream as Any, "subject": subject as Any,
      ]
    )
  }
}
