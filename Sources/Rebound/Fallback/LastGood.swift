import StreamSupport

/// The last good answers, to be shown when there is no new one: "saved copy, 5 minutes old".
///
///     let forecasts = try LastGood<City, Forecast>(capacity: 50)
///     request
///       .remember(in: forecasts, for: city)
///       .fallback(to: forecasts, for: city, maxAge: .seconds(3600))
///
/// One store is shared by everything that asks for the same kind of answer. It keeps one value for a key, in memory, and
/// forgets the one that was neither remembered nor read for the longest time when there are too many. It is no cache: no
/// request is left out because of it.
///
/// With a shared ``CacheStorage``, a process that has just begun has the last good answers of the others: each answer is
/// stored there, too, and looked up there when a new one has failed.
///
/// Only `==` and the hash of a key run under its lock; values are released with the lock open.
public final class LastGood<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A value that was kept.
  public struct Saved {
    /// The value.
    public let value: Value
    /// How long ago it was remembered.
    public let age: Duration
  }

  @usableFromInline struct Entry {
    @usableFromInline let value: Value
    @usableFromInline let moment: Duration

    @inlinable
    init(value: Value, moment: Duration) { (self.value, self.moment) = (value, moment) }
  }

  @usableFromInline struct State {
    @usableFromInline var entries = LeastRecentlyUsed<Key, Entry>()
    /// The latest present that a call has brought; a step back counts as no time at all.
    @usableFromInline var latest = Duration.zero

    @inlinable
    init() {}
  }

  /// How many values are kept at most.
  public let capacity: Int
  @usableFromInline let state = Locked(State())
  @usableFromInline let storage: (any CacheStorage<Key, Value>)?
  @usableFromInline let lifetime: CacheLifetime

  /// Makes an empty store.
  ///
  /// - Parameters:
  ///   - capacity: How many values are kept at most in this process; at least one.
  ///   - storage: Where other processes find the values, too; `nil` for none.
  ///   - keptFor: How long the storage keeps a value.
  /// - Throws: ``InvalidPolicy`` if nothing could be kept.
  public init(
    capacity: Int = 100,
    storage: (any CacheStorage<Key, Value>)? = nil,
    keptFor: Duration = .seconds(86_400)
  ) throws(InvalidPolicy) {
    let kind = PolicyKind("last good value")
    try kind.require("capacity", capacity, "Give at least 1.") { $0 >= 1 }
    try kind.require("keptFor", keptFor, "Give a positive duration.") { $0 > .zero }
    (self.capacity, self.storage) = (capacity, storage)
    lifetime = CacheLifetime(fresh: keptFor)
  }

  /// How many values are kept.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Keeps a value, in place of the one before.
  ///
  /// - Parameters:
  ///   - value: What is kept.
  ///   - key: What the value answers.
  ///   - now: The present, from which its age counts.
  ///
  /// - Complexity: O(1).
  @inlinable
  public func remember(_ value: Value, for key: Key, at now: Duration = TimeSource.current.now) {
    let released: (Entry?, (Key, Entry)?) = state.withLock { state in
      state.latest.advance(to: now)
      let before = state.entries.set(Entry(value: value, moment: state.latest), for: key)
      return (before, state.entries.count > capacity ? state.entries.removeOldest() : nil)
    }
    withExtendedLifetime(released) {}
    storage?.store(value, lifetime: lifetime, for: key, under: nil)
  }

  /// The value that was remembered last for a key, in this process.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - maxAge: Beyond which age a value is of no use; `nil` takes any. It is kept all the same.
  ///   - now: The present.
  /// - Returns: `nil` if there is none that is young enough.
  ///
  /// - Complexity: O(1).
  public func value(
    for key: Key,
    maxAge: Duration? = nil,
    at now: Duration = TimeSource.current.now
  ) -> Saved? {
    let saved: Saved? = state.withLock { state in
      state.latest.advance(to: now)
      return state.entries.use(key).map { Saved(value: $0.value, age: state.latest - $0.moment) }
    }
    guard let saved, saved.age <= maxAge ?? saved.age else { return nil }
    return saved
  }

  /// The value that was remembered last for a key, in this process or in another one that shares the storage.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - maxAge: Beyond which age a value is of no use; `nil` takes any. It is kept all the same.
  ///   - now: The present.
  /// - Returns: `nil` if there is none that is young enough.
  public func latestValue(
    for key: Key,
    maxAge: Duration? = nil,
    at now: Duration = TimeSource.current.now
  ) async -> Saved? {
    let own = value(for: key, maxAge: maxAge, at: now)
    guard let storage, let stored = await storage.peek(key), stored.isFresh, stored.age <= maxAge ?? stored.age else {
      return own
    }
    if let own, own.age <= stored.age { return own }
    return Saved(value: stored.value, age: stored.age)
  }

  /// Forgets the value of a key, in the storage, too.
  public func forget(_ key: Key) {
    let released = state.withLock { $0.entries.remove(key) }
    withExtendedLifetime(released) {}
    storage?.remove(key)
  }

  /// Forgets everything, at a log-out, say; but for what a storage keeps.
  public func forgetAll() {
    let released = state.withLock { state in
      let released = state.entries
      state.entries = LeastRecentlyUsed()
      return released
    }
    withExtendedLifetime(released) {}
  }
}

extension LastGood.Saved: Sendable {}

/// An answer, and where it comes from.
public struct Sourced<Value> {
  /// Where an answer comes from.
  public enum Source: Sendable {
    /// It has just come.
    case fresh
    /// It was kept, since this long, and stands in for one that failed with this.
    case saved(age: Duration, reason: any Error)
  }

  /// The answer.
  public let value: Value
  /// Where it comes from.
  public let source: Source

  /// Describes an answer.
  ///
  /// - Parameters:
  ///   - value: The answer.
  ///   - source: Where it comes from.
  @inlinable
  public init(_ value: Value, from source: Source) {
    self.value = value
    self.source = source
  }

  /// How old a kept answer is; `nil` for a fresh one.
  public var age: Duration? { if case .saved(let age, _) = source { age } else { nil } }

  /// What a new answer failed with; `nil` for a fresh one.
  public var reason: (any Error)? { if case .saved(_, let reason) = source { reason } else { nil } }
}

extension Sourced: Sendable where Value: Sendable {}
