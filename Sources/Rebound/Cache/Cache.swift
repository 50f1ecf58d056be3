import Combine

/// Keeps what was fetched, and says with each value where it comes from and how old it is.
///
///     let policy = try CachePolicy(fresh: .seconds(60), staleWhileRevalidate: .seconds(600), staleIfError: .seconds(86_400))
///     let forecasts = Cache<City, Forecast, NetworkFailure>(policy: policy, staleWhen: \.isTransient)
///     client.forecast(for: city).cached(in: forecasts, for: city)   // Cached<Forecast>
///
/// A fresh value is delivered without a call. A stale one is delivered at once while a new one is fetched, or when a
/// new one cannot be had, each for as long as the policy says. Those who miss the same key at the same time share one
/// call. It keeps values in memory; the one whose last use is the longest ago goes first.
public final class Cache<Key: Hashable & Sendable, Value, Failure: Error>: Sendable {
  @usableFromInline struct State {
    @usableFromInline var machine: CacheMachine<Key, Value, Failure>
    /// The latest present that a call has brought; a step back counts as no time at all.
    @usableFromInline var latest = Duration.zero
  }

  @usableFromInline let shared: Shared<State, CacheEvent<Key>>
  let flights = Coalescer<Key, Cached<Value>, Failure>()
  private let policy: CachePolicy
  /// Where caches of other processes keep what they have fetched; `nil` for a cache that is alone.
  private let storage: (any CacheStorage<Key, Value>)?
  private let lifetime: @Sendable (Value) -> CacheLifetime?
  private let cost: @Sendable (Value) -> Int
  private let allowsStale: @Sendable (Failure) -> Bool

  /// Makes an empty cache.
  ///
  /// - Parameters:
  ///   - policy: How long it keeps values, and how many.
  ///   - lifetime: How long a value itself says that it is good, such as HTTP's `Cache-Control`; `nil` for what the
  ///     policy says. One that is good for no time is not kept.
  ///   - cost: What a value costs, such as its size; negative counts as nothing.
  ///   - allowsStale: After which failures a stale value is better than none: those of the network and the server, not a
  ///     refusal of what was asked for.
  ///   - storage: Asked before a call is made, and told of what it has brought, so that one call serves the caches of many
  ///     processes; `nil` for none.
  public init(
    policy: CachePolicy,
    lifetime: @escaping @Sendable (Value) -> CacheLifetime? = { _ in nil },
    cost: @escaping @Sendable (Value) -> Int = { _ in 1 },
    staleWhen allowsStale: @escaping @Sendable (Failure) -> Bool = { _ in true },
    storage: (any CacheStorage<Key, Value>)? = nil
  ) {
    shared = Shared(State(machine: CacheMachine(policy)))
    self.policy = policy
    self.lifetime = lifetime
    self.cost = cost
    self.allowsStale = allowsStale
    self.storage = storage
  }

