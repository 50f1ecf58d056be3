/// Something that was decided about a kept value.
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

extension CacheEvent: CustomStringConvertible {
  /// One line for a log: "oslo: hit, 12.0 seconds old".
  public var description: String {
    switch self {
    case .hit(let key, let age): "\(key): hit, \(age) old"
    case .revalidates(let key, let age): "\(key): stale, \(age) old; delivered while a new one is fetched"
    case .staleIfError(let key, let age, let error):
      "\(key): stale, \(age) old; delivered since the call failed (\(error))"
    case .hitFailure(let key, let error): "\(key): failed lately (\(error)); not called again"
    case .missed(let key): "\(key): missed"
    case .stored(let key): "\(key): stored"
    case .tooCostly(let key, let cost): "\(key): not stored; costs \(cost)"
    case .storedFailure(let key, let error): "\(key): failure stored (\(error))"
    case .revalidationFailed(let key, let error): "\(key): no new value (\(error)); the stale one stays"
    case .evicted(let key): "\(key): evicted"
    }
  }
}

extension CacheEvent: PolicyDecision {
  /// That of caches.
  public static var kind: PolicyKind { .cache }

  /// A warning if something went wrong.
  public var severity: PolicyEvent.Severity {
    switch self {
    case .staleIfError, .hitFailure, .storedFailure, .revalidationFailed, .tooCostly: .warning
    case .hit, .revalidates, .missed, .stored, .evicted: .info
    }
  }

  /// The decision in a word, without the key.
  public var word: String {
    switch self {
    case .hit: "hit"
    case .revalidates: "revalidates"
    case .staleIfError: "stale_if_error"
    case .hitFailure: "hit_failure"
    case .missed: "missed"
    case .stored: "stored"
    case .tooCostly: "too_costly"
    case .storedFailure: "stored_failure"
    case .revalidationFailed: "revalidation_failed"
    case .evicted: "evicted"
    }
  }
}

extension PolicyKind {
  /// That of a ``Cache``.
  public static let cache = PolicyKind("cache")
}

extension Cache: PolicyObservable {
  /// That of caches.
  public static var kind: PolicyKind { .cache }
  /// Tells one more observer what is decided, as ``onEvent(_:)`` does.
  public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) { onEvent { observer($0) } }
}
