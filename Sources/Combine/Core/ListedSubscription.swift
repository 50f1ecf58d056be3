import StreamSupport
import Synchronization

/// The subscription that one subscriber holds to a source with many.
///
/// Not generic; ``SubjectSubscription`` adds the values.
@usableFromInline
class ListedSubscription: SubscriptionBase, ReflectedSubscription {
  // What the subscriber asked for and did not get yet; closed once it has left or the end has come.
  @usableFromInline let outstanding = DemandCounter()
  // Holds one reference to a ``ErasedSubscriber``. Rounds read it without a retain: who takes it out hands it to `SubscriberList.retire`,
  // which keeps it until no round is under way.
  @usableFromInline let erased: Atomic<Unmanaged<AnyObject>?>
  private let lock = Lock()
  // The index among the list's subscriptions; guarded by the list's lock. Half a word, which saves a subscription sixteen
  // bytes; so many subscribers do not fit into memory.
  @exclusivity(unchecked) var index: Int32 = -1
  // Kept by the owner: only for who holds that.
  @usableFromInline let list: Unmanaged<SubscriberList>
  // Guarded by `lock`, emptied when it closes. The owner, a subject, lives as long as somebody is subscribed.
  @exclusivity(unchecked) private var owner: AnyObject?
  // What was owed at the end, for reflection.
  @exclusivity(unchecked) private var owedAtEnd = Subscribers.Demand.none

  /// Makes a subscription.
  ///
  /// - Parameter erased: with a reference of its own, which this takes over.
  @usableFromInline
  init(to erased: Unmanaged<AnyObject>, in list: Unmanaged<SubscriberList>, owner: AnyObject) {
    self.erased = Atomic(erased)
    self.list = list
    self.owner = owner
  }

  deinit {
    _ = takeSubscriber()
  }

  /// The source, as long as this is open.
  @usableFromInline
  final var openOwner: AnyObject? {
    lock.lock()
    defer { lock.unlock() }
    return owner
  }

  /// Closes it, and gives the owner to the one caller who did; it must not go while a round is under way.
  @usableFromInline
  final func close() -> AnyObject? {
    guard let last = outstanding.close() else { return nil }
    lock.lock()
    defer { lock.unlock() }
    owedAtEnd = last
    return owner.take()
  }

  /// Takes the erased subscriber out, with the reference it was held by.
  ///
  /// Only for the one who has closed it: two at a time would both take it.
  @usableFromInline
  final func takeSubscriber() -> AnyObject? {
    let taken = erased.load(ordering: .acquiring)
    erased.store(nil, ordering: .releasing)
    return taken?.takeRetainedValue()
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    if outstanding.add(demand) { didRequest() }
  }

  /// Called after a request, for sources that have something ready.
  @usableFromInline func didRequest() {}

  /// Delivers what is ready.
  ///
  /// Called inside the combining lock, by the list.
  @usableFromInline func serve() {}

  @usableFromInline
  override final func cancel() {
    guard let owner = close() else { return }
    list._withUnsafeGuaranteedRef { $0.detach(self, of: owner) }
  }

  // MARK: Reflection

  /// The subscriber.
  ///
  /// Only called while this is open.
  @usableFromInline var downstream: Any? { nil }

  @usableFromInline
  final var demand: Subscribers.Demand { outstanding.demand ?? lock.withLock { owedAtEnd } }

  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    let owner = openOwner
    return [
      ("parent", owner as Any), ("downstream", (owner == nil ? nil : downstream) as Any), ("demand", demand),
      ("subject", owner as Any),
    ]
  }
}
