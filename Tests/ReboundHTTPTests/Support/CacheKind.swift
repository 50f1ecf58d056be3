import Foundation
import Rebound

@testable import ReboundHTTP

/// Where a cache under test keeps its copies: what holds of one holds of all.
enum CacheKind: String, CaseIterable, Sendable {
  case inMemory
  /// In memory, with files behind it.
  case inFolder
  /// In files alone, as if each request came from another process.
  case inNewProcesses

  func cache(capacity: Int = 20_000_000, staleIfError: Duration = .zero) -> HTTPCache {
    guard self != .inMemory else { return HTTPCache(capacity: capacity, staleIfError: staleIfError) }
    let storage = FileHTTPCacheStorage(in: MemoryFolder()) { .zero }
    return HTTPCache(capacity: capacity, staleIfError: staleIfError, at: storage) { _ in }
  }

  /// What happens before each request.
  func prepare(_ cache: HTTPCache) {
    if self == .inNewProcesses { cache.releaseMemory() }
  }
}

extension FileHTTPCacheStorage {
  convenience init(in folder: any CacheFolder, clock: @escaping @Sendable () -> Duration) {
    self.init(in: folder, maxBytes: 100_000_000, maxEntries: 10_000, clock: clock)
  }
}

extension HTTPCache {
  /// A cache whose storage works at once, on the thread of whoever asks.
  convenience init(
    capacity: Int = 20_000_000,
    staleIfError: Duration = .zero,
    at storage: any HTTPCacheStorage,
    work: @escaping HTTPCacheStorageQueue.Run = { $0() },
    onFailure: @escaping @Sendable (HTTPCacheStorageFailure) -> Void
  ) {
    let storageQueue = HTTPCacheStorageQueue(
      storage,
      pendingLimit: capacity,
      work: work,
      tell: { $0() },
      onFailure: onFailure
    )
    self.init(capacity: capacity, staleIfError: staleIfError, storageQueue: storageQueue)
  }
}
