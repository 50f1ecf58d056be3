import Combine

extension Publisher {
  /// Lets things go wrong on purpose.
  ///
  ///     request.chaos(chaos).retry(policy)
  ///
  /// - Parameters:
  ///   - chaos: What goes wrong, and how often.
  ///   - time: Measures time and waits.
  ///
  /// - Demand: Passes up; a value that comes twice counts twice and is held until it is asked for. Only a violation that
  ///   was ordered exceeds the demand.
  /// - Failure: The upstream's, or an injected one.
  /// - Threads: Where the upstream sends; what is delayed comes on the scheduler, and what is delivered elsewhere on
  ///   a queue of its own.
  public func chaos(
    _ chaos: Chaos<Output, Failure>,
    time: TimeSource = .current
  ) -> Publishers.WithChaos<Self> {
    Publishers.WithChaos(upstream: self, chaos: chaos, time: time)
  }
}

extension Publishers {
  /// Lets things go wrong on purpose.
  ///
  /// Made by ``Combine/Publisher/chaos(_:time:)``.
  public struct WithChaos<Upstream: Publisher>: Publisher {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// What is called if nothing goes wrong.
    public let upstream: Upstream
    /// What goes wrong, and how often.
    public let chaos: Chaos<Output, Failure>
    /// Waits.
    public let time: TimeSource

    /// Makes a publisher in which things go wrong.
    ///
    /// - Parameters:
    ///   - upstream: What is called if nothing goes wrong.
    ///   - chaos: What goes wrong, and how often.
    ///   - time: Measures time and waits.
    public init(
      upstream: Upstream,
      chaos: Chaos<Output, Failure>,
      time: TimeSource = .current
    ) {
      self.upstream = upstream
      self.chaos = chaos
      self.time = time
    }

    /// Decides what goes wrong for this subscriber, and then subscribes to the upstream, or not.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let call = ChaosCall(chaos)
      Deferred { call.source(in: upstream, time) }.protected(by: call, time: time).receive(subscriber: subscriber)
    }
  }
}

/// One call, and what it is in for.
///
/// Unchecked, because its machine is asked by one thread at a time, and subscribed to by the same.
private final class ChaosCall<Output, Failure: Error>: Policy, @unchecked Sendable {
  private let chaos: Chaos<Output, Failure>
  private var plan = Chaos<Output, Failure>.Plan()

  init(_ chaos: Chaos<Output, Failure>) {
    self.chaos = chaos
  }

  var descriptor: StageDescriptor { StageDescriptor(.chaos) }

  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(call: self) }

  /// What the upstream is, as planned.
  func source<Upstream: Publisher>(in upstream: Upstream, _ time: TimeSource) -> AnyPublisher<Output, Failure>
  where Upstream.Output == Output, Upstream.Failure == Failure {
    let source = plan.end.map { $0.publisher.eraseToAnyPublisher() } ?? upstream.eraseToAnyPublisher()
    guard chaos.touchesStreams else { return source }
    return StreamWithChaos(upstream: source, chaos: chaos, plan: plan, alarm: Alarm(time)).eraseToAnyPublisher()
  }

  struct Machine: PolicyMachine {
    let call: ChaosCall
    private var isPlanned = false

    init(call: ChaosCall) {
      self.call = call
    }

    mutating func begins(_ execution: ExecutionContext) -> Decision<Failure> {
      if isPlanned { return .proceed }
      isPlanned = true
      call.plan = call.chaos.planCall()
      return call.plan.delay > .zero ? .wait(call.plan.delay) : .proceed
    }
  }
}
