import Rebound

/// A storage that lets everybody fetch who looks, and writes down who looked and which claims were given up.
final class ClaimCountingStorage: CacheStorage {
  /// Written down with each look.
  @TaskLocal static var isWanted = false

  let looks = Log<Bool>()
  let releases = Log<CacheClaim>()
  let claim = CacheClaim(name: "claim")
  private let stored: StoredValue<Int>?

  /// - Parameter stored: What is found.
  init(stored: StoredValue<Int>? = nil) {
    self.stored = stored
  }

  func look(_ key: String) async -> CacheFinding<Int> {
    looks.write(Self.isWanted)
    return CacheFinding(stored: stored, claim: claim)
  }

  func peek(_ key: String) async -> StoredValue<Int>? { stored }
  func store(_ value: Int, lifetime: CacheLifetime, for key: String, under claim: CacheClaim?) {}
  func release(_ claim: CacheClaim, for key: String) { releases.write(claim) }
  func remove(_ key: String) {}
}
