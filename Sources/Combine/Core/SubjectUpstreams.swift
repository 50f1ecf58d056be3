import StreamSupport
import Synchronization

/// A subscription that tells when a subject need not keep it any longer.
@usableFromInline
protocol SubjectUpstream: Subscription {
  /// Whether it was cancelled or has ended; asked under a lock, of one that was held before.
  var isOver: Bool { get }
}

/// The upstream subscriptions that a subject was sent, which it keeps and cancels when it goes.
///
/// Those that are over, as far as they can tell, are swept out each time there are twice as many as the last sweep left.
@usableFromInline
final class SubjectUpstreams {
  private let lock = Lock()
  // Both guarded by `lock`.
  @exclusivity(unchecked) private var subscriptions: [any Subscription] = []
  @exclusivity(unchecked) private var sizeToSweep = SubjectUpstreams.smallestSizeToSweep
  // Changed under `lock`; once set it stays.
  private let started: Atomic<Bool>

  private static let smallestSizeToSweep = 16

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
    let swept = subscriptions.count < sizeToSweep ? [] : sweep()
    subscriptions.append(subscription)
    let isWanted = started.load(ordering: .relaxed)
    lock.unlock()
    // Outside the lock: a subscription may run code of its own when it goes.
    withExtendedLifetime(swept) {}
    if isWanted { subscription.request(.unlimited) }
  }

  /// Forgets those that are over, and gives back what must not be released under the lock.
  ///
  /// Called under the lock.
  private func sweep() -> [any Subscription] {
    let all = subscriptions
    subscriptions = all.filter { ($0 as? any SubjectUpstream)?.isOver != true }
    sizeToSweep = max(Self.smallestSizeToSweep, subscriptions.count * 2)
    return all
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
