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
/// Only `==` and the hash of a key run under its lock; values are released with the lock open.
public final class LastGood<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// A value that was kept.
  public struct Saved {
    /// The value.
    public let value: Value
    /// How long ago it was remembered.
    public let age: Duration
  }

  private struct Entry {
    let value: Value
    let moment: Duration
  }

  private struct State {
    var entries = LeastRecentlyUsed<Key, Entry>()
    /// The latest present that a call has brought; a step back counts as no time at all.
    var latest = Duration.zero
  }

  /// How many values are kept at most.
  public let capacity: Int
  private let state = Locked(State())

  /// Makes an empty store.
  ///
  /// - Parameter capacity: How many values are kept at most; at least one.
  /// - Throws: ``InvalidPolicy`` if nothing could be kept.
  public init(capacity: Int = 100) throws(InvalidPolicy) {
    try PolicyKind("last good value").require("capacity", capacity, "Give at least 1.") { $0 >= 1 }
    self.capacity = capacity
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
  public func remember(_ value: Value, for key: Key, at now: Duration = TimeSource.current.now) {
    let released: [Value?] = state.withLock { state in
      state.latest = max(state.latest, now)
      let before = state.entries.set(Entry(value: value, moment: state.latest), for: key)
      return [before?.value, state.entries.count > capacity ? state.entries.removeOldest()?.value.value : nil]
    }
    withExtendedLifetime(released) {}
  }

  /// The value that was remembered last for a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - maxAge: From which age on a value is of no use; `nil` takes any. It is kept all the same.
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
      state.latest = max(state.latest, now)
      return state.entries.use(key).map { Saved(value: $0.value, age: state.latest - $0.moment) }
    }
    guard let saved, saved.age <= maxAge ?? saved.age else { return nil }
    return saved
  }

  /// Forgets the value of a key.
  public func forget(_ key: Key) {
    let released = state.withLock { $0.entries.remove(key) }
    withExtendedLifetime(released) {}
  }

  /// Forgets everything, at a log-out, say.
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
