import Combine
import Dispatch
import Foundation
import Rebound
import StreamSupport

/// The way between a cache and its storage.
///
/// All that a storage does, it does on one queue, one thing after the other. So nobody's thread waits for a disk; what was
/// stored or forgotten before a look is so for that look; and no lock is held while a storage works. What waits there is
/// bounded: the bytes that are to be stored, the looks, and what is to be forgotten.
final class HTTPCacheStorageQueue: Sendable {
  /// Runs work somewhere, later or at once.
  typealias Run = @Sendable (@escaping @Sendable () -> Void) -> Void

  struct State {
    /// How many bytes wait to be stored.
    var pending = 0
    /// How many looks wait for their turn.
    var looks = 0
    var removals = HTTPCacheRemovals()
    var debts = HTTPCacheDebts()
  }

  /// How many looks wait at most: the queue has what they are for until the storage goes on, which may hang.
  private static let mostLooks = 1_000

  let storage: any HTTPCacheStorage
  private let pendingLimit: Int
  private let patience: Duration
  let onFailure: @Sendable (HTTPCacheStorageFailure) -> Void
  let state = Locked(State())
  /// Does what may block.
  let work: Run
  /// Says what came of it, apart from the other: whoever is told may take long.
  private let tell: Run

  /// - Parameters:
  ///   - storage: Where copies are kept.
  ///   - pendingLimit: How many bytes may wait to be stored.
  ///   - patience: How long a look may take.
  ///   - work: Runs one thing after the other; by default on a queue of its own.
  ///   - tell: Runs what follows a look; by default on a queue of the system's.
  ///   - onFailure: Told what the storage could not do.
  init(
    _ storage: any HTTPCacheStorage,
    pendingLimit: Int,
    patience: Duration = .seconds(1),
    work: Run? = nil,
    tell: Run? = nil,
    onFailure: @escaping @Sendable (HTTPCacheStorageFailure) -> Void
  ) {
    (self.storage, self.pendingLimit, self.patience, self.onFailure) = (storage, pendingLimit, patience, onFailure)
    let queue = DispatchQueue(label: "rebound.http-cache")
    self.work = work ?? { queue.schedule($0) }
    self.tell = tell ?? { DispatchQueue.global().schedule($0) }
  }

  // MARK: Looking

  /// Looks for the copy that answers a request, for no longer than the call has time, which begins now.
  func look(
    _ key: HTTPCache.Key,
    for request: HTTPRequest,
    in cache: HTTPCache
  ) -> SingleAnswer<CachedCopy?, NetworkFailure> {
    let deadline = request.timeLeft?.deadline
    return SingleAnswer(name: "HTTPCache") { [self] answer in
      let first = FirstAnswer { [tell] copy in
        // On another thread, where the deadline would be lost.
        tell { Deadline.replaced(by: deadline) { answer(.success(copy)) } }
      }
      // Whoever enforces a deadline from outside ends the look as well.
      let rest = deadline.map { $0.isEnforced ? patience : min($0.remaining, patience) } ?? patience
      @Sendable func goOn(blamingStorage isToBlame: Bool) {
        let isFirst = first.come { cache.kept(for: key, answering: request.message)?.copy }
        if isFirst, isToBlame { onFailure(HTTPCacheStorageFailure(.slow, name: HTTPCacheKeyDigest(key).name)) }
      }
      let mayWait = state.withLock { state in
        guard state.looks < HTTPCacheStorageQueue.mostLooks else { return false }
        state.looks += 1
        return true
      }
      guard mayWait else {
        goOn(blamingStorage: true)
        return first
      }
      work { [self] in
        state.withLock { $0.looks -= 1 }
        if first.isAwaited { first.come { find(key, request, in: cache) } }
      }
      // The storage is not to blame that a call has less time.
      first.keep(request.time.after(rest) { [self] in goOn(blamingStorage: rest == patience) })
      return first
    }
  }

