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
  private let shared: Shared<CacheMachine<Key, Value, Failure>, CacheEvent<Key>>
  let flights = Coalescer<Key, Value, Failure>()
  private let time: MonotonicTime
  private let lifetime: @Sendable (Value) -> CacheLifetime?
  private let cost: @Sendable (Value) -> Int
  private let allowsStale: @Sendable (Failure) -> Bool

  /// Makes an empty cache.
  ///
  /// - Parameters:
  ///   - policy: How long it keeps values, and how many.
  ///   - time: Measures ages.
  ///   - lifetime: How long a value itself says that it is good, such as HTTP's `Cache-Control`; `nil` for what the
  ///     policy says. One that is good for no time is not kept.
  ///   - cost: What a value costs, such as its size; negative counts as nothing.
  ///   - allowsStale: After which failures a stale value is better than none: those of the network and the server, not a
  ///     refusal of what was asked for.
  public init(
    policy: CachePolicy,
    time: MonotonicTime = .continuous,
    lifetime: @escaping @Sendable (Value) -> CacheLifetime? = { _ in nil },
    cost: @escaping @Sendable (Value) -> Int = { _ in 1 },
    staleWhen allowsStale: @escaping @Sendable (Failure) -> Bool = { _ in true }
  ) {
    shared = Shared(CacheMachine(policy))
    self.time = time
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
  public var count: Int { shared.read { $0.count } }

  /// What all kept values cost together.
  public var totalCost: Int { shared.read { $0.cost } }

  /// The value that is kept for a key, fresh or stale, with its age; reading it changes nothing.
  public func peek(_ key: Key) -> Cached<Value>? {
    let now = time.now
    return shared.read { $0.peek(key, now: now) }.map {
      Cached(value: $0.value, age: $0.age, source: .cache(stale: $0.isFresh ? nil : .revalidating))
    }
  }

  /// Keeps a value that came another way, such as the answer to a change.
  public func store(_ value: Value, for key: Key) {
    let (now, lifetime, cost) = (time.now, lifetime(value), cost(value))
    change { $0.store(value, lifetime, cost: cost, for: key, now: now, events: &$1) }
  }

  /// Forgets a key; a call under way for it goes on for those who wait, and is neither kept nor joined.
  public func remove(_ key: Key) {
    change { machine, _ in machine.forget(key) }
    flights.forget(key)
  }

  /// Forgets everything, as after a sign-out; calls under way are neither kept nor joined.
  public func removeAll() {
    change { machine, _ in machine.forgetAll() }
    flights.forgetAll()
  }

  /// Changes the machine, and releases what it has taken out with the lock open.
  @discardableResult
  private func change<Result>(
    _ body: (inout CacheMachine<Key, Value, Failure>, inout [CacheEvent<Key>]) -> Result
  ) -> Result {
    let (result, removed) = shared.change { machine, events in
      let result = body(&machine, &events)
      return (result, machine.takeRemoved())
    }
    withExtendedLifetime(removed) {}
    return result
  }

  // MARK: What the operator asks

  func look(_ key: Key) -> CacheMachine<Key, Value, Failure>.Lookup {
    let now = time.now
    return change { $0.look(key, now: now, events: &$1) }
  }

  /// One call for a key, shared by all who need it, whose outcome is kept.
  func fetch<Upstream: Publisher>(
    _ key: Key,
    _ upstream: Upstream
  ) -> Publishers.Coalesced<AnyPublisher<Value, Failure>, Key>
  where Upstream.Output == Value, Upstream.Failure == Failure {
    Deferred {
      let fetch = self.change { machine, _ in machine.beginFetch(key) }
      return upstream.prefix(1)
        .handleEvents(
          receiveOutput: { value in
            let (now, lifetime, cost) = (self.time.now, self.lifetime(value), self.cost(value))
            self.change {
              $0.fetched(value, lifetime, cost: cost, for: key, by: fetch, now: now, events: &$1)
            }
          },
          receiveCompletion: { completion in
            let now = self.time.now
            self.change {
              if case .failure(let error) = completion { $0.failed(error, for: key, by: fetch, now: now, events: &$1) }
              $0.endFetch(key, fetch)
            }
          },
          receiveCancel: {
            self.change { machine, _ in machine.endFetch(key, fetch) }
          }
        )
    }
    .eraseToAnyPublisher()
    .coalesced(by: flights, for: key)
  }

  /// Fetches a new value behind the back of who got the stale one.
  func revalidate<Upstream: Publisher>(_ key: Key, _ upstream: Upstream)
  where Upstream.Output == Value, Upstream.Failure == Failure {
    fetch(key, upstream)
      .subscribe(
        FirstValue { result in
          self.change {
            if case .failure(let error) = result { $1.append(.revalidationFailed(key, error)) }
            $0.endRevalidation(key)
          }
        }
      )
  }

  /// What to deliver after a call has failed.
  func recover(_ key: Key, from error: Failure) -> Result<Cached<Value>, Failure> {
    guard allowsStale(error) else { return .failure(error) }
    let now = time.now
    guard let (value, age) = change({ $0.fallback(key, error, now: now, events: &$1) }) else { return .failure(error) }
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
  ///   - isolation: The caller's.
  ///   - fetch: The call.
  /// - Throws: What the function throws, if there is no value for that case; `CancellationError` if the task is
  ///   cancelled.
  public func value(
    for key: Key,
    isolation: isolated (any Actor)? = #isolation,
    _ fetch: @escaping @Sendable () async throws -> Value
  ) async throws -> Cached<Value> {
    let cached: Cached<Value>? = try await Answer.wait(isolation: isolation) { answer in
      let first = FirstValue<Cached<Value>, any Error>(whenKnown: answer)
      Publishers.Asynchronous(fetch).cached(in: self, for: key).subscribe(first)
      return first
    }
    // A publisher that shares the key may finish without a value; a function cannot.
    guard let cached else { throw FinishedWithoutValue() }
    return cached
  }
}
