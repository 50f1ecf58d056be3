extension HTTPCacheStorageQueue {
  /// Forgets a copy behind the caller's back.
  func remove(
    _ copy: CachedCopy,
    _ key: HTTPCache.Key,
    in cache: HTTPCache,
    then: @escaping @Sendable () -> Void
  ) {
    forget(in: cache) { [self] in
      let digest = HTTPCacheKeyDigest(key)
      if settle(digest.name.address) {
        do {
          try storage.remove(place(for: copy, digest, limit(cache)).0)
        } catch {
          owe(digest.name.address)
          onFailure(HTTPCacheStorageFailure(.removing, name: digest.name, underlying: error))
        }
      }
      then()
    }
  }

  /// Forgets all copies of these addresses behind the caller's back.
  func removeAll(of urls: Set<String>, in cache: HTTPCache, then: @escaping @Sendable () -> Void) {
    forget(in: cache) { [self] in
      for address in urls.map(HTTPCacheKeyDigest.address) { forget(address) }
      then()
    }
  }

  /// Forgets everything behind the caller's back, also what is read from the storage meanwhile.
  func removeAll(in cache: HTTPCache) {
    forget(in: cache) { [self] in forgetAll(in: cache) }
  }

  private func forgetAll(in cache: HTTPCache) {
    state.withLock { $0.debts.isAll = true }
    _ = settle("")
    cache.releaseMemory()
  }

  /// Forgets something, or more than that if too much waits to be forgotten, behind the caller's back.
  private func forget(in cache: HTTPCache, _ removal: @escaping @Sendable () -> Void) {
    switch state.withLock({ $0.removals.enter() }) {
    case .own:
      work { [self] in
        state.withLock { $0.removals.leave() }
        removal()
      }
    case .everything: purge(cache)
    case .none: break
    }
  }

  private func purge(_ cache: HTTPCache) {
    work { [self] in
      forgetAll(in: cache)
      if state.withLock({ $0.removals.endPurge() }) { purge(cache) }
    }
  }

  func forget(_ address: String) {
    owe(address)
    _ = settle(address)
  }

  func owe(_ address: String) { state.withLock { $0.debts.owe(address) } }

  /// Forgets what is still to be forgotten, before anything of an address is read or written.
  ///
  /// - Returns: Whether that is done; otherwise what is there may be out of date.
  func settle(_ address: String) -> Bool {
    let debts = state.withLock { $0.debts }
    do {
      if debts.isAll {
        try storage.removeAll()
        state.withLock { $0.debts = HTTPCacheDebts() }
      } else if debts.addresses.contains(address) {
        try storage.removeAll(ofAddress: address)
        state.withLock { _ = $0.debts.addresses.remove(address) }
      }
      return true
    } catch {
      onFailure(HTTPCacheStorageFailure(.removing, underlying: error))
      return false
    }
  }
}