  private func find(_ key: HTTPCache.Key, _ request: HTTPRequest, in cache: HTTPCache) -> CachedCopy? {
    let digest = HTTPCacheKeyDigest(key)
    var kept = cache.kept(for: key, answering: request.message)
    guard settle(digest.name.address) else { return kept?.copy }
    do {
      if let known = kept {
        // What is in memory alone is all that there is: what waited to be stored when this look began is stored by now.
        guard let place = known.place else { return known.copy }
        let finding = try storage.find(place.name, known: place.version, limit: limit(cache))
        if case .unchanged(let version) = finding, try isInForce(known.copy, place.name),
          let place = try inFamily(place, version, digest, limit(cache))
        {
          cache.note(place, ofCopy: known.number, for: key)
          return known.copy
        }
        // Somebody has removed or replaced it.
        cache.drop(known.number, for: key)
        kept = nil
      }
      return try read(key, digest, request, into: cache)
    } catch {
      onFailure(HTTPCacheStorageFailure(.finding, name: digest.name, underlying: error))
      return kept?.copy
    }
  }

  private func read(
    _ key: HTTPCache.Key,
    _ digest: HTTPCacheKeyDigest,
    _ request: HTTPRequest,
    into cache: HTTPCache
  ) throws -> CachedCopy? {
    var name = digest.name
    guard var (stored, version) = try load(name, digest, limit(cache)) else { return nil }
    var first: HTTPCache.FirstPlace?
    let wanted = stored.variant.map { HTTPHeaders.Field($0.name, request.message.headers[$0.name] ?? "") }
      .map { HTTPHeaders.Field($0.name, digest.digest(of: $0)) }
    if wanted != stored.variant {
      name = digest.name(of: wanted)
      // One of another family is older than what has taken the first place since.
      guard let second = try load(name, digest, limit(cache)), second.0.family == stored.family else { return nil }
      first = HTTPCache.FirstPlace(family: stored.family, version: version)
      (stored, version) = second
    }
    let time = request.time
    let copy = stored.copy(answering: request.message, for: digest, now: time.now, wallClock: time.wallClock)
    guard let copy else { return nil }
    guard try isInForce(copy, name) else {
      try storage.remove(name)
      return nil
    }
    let place = HTTPCache.Place(name: name, version: version, first: first)
    _ = cache.keepInMemory(copy, for: key, answering: request.message, at: place)
    return copy
  }

  /// Where a copy in memory is, as that is known from now on; `nil` if another answer has begun a family since.
  private func inFamily(
    _ place: HTTPCache.Place,
    _ version: String,
    _ digest: HTTPCacheKeyDigest,
    _ limit: Int
  ) throws -> HTTPCache.Place? {
    guard let known = place.first else { return HTTPCache.Place(name: place.name, version: version, first: nil) }
    let first: String
    switch try storage.find(digest.name, known: known.version, limit: limit) {
    case .unchanged(let version):
      first = version
    case .bytes(let bytes, let version):
      // Whoever reads it next sees what is wrong with it.
      guard let stored = try? StoredCopy(bytes, of: digest), stored.family == known.family else { return nil }
      first = version
    case .nothing:
      return nil
    }
    let now = HTTPCache.FirstPlace(family: known.family, version: first)
    return HTTPCache.Place(name: place.name, version: version, first: now)
  }

  /// Reads a copy; removes what is none.
  private func load(
    _ name: HTTPCacheEntryName,
    _ digest: HTTPCacheKeyDigest,
    _ limit: Int
  ) throws -> (StoredCopy, version: String)? {
    guard case .bytes(let bytes, let version) = try storage.find(name, known: nil, limit: limit) else { return nil }
    do {
      return (try StoredCopy(bytes, of: digest), version)
    } catch {
      onFailure(HTTPCacheStorageFailure(.damaged, name: name, underlying: error))
      try storage.remove(name)
      return nil
    }
  }

  /// How long the bytes of a copy are at most that the cache has room for.
  func limit(_ cache: HTTPCache) -> Int { cache.capacity / 10 + 65_536 }

  // MARK: Storing

