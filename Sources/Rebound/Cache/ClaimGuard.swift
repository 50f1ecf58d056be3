import StreamSupport

/// A claim in the hands of whoever is to fetch; one that is forgotten is given up.
///
/// On its way from the storage to the fetch a cancel may drop it anywhere, and nobody else knows that there was one.
final class ClaimGuard<Key: Hashable & Sendable, Value>: Sendable {
  private let claim: CacheClaim
  private let key: Key
  private let storage: any CacheStorage<Key, Value>
  private let isHeld = Locked(true)

  init(_ claim: CacheClaim, of key: Key, in storage: any CacheStorage<Key, Value>) {
    (self.claim, self.key, self.storage) = (claim, key, storage)
  }

  deinit {
    giveUp()
  }

  /// Keeps what was fetched, which ends the claim.
  func store(_ value: Value, lifetime: CacheLifetime) {
    if isHeld.exchange(false) { storage.store(value, lifetime: lifetime, for: key, under: claim) }
  }

  /// Lets another one fetch; nothing happens once a value is stored.
  func giveUp() {
    if isHeld.exchange(false) { storage.release(claim, for: key) }
  }
}
