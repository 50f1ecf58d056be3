import Combine
import Foundation
import Rebound
import StreamSupport

/// Keeps answers, as long as they are good and there is room: in memory, and in a storage if it is given one.
///
///     let cache = HTTPCache(capacity: 20_000_000, staleIfError: .seconds(86_400))
///     let client = WebAPIClient(baseURL: service, transport: transport, middleware: [Caching(in: cache)])
///
/// It is a private cache of RFC 9111, one for a program: lifetimes, ETag and Last-Modified, Vary, and what RFC 5861 adds
/// for servers that are slow or fail. It does not rest on the system's cache, which does less on some platforms.
///
/// With a storage, copies outlive the process, and other processes find them and see what is forgotten here:
///
///     let lasting = HTTPCache(storage: .folder(caches, maxBytes: 200_000_000))
///
/// Then each request for which the cache has a say asks the storage first, on a queue of the cache's own: the first bytes of
/// a file, or of two for a variant, are read if the copy is in memory, all of it if not. Whoever asks is not blocked
/// meanwhile, and what follows comes on a queue of the system's. An answer from the network waits for nothing: it is stored
/// behind its back. Without a storage all of that is a look at the memory, on the thread of the request.
///
/// One thing other processes do not see: an answer that was asked for before its address was written to, and comes after
/// that, is not kept by the process that has written, but by another it is, for as long as it is good. What several processes
/// read and write should be good for a short time, or say `no-cache`.
///
/// No request fails because a storage does: it goes on with what is in memory, and the failure is reported. What takes a
/// storage longer than a second, or than the call has time, is not waited for.
public final class HTTPCache: Sendable {
  private struct State {
    var entries: [Key: Entry] = [:]
    var cost = 0
    var uses = 0
    /// Copies that are being renewed behind the back of those who have got the old one.
    var renewals: [Key: Renewal] = [:]
    var forgotten = Forgotten()

    /// Drops what was not used for the longest time.
    ///
    /// A quarter at a time, so that the sorting is paid for by what is stored meanwhile.
    mutating func makeRoom(upTo capacity: Int) -> [Entry] {
      guard cost > capacity else { return [] }
      var dropped: [Entry] = []
      for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
        guard cost > capacity / 4 * 3 else { break }
        entries[key] = nil
        cost -= entry.cost
        dropped.append(entry)
      }
      return dropped
    }