  /// Stores a copy behind the caller's back.
  func store(
    _ copy: CachedCopy,
    _ number: Int,
    _ lookup: HTTPCache.Lookup,
    for request: HTTPRequest,
    in cache: HTTPCache
  ) {
    let cost = copy.cost
    let hasRoom = state.withLock { state in
      guard state.pending + cost <= pendingLimit else { return false }
      state.pending += cost
      return true
    }
    guard hasRoom else {
      let name = HTTPCacheKeyDigest(lookup.key).name
      owe(name.address)
      onFailure(HTTPCacheStorageFailure(.busy, name: name))
      return
    }
    work { [self] in
      write(copy, number, lookup, for: request, in: cache)
      state.withLock { $0.pending -= cost }
    }
  }

  private func write(
    _ copy: CachedCopy,
    _ number: Int,
    _ lookup: HTTPCache.Lookup,
    for request: HTTPRequest,
    in cache: HTTPCache
  ) {
    let key = lookup.key
    let digest = HTTPCacheKeyDigest(key)
    guard settle(digest.name.address) else { return }
    // What has forgotten it is behind this in the queue, or was there before it; of what was forgotten with more than are
    // remembered an older copy may be there.
    guard !cache.mayHaveForgotten(copy, since: lookup) else { return forget(digest.name.address) }
    do {
      let (name, family, first) = try place(for: copy, digest, limit(cache))
      let bytes = StoredCopy.bytes(
        of: copy,
        for: digest,
        answering: request.message.url,
        now: request.time.now,
        wallClock: request.time.wallClock,
        redaction: request.call.redaction,
        family: family
      )
      // What is there is older than this one, which may not be there.
      guard let bytes else { return forget(digest.name.address) }
      if let version = try storage.store(bytes, as: name), try storeRedirectEntries(of: copy, name) {
        cache.note(HTTPCache.Place(name: name, version: version, first: first), ofCopy: number, for: key)
      } else {
        cache.drop(number, for: key)
        try storage.remove(name)
      }
    } catch {
      owe(digest.name.address)
      onFailure(HTTPCacheStorageFailure(.storing, name: digest.name, underlying: error))
    }
  }

  /// Where a copy belongs: in the first place of its key, unless another variant that depends on the same fields is there.
  ///
  /// Whatever else takes the first place begins a family: what is in second places then is older, and not found any more.
  func place(
    for copy: CachedCopy,
    _ digest: HTTPCacheKeyDigest,
    _ limit: Int
  ) throws -> (HTTPCacheEntryName, family: String?, first: HTTPCache.FirstPlace?) {
    guard !copy.variant.isEmpty else { return (digest.name, nil, nil) }
    let own = copy.variant.map { HTTPHeaders.Field($0.name, digest.digest(of: $0)) }
    guard
      let (first, version) = try load(digest.name, digest, limit), first.variant.map(\.name) == own.map(\.name)
    else {
      return (digest.name, CallIDs.text(.random(in: .min ... .max)), nil)
    }
    if first.variant == own { return (digest.name, first.family, nil) }
    return (digest.name(of: own), first.family, HTTPCache.FirstPlace(family: first.family, version: version))
  }

  // MARK: Redirects

  /// What a copy leaves at each address to which redirects have led but its own.
  ///
  /// Whoever forgets such an address, in whatever process, cannot find the copy, but removes this entry, without which it is
  /// void.
  private func redirectEntries(of copy: CachedCopy, _ name: HTTPCacheEntryName) -> [HTTPCacheEntryName] {
    copy.way.map { HTTPCacheKeyDigest.address($0.canonical) }.filter { $0 != name.address }
      .map { HTTPCacheEntryName(address: $0, copy: name.copy) }
  }

  /// Leaves the entries of a copy that is stored.
  ///
  /// - Returns: Whether there is room for them.
  private func storeRedirectEntries(of copy: CachedCopy, _ name: HTTPCacheEntryName) throws -> Bool {
    try redirectEntries(of: copy, name).allSatisfy { try storage.store(Data("\(name)".utf8), as: $0) != nil }
  }

  /// Whether a copy's entries are still there.
  private func isInForce(_ copy: CachedCopy, _ name: HTTPCacheEntryName) throws -> Bool {
    try redirectEntries(of: copy, name).allSatisfy { entry in
      guard settle(entry.address), case .bytes(let bytes, _) = try storage.find(entry, known: nil, limit: 4_096) else {
        return false
      }
      return bytes == Data("\(name)".utf8)
    }
  }
}