  /// Tells one more observer what is decided, in order, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (CacheEvent<Key>) -> Void) -> Cache {
    onEvent(to: .always, observer)
    return self
  }

  package func onEvent(to audience: Audience, _ observer: @escaping @Sendable (CacheEvent<Key>) -> Void) {
    shared.observe(for: audience, observer)
  }

  /// How many values and failures are kept, expired ones included.
  public var count: Int { shared.read { $0.machine.count } }

  /// What all kept values cost together.
  public var totalCost: Int { shared.read { $0.machine.cost } }

  /// The value that is kept for a key, fresh or stale, with its age; reading it changes nothing.
  ///
  /// A stale one is said to be delivered while a new one is fetched, though none is fetched for this.
  ///
  /// - Parameters:
  ///   - key: What is wanted.
  ///   - time: Says what now is.
  public func peek(_ key: Key, on time: TimeSource = .current) -> Cached<Value>? {
    let now = time.now
    return shared.read { $0.machine.peek(key, now: max(now, $0.latest)) }.map {
      Cached(value: $0.value, age: $0.age, source: .cache(stale: $0.isFresh ? nil : .revalidating))
    }
  }

  /// Keeps a value that came another way, such as the answer to a change.
  ///
  /// A call under way for its key may bring what was there before the change: it goes on for those who wait, and is neither
  /// kept nor joined.
  ///
  /// - Parameters:
  ///   - value: What is kept.
  ///   - key: What the value answers.
  ///   - now: The present, from which its age counts.
  public func store(_ value: Value, for key: Key, at now: Duration = TimeSource.current.now) {
    let (lifetime, cost) = (lifetime(value), cost(value))
    change(at: now) {
      $0.forgetFetch(key)
      $0.store(value, lifetime, cost: cost, for: key, now: $1, events: &$2)
    }
    flights.forget(key)
    storage?.store(value, lifetime: lifetime ?? policy.lifetime, for: key, under: nil)
  }

  /// Forgets a key, in the storage, too; a call under way for it goes on for those who wait, and is neither kept nor joined.
  public func remove(_ key: Key) {
    change { machine, _, _ in machine.forget(key) }
    flights.forget(key)
    storage?.remove(key)
  }

  /// Forgets everything, as after a sign-out; calls under way are neither kept nor joined.
  ///
  /// What a storage keeps stays there.
  public func removeAll() {
    change { machine, _, _ in machine.forgetAll() }
    flights.forgetAll()
  }

  /// Changes the machine, and releases what it has taken out with the lock open.
  @discardableResult
  @inlinable
  func change<Result>(
    at present: Duration? = nil,
    _ body: (inout CacheMachine<Key, Value, Failure>, _ now: Duration, inout UntoldEvents<CacheEvent<Key>>) -> Result
  ) -> Result {
    let (result, removed) = shared.change { state, events in
      if let present { state.latest.advance(to: present) }
      let result = body(&state.machine, state.latest, &events)
      return (result, state.machine.takeRemoved())
    }
    withExtendedLifetime(removed) {}
    return result
  }

  // MARK: What the operator asks

  @inlinable
  func look(_ key: Key, at now: Duration) -> CacheMachine<Key, Value, Failure>.Lookup {
    change(at: now) { $0.look(key, now: $1, events: &$2) }
  }

  /// One call for a key, or what others have fetched, shared by all who need it; the outcome is kept.
  ///
  /// - Parameter isMissed: Whether those who wait have nothing; then what is stale, and still good, is news to them.
  func fetch<Upstream: Publisher>(
    _ key: Key,
    _ upstream: Upstream,
    isMissed: Bool = true,
    on time: TimeSource
  ) -> Publishers.Coalesced<AnyPublisher<Cached<Value>, Failure>, Key>
  where Upstream.Output == Value, Upstream.Failure == Failure {
    let call: AnyPublisher<Cached<Value>, Failure>
    if let storage {
      let found = Deferred {
        let fetch = self.change { machine, _, _ in machine.beginFetch(key) }
        return SingleAnswer<Found, Failure>(name: "Cache") { answer in
          RunningTask(
            Task {
              let finding = await storage.look(key)
              answer(.success((finding.stored, finding.claim.map { ClaimGuard($0, of: key, in: storage) })))
            }
          )
        }
        .handleEvents(receiveCancel: { self.change { machine, _, _ in machine.endFetch(key, fetch) } })
        .flatMap { found in self.fetch(key, upstream, found, fetch, isMissed: isMissed, on: time) }
      }
      call = found.firstWhenRequested("Cache").eraseToAnyPublisher()
    } else {
      call = Deferred {
        let fetch = self.change { machine, _, _ in machine.beginFetch(key) }
        return self.call(key, upstream, fetch, under: nil, on: time)
      }
      .eraseToAnyPublisher()
    }
    return call.coalesced(by: flights, for: key)
  }

  /// What the storage has, and the right to fetch, if it is this cache's.
  private typealias Found = (stored: StoredValue<Value>?, claim: ClaimGuard<Key, Value>?)

  /// Goes by what the storage has found.
  private func fetch<Upstream: Publisher>(
    _ key: Key,
    _ upstream: Upstream,
    _ found: Found,
    _ fetch: Int,
    isMissed: Bool,
    on time: TimeSource
  ) -> AnyPublisher<Cached<Value>, Failure>
  where Upstream.Output == Value, Upstream.Failure == Failure {
    guard let stored = found.stored else {
      return call(key, upstream, fetch, under: found.claim, on: time).eraseToAnyPublisher()
    }
    let cost = cost(stored.value)
    change(at: time.now) {
      $0.fetched(stored.value, stored.lifetime, age: stored.age, cost: cost, for: key, by: fetch, now: $1, events: &$2)
    }
    let isGood = stored.isFresh || stored.isGoodWhileRevalidated
    guard isGood, isMissed || found.claim == nil else {
      return call(key, upstream, fetch, under: found.claim, on: time).eraseToAnyPublisher()
    }
    if found.claim == nil {
      change { machine, _, _ in machine.endFetch(key, fetch) }
    } else {
      // Those who wait need not: it is fetched behind their backs, and goes on when they have what is stale and leave.
      let behind = change { machine, _, _ in machine.passOn(key, fetch) } ?? fetch
      fetchBehind(call(key, upstream, behind, under: found.claim, on: time), key)
    }
    let source = Cached<Value>.Source.cache(stale: stored.isFresh ? nil : .revalidating)
    return Result.Publisher(Cached(value: stored.value, age: stored.age, source: source)).eraseToAnyPublisher()
  }

  /// Makes a call, and keeps its outcome.
  private func call<Upstream: Publisher>(
    _ key: Key,
    _ upstream: Upstream,
    _ fetch: Int,
    under claim: ClaimGuard<Key, Value>?,
    on time: TimeSource
  ) -> some Publisher<Cached<Value>, Failure>
  where Upstream.Output == Value, Upstream.Failure == Failure {
    upstream.prefix(1)
      .handleEvents(
        receiveOutput: { value in
          let (lifetime, cost) = (self.lifetime(value), self.cost(value))
          self.change(at: time.now) {
            $0.fetched(value, lifetime, age: .zero, cost: cost, for: key, by: fetch, now: $1, events: &$2)
          }
          claim?.store(value, lifetime: lifetime ?? self.policy.lifetime)
        },
        receiveCompletion: { completion in
          // A cancel inside of the call says nothing about what is asked for, and is nobody else's.
          let error: Failure? =
            if case .failure(let error) = completion, !isAbandonment(error, under: nil) { error } else { nil }
          self.change(at: error.map { _ in time.now }) {
            if let error { $0.failed(error, for: key, by: fetch, now: $1, events: &$2) }
            $0.endFetch(key, fetch)
          }
          claim?.giveUp()
        },
        receiveCancel: {
          self.change { machine, _, _ in machine.endFetch(key, fetch) }
          claim?.giveUp()
        }
      )
      .map { Cached(value: $0) }
  }

  /// Fetches a new value behind the back of who got the stale one.
  func revalidate<Upstream: Publisher>(_ key: Key, _ upstream: Upstream, on time: TimeSource)
  where Upstream.Output == Value, Upstream.Failure == Failure {
    fetchBehind(fetch(key, upstream, isMissed: false, on: time), key)
  }

  /// Whoever has the stale value has no part in the new one: their time is not its limit.
  private func fetchBehind(_ fetch: some Publisher<Cached<Value>, Failure>, _ key: Key) {
    Deadline.replaced(by: nil) { fetch.subscribe(FirstValue { result in self.revalidated(key, with: result) }) }
  }

  private func revalidated(_ key: Key, with result: Result<Cached<Value>?, Failure>) {
    change { machine, _, events in
      if case .failure(let error) = result { events.append(.revalidationFailed(key, error)) }
      machine.endRevalidation(key)
    }
  }

  /// What to deliver after a call has failed.
  func recover(_ key: Key, from error: Failure, at now: Duration) -> Result<Cached<Value>, Failure> {
    guard allowsStale(error) else { return .failure(error) }
    guard let (value, age) = change(at: now, { $0.fallback(key, error, now: $1, events: &$2) }) else {
      return .failure(error)
    }
    return .success(Cached(value: value, age: age, source: .cache(stale: .error(error))))
  }
}