    /// Changes the copies of a key, and what they cost.
    mutating func change(_ key: Key, _ body: (inout [KeptCopy]) -> Void) {
      var entry = entries[key] ?? Entry(copies: [], lastUse: uses)
      cost -= entry.cost
      body(&entry.copies)
      cost += entry.cost
      entries[key] = entry.copies.isEmpty ? nil : entry
    }
  }

  /// What was forgotten, and when: an answer that was asked for before says what was, and is not kept.
  private struct Forgotten {
    private static let most = 1_000

    /// How often something was forgotten.
    private(set) var generation = 0
    private var all = 0
    /// Up to when it is not known which addresses were forgotten.
    private var unknown = 0
    private var addresses: [String: Int] = [:]

    mutating func forgetAll() {
      generation += 1
      (all, addresses) = (generation, [:])
    }

    mutating func forget(_ addresses: Set<String>) {
      generation += 1
      for address in addresses { self.addresses[address] = generation }
      if self.addresses.count > Forgotten.most { (unknown, self.addresses) = (generation, [:]) }
    }

    private func last(_ address: String) -> Int { max(all, addresses[address] ?? 0) }

    /// Whether a copy is surely forgotten.
    func has(_ copy: CachedCopy, _ key: Key, since generation: Int) -> Bool { copy.isOf(key) { last($0) > generation } }

    /// The same, also where that is not known: to keep less than could be kept is no harm.
    func mayHave(_ copy: CachedCopy, _ key: Key, since generation: Int) -> Bool {
      unknown > generation || has(copy, key, since: generation)
    }
  }

  struct Key: Hashable, Sendable {
    let url: String
    let identity: String?
  }

  /// What is asked for, and when, as the cache counts.
  struct Lookup: Sendable {
    let key: Key
    let generation: Int
  }

  private struct Renewal {
    /// No other has it: one that is forgotten before it is under way leaves the next one of its key alone.
    let number: Int
    /// `nil` before it is under way.
    var exchange: AnyCancellable?
  }

  private struct Entry {
    var copies: [KeptCopy]
    var lastUse: Int
    var cost: Int { copies.reduce(0) { $0 + $1.copy.cost } }
  }

  /// A copy in memory, and where it is besides.
  struct KeptCopy: Sendable {
    let copy: CachedCopy
    /// No other has it.
    let number: Int
    /// Where the same is in the storage; `nil` if it is not there, or not yet.
    var place: Place?
  }

  /// What a copy is called in the storage.
  struct Place: Sendable {
    let name: HTTPCacheEntryName
    let version: String
    /// `nil` for a copy in the first place of its key.
    let first: FirstPlace?
  }

  /// What was in the first place of a key when a copy in a second place belonged to it.
  struct FirstPlace: Sendable {
    /// As ``StoredCopy/family``.
    let family: String?
    let version: String
  }

  /// How many bytes it holds in memory at most, roughly.
  public let capacity: Int
  /// How long after its end a copy stands in when the service fails, where the server says nothing about that.
  public let staleIfError: Duration

  /// `nil` for a cache in memory alone.
  let storageQueue: HTTPCacheStorageQueue?
  private let state = Locked(State())

  /// Makes an empty cache in memory.
  ///
  /// - Parameters:
  ///   - capacity: How many bytes it holds at most; an answer of more than a tenth of it is not kept.
  ///   - staleIfError: How long after its end a copy stands in when the service fails, where the server says nothing.
  public init(capacity: Int = 20_000_000, staleIfError: Duration = .zero) {
    self.capacity = max(capacity, 0)
    self.staleIfError = staleIfError.clampedToDelay
    storageQueue = nil
  }

  /// Makes a cache with what is in a storage.
  ///
  ///     let cache = HTTPCache(storage: .folder(caches)) { log.notice("\($0)") }
  ///
  /// - Parameters:
  ///   - capacity: How many bytes it holds in memory at most, what waits to be stored not counted, which is at most as much
  ///     again; an answer of more than a tenth of it is kept neither there nor in the storage.
  ///   - staleIfError: How long after its end a copy stands in when the service fails, where the server says nothing.
  ///   - storage: Where copies are kept besides.
  ///   - onStorageFailure: Told what the storage could not do, on any thread. By default it goes to `DroppedErrors`.
  public convenience init(
    capacity: Int = 20_000_000,
    staleIfError: Duration = .zero,
    storage: some HTTPCacheStorage,
    onStorageFailure: @escaping @Sendable (HTTPCacheStorageFailure) -> Void = {
      DroppedErrors.report($0, by: "HTTPCache")
    }
  ) {
    let storageQueue = HTTPCacheStorageQueue(storage, pendingLimit: max(capacity, 0), onFailure: onStorageFailure)
    self.init(capacity: capacity, staleIfError: staleIfError, storageQueue: storageQueue)
  }

  init(capacity: Int, staleIfError: Duration, storageQueue: HTTPCacheStorageQueue) {
    self.capacity = max(capacity, 0)
    self.staleIfError = staleIfError.clampedToDelay
    self.storageQueue = storageQueue
  }

  /// How many bytes it holds in memory, roughly.
  public var usedBytes: Int { state.withLock { $0.cost } }

  /// Forgets everything, as when a user signs out, and keeps no answer that was asked for before.
  ///
  /// What is in the storage is removed behind the caller's back; ``flush()`` waits for it.
  public func removeAll() {
    let before = state.withLock { state in
      let before = (state.entries, state.renewals)
      state.entries = [:]
      state.forgotten.forgetAll()
      state.renewals = [:]
      state.cost = 0
      return before
    }
    for renewal in before.1.values { renewal.exchange?.cancel() }
    // Whoever was reading from the storage at the same time has read what is removed.
    storageQueue?.removeAll(in: self)
  }

  /// Lets go of what is in memory and in the storage as well, as when memory is short.
  public func releaseMemory() {
    release { _, _ in true }
  }

  private func release(_ isMeant: (CachedCopy, Key) -> Bool) {
    let dropped = state.withLock { state in
      let before = state.entries
      for (key, entry) in before where entry.copies.contains(where: { isMeant($0.copy, key) }) {
        state.change(key) { $0.removeAll { $0.place != nil && isMeant($0.copy, key) } }
      }
      return before
    }
    withExtendedLifetime(dropped) {}
  }

  /// Waits until all that was begun before is done in the storage: for the end of a program.
  ///
  /// Without a storage, it returns at once.
  public nonisolated(nonsending) func flush() async {
    guard let storageQueue else { return }
    await withCheckedContinuation { continuation in storageQueue.work { continuation.resume() } }
  }

  // MARK: Both

  /// How often something was forgotten.
  var generation: Int { state.withLock { $0.forgotten.generation } }

  /// What a request asks for now: before anything is looked up for it.
  func lookup(_ request: HTTPRequest) -> Lookup {
    let key = Key(url: request.message.address.canonical, identity: request.identity)
    return Lookup(key: key, generation: generation)
  }

  /// The copy that answers a request, from wherever it is.
  func look(_ key: Key, for request: HTTPRequest) -> SingleAnswer<CachedCopy?, NetworkFailure>? {
    storageQueue?.look(key, for: request, in: self)
  }

  /// Keeps a copy in place of those that answer the same request.
  ///
  /// - Returns: Whether there is room, and nothing of it was forgotten since it was asked for.
  func keep(_ copy: CachedCopy, for lookup: Lookup, of request: HTTPRequest) -> Bool {
    guard let number = keepInMemory(copy, for: lookup.key, answering: request.message, since: lookup) else {
      return false
    }
    storageQueue?.store(copy, number, lookup, for: request, in: self)
    return true
  }

  /// Forgets a copy, for which an answer has come that is not kept.
  func forget(_ copy: CachedCopy, for lookup: Lookup, of request: HTTPRequest) {
    // What is there now has come later than that answer.
    guard !state.withLock({ $0.forgotten.has(copy, lookup.key, since: lookup.generation) }) else { return }
    let (key, message) = (lookup.key, request.message)
    drop(key) { $0.copy.answers(message) }
    // As when everything is forgotten, for whoever was reading it at the same time.
    storageQueue?.remove(copy, key, in: self) { self.drop(key) { $0.copy.answers(message) && $0.place != nil } }
  }

  /// Whether the address of a copy, or one to which redirects have led from there, may have been forgotten since it was
  /// asked for.
  func mayHaveForgotten(_ copy: CachedCopy, since lookup: Lookup) -> Bool {
    state.withLock { $0.forgotten.mayHave(copy, lookup.key, since: lookup.generation) }
  }

  // MARK: Memory

  /// The copy in memory that answers a request.
  func kept(for key: Key, answering message: TransportRequest) -> KeptCopy? {
    state.withLock { state in
      state.uses += 1
      guard let copies = state.entries[key]?.copies else { return nil }
      state.entries[key]?.lastUse = state.uses
      return copies.last { $0.copy.answers(message) }
    }
  }

  /// Keeps a copy in memory in place of those that answer the same request.
  ///
  /// - Parameters:
  ///   - copy: The copy.
  ///   - key: What it is a copy of.
  ///   - message: What it answers.
  ///   - lookup: Since when nothing of it may have been forgotten.
  ///   - place: Where it is in the storage already.
  /// - Returns: Its number; `nil` if it is not kept.
  func keepInMemory(
    _ copy: CachedCopy,
    for key: Key,
    answering message: TransportRequest,
    since lookup: Lookup? = nil,
    at place: Place? = nil
  ) -> Int? {
    guard copy.cost <= capacity / 10 else { return nil }
    let (number, dropped) = state.withLock { state -> (Int?, (Entry?, [Entry])) in
      if let lookup, state.forgotten.mayHave(copy, key, since: lookup.generation) { return (nil, (nil, [])) }
      state.uses += 1
      let number = state.uses
      let before = state.entries[key]
      state.change(key) { copies in
        copies.removeAll { $0.copy.answers(message) }
        copies.append(KeptCopy(copy: copy, number: number, place: place))
      }
      state.entries[key]?.lastUse = number
      return (number, (before, state.makeRoom(upTo: capacity)))
    }
    withExtendedLifetime(dropped) {}
    return number
  }

  /// Notes where a copy is in the storage, unless it is not in memory any more.
  func note(_ place: Place, ofCopy number: Int, for key: Key) {
    state.withLock { state in
      guard let index = state.entries[key]?.copies.firstIndex(where: { $0.number == number }) else { return }
      state.entries[key]?.copies[index].place = place
    }
  }

  /// Lets go of a copy in memory.
  func drop(_ number: Int, for key: Key) {
    drop(key) { $0.number == number }
  }

  private func drop(_ key: Key, where isMeant: (KeptCopy) -> Bool) {
    let dropped = state.withLock { state in
      let before = state.entries[key]
      state.change(key) { $0.removeAll(where: isMeant) }
      return before
    }
    withExtendedLifetime(dropped) {}
  }

  /// Forgets all copies of these addresses, and those of others from which redirects have led there, whoever has asked for
  /// them.
  ///
  /// - Complexity: O(n) in the addresses kept.
  func invalidate(_ urls: some Sequence<URL>) {
    let addresses = Set(urls.map(\.canonical))
    let dropped = state.withLock { state in
      state.forgotten.forget(addresses)
      let entries = state.entries.filter { key, entry in
        entry.copies.contains { $0.copy.isOf(key, addresses.contains) }
      }
      for key in entries.keys { state.change(key) { $0.removeAll { $0.copy.isOf(key, addresses.contains) } } }
      return entries
    }
    withExtendedLifetime(dropped) {}
    // As when everything is forgotten, for whoever was reading it at the same time.
    storageQueue?.removeAll(of: addresses, in: self) { self.release { $0.isOf($1, addresses.contains) } }
  }

  // MARK: Renewal

  /// Renews a copy behind the back of those who have got the old one; once at a time.
  func renew(_ key: Key, with exchange: HTTPAnswer) {
    let begun = state.withLock { state -> Int? in
      guard state.renewals[key] == nil else { return nil }
      state.uses += 1
      state.renewals[key] = Renewal(number: state.uses)
      return state.uses
    }
    guard let number = begun else { return }
    // A failure needs no answer here: whoever asks next, asks the server. Those who have the old copy have no part in the new
    // one: their time is not its limit.
    let renewal = Deadline.replaced(by: nil) {
      exchange.sink { _ in
        self.endRenewal(number, of: key)
      } receiveValue: { _ in
      }
    }
    let isOver = state.withLock { state in
      guard state.renewals[key]?.number == number else { return true }
      state.renewals[key]?.exchange = renewal
      return false
    }
    if isOver { renewal.cancel() }
  }

  private func endRenewal(_ number: Int, of key: Key) {
    let renewal = state.withLock { $0.renewals[key]?.number == number ? $0.renewals.removeValue(forKey: key) : nil }
    withExtendedLifetime(renewal) {}
  }
}
