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
/// Unchecked, because the lock guards all that changes. Only `==` and the hash of a key run under it; values are released
/// with the lock open.
public final class LastGood<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  /// A value that was kept.
  public struct Saved {
    /// The value.
    public let value: Value
    /// How long ago it was remembered.
    public let age: Duration
  }

  private struct Entry {
    let value: Value
    let time: Duration
    /// The number of the latest use.
    var use: Int
  }

  /// How many values are kept at most.
  public let capacity: Int

  private let time: MonotonicTime
  private let lock = Lock()
  private var entries: [Key: Entry] = [:]
  /// Every use in order, also those that later ones have superseded.
  private var uses: ArraySlice<(key: Key, number: Int)> = []
  private var lastUse = 0

  /// Makes an empty store.
  ///
  /// - Parameters:
  ///   - capacity: How many values are kept at most; at least one.
  ///   - time: Measures the age of values.
  /// - Throws: ``InvalidLastGood`` if nothing could be kept.
  public init(capacity: Int = 100, time: MonotonicTime = .continuous) throws(InvalidLastGood) {
    guard capacity >= 1 else { throw .capacityNotPositive(capacity) }
    self.capacity = capacity
    self.time = time
  }

  /// How many values are kept.
  public var count: Int { lock.withLock { entries.count } }

  /// Keeps a value, in place of the one before.
  ///
  /// - Complexity: O(1), amortised.
  public func remember(_ value: Value, for key: Key) {
    let now = time.now
    let released: [Entry?] = lock.withLock {
      let before = entries[key]
      entries[key] = Entry(value: value, time: now, use: 0)
      use(key)
      return [before, entries.count > capacity ? forgetOldest() : nil]
    }
    withExtendedLifetime(released) {}
  }

  /// The value that was remembered last for a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - maxAge: From which age on a value is of no use; `nil` takes any. It is kept all the same.
  /// - Returns: `nil` if there is none that is young enough.
  ///
  /// - Complexity: O(1), amortised.
  public func value(for key: Key, maxAge: Duration? = nil) -> Saved? {
    let now = time.now
    let entry: Entry? = lock.withLock {
      guard let entry = entries[key] else { return nil }
      use(key)
      return entry
    }
    guard let entry else { return nil }
    let age = max(now - entry.time, .zero)
    if let maxAge, age > maxAge { return nil }
    return Saved(value: entry.value, age: age)
  }

  /// Forgets the value of a key.
  public func forget(_ key: Key) {
    let released = lock.withLock { entries.removeValue(forKey: key) }
    withExtendedLifetime(released) {}
  }

  /// Forgets everything, at a log-out, say.
  public func forgetAll() {
    let released = lock.withLock {
      let released = entries
      entries = [:]
      uses = []
      return released
    }
    withExtendedLifetime(released) {}
  }

  /// Notes a use; with the lock held.
  private func use(_ key: Key) {
    lastUse += 1
    entries[key]?.use = lastUse
    uses.append((key, lastUse))
    // As soon as most of the uses are superseded they are dropped, which pays for itself.
    guard uses.count > 2 * capacity + 16 else { return }
    uses = ArraySlice(uses.filter { entries[$0.key]?.use == $0.number })
  }

  /// Forgets the value whose latest use is the oldest; with the lock held.
  private func forgetOldest() -> Entry? {
    while let (key, number) = uses.popFirst() {
      if entries[key]?.use == number { return entries.removeValue(forKey: key) }
    }
    return nil
  }
}

extension LastGood.Saved: Sendable {}

/// A store of last good answers that makes no sense, refused when it is made.
public enum InvalidLastGood: Error, Hashable, Sendable {
  /// It could keep nothing.
  case capacityNotPositive(Int)
}

extension InvalidLastGood: CustomStringConvertible {
  /// What is wrong, and what to give instead.
  public var description: String {
    switch self {
    case .capacityNotPositive(let capacity): "Last good answers: the capacity is \(capacity). Give at least 1."
    }
  }
}

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
