import StreamSupport
import Synchronization

/// Puts into a subject what it receives, without keeping the subject alive.
@usableFromInline
final class SubjectSubscriber<Downstream: Subject>: Subscriber, SubjectUpstream, CustomStringConvertible,
  CustomReflectable, CustomPlaygroundDisplayConvertible
{
  @usableFromInline typealias Input = Downstream.Output
  @usableFromInline typealias Failure = Downstream.Failure

  // Never written again, so it may be read at any time.
  @exclusivity(unchecked) @usableFromInline weak var subject: Downstream?
  // Of a passthrough subject, this takes the values: to find a weakly held object costs more than to send. It does not
  // keep the subject, and while anybody listens, the subject is kept by that.
  // Holds one reference until `deinit`.
  @usableFromInline let broadcaster: Unmanaged<Broadcaster<Downstream.Output, Downstream.Failure>>?
  // Whether the subscription is held; changed under `lock`, and spares values the lock.
  @usableFromInline let isActive = Atomic<Bool>(false)
  private let lock = Lock()
  // All guarded by `lock`.
  @exclusivity(unchecked) private var upstream: (any Subscription)?
  @exclusivity(unchecked) private var hasEnded = false
  // A publisher may hand over its subscription long after somebody has cancelled, from a scheduler for
  // example; the cancel has to reach it then.
  @exclusivity(unchecked) private var isCancelled = false

  @inlinable
  init(_ subject: Downstream) {
    self.subject = subject
    broadcaster = (subject as? PassthroughSubject<Downstream.Output, Downstream.Failure>).map {
      .passRetained($0.broadcaster)
    }
  }

  deinit { broadcaster?.release() }

  @usableFromInline
  func receive(subscription: any Subscription) {
    lock.lock()
    guard upstream == nil, !hasEnded, let subject else {
      let isCancelled = isCancelled
      lock.unlock()
      if isCancelled { subscription.cancel() }
      return
    }
    upstream = subscription
    isActive.store(true, ordering: .releasing)
    lock.unlock()
    subject.send(subscription: self)
  }

  @inlinable @inline(__always)
  func receive(_ input: Downstream.Output) -> Subscribers.Demand {
    guard isActive.load(ordering: .acquiring) else { return .none }
    if let broadcaster { broadcaster._withUnsafeGuaranteedRef { $0.send(input) } } else { subject?.send(input) }
    return .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Downstream.Failure>) {
    // Held before the end: to end may release what keeps it.
    let subject = subject
    if end() != nil { subject?.send(completion: completion) }
  }

  @usableFromInline
  func request(_ demand: Subscribers.Demand) {
    lock.withLock { upstream }?.request(demand)
  }

  @usableFromInline
  func cancel() {
    lock.lock()
    let subscription = upstream
    upstream = nil
    hasEnded = true
    isActive.store(false, ordering: .releasing)
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
    hasEnded = true
    isActive.store(false, ordering: .releasing)
    return subscription
  }

  @usableFromInline var isOver: Bool { lock.withLock { hasEnded } }

  @usableFromInline var description: String { "Subject" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline
  var customMirror: Mirror {
    lock.lock()
    let subject = hasEnded ? nil : subject
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
