import Combine
import Foundation
import Rebound
import StreamSupport

/// Keeps answers in memory, as long as they are good and there is room.
///
///     let cache = HTTPCache(capacity: 20_000_000, staleIfError: .seconds(86_400))
///     let client = WebAPIClient(baseURL: service, transport: transport, middleware: [Caching(in: cache)])
///
/// It is a private cache of RFC 9111, one for a program: lifetimes, ETag and Last-Modified, Vary, and what RFC 5861 adds
/// for servers that are slow or fail. It does not rest on the system's cache, which does less on some platforms.
public final class HTTPCache: Sendable {
  private struct State {
    var slots: [Key: Slot] = [:]
    var cost = 0
    var uses = 0
    /// Copies that are being renewed behind the back of those who have got the old one.
    var renewals: [Key: AnyCancellable?] = [:]

    /// Drops what was not used for the longest time.
    ///
    /// A quarter at a time, so that the sorting is paid for by what is stored meanwhile.
    mutating func makeRoom(upTo capacity: Int) -> [Slot] {
      guard cost > capacity else { return [] }
      var dropped: [Slot] = []
      for (key, slot) in slots.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
        guard cost > capacity / 4 * 3 else { break }
        slots[key] = nil
        cost -= slot.cost
        dropped.append(slot)
      }
      return dropped
    }
  }

  struct Key: Hashable, Sendable {
    let url: String
    let identity: String?
  }

  private struct Slot {
    var copies: [CachedCopy]
    var lastUse: Int
    var cost: Int { copies.reduce(0) { $0 + $1.cost } }
  }

  /// How many bytes it holds at most, roughly.
  public let capacity: Int
  /// How long after its end a copy stands in when the service fails, where the server says nothing about that.
  public let staleIfError: Duration

  private let state = Locked(State())

  /// Makes an empty cache.
  ///
  /// - Parameters:
  ///   - capacity: How many bytes it holds at most; an answer of more than a tenth of it is not kept.
  ///   - staleIfError: How long after its end a copy stands in when the service fails, where the server says nothing.
  public init(capacity: Int = 20_000_000, staleIfError: Duration = .zero) {
    self.capacity = max(capacity, 0)
    self.staleIfError = staleIfError.clampedToDelay
  }

  /// How many bytes it holds, roughly.
  public var usedBytes: Int { state.withLock { $0.cost } }

  /// Forgets everything, as when a user signs out.
  public func removeAll() {
    let before = state.withLock { state in
      let before = (state.slots, state.renewals)
      state.slots = [:]
      state.renewals = [:]
      state.cost = 0
      return before
    }
    for renewal in before.1.values { renewal?.cancel() }
  }

  func copy(for key: Key, answering message: TransportRequest) -> CachedCopy? {
    state.withLock { state in
      state.uses += 1
      state.slots[key]?.lastUse = state.uses
      return state.slots[key]?.copies.last { $0.answers(message) }
    }
  }

  /// Keeps a copy in place of the one for the same variant.
  ///
  /// - Returns: Whether there is room.
  func keep(_ copy: CachedCopy, for key: Key) -> Bool {
    guard copy.cost <= capacity / 10 else { return false }
    let dropped = state.withLock { state in
      var slot = state.slots[key] ?? Slot(copies: [], lastUse: 0)
      let before = slot.copies
      state.cost -= slot.cost
      slot.copies.removeAll { $0.variant == copy.variant }
      slot.copies.append(copy)
      state.uses += 1
      slot.lastUse = state.uses
      state.cost += slot.cost
      state.slots[key] = slot
      return (before, state.makeRoom(upTo: capacity))
    }
    withExtendedLifetime(dropped) {}
    return true
  }

  /// Forgets all copies of an address, whoever has asked for them.
  ///
  /// - Complexity: O(n) in the addresses kept.
  func invalidate(_ url: String) {
    let dropped = state.withLock { state in
      let keys = state.slots.keys.filter { $0.url == url }
      return keys.compactMap { key -> Slot? in
        let slot = state.slots.removeValue(forKey: key)
        state.cost -= slot?.cost ?? 0
        return slot
      }
    }
    withExtendedLifetime(dropped) {}
  }

  /// Renews a copy behind the back of those who have got the old one; once at a time.
  func renew(_ key: Key, with exchange: HTTPExchange) {
    let begins = state.withLock { state in
      guard state.renewals[key] == nil else { return false }
      state.renewals[key] = .some(nil)
      return true
    }
    guard begins else { return }
    // A failure needs no answer here: whoever asks next, asks the server.
    let renewal = exchange.sink { _ in
      self.endRenewal(key)
    } receiveValue: { _ in
    }
    let isOver = state.withLock { state in
      guard state.renewals[key] != nil else { return true }
      state.renewals[key] = .some(renewal)
      return false
    }
    if isOver { renewal.cancel() }
  }

  private func endRenewal(_ key: Key) {
    let renewal = state.withLock { $0.renewals.removeValue(forKey: key) }
    withExtendedLifetime(renewal) {}
  }
}
