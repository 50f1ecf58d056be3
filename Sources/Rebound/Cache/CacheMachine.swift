/// Decides what is kept, for how long, and what it is good for.
///
/// It has no clock and no lock, and calls no foreign code but that of keys; its owner tells it the time, which never goes
/// back. What has to go is handed out, so that its owner releases it where it likes.
@usableFromInline
struct CacheMachine<Key: Hashable & Sendable, Value, Failure: Error> {
  @usableFromInline
  enum Lookup {
    case fresh(Value, age: Duration)
    /// Stale, to be delivered at once; `fetches` says whether this is the one to fetch a new one.
    case stale(Value, age: Duration, fetches: Bool)
    case failed(Failure)
    case missed
  }

  @usableFromInline
  enum Content {
    case value(Value, CacheLifetime, cost: Int)
    case failure(Failure)
  }

  @usableFromInline
  struct Entry {
    @usableFromInline var content: Content
    @usableFromInline var stored: Duration

    @inlinable
    init(content: Content, stored: Duration) { (self.content, self.stored) = (content, stored) }
  }

  @usableFromInline let policy: CachePolicy
  @usableFromInline var entries = LeastRecentlyUsed<Key, Entry>()
  @usableFromInline var cost = 0
  private var lastFetch = 0
  /// The fetches under way whose results may be kept.
  private var fetches: [Key: Int] = [:]
  @usableFromInline var revalidated: Set<Key> = []
  /// What was taken out and not released yet.
  @usableFromInline var removed: [Any] = []

  init(_ policy: CachePolicy) {
    self.policy = policy
  }

  var count: Int { entries.count }

  /// Hands out what was taken out since the last time.
  @inlinable
  mutating func takeRemoved() -> [Any] {
    let before = removed
    removed = []
    return before
  }

  /// Someone asks for a key.
  @inlinable
  mutating func look(_ key: Key, now: Duration, events: inout UntoldEvents<CacheEvent<Key>>) -> Lookup {
    guard let entry = entries.use(key) else {
      events.append(.missed(key))
      return .missed
    }
    let age = max(now - entry.stored, .zero)
    switch entry.content {
    case .failure(let error):
      if age < policy.negative {
        events.append(.hitFailure(key, error))
        return .failed(error)
      }
      remove(key)
    case .value(let value, let lifetime, _):
      if age < lifetime.fresh {
        events.append(.hit(key, age: age))
        return .fresh(value, age: age)
      }
      if age < lifetime.fresh + lifetime.staleWhileRevalidate {
        events.append(.revalidates(key, age: age))
        return .stale(value, age: age, fetches: revalidated.insert(key).inserted)
      }
      if age >= lifetime.end { remove(key) }
    }
    events.append(.missed(key))
    return .missed
  }

  /// What is there, whatever its age, without using it.
  func peek(_ key: Key, now: Duration) -> (value: Value, age: Duration, isFresh: Bool)? {
    guard let entry = entries.peek(key), case .value(let value, let lifetime, _) = entry.content else { return nil }
    let age = max(now - entry.stored, .zero)
    return age < lifetime.end || age < lifetime.fresh ? (value, age, age < lifetime.fresh) : nil
  }

  /// A fetch begins.
  ///
  /// - Returns: Its number.
  mutating func beginFetch(_ key: Key) -> Int {
    lastFetch += 1
    fetches[key] = lastFetch
    return lastFetch
  }

  /// A fetch has brought a value.
  ///
  /// Not kept if the key was removed meanwhile, or a value stored that came another way.
  mutating func fetched(
    _ value: Value,
    _ lifetime: CacheLifetime?,
    age: Duration,
    cost: Int,
    for key: Key,
    by fetch: Int,
    now: Duration,
    events: inout UntoldEvents<CacheEvent<Key>>
  ) {
    guard fetches[key] == fetch else { return }
    store(value, lifetime, cost: cost, for: key, now: now - age, events: &events)
  }

