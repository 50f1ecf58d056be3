import Combine
import StreamSupport

/// A subscription into which a source sends: what nobody has asked for yet is kept.
///
/// One thread at a time delivers: whoever finds that nobody does. So no event comes inside another, and the end comes last.
/// Released before the end, it is cancelled.
final class Emitter<Output, Failure: Error>: Subscription, CustomStringConvertible, Sendable {
  private enum Step {
    case value(Output)
    case excess(Output)
    case pause((_ resume: @escaping @Sendable () -> Void) -> any Cancellable)
    case completion(Subscribers.Completion<Failure>)
  }

  private struct State {
    /// Goes when it is over.
    var downstream: AnySubscriber<Output, Failure>?
    var whenRequested: ((Emitter, Subscribers.Demand) -> Void)?
    var whenCancelled: (() -> Void)?
    var hasBegun = false
    var owed = Subscribers.Demand.none
    /// What is to come, in order, from `first` on.
    var steps: [Step] = []
    var first = 0
    var pause: (any Cancellable)?
    var isPaused = false
    /// Whether some thread is delivering; from the start, since the subscription comes first.
    var isDelivering = true

    /// What comes next, if it may come now; otherwise nobody delivers any more.
    mutating func next() -> (Step, AnySubscriber<Output, Failure>)? {
      isDelivering = false
      guard let downstream, first < steps.count, !isPaused else { return nil }
      let step = steps[first]
      switch step {
      case .value where owed == .none: return nil
      case .value: owed -= 1
      case .pause: isPaused = true
      case .excess, .completion: break
      }
      first += 1
      if first == steps.count { (steps, first) = ([], 0) }
      isDelivering = true
      return (step, downstream)
    }
  }

  let description: String
  private let state: Locked<State>

  /// - Parameter values: What has come before the subscriber.
  init<S: Subscriber>(named description: String, to downstream: S, after values: [Output] = [])
  where S.Input == Output, S.Failure == Failure {
    self.description = description
    state = Locked(State(downstream: AnySubscriber(downstream), steps: values.map(Step.value)))
  }

  deinit { cancel() }

  /// Gives the downstream its subscription, and then whatever has come so far.
  ///
  /// - Parameters:
  ///   - whenRequested: Called with each request, before what is kept is delivered.
  ///   - whenCancelled: Called if the downstream cancels before the end.
  /// - Returns: Whether this is the first time; otherwise nothing happens.
  @discardableResult
  func begin(
    whenRequested: @escaping (Emitter, Subscribers.Demand) -> Void,
    whenCancelled: @escaping () -> Void
  ) -> Bool {
    let downstream: AnySubscriber<Output, Failure>? = state.withLock { state in
      guard !state.hasBegun, let downstream = state.downstream else { return nil }
      state.hasBegun = true
      (state.whenRequested, state.whenCancelled) = (whenRequested, whenCancelled)
      return downstream
    }
    guard let downstream else { return false }
    downstream.receive(subscription: self)
    deliver(from: state.withLock { $0.next() })
    return true
  }

  // MARK: What the source sends

  /// Sends a value, once it is asked for.
  func send(_ value: Output) { add(.value(value)) }

  /// Sends a value if it is asked for; otherwise it is dropped.
  func sendIfRequested(_ value: Output) {
    state.withLock { state in
      guard state.downstream != nil, state.owed > .max(state.steps.count - state.first) else { return }
      state.steps.append(.value(value))
    }
    drain()
  }

  /// Sends a value whether or not it is asked for.
  func sendInExcess(_ value: Output) { add(.excess(value)) }

  /// Delivers nothing more before it is resumed.
  ///
  /// - Parameter start: Called when all before it is delivered; returns what is cancelled if the downstream cancels.
  func pause(_ start: @escaping (_ resume: @escaping @Sendable () -> Void) -> any Cancellable) { add(.pause(start)) }

