/// Where the caches of many processes keep what one of them has fetched, and agree on who fetches.
///
/// A ``Cache`` with a storage keeps values in memory as one without does, and asks the storage only where it would fetch:
/// so what is fresh here takes no way, and one of all caches fetches what none has. ``InMemoryCacheStorage`` is one for the
/// caches of one process. A storage whose server is away finds nothing and gives no claim; the cache then fetches by itself.
///
/// It is called from any thread. Only ``look(_:)`` and ``peek(_:)`` wait.
public protocol CacheStorage<Key, Value>: Sendable {
  /// What is asked for.
  associatedtype Key: Hashable & Sendable
  /// What is kept.
  associatedtype Value: Sendable

  /// Finds out what is kept, and whether the caller is to fetch a new value.
  ///
  /// While somebody else fetches, and nothing is kept that may be delivered meanwhile, this waits; it ends when there is a
  /// value, or when the claim is given up or over and becomes the caller's. A task that is cancelled, or whose
  /// ``Deadline/current`` is over, waits no longer.
  func look(_ key: Key) async -> CacheFinding<Value>

  /// What is kept, if anything is; claims nothing.
  func peek(_ key: Key) async -> StoredValue<Value>?

  /// Keeps a value.
  ///
  /// - Parameters:
  ///   - value: What is kept.
  ///   - lifetime: How long it is good, from now on.
  ///   - key: What it answers.
  ///   - claim: Under which it was fetched: if that is somebody else's by now, or was removed, nothing is kept. `nil` for a
  ///     value that came another way, which is kept in any case.
  func store(_ value: Value, lifetime: CacheLifetime, for key: Key, under claim: CacheClaim?)

  /// Gives a claim up without a value.
  func release(_ claim: CacheClaim, for key: Key)

  /// Forgets a key, and whose claim it is.
  func remove(_ key: Key)
}

/// The right to fetch the value of a key, which one at a time has.
public struct CacheClaim: Hashable, Sendable {
  /// What nobody else's claim is called.
  public let name: String

  /// Makes a claim.
  public init(name: String) {
    self.name = name
  }
}

/// A value in a ``CacheStorage``.
public struct StoredValue<Value> {
  /// The value.
  public let value: Value
  /// How long ago it was stored, by the storage's clock.
  public let age: Duration
  /// How long it is good, from when it was stored.
  public let lifetime: CacheLifetime

  /// Describes a value in a storage.
  public init(_ value: Value, age: Duration, lifetime: CacheLifetime) {
    self.value = value
    self.age = age
    self.lifetime = lifetime
  }

  /// Whether it is as good as a new one.
  public var isFresh: Bool { age < lifetime.fresh }
  /// Whether it may be delivered while a new one is fetched.
  public var isGoodWhileRevalidated: Bool { age < lifetime.fresh + lifetime.staleWhileRevalidate }
}

extension StoredValue: Sendable where Value: Sendable {}

/// What a ``CacheStorage`` says to whoever wants the value of a key.
public struct CacheFinding<Value> {
  /// What is kept, fresh or stale.
  public let stored: StoredValue<Value>?
  /// Whether the caller is to fetch a new value, and under which claim.
  ///
  /// With neither a value nor a claim, the storage is of no help, and the caller goes by itself.
  public let claim: CacheClaim?
  /// Whether who looks had no time to wait for the value that somebody else fetches.
  package var isCutShort = false

  /// Describes what was found.
  public init(stored: StoredValue<Value>?, claim: CacheClaim?) {
    self.stored = stored
    self.claim = claim
  }
}

extension CacheFinding: Sendable where Value: Sendable {}

extension CacheFinding {
  /// Nothing was found in the time that there was.
  package static var cutShort: CacheFinding {
    var finding = CacheFinding(stored: nil, claim: nil)
    finding.isCutShort = true
    return finding
  }
}
