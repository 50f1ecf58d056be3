import Combine
import StreamSupport

/// What several caches of one process share: the ``CacheStorage`` in memory.
///
///     let storage = try InMemoryCacheStorage<City, Forecast>(claimsLast: .seconds(10), capacity: 1_000)
///     let forecasts = Cache<City, Forecast, any Error>(policy: policy, storage: storage)
public final class InMemoryCacheStorage<Key: Hashable & Sendable, Value: Sendable>: CacheStorage {
  private struct Claimed {
    let claim: CacheClaim
    let until: Duration
  }

  private struct Entry {
    let value: Value
    let lifetime: CacheLifetime
    let stored: Duration
  }

  private struct State {
    var entries = LeastRecentlyUsed<Key, Entry>()
    var claims: [Key: Claimed] = [:]
    /// Those who wait for somebody else's value; woken to look again.
    var waiters: [Key: [Int: OneShot]] = [:]
    var lastWaiter = 0
    var lastClaim = 0
  }

  private enum Look {
    case found(CacheFinding<Value>)
    /// Somebody else fetches, until then at the latest.
    case wait(Duration)
  }

  private let claimTime: Duration
  private let capacity: Int
  private let time: TimeSource
  private let state = Locked(State())

  /// Makes an empty storage.
  ///
  /// - Parameters:
  ///   - claimTime: How long a claim lasts whose owner is not heard of.
  ///   - capacity: How many values are kept at most; the one whose last use is the longest ago goes first.
  ///   - time: Measures ages and claims.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(claimsLast claimTime: Duration, capacity: Int = 1_000, time: TimeSource = .current) throws(InvalidPolicy)
  {
    try PolicyKind.cache.require("claimsLast", claimTime, "Give a positive duration.") { $0 > .zero }
    try PolicyKind.cache.require("capacity", capacity, "Give at least 1.") { $0 >= 1 }
    (self.claimTime, self.capacity, self.time) = (claimTime.clampedToDelay, capacity, time)
  }

  /// Finds out what is kept, and whether the caller is to fetch a new value.
  public func look(_ key: Key) async -> CacheFinding<Value> {
    while true {
      switch lookOnce(key) {
      case .found(let finding): return finding
      case .wait(let until):
        do {
          try await Answer.wait(until: Deadline.toHeed) { (wake: @escaping @Sendable (Result<Void, Never>) -> Void) in
            self.wait(for: key, until: until) { wake(.success(())) }
          }
        } catch { return .cutShort }
      }
    }
  }

  private func lookOnce(_ key: Key) -> Look {
    let now = time.now
    return state.withLock { state in
      let stored = state.entries.use(key).map {
        StoredValue($0.value, age: max(now - $0.stored, .zero), lifetime: $0.lifetime)
      }
      if let stored, stored.isFresh { return .found(CacheFinding(stored: stored, claim: nil)) }
      if let claimed = state.claims[key], now < claimed.until {
        guard let stored, stored.isGoodWhileRevalidated else { return .wait(claimed.until) }
        return .found(CacheFinding(stored: stored, claim: nil))
      }
      state.lastClaim += 1
      let claim = CacheClaim(name: "\(state.lastClaim)")
      state.claims[key] = Claimed(claim: claim, until: now + claimTime)
      return .found(CacheFinding(stored: stored, claim: claim))
    }
  }

  /// - Returns: Has it wait no longer; released at the latest when nobody waits for it any more, however that came.
  private func wait(for key: Key, until: Duration, _ wake: @escaping @Sendable () -> Void) -> AnyCancellable {
    let waiter = OneShot(wake)
    let number = state.withLock { state in
      state.lastWaiter += 1
      state.waiters[key, default: [:]][state.lastWaiter] = waiter
      return state.lastWaiter
    }
    waiter.keep(time.after(until - time.now) { waiter.fire() })
    // What it waits for may have come before it was there.
    let isOver = state.withLock { $0.claims[key]?.until != until }
    if isOver { waiter.fire() }
    return AnyCancellable { [self] in
      waiter.cancel()
      leave(number, key)
    }
  }

  private func leave(_ number: Int, _ key: Key) {
    let released: (OneShot?, (key: Key, value: [Int: OneShot])?)? = state.withLock { state in
      guard let place = state.waiters.index(forKey: key) else { return nil }
      let waiter = state.waiters.values[place].removeValue(forKey: number)
      return (waiter, state.waiters.values[place].isEmpty ? state.waiters.remove(at: place) : nil)
    }
    withExtendedLifetime(released) {}
  }

  /// Wakes those who wait, in the order in which they came.
  private func wake(_ waiters: [Int: OneShot]?) {
    for (_, waiter) in (waiters ?? [:]).sorted(by: { $0.key < $1.key }) { waiter.fire() }
  }

  /// What is kept, if anything is.
  public func peek(_ key: Key) async -> StoredValue<Value>? {
    let now = time.now
    return state.withLock { state in
      state.entries.peek(key).map { StoredValue($0.value, age: max(now - $0.stored, .zero), lifetime: $0.lifetime) }
    }
  }

  /// Keeps a value, if it was fetched under the claim that holds, or under none.
  public func store(_ value: Value, lifetime: CacheLifetime, for key: Key, under claim: CacheClaim?) {
    let now = time.now
    let (woken, released): ([Int: OneShot]?, [Entry?]) = state.withLock { state in
      guard claim == nil || state.claims[key]?.claim == claim else { return (nil, []) }
      state.claims[key] = nil
      let before = state.entries.set(Entry(value: value, lifetime: lifetime, stored: now), for: key)
      let oldest = state.entries.count > capacity ? state.entries.removeOldest()?.value : nil
      return (state.waiters.removeValue(forKey: key), [before, oldest])
    }
    withExtendedLifetime(released) {}
    wake(woken)
  }

  /// Gives a claim up without a value.
  public func release(_ claim: CacheClaim, for key: Key) {
    let woken: [Int: OneShot]? = state.withLock { state in
      guard state.claims[key]?.claim == claim else { return nil }
      state.claims[key] = nil
      return state.waiters.removeValue(forKey: key)
    }
    wake(woken)
  }

  /// Forgets a key, and whose claim it is.
  public func remove(_ key: Key) {
    let (woken, released): ([Int: OneShot]?, Entry?) = state.withLock { state in
      state.claims[key] = nil
      return (state.waiters.removeValue(forKey: key), state.entries.remove(key))
    }
    withExtendedLifetime(released) {}
    wake(woken)
  }
}