  /// Sends the end, behind all else.
  func send(completion: Subscribers.Completion<Failure>) { add(.completion(completion)) }

  /// Asks nothing more of the source, which has ended or is to be cancelled.
  func letGoOfSource(cancelling: Bool) {
    let (whenRequested, whenCancelled) = state.withLock { state in
      defer { (state.whenRequested, state.whenCancelled) = (nil, nil) }
      return (state.whenRequested, state.whenCancelled)
    }
    if cancelling { whenCancelled?() }
    withExtendedLifetime(whenRequested) {}
  }

  private func add(_ step: Step) {
    state.withLock { if $0.downstream != nil { $0.steps.append(step) } }
    drain()
  }

  // MARK: What the downstream asks

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let whenRequested = state.withLock { state in
      state.owed += demand
      return state.whenRequested
    }
    whenRequested?(self, demand)
    drain()
  }

  func cancel() {
    let rest = state.exchange(State())
    rest.pause?.cancel()
    rest.whenCancelled?()
  }

  // MARK: Delivery

  private func drain() {
    deliver(from: state.withLock { $0.isDelivering ? nil : $0.next() })
  }

  private func deliver(from first: (Step, AnySubscriber<Output, Failure>)?) {
    var next = first
    while let (step, downstream) = next {
      switch step {
      case .value(let value), .excess(let value):
        let more = downstream.receive(value)
        if more > .none { request(more) }
      case .pause(let start):
        pauseBegins(start)
      case .completion(let completion):
        if state.exchange(State()).downstream != nil { downstream.receive(completion: completion) }
      }
      next = state.withLock { $0.next() }
    }
  }

  private func pauseBegins(_ start: (@escaping @Sendable () -> Void) -> any Cancellable) {
    let pause = start {
      let pause = self.state.withLock { state in
        defer { (state.isPaused, state.pause) = (false, nil) }
        return state.pause
      }
      withExtendedLifetime(pause) {}
      self.drain()
    }
    let isPaused = state.withLock { state in
      if state.isPaused { state.pause = pause }
      return state.isPaused
    }
    if !isPaused { pause.cancel() }
  }
}

extension Emitter {
  /// Sends what has come, and finishes; or fails.
  func end(with result: Result<Output, Failure>) {
    switch result {
    case .success(let value):
      send(value)
      send(completion: .finished)
    case .failure(let error): send(completion: .failure(error))
    }
  }
}

/// Publishes what closures have an emitter send for the values and the end of another publisher.
struct EmitterPublisher<Upstream: Publisher, Output, Failure: Error>: Publisher {
  let upstream: Upstream
  let name: String
  let value: (Upstream.Output, Emitter<Output, Failure>) -> Void
  let completion: (Subscribers.Completion<Upstream.Failure>, Emitter<Output, Failure>) -> Void

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    let emitter = Emitter(named: name, to: subscriber)
    upstream.subscribe(EmitterUpstream(emitter: emitter, value: value, completion: completion))
  }
}

/// The subscriber of what is upstream of an emitter.
private struct EmitterUpstream<Input, UpstreamFailure: Error, Output, Failure: Error>: Subscriber,
  CustomStringConvertible
{
  let emitter: Emitter<Output, Failure>
  let value: (Input, Emitter<Output, Failure>) -> Void
  let completion: (Subscribers.Completion<UpstreamFailure>, Emitter<Output, Failure>) -> Void
  let combineIdentifier = CombineIdentifier()

  var description: String { emitter.description }

  func receive(subscription: any Subscription) {
    let isFirst = emitter.begin(
      whenRequested: { subscription.request($1) },
      whenCancelled: { subscription.cancel() }
    )
    if !isFirst { subscription.cancel() }
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    value(input, emitter)
    return .none
  }

  func receive(completion end: Subscribers.Completion<UpstreamFailure>) {
    emitter.letGoOfSource(cancelling: false)
    completion(end, emitter)
  }
}
