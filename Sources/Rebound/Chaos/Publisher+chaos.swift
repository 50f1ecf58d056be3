import Combine
import Dispatch

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
  /// - Threads: Where the upstream sends; what is delayed comes on a thread of the time source, and what is delivered
  ///   elsewhere on a queue of its own.
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

    let upstream: Upstream
    let chaos: Chaos<Output, Failure>
    let time: TimeSource

    /// Decides what goes wrong for this subscriber, and then subscribes to the upstream, or not.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let plan = chaos.planCall(isStream: true)
      let source = plan.end.map { $0.publisher.eraseToAnyPublisher() } ?? upstream.eraseToAnyPublisher()
      let call = source.protected(by: ChaosDelay<Failure>(steps: plan.steps), time: time)
      guard chaos.touchesStreams else { return call.receive(subscriber: subscriber) }
      let threads =
        plan.isElsewhere
        ? call.receive(on: DispatchQueue(label: "rebound.chaos")).eraseToAnyPublisher() : call.eraseToAnyPublisher()
      threads.handle("WithChaos") { [chaos, time] input, emitter in
        let plan = chaos.planValue(input, isStream: true)
        if let delay = plan.delay { emitter.pause { time.after(delay, $0) } }
        emitter.send(plan.value)
        if plan.isDuplicated { emitter.send(plan.value) }
        if plan.isSentInExcess { emitter.sendInExcess(plan.value) }
      } completion: { [chaos] end, emitter in
        if plan.dropsCompletion { chaos.completionIsDropped() } else { emitter.send(completion: end) }
      }
      .receive(subscriber: subscriber)
    }
  }
}

/// A part of what comes before a call.
enum ChaosStep: Sendable {
  case delay(Duration)
  case action(@Sendable () -> Void)
}

/// Makes a call later, or lets its value pass later.
struct ChaosDelay<Failure: Error>: Policy {
  let steps: [ChaosStep]

  var descriptor: StageDescriptor { StageDescriptor(.chaos) }

  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(steps: steps[...]) }

  struct Machine: PolicyMachine {
    /// Those that are still to come.
    var steps: ArraySlice<ChaosStep>

    mutating func begins(_ execution: ExecutionContext) -> Decision<Failure> {
      while let step = steps.popFirst() {
        switch step {
        case .delay(let delay): return .wait(delay)
        case .action(let action): action()
        }
      }
      return .proceed
    }
  }
}
