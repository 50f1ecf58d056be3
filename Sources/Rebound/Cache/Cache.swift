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
  private struct State {
    var machine: CacheMachine<Key, Value, Failure>
    /// The latest present that a call has brought; a step back counts as no time at all.
    var latest = Duration.zero
  }

  private let shared: Shared<State, CacheEvent<Key>>
  let flights = Coalescer<Key, Value, Failure>()
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
  public init(
    policy: CachePolicy,
    lifetime: @escaping @Sendable (Value) -> CacheLifetime? = { _ in nil },
    cost: @escaping @Sendable (Value) -> Int = { _ in 1 },
    staleWhen allowsStale: @escaping @Sendable (Failure) -> Bool = { _ in true }
  ) {
    shared = Shared(State(machine: CacheMachine(policy)))
    self.lifetime = lifetime
    self.cost = cost
    self.allowsStale = allowsStale
  }

  /// Tells one more observer what is decided, in order, with no lock held.
  @discardableResult
  public func onEvent(_ observer: @escaping @Sendable (CacheEvent<Key>) -> Void) -> Cache {
    shared.observe(observer)
    return self
  }

  /// How many values and failures are kept, expired ones included.
  public var count: Int { shared.read { $0.machine.count } }

  /// What all kept values cost together.
  public var totalCost: Int { shared.read { $0.machine.cost } }

  /// The value that is kept for a key, fresh or stale, with its age; reading it changes nothing.
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
  /// - Parameters:
  ///   - value: What is kept.
  ///   - key: What the value answers.
  ///   - now: The present, from which its age counts.
  public func store(_ value: Value, for key: Key, at now: Duration = TimeSource.current.now) {
    let (lifetime, cost) = (lifetime(value), cost(value))
    change(at: now) { $0.store(value, lifetime, cost: cost, for: key, now: $1, events: &$2) }
  }

  /// Forgets a key; a call under way for it goes on for those who wait, and is neither kept nor joined.
  public func remove(_ key: Key) {
    change { machine, _, _ in machine.forget(key) }
    flights.forget(key)
  }

  /// Forgets everything, as after a sign-out; calls under way are neither kept nor joined.
  public func removeAll() {
    change { machine, _, _ in machine.forgetAll() }
    flights.forgetAll()
  }

  /// Changes the machine, and releases what it has taken out with the lock open.
  @discardableResult
  private func change<Result>(
    at present: Duration? = nil,
    _ body: (inout CacheMachine<Key, Value, Failure>, _ now: Duration, inout [CacheEvent<Key>]) -> Result
  ) -> Result {
    let (result, removed) = shared.change { state, events in
      state.latest = max(state.latest, present ?? state.latest)
      let result = body(&state.machine, state.latest, &events)
      return (result, state.machine.takeRemoved())
    }
    withExtendedLifetime(removed) {}
    return result
  }

  // MARK: What the operator asks

  func look(_ key: Key, at now: Duration) -> CacheMachine<Key, Value, Failure>.Lookup {
    change(at: now) { $0.look(key, now: $1, events: &$2) }
  }

  /// One call for a key, shared by all who need it, whose outcome is kept.
  func fetch<Upstream: Publisher>(
    _ key: Key,
    _ upstream: Upstream,
    on time: TimeSource
  ) -> Publishers.Coalesced<AnyPublisher<Value, Failure>, Key>
  where Upstream.Output == Value, Upstream.Failure == Failure {
    Deferred {
      let fetch = self.change { machine, _, _ in machine.beginFetch(key) }
      return upstream.prefix(1)
        .handleEvents(
          receiveOutput: { value in
            let (lifetime, cost) = (self.lifetime(value), self.cost(value))
            self.change(at: time.now) {
              $0.fetched(value, lifetime, cost: cost, for: key, by: fetch, now: $1, events: &$2)
            }
          },
          receiveCompletion: { completion in
            self.change(at: time.now) {
              if case .failure(let error) = completion { $0.failed(error, for: key, by: fetch, now: $1, events: &$2) }
              $0.endFetch(key, fetch)
            }
          },
          receiveCancel: {
            self.change { machine, _, _ in machine.endFetch(key, fetch) }
          }
        )
    }
    .eraseToAnyPublisher()
    .coalesced(by: flights, for: key)
  }

  /// Fetches a new value behind the back of who got the stale one.
  func revalidate<Upstream: Publisher>(_ key: Key, _ upstream: Upstream, on time: TimeSource)
  where Upstream.Output == Value, Upstream.Failure == Failure {
    fetch(key, upstream, on: time)
      .subscribe(
        FirstValue { result in
          self.change { machine, _, events in
            if case .failure(let error) = result { events.append(.revalidationFailed(key, error)) }
            machine.endRevalidation(key)
          }
        }
      )
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
  /// The function runs in a task of its own, which is cancelled when all who wait for it are. One that fetches a new value
  /// in place of a stale one runs to its end.
  ///
  /// - Parameters:
  ///   - key: What is wanted.
  ///   - time: Measures ages.
  ///   - fetch: The call.
  /// - Throws: What the function throws, if there is no value for that case; `CancellationError` if the task is
  ///   cancelled.
  public nonisolated(nonsending) func value(
    for key: Key,
    time: TimeSource = .current,
    _ fetch: @escaping @Sendable () async throws -> Value
  ) async throws -> Cached<Value> {
    try Task.checkCancellation()
    switch look(key, at: time.now) {
    case .fresh(let value, let age): return Cached(value: value, age: age, source: .cache(stale: nil))
    case .stale(let value, let age, let fetches):
      if fetches { revalidate(key, Publishers.Asynchronous(fetch), on: time) }
      return Cached(value: value, age: age, source: .cache(stale: .revalidating))
    case .failed(let error): throw error
    case .missed: break
    }
    let value: Value?
    do {
      value = try await self.fetch(key, Publishers.Asynchronous(fetch), on: time).firstValueIfAny()
    } catch  where !(error is CancellationError && Task.isCancelled) {
      return try recover(key, from: error, at: time.now).get()
    }
    // A publisher that shares the key may finish without a value; a function cannot.
    guard let value else { throw FinishedWithoutValue() }
    return Cached(value: value)
  }
}
