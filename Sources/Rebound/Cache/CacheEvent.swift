/// Something that was decided about a kept value; a warning if something went wrong.
public enum CacheEvent<Key: Sendable>: Sendable {
  /// A fresh value was there.
  case hit(Key, age: Duration)
  /// A stale value was there; it is delivered, and a new one is fetched, unless that goes on already.
  case revalidates(Key, age: Duration)
  /// A stale value is delivered since a new one could not be had.
  case staleIfError(Key, age: Duration, any Error)
  /// A failure was there, and is delivered without another call.
  case hitFailure(Key, any Error)
  /// Nothing was there that is good enough.
  case missed(Key)
  /// A value was kept.
  case stored(Key)
  /// A value was not kept, since it alone costs more than all may.
  case tooCostly(Key, cost: Int)
  /// A failure was kept.
  case storedFailure(Key, any Error)
  /// A new value could not be had, and nobody waits for it.
  case revalidationFailed(Key, any Error)
  /// A value had to go, since there were too many, or they cost too much.
  case evicted(Key)
}

extension CacheEvent: RecordedDecision {
  /// That of caches.
  public static var kind: PolicyKind { .cache }

  var record: DecisionRecord {
    switch self {
    case .hit(let key, let age): .init(.info, "hit", "\(key): hit, \(age) old")
    case .revalidates(let key, let age):
      .init(.info, "revalidates", "\(key): stale, \(age) old; delivered while a new one is fetched")
    case .staleIfError(let key, let age, let error):
      .init(.warning, "stale_if_error", "\(key): stale, \(age) old; delivered since the call failed (\(error))")
    case .hitFailure(let key, let error):
      .init(.warning, "hit_failure", "\(key): failed lately (\(error)); not called again")
    case .missed(let key): .init(.info, "missed", "\(key): missed")
    case .stored(let key): .init(.info, "stored", "\(key): stored")
    case .tooCostly(let key, let cost): .init(.warning, "too_costly", "\(key): not stored; costs \(cost)")
    case .storedFailure(let key, let error): .init(.warning, "stored_failure", "\(key): failure stored (\(error))")
    case .revalidationFailed(let key, let error):
      .init(.warning, "revalidation_failed", "\(key): no new value (\(error)); the stale one stays")
    case .evicted(let key): .init(.info, "evicted", "\(key): evicted")
    }
  }
}

extension PolicyKind {
  /// That of a ``Cache``.
  public static let cache = PolicyKind("cache")
}

extension Cache: EventTelling {}
