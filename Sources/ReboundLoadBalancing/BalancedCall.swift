import Combine
import Rebound
import StreamSupport

/// One call to a service of several replicas, which may take several attempts.
///
///     let call = replicas.makeCall()
///     let forecast = try await weather.run { try await call.run { host in try await fetch(from: host) } }
///
/// No attempt goes where one of the same call has been, as long as there is a replica where none has.
public final class BalancedCall<Replica: Hashable & Sendable>: Sendable {
  @usableFromInline let balancer: LoadBalancer<Replica>
  private let tried = Locked<[Int]>([])

  init(balancer: LoadBalancer<Replica>) {
    self.balancer = balancer
  }

  /// Runs an attempt at the replica that is best now.
  ///
  /// - Parameters:
  ///   - time: Measures the latency; the current one unless told otherwise.
  ///   - operation: The attempt, at the replica that it is given.
  /// - Returns: What the function returns.
  /// - Throws: What the function throws; `CancellationError` if the task was cancelled before.
  @inlinable
  public nonisolated(nonsending) func run<Value>(
    time: TimeSource? = nil,
    _ operation: nonisolated(nonsending) (Replica) async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let (replica, place) = pick(on: time ?? .current)
    let attempt = BalancedAttempt<Replica, any Error>(place: place, balancer: balancer.core)
    return try await attempt.run(time: time) { () async throws -> Value in try await operation(replica) }
  }

  /// A publisher of which each subscription is an attempt, at the replica that is best then.
  ///
  /// - Parameters:
  ///   - time: Measures the latency; the current one unless told otherwise.
  ///   - request: Makes the attempt, at the replica that it is given.
  ///
  /// - Demand: Passes up.
  /// - Failure: What the attempt's publisher fails with.
  /// - Threads: Picks where it is subscribed to, and sends where the attempt's publisher sends.
  public func publisher<Attempt: Publisher>(
    time: TimeSource = .current,
    _ request: @escaping (Replica) -> Attempt
  ) -> some Publisher<Attempt.Output, Attempt.Failure> {
    Deferred { [self] in
      let (replica, place) = pick(on: time)
      let attempt = BalancedAttempt<Replica, Attempt.Failure>(place: place, balancer: balancer.core)
      return request(replica).protected(by: attempt, time: time)
    }
  }

  @usableFromInline
  func pick(on time: TimeSource) -> (Replica, BalancedPlace) {
    while true {
      // With the lock open, since it asks for the time, and sends probes.
      let before = tried.withLock { $0 }
      let (replica, place) = balancer.pick(notAmong: before, on: time)
      let isTaken = tried.withLock { tried in
        // Another attempt of this call has come first, at the same time.
        if tried != before, tried.contains(place.number), !before.contains(place.number) { return true }
        tried.removeAll { $0 == place.number }
        tried.append(place.number)
        return false
      }
      if !isTaken { return (replica, place) }
    }
  }
}

/// Tells a balancer that an attempt begins, and how it goes.
@usableFromInline
struct BalancedAttempt<Replica: Hashable & Sendable, Failure: Error>: Policy {
  let place: BalancedPlace
  let balancer: LoadBalancerCore<Replica>

  @usableFromInline
  init(place: BalancedPlace, balancer: LoadBalancerCore<Replica>) {
    self.place = place
    self.balancer = balancer
  }

  @usableFromInline var descriptor: StageDescriptor { StageDescriptor(.loadBalancer) }

  @usableFromInline
  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(attempt: self) }

  @usableFromInline
  struct Machine: PolicyMachine {
    let attempt: BalancedAttempt

    /// Counted here and not where the replica is picked, since an attempt that is cancelled before it begins has no end.
    @usableFromInline
    mutating func begins(_ execution: ExecutionContext) -> Decision<Failure> {
      let place = attempt.place
      attempt.balancer.state.withLock { $0.machine.begin(at: place.number, place: place.place) }
      return .proceed
    }

    @usableFromInline
    mutating func succeeded(_ execution: ExecutionContext) -> Decision<Failure> {
      end(.answered, execution)
      return .proceed
    }

    @usableFromInline
    mutating func failed(with error: Failure, _ execution: ExecutionContext) -> Decision<Failure> {
      end(attempt.balancer.speaksAgainst(error) ? .failed : .answered, execution)
      return .proceed
    }

    @usableFromInline
    mutating func cancelled(_ execution: ExecutionContext) {
      end(.cancelled, execution)
    }

    private func end(_ end: LoadBalancerMachine.End, _ execution: ExecutionContext) {
      let (now, place) = (execution.now, attempt.place)
      let latency = max(now - place.begin, .zero)
      attempt.balancer.state.withLock { state in
        state.machine.end(end, at: place.number, place: place.place, after: latency, now: now)
      }
    }
  }
}

extension Pipeline {
  /// Runs an asynchronous function under the policies, each attempt at the replica that is best then.
  ///
  ///     let forecast = try await weather.run(among: replicas) { host in try await fetch(from: host) }
  ///
  /// A retry or a hedge goes to another replica than the attempts before it. See `Pipeline.run(_:)`.
  ///
  /// - Parameters:
  ///   - replicas: Where attempts may go.
  ///   - operation: One attempt, at the replica that it is given.
  public nonisolated(nonsending) func run<Replica>(
    among replicas: LoadBalancer<Replica>,
    _ operation: nonisolated(nonsending) @escaping @Sendable (Replica) async throws -> Output
  ) async throws -> Output {
    let call = replicas.makeCall()
    let time = time
    return try await run { try await call.run(time: time) { replica in try await operation(replica) } }
  }

  /// A publisher under the policies, each attempt of which goes to the replica that is best then.
  ///
  ///     let forecasts = weather.publisher(among: replicas) { host in forecastPublisher(from: host) }
  ///
  /// A retry or a hedge goes to another replica than the attempts of the same subscription before it.
  ///
  /// - Parameters:
  ///   - replicas: Where attempts may go.
  ///   - request: Makes one attempt, at the replica that it is given.
  ///
  /// - Demand: As the operators of the stages have it; for most it passes up.
  /// - Failure: The attempt's, or the error of the policy that ended it.
  /// - Threads: As `protected(by:)` of Rebound.
  public func publisher<Replica, Attempt: Publisher>(
    among replicas: LoadBalancer<Replica>,
    _ request: @escaping (Replica) -> Attempt
  ) -> some Publisher<Output, any Error> where Attempt.Output == Output {
    let time = time ?? .current
    return Deferred { replicas.makeCall().publisher(time: time, request).protected(by: self) }
  }
}