extension Cache where Value: Sendable, Failure == any Error {
  /// Delivers what is kept for a key, or runs an asynchronous function.
  ///
  ///     let forecast = try await forecasts.value(for: city) { try await client.forecast(for: city) }
  ///     if forecast.isStale { showSavedCopy(forecast.age) }
  ///
  /// The function runs in a task of its own, under no deadline, since it may be others' as well. It is cancelled when all who
  /// wait for it are, or when their time is over. One that fetches a new value in place of a stale one runs to its end.
  ///
  /// - Parameters:
  ///   - key: What is wanted.
  ///   - time: Measures ages.
  ///   - fetch: The call.
  /// - Throws: What the function throws, or ``TimedOut`` if ``Deadline/current`` is over first, if there is no value for that
  ///   case; `CancellationError` if the task is cancelled.
  @inlinable
  public nonisolated(nonsending) func value(
    for key: Key,
    time: TimeSource = .current,
    _ fetch: @escaping @Sendable () async throws -> Value
  ) async throws -> Cached<Value> {
    try Task.checkCancellation()
    let lookup = look(key, at: time.now)
    if case .fresh(let value, let age) = lookup { return Cached(value: value, age: age, source: .cache(stale: nil)) }
    return try await value(for: key, found: lookup, time: time, fetch)
  }

  @usableFromInline
  nonisolated(nonsending) func value(
    for key: Key,
    found lookup: CacheMachine<Key, Value, Failure>.Lookup,
    time: TimeSource,
    _ fetch: @escaping @Sendable () async throws -> Value
  ) async throws -> Cached<Value> {
    switch lookup {
    case .fresh(let value, let age): return Cached(value: value, age: age, source: .cache(stale: nil))
    case .stale(let value, let age, let fetches):
      if fetches { revalidate(key, Publishers.Asynchronous(fetch), on: time) }
      return Cached(value: value, age: age, source: .cache(stale: .revalidating))
    case .failed(let error): throw error
    case .missed: break
    }
    let value: Cached<Value>?
    do {
      let call = self.fetch(key, Publishers.Asynchronous(fetch), on: time)
      value = try await call.firstValueIfAny(until: Deadline.toHeed)
    } catch  where !(error is CancellationError && Task.isCancelled) {
      return try recover(key, from: error, at: time.now).get()
    }
    // A publisher that shares the key may finish without a value; a function cannot.
    guard let value else { throw FinishedWithoutValue() }
    return value
  }
}
