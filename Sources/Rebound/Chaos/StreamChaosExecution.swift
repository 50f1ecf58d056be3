import Combine
import Dispatch
import StreamSupport

/// Stands between an upstream and one subscriber, and delivers what the chaos has made of the values and the end.
///
/// One thread at a time delivers: whoever finds that nobody does.
final class StreamChaosExecution<Input, Failure: Error>: Subscriber, Subscription, CustomStringConvertible, Sendable {
  typealias Downstream = AnySubscriber<Input, Failure>

  private enum Step {
    case value(Input)
    /// Delivered whether or not it was asked for.
    case excess(Input)
    case pause(Duration)
    case completion(Subscribers.Completion<Failure>)
  }

  private struct State {
    /// Goes when it is over.
    var downstream: Downstream?
    var subscription: (any Subscription)?
    var owed = Subscribers.Demand.none
    /// What is to come, in order.
    var steps: [Step] = []
    var timer: (any Cancellable)?
    var isPaused = false
    var isDelivering = false

    /// What comes next, if it may come now; otherwise nobody delivers any more.
    mutating func next() -> (Step, Downstream)? {
      isDelivering = false
      guard let downstream, let step = steps.first, !isPaused else { return nil }
      switch step {
      case .value where owed == .none: return nil
      case .value: owed -= 1
      case .pause: isPaused = true
      case .excess, .completion: break
      }
      steps.removeFirst()
      isDelivering = true
      return (step, downstream)
    }
  }

  private let chaos: Chaos<Input, Failure>
  private let dropsCompletion: Bool
  private let time: TimeSource
  private let queue: DispatchQueue?
  private let state: Locked<State>

  init(_ chaos: Chaos<Input, Failure>, _ plan: Chaos<Input, Failure>.Plan, _ time: TimeSource, downstream: Downstream) {
    self.chaos = chaos
    self.time = time
    dropsCompletion = plan.dropsCompletion
    queue = plan.isElsewhere ? DispatchQueue(label: "rebound.chaos") : nil
    state = Locked(State(downstream: downstream))
  }

  var description: String { "WithChaos" }

  func receive(subscription: any Subscription) {
    let downstream: Downstream? = state.withLock { state in
      guard state.subscription == nil else { return nil }
      state.subscription = subscription
      return state.downstream
    }
    guard let downstream else { return subscription.cancel() }
    downstream.receive(subscription: self)
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    let plan = chaos.planValue(input)
    var added: [Step] = []
    if let delay = plan.delay { added.append(.pause(delay)) }
    added.append(.value(plan.value))
    if plan.isDuplicated { added.append(.value(plan.value)) }
    if plan.isSentInExcess { added.append(.excess(plan.value)) }
    add(added)
    return .none
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    if dropsCompletion { chaos.completionIsDropped() } else { add([.completion(completion)]) }
  }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let subscription = state.withLock { state in
      state.owed += demand
      return state.subscription
    }
    subscription?.request(demand)
    wake()
  }

  func cancel() {
    let rest = takeAll()
    rest.timer?.cancel()
    if rest.downstream != nil { rest.subscription?.cancel() }
  }

  /// Lets go of everything.
  private func takeAll() -> State {
    state.withLock { state in
      let rest = state
      (state.downstream, state.timer, state.steps) = (nil, nil, [])
      return rest
    }
  }

  private func add(_ added: [Step]) {
    state.withLock { if $0.downstream != nil { $0.steps += added } }
    wake()
  }

  /// Delivers what may be delivered, here or elsewhere.
  private func wake() {
    if let queue { queue.async { self.deliver() } } else { deliver() }
  }

  private func deliver() {
    var next = state.withLock { $0.isDelivering ? nil : $0.next() }
    while let (step, downstream) = next {
      switch step {
      case .value(let value), .excess(let value):
        let more = downstream.receive(value)
        if more > .none { request(more) }
      case .pause(let delay):
        pause(delay)
      case .completion(let completion):
        if takeAll().downstream != nil { downstream.receive(completion: completion) }
      }
      next = state.withLock { $0.next() }
    }
  }

  private func pause(_ delay: Duration) {
    let timer = time.after(delay) {
      self.state.withLock { $0.isPaused = false }
      self.wake()
    }
    let isWaiting = state.withLock { state in
      guard state.isPaused, state.downstream != nil else { return false }
      state.timer = timer
      return true
    }
    if !isWaiting { timer.cancel() }
  }
}
