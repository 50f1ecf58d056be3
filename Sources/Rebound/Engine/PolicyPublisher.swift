import Combine
import StreamSupport

extension Publishers {
  /// A publisher under a ``Policy``.
  ///
  /// Made by the operators of the policies, and by `protected(by:time:)`.
  ///
  /// - Demand: Passes up while an attempt runs; what is owed when one ends is requested from the next. Values beyond the
  ///   demand are dropped.
  /// - Failure: The upstream's, or what the policy puts in its place.
  /// - Threads: Where the upstream sends. An attempt that has waited is subscribed to on a thread of the time source, or
  ///   where it was woken.
  public struct WithPolicy<Upstream: Publisher, Applied: Policy>: Publisher where Applied.Failure == Upstream.Failure {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// The publisher of the attempts.
    public let upstream: Upstream
    /// What is done about it.
    public let policy: Applied
    /// Measures time and waits.
    public let time: TimeSource
    @usableFromInline let refusal: ((any Error) -> Failure)?
    @usableFromInline var judgement: ValueJudgement<Output, Failure>?

    /// Puts a policy around a publisher.
    ///
    /// - Parameters:
    ///   - upstream: The publisher of the attempts.
    ///   - policy: What is done about it.
    ///   - time: Measures time and waits.
    ///   - refusal: The failure for an error of the policy's own; `nil` for a policy that has none, or whose errors are
    ///     failures of the upstream's type.
    @inlinable
    public init(
      upstream: Upstream,
      policy: Applied,
      time: TimeSource = .current,
      refusal: ((any Error) -> Failure)? = nil
    ) {
      self.upstream = upstream
      self.policy = policy
      self.time = time
      self.refusal = refusal
    }

    /// Begins an execution of its own for this subscriber.
    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let execution = PolicySubscription<Upstream, Applied, S>(
        upstream,
        subscriber,
        refusal,
        judgement,
        time: time,
        origin: nil
      )
      subscriber.receive(subscription: execution)
      execution.begin(policy)
    }
  }
}

/// Which values count as failures, and what comes of the last one.
@usableFromInline
final class ValueJudgement<Output, Failure: Error> {
  @usableFromInline let rejection: (Output) -> Failure?
  @usableFromInline let lastValue: RejectedValue

  @inlinable
  init(rejection: @escaping (Output) -> Failure?, lastValue: RejectedValue) {
    self.rejection = rejection
    self.lastValue = lastValue
  }
}
