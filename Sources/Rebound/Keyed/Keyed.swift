import Dispatch
import StreamSupport

/// One shared object for each host, tenant or whatever else calls are told apart by.
///
///     let breakers = Keyed<String, CircuitBreaker> { host in CircuitBreaker(host, policy: policy) }
///     let page = try await breakers[host].run { try await load(path, from: host) }
///
/// So one sick host does not open the breaker of the others. The objects are made when they are first asked for, once
/// for each key, and there is a limit to how many are kept: the one whose last use is the longest ago goes first. Calls
/// that hold it go on with it; the next one for its key gets a new one, with no memory.
public final class Keyed<Key: Hashable & Sendable, Policy: Sendable>: Sendable {
  @usableFromInline let limit: Int
  @usableFromInline let shared = Shared<LeastRecentlyUsed<Key, Made<Policy>>, KeyedEvent<Key>>(LeastRecentlyUsed())
  @usableFromInline let make: @Sendable (Key) -> Policy

  /// Makes an empty collection.
  ///
  /// - Parameters:
  ///   - limit: How many objects are kept; under 1 counts as 1.
  ///   - make: Makes the object for a key. Called once for each key that is kept, on the thread of the first to ask,
  ///     while others who ask for the same key wait; it must not ask for that key itself.
  public init(limit: Int = 1_000, _ make: @escaping @Sendable (Key) -> Policy) {
    self.limit = max(limit, 1)
    self.make = make
  }

  /// How many objects are kept.
  public var count: Int { shared.read { $0.count } }

  /// Tells one more observer what is decided, in order, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (KeyedEvent<Key>) -> Void) -> Keyed {
    onEvent(to: .always, observer)
    return self
  }

  package func onEvent(to audience: Audience, _ observer: @escaping @Sendable (KeyedEvent<Key>) -> Void) {
    shared.observe(for: audience, observer)
  }

  /// The object for a key, which is made if it is not there.
  @inlinable
  public subscript(key: Key) -> Policy {
    let (made, evicted): (Made<Policy>, [Made<Policy>]) = shared.change { table, events in
      if let made = table.use(key) { return (made, []) }
      let made = Made<Policy>()
      _ = table.set(made, for: key)
      events.append(.made(key))
      var evicted: [Made<Policy>] = []
      while table.count > limit, let (oldest, made) = table.removeOldest() {
        evicted.append(made)
        events.append(.evicted(oldest))
      }
      return (made, evicted)
    }
    withExtendedLifetime(evicted) {}
    return made.known ?? made.value { make(key) }
  }

  /// The object for a key if it is there; reading it does not count as a use.
  public func existing(_ key: Key) -> Policy? {
    shared.read { $0.peek(key) }?.known
  }

  /// Forgets a key; calls that hold its object go on with it.
  public func remove(_ key: Key) {
    let removed = shared.change { table, events in
      let removed = table.remove(key)
      if removed != nil { events.append(.evicted(key)) }
      return removed
    }
    withExtendedLifetime(removed) {}
  }
}

/// Something that was decided about objects by key.
public enum KeyedEvent<Key: Sendable>: Sendable {
  /// An object is made for a key.
  case made(Key)
  /// The object for a key is not kept any more.
  case evicted(Key)
}

extension KeyedEvent: RecordedDecision {
  /// That of objects by key.
  public static var kind: PolicyKind { .keyed }

  var record: DecisionRecord {
    switch self {
    case .made(let key): .init(.info, "made", "\(key): made")
    case .evicted(let key): .init(.info, "evicted", "\(key): evicted")
    }
  }
}

extension PolicyKind {
  /// That of a ``Keyed``.
  public static let keyed = PolicyKind("keyed")
}

extension Keyed: EventTelling {}

/// Something that is made once, by the first who wants it, while the others wait.
@usableFromInline
final class Made<Value: Sendable>: Sendable {
  @usableFromInline
  struct State {
    var hasBegun = false
    @usableFromInline var value: Value?

    init() {}
  }

  @usableFromInline let state: Locked<State>
  private let isMade = DispatchGroup()

  @usableFromInline
  init() {
    state = Locked(State())
    isMade.enter()
  }

  /// The value, if it is made.
  @inlinable var known: Value? { state.withLock { $0.value } }

  @usableFromInline
  func value(_ make: () -> Value) -> Value {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    if isFirst {
      let value = make()
      state.withLock { $0.value = value }
      isMade.leave()
      return value
    }
    isMade.wait()
    // It is there: whoever was first has left the group after writing it.
    return known ?? make()
  }
}