  /// A fetch has failed.
  mutating func failed(
    _ error: Failure,
    for key: Key,
    by fetch: Int,
    now: Duration,
    events: inout UntoldEvents<CacheEvent<Key>>
  ) {
    guard fetches[key] == fetch, policy.negative > .zero else { return }
    // A value that may still help is worth more than the failure.
    if let entry = entries.peek(key), case .value(_, let lifetime, _) = entry.content, now - entry.stored < lifetime.end
    {
      return
    }
    events.append(.storedFailure(key, error))
    put(Entry(content: .failure(error), stored: now), for: key, events: &events)
  }

  /// A fetch is over, or was cancelled.
  mutating func endFetch(_ key: Key, _ fetch: Int) {
    if fetches[key] == fetch { fetches[key] = nil }
  }

  /// A fetch goes on behind the back of who has begun it, in place of a stale value.
  ///
  /// - Returns: Its number from here on, which whoever has begun it does not end; `nil` if nothing of it is to be kept.
  mutating func passOn(_ key: Key, _ fetch: Int) -> Int? {
    guard fetches[key] == fetch else { return nil }
    revalidated.insert(key)
    return beginFetch(key)
  }

  /// Nobody fetches a new value in place of a stale one any more.
  mutating func endRevalidation(_ key: Key) {
    revalidated.remove(key)
  }

  /// The stale value to deliver in place of an error.
  mutating func fallback(
    _ key: Key,
    _ error: Failure,
    now: Duration,
    events: inout UntoldEvents<CacheEvent<Key>>
  ) -> (value: Value, age: Duration)? {
    guard let entry = entries.use(key), case .value(let value, let lifetime, _) = entry.content else { return nil }
    let age = max(now - entry.stored, .zero)
    guard age < lifetime.fresh + lifetime.staleIfError else { return nil }
    events.append(.staleIfError(key, age: age, error))
    return (value, age)
  }

  mutating func store(
    _ value: Value,
    _ lifetime: CacheLifetime?,
    cost: Int,
    for key: Key,
    now: Duration,
    events: inout UntoldEvents<CacheEvent<Key>>
  ) {
    let lifetime = lifetime ?? policy.lifetime
    if let most = policy.maxCost, cost > most {
      remove(key)
      events.append(.tooCostly(key, cost: cost))
      return
    }
    guard lifetime.end > .zero else { return remove(key) }
    events.append(.stored(key))
    remove(key)
    // Together no more than a number holds: what is over that is not counted, and not taken away again either.
    let counted = min(max(cost, 0), .max - self.cost)
    put(Entry(content: .value(value, lifetime, cost: counted), stored: now), for: key, events: &events)
  }

  @inlinable
  mutating func remove(_ key: Key) {
    if let entry = entries.remove(key) { release(entry) }
  }

  /// Forgets a key, and keeps nothing of a fetch that is under way.
  mutating func forget(_ key: Key) {
    remove(key)
    forgetFetch(key)
  }

  /// Keeps nothing of a fetch that is under way.
  mutating func forgetFetch(_ key: Key) {
    fetches[key] = nil
    revalidated.remove(key)
  }

  /// Forgets all keys, and keeps nothing of the fetches that are under way.
  mutating func forgetAll() {
    removed.append(entries)
    entries = LeastRecentlyUsed()
    cost = 0
    fetches = [:]
    revalidated = []
  }

  private mutating func put(_ entry: Entry, for key: Key, events: inout UntoldEvents<CacheEvent<Key>>) {
    if let before = entries.set(entry, for: key) { release(before) }
    if case .value(_, _, let added) = entry.content { cost += added }
    while entries.count > policy.maxCount || policy.maxCost.map({ cost > $0 }) ?? false {
      guard let (oldest, entry) = entries.removeOldest() else { return }
      release(entry)
      events.append(.evicted(oldest))
    }
  }

  @inlinable
  mutating func release(_ entry: Entry) {
    if case .value(_, _, let saved) = entry.content { cost -= saved }
    removed.append(entry)
  }
}
