import Combine

/// The decisions of all policies of a program, or of a part of it, as one stream; and what shared objects hold.
///
///     let events = PolicyEvents()
///     let weather = try Pipeline<Forecast>("weather", events: events) { … }
///     events.filter { $0.severity >= .warning }.sink { log.notice("\($0)") }.store(in: &subscriptions)
///     for gauge in events.gauges { log.info("\(gauge)") }
///
/// Subscribers may come and go on any thread. Each gets the events that are told from then on, in one order, one at a time,
/// on the threads of those who decide, with no lock held. Nothing is kept for those who come later or have requested
/// nothing, and nothing is printed.
///
/// A pipeline with these events adds the shared objects that it holds; others are added with `watch`. They are not kept
/// alive by it.
///
/// Unchecked, because the subject takes events and subscribers from any thread, and all else is constant.
public final class PolicyEvents: Publisher, @unchecked Sendable {
  /// What it publishes.
  public typealias Output = PolicyEvent
  /// It never fails, and never ends.
  public typealias Failure = Never

  private let time: MonotonicTime
  private let revise: @Sendable (PolicyEvent) -> PolicyEvent?
  private let subject = PassthroughSubject<PolicyEvent, Never>()
  private let watched = Shared<WatchedObjects, PolicyEvent>(WatchedObjects())

  /// Makes a stream without subscribers.
  ///
  /// - Parameters:
  ///   - time: Measures when events are told.
  ///   - revise: Changes events before anybody gets them: their severity, or their text where a log must not hold all of
  ///     it; `nil` leaves one out, to take samples. Called on the threads of those who decide.
  public init(
    time: MonotonicTime = .continuous,
    revising revise: @escaping @Sendable (PolicyEvent) -> PolicyEvent? = { $0 }
  ) {
    self.time = time
    self.revise = revise
    watched.observe { [weak self] event in self?.subject.send(event) }
  }

  /// Adds a subscriber.
  public func receive<S: Subscriber>(subscriber: S) where S.Input == PolicyEvent, S.Failure == Never {
    subject.receive(subscriber: subscriber)
  }

  /// Tells the subscribers of a decision: for policies of one's own, too.
  ///
  /// - Parameters:
  ///   - decision: What was decided.
  ///   - source: The name of the pipeline or the shared object.
  public func tell(_ decision: PolicyEvent.Decision, of source: String) {
    guard let event = revise(PolicyEvent(decision, source: source, time: time.now)) else { return }
    watched.change { $1.append(event) }
  }

  /// What the shared objects hold now, in the order in which they were added; reading it changes nothing.
  public var gauges: [PolicyGauge] {
    // Read with the lock open, since the objects ask for the time.
    watched.read { $0.objects }.compactMap { object in
      object.isAlive ? object.read().map { PolicyGauge(name: object.name, reading: $0) } : nil
    }
  }

  // MARK: Shared objects

  /// Tells the decisions of a breaker, and reads its gauge; nothing happens the second time.
  public func watch(_ breaker: CircuitBreaker) {
    let isNew = add(breaker, name: breaker.name) { [weak breaker] in breaker.map { .circuitBreaker($0.metrics) } }
    if isNew { breaker.onEvent(teller(of: breaker.name, PolicyEvent.Decision.circuitBreaker)) }
  }

  /// Tells the decisions of a bulkhead, and reads its gauge; nothing happens the second time.
  public func watch(_ bulkhead: Bulkhead) {
    let isNew = add(bulkhead, name: bulkhead.name) { [weak bulkhead] in bulkhead.map { .bulkhead($0.snapshot) } }
    if isNew { bulkhead.onEvent(teller(of: bulkhead.name, PolicyEvent.Decision.bulkhead)) }
  }

