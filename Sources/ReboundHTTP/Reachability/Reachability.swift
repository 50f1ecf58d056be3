import Combine
import Rebound

/// Tells whether the device has a network.
///
///     forecast
///       .retry(whenBackOn: SystemReachability.shared) { $0.kind == .transport(.offline) }
///
/// That there is a network does not mean that a given server answers. That there is none means that no request to
/// another machine can succeed, and that none needs to be tried before ``connectivity`` says otherwise.
public protocol Reachability: Sendable {
  /// What is known at this moment, whether it lasts or not.
  var current: Connectivity { get }

  /// What holds, and every change from then on that lasts.
  ///
  /// - Demand: A change that comes while nobody asks replaces the one that waits.
  /// - Failure: Never; nor does it finish.
  /// - Threads: Those of whoever notices.
  var connectivity: AnyPublisher<Connectivity, Never> { get }
}

/// Whether there is a network.
public enum Connectivity: Hashable, Sendable {
  /// Some way leads out of this device.
  case online
  /// There is none.
  case offline
}

extension Reachability {
  /// A value as soon as there is a network, at once if there is one; then the finish.
  public var untilOnline: AnyPublisher<Void, Never> {
    connectivity.filter { $0 == .online }.map { _ in }.first().eraseToAnyPublisher()
  }

  /// A value each time that the network is back after it was gone.
  public var restored: AnyPublisher<Void, Never> {
    // What holds at the start is no return.
    connectivity.dropFirst().filter { $0 == .online }.map { _ in }.eraseToAnyPublisher()
  }
}

extension Publisher {
  /// Tries again after a failure for want of a network, as soon as there is one.
  ///
  ///     forecast.retry(whenBackOn: reachability) { $0.kind == .transport(.offline) }
  ///
  /// If the network is back before the failure has arrived, it tries again at once. A server that cannot be reached
  /// although there is a network is not worth to be asked again and again; so let the condition hold for failures alone
  /// that mean that there is none.
  ///
  /// - Parameters:
  ///   - reachability: Says when there is a network.
  ///   - condition: Asked on every failure; others pass on.
  ///
  /// - Demand: Passes up; what is still owed when an attempt fails is requested from the next.
  /// - Failure: Those for which the condition does not hold.
  /// - Threads: Values arrive where the upstream sends them; the next attempt begins where the reachability tells.
  public func retry(
    whenBackOn reachability: any Reachability,
    if condition: @escaping (Failure) -> Bool
  ) -> AnyPublisher<Output, Failure> {
    let again: (AnyPublisher<Failure, Never>) -> AnyPublisher<Void, Failure> = { failures in
      failures
        .setFailureType(to: Failure.self)
        .flatMap { failure -> AnyPublisher<Void, Failure> in
          guard condition(failure) else { return Fail(error: failure).eraseToAnyPublisher() }
          return reachability.untilOnline.setFailureType(to: Failure.self).eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
    return retry(when: again).eraseToAnyPublisher()
  }
}

extension Publisher where Output: Equatable, Failure == Never {
  /// The first value at once, and from then on only those that stand for a while, each once.
  ///
  /// A network that comes and goes within that time makes no change. The first is what holds upon the subscription. What
  /// comes while nobody asks replaces what waits.
  func settled<Context: Scheduler>(
    from first: @escaping () -> Output,
    for duration: Duration,
    on scheduler: Context
  ) -> AnyPublisher<Output, Never> {
    // In this order: what changes between the look and the subscription would be missed.
    debounce(for: Context.SchedulerTimeType.Stride(duration), scheduler: scheduler)
      .merge(with: Deferred { Just(first()) })
      .buffer(size: 1, prefetch: .byRequest, whenFull: .dropOldest)
      .removeDuplicates()
      .eraseToAnyPublisher()
  }
}
