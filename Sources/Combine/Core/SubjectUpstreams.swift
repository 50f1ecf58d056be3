import StreamSupport
import Synchronization

/// The upstream subscriptions that a subject was sent, which it keeps and cancels when it goes.
@usableFromInline
final class SubjectUpstreams {
  private let lock = Lock()
  // Guarded by `lock`.
  @exclusivity(unchecked) private var subscriptions: [any Subscription] = []
  // Changed under `lock`; once set it stays.
  private let started: Atomic<Bool>

  @usableFromInline
  init(startsAtOnce: Bool) {
    started = Atomic(startsAtOnce)
  }

  /// Whether the values of the subscriptions are wanted.
  @usableFromInline
  var hasStarted: Bool { started.load(ordering: .relaxed) }

  deinit {
    for subscription in subscriptions { subscription.cancel() }
  }

  /// Keeps a subscription, and asks it for everything if the subject's values are wanted already.
  @usableFromInline
  func add(_ subscription: any Subscription) {
    lock.lock()
    subscriptions.append(subscription)
    let isWanted = started.load(ordering: .relaxed)
    lock.unlock()
    if isWanted { subscription.request(.unlimited) }
  }

  /// Asks all subscriptions for everything, the first time.
  @usableFromInline
  func start() {
    lock.lock()
    let waiting = started.load(ordering: .relaxed) ? [] : subscriptions
    started.store(true, ordering: .relaxed)
    lock.unlock()
    for subscription in waiting { subscription.request(.unlimited) }
  }
}
