import Combine
import Dispatch
import StreamSupport

/// Lets things go wrong with single values and the end of a stream.
struct StreamWithChaos<Output, Failure: Error>: Publisher {
  let upstream: AnyPublisher<Output, Failure>
  let chaos: Chaos<Output, Failure>
  let plan: Chaos<Output, Failure>.Plan
  let alarm: Alarm

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    upstream.subscribe(
      StreamChaosExecution(
        self,
        subscribe: subscriber.receive(subscription:),
        deliver: subscriber.receive(_:),
        complete: subscriber.receive(completion:)
      )
    )
  }
}

/// Stands between the upstream and one subscriber, and delivers what the chaos has made of the events.
///
/// Unchecked, because the lock guards all that changes, and no foreign code runs under it; one thread at a time delivers.
private final class StreamChaosExecution<Input, Failure: Error>: Subscriber, Subscription, CustomStringConvertible,
  @unchecked Sendable
{
  private enum Step {
    case value(Input)
    /// Delivered whether or not it was asked for.
    case excess(Input)
    case pause(Duration)
    case completion(Subscribers.Completion<Failure>)
  }

  private struct Downstream {
    let subscribe: (any Subscription) -> Void
    let deliver: (Input) -> Subscribers.Demand
    let complete: (Subscribers.Completion<Failure>) -> Void
  }

  private let chaos: Chaos<Input, Failure>
  private let dropsCompletion: Bool
  private let alarm: Alarm
  private let queue: DispatchQueue?

  private let lock = Lock()
  /// Goes when it is over.
  private var downstream: Downstream?
  private var subscription: (any Subscription)?
  private var owed = Subscribers.Demand.none
  /// What is to come, in order.
  private var steps: [Step] = []
  private var timer: (any Cancellable)?
  private var isPaused = false
  private var isDelivering = false

  init(
    _ recipe: StreamWithChaos<Input, Failure>,
    subscribe: @escaping (any Subscription) -> Void,
    deliver: @escaping (Input) -> Subscribers.Demand,
    complete: @escaping (Subscribers.Completion<Failure>) -> Void
  ) {
    chaos = recipe.chaos
    dropsCompletion = recipe.plan.dropsCompletion
    alarm = recipe.alarm
    queue = recipe.plan.isElsewhere ? DispatchQueue(label: "rebound.chaos") : nil
    downstream = Downstream(subscribe: subscribe, deliver: deliver, complete: complete)
  }

  var description: String { "WithChaos" }

  func receive(subscription: any Subscription) {
    let downstream: Downstream? = lock.withLock {
      guard self.subscription == nil else { return nil }
      self.subscription = subscription
      return self.downstream
    }
    guard let downstream else { return subscription.cancel() }
    downstream.subscribe(self)
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
    let subscription = lock.withLock {
      owed += demand
      return self.subscription
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
  private func takeAll() -> (
    downstream: Downstream?, subscription: (any Subscription)?, timer: (any Cancellable)?, steps: [Step]
  ) {
    lock.withLock {
      let rest = (downstream, subscription, timer, steps)
      (downstream, timer, steps) = (nil, nil, [])
      return rest
    }
  }

  private func add(_ added: [Step]) {
    lock.withLock {
      if downstream != nil { steps += added }
    }
    wake()
  }

  /// Delivers what may be delivered, here or elsewhere.
  private func wake() {
    if let queue { queue.async { self.deliver() } } else { deliver() }
  }

  private func deliver() {
    let begins = lock.withLock {
      guard !isDelivering else { return false }
      isDelivering = true
      return true
    }
    guard begins else { return }
    while let (step, downstream) = nextStep() {
      switch step {
      case .value(let value), .excess(let value):
        let more = downstream.deliver(value)
        if more > .none { request(more) }
      case .pause(let delay):
        pause(delay)
      case .completion(let completion):
        if takeAll().downstream != nil { downstream.complete(completion) }
      }
    }
  }

  private func nextStep() -> (Step, Downstream)? {
    lock.withLock {
      guard let downstream, let step = steps.first, !isPaused else {
        isDelivering = false
        return nil
      }
      switch step {
      case .value where owed == .none:
        isDelivering = false
        return nil
      case .value: owed -= 1
      case .pause: isPaused = true
      case .excess, .completion: break
      }
      steps.removeFirst()
      return (step, downstream)
    }
  }

  private func pause(_ delay: Duration) {
    let timer = alarm.set(delay) {
      self.lock.withLock { self.isPaused = false }
      self.wake()
    }
    let isWaiting = lock.withLock {
      guard isPaused, downstream != nil else { return false }
      self.timer = timer
      return true
    }
    if !isWaiting { timer.cancel() }
  }
}