  /// Tells the decisions of a rate limiter, and reads its gauge; nothing happens the second time.
  public func watch(_ limiter: RateLimiter) {
    let isNew = add(limiter, name: limiter.name) { [weak limiter] in
      limiter.map { .rateLimiter(queued: $0.queued, share: $0.share) }
    }
    if isNew { limiter.onEvent(teller(of: limiter.name, PolicyEvent.Decision.rateLimiter)) }
  }

  /// Reads the gauge of a budget, whose decisions are those of the retries that ask it; nothing happens the second time.
  public func watch(_ budget: RetryBudget, named name: String) {
    add(budget, name: name) { [weak budget] in budget.map { .budget($0.snapshot) } }
  }

  /// Tells the decisions about a shared credential; nothing happens the second time.
  public func watch<Credential>(_ refresher: TokenRefresher<Credential>, named name: String) {
    if add(refresher, name: name) { refresher.onEvent(teller(of: name, PolicyEvent.Decision.tokenRefresh)) }
  }

  /// Tells the decisions of a cache; nothing happens the second time.
  public func watch<Key, Value, CacheFailure>(_ cache: Cache<Key, Value, CacheFailure>, named name: String) {
    if add(cache, name: name) { cache.onEvent(teller(of: name) { .cache($0.inWords) }) }
  }

  /// Tells the decisions of a coalescer; nothing happens the second time.
  public func watch<Key, Value, CallFailure>(_ coalescer: Coalescer<Key, Value, CallFailure>, named name: String) {
    if add(coalescer, name: name) { coalescer.onEvent(teller(of: name) { .coalescing($0.inWords) }) }
  }

  private func teller<Event: Sendable>(
    of source: String,
    _ decision: @escaping @Sendable (Event) -> PolicyEvent.Decision
  ) -> @Sendable (Event) -> Void {
    // The object may live longer than those who listen to it.
    { [weak self] event in self?.tell(decision(event), of: source) }
  }

  /// - Returns: Whether it was not there before.
  @discardableResult
  private func add(
    _ object: AnyObject,
    name: String,
    read: @escaping @Sendable () -> PolicyGauge.Reading? = { nil }
  ) -> Bool {
    let new = WatchedObjects.Object(object, name: name, read: read)
    let (isNew, released) = watched.change { objects, _ in objects.add(new) }
    withExtendedLifetime(released) {}
    return isNew
  }
}

/// The shared objects whose decisions are told, held weakly.
struct WatchedObjects {
  /// Unchecked, because a weak reference is read safely from any thread, and all else is constant.
  final class Object: @unchecked Sendable {
    let id: ObjectIdentifier
    let name: String
    let read: @Sendable () -> PolicyGauge.Reading?
    private weak var object: AnyObject?

    init(_ object: AnyObject, name: String, read: @escaping @Sendable () -> PolicyGauge.Reading?) {
      id = ObjectIdentifier(object)
      self.object = object
      self.name = name
      self.read = read
    }

    /// Whether the object is still there; after that its identity may be another one's.
    var isAlive: Bool { object != nil }
  }

  private(set) var objects: [Object] = []
  private var byID: [ObjectIdentifier: Object] = [:]
  /// From which count on it is worth while to look for objects that are gone.
  private var limit = 16

  /// - Returns: Whether it was not there before; and what is to be released with the lock open.
  ///
  /// - Complexity: O(1), amortised, unless another object had the same identity before.
  mutating func add(_ object: Object) -> (isNew: Bool, released: [Object]) {
    var released: [Object] = []
    if let known = byID[object.id] {
      if known.isAlive { return (false, []) }
      released = removeAll { $0.id == object.id }
    } else if objects.count >= limit {
      released = removeAll { !$0.isAlive }
      limit = max(2 * objects.count, 16)
    }
    objects.append(object)
    byID[object.id] = object
    return (true, released)
  }

  private mutating func removeAll(where isGone: (Object) -> Bool) -> [Object] {
    let released = objects.filter(isGone)
    objects.removeAll(where: isGone)
    for object in released { byID[object.id] = nil }
    return released
  }
}
