import Combine
import StreamSupport

/// A subscription into which a source sends: the life of a publisher or an operator of one's own, with its demand and its
/// one end.
///
/// ``Combine/Publishers/Create`` makes one for each subscriber of a source, and
/// ``Combine/Publisher/handle(_:remembering:value:completion:)`` for each subscriber of an operator. A publisher that
/// needs more makes it itself:
///
///     func receive<S: Subscriber>(subscriber: S) where S.Input == Reading, S.Failure == Never {
///       let emitter = Emitter(named: "Thermometer", to: subscriber)
///       let watch = thermometer.watch { emitter.sendIfRequested($0) }
///       emitter.begin(whenCancelled: watch.cancel)
///     }
///
/// - Demand: What is sent and nobody has asked for yet is kept (``send(_:)``), or dropped (``sendIfRequested(_:)``).
/// - Failure: What is sent. Nothing comes behind the end, and nothing after a cancel.
/// - Threads: Events may be sent on any. One thread at a time delivers: whoever finds that nobody does. So no event comes
///   inside another, and the end comes last.
///
/// Released before the end, it is cancelled.
public final class Emitter<Output, Failure: Error>: Subscription, CustomStringConvertible, Sendable {
  @usableFromInline enum Step {
    case value(Output)
    case excess(Output)
    case pause((_ resume: @escaping @Sendable () -> Void) -> any Cancellable)
    case completion(Subscribers.Completion<Failure>)
  }

  @usableFromInline typealias Delivery = (step: Step, downstream: AnySubscriber<Output, Failure>)

  /// Who sends.
  ///
  /// In a struct, since a function that is read under a lock by itself gets a wrapper each time.
  @usableFromInline struct Source {
    @usableFromInline let whenRequested: (Emitter, Subscribers.Demand) -> Void
    @usableFromInline let whenCancelled: () -> Void

    @inlinable
    init(
      whenRequested: @escaping (Emitter, Subscribers.Demand) -> Void,
      whenCancelled: @escaping () -> Void
    ) {
      (self.whenRequested, self.whenCancelled) = (whenRequested, whenCancelled)
    }
  }

  @usableFromInline struct State: Drained {
    /// Goes when it is over.
    @usableFromInline var downstream: AnySubscriber<Output, Failure>?
    @usableFromInline var source: Source?
    @usableFromInline var hasBegun = false
    @usableFromInline var owed = Subscribers.Demand.none
    /// What is to come, in order.
    @usableFromInline var steps = Queue<Step>()
    @usableFromInline var pause: (any Cancellable)?
    @usableFromInline var isPaused = false
    /// Entered from the start, since the subscription comes first.
    @usableFromInline var loop = DrainLoop(isEntered: true)
    /// Whether somebody is at work whose events are delivered when it has returned.
    @usableFromInline var isHeld = false
    /// How many events were sent, also such as were dropped.
    @usableFromInline var sent = 0
    /// Whether the end is among what is to come; nothing is taken behind it.
    @usableFromInline var isEnding = false

    @inlinable
    init(downstream: AnySubscriber<Output, Failure>? = nil) { self.downstream = downstream }

    @inlinable
    mutating func add(_ step: Step) {
      sent += 1
      guard downstream != nil, !isEnding else { return }
      if case .completion = step { isEnding = true }
      steps.append(step)
    }

    /// Whether the next event can be delivered by whoever sends it, without being kept; if so, the caller is to.
    @inlinable
    mutating func pass() -> Bool {
      guard downstream != nil, !isPaused, !isHeld, !isEnding, steps.isEmpty else { return false }
      return loop.enter()
    }

    /// What comes next, if it may come now.
    @inlinable
    mutating func takeNext() -> Delivery? {
      guard let downstream, let step = steps.first, !isPaused, !isHeld else { return nil }
      switch step {
      case .value where owed == .none: return nil
      case .value: owed -= 1
      case .pause: isPaused = true
      case .excess, .completion: break
      }
      _ = steps.popFirst()
      return (step, downstream)
    }
  }

  /// The name.
  public let description: String
  // Swift does not specialise what is called through a protocol, nor a deinit, so these are made where the types are known.
  // There they capture nothing.
  @usableFromInline let whenAsked: @Sendable (Emitter, Subscribers.Demand) -> Void
  @usableFromInline let whenLeft: @Sendable (Emitter) -> Void
  @usableFromInline let state: Locked<State>

  /// Makes the subscription of a subscriber, which does not have it before it is told to begin.
  ///
  /// - Parameters:
  ///   - description: What it is, for logs and mirrors.
  ///   - downstream: The subscriber.
  @inlinable
  public init<S: Subscriber>(named description: String, to downstream: S)
  where S.Input == Output, S.Failure == Failure {
    self.description = description
    whenAsked = { $0.take($1) }
    whenLeft = { $0.leave() }
    state = Locked(State(downstream: AnySubscriber(downstream)))
  }

  @inlinable
  deinit { whenLeft(self) }

  /// Gives the subscriber its subscription, and then whatever was sent so far.
  ///
  /// - Parameters:
  ///   - whenRequested: Called with each request, on its thread, before what is kept is delivered.
  ///   - whenCancelled: Called once if the subscriber cancels before the end, on its thread. Both are let go of at the end.
  /// - Returns: Whether this is the first time; otherwise nothing happens.
  @discardableResult @inlinable
  public func begin(
    whenRequested: @escaping (Emitter, Subscribers.Demand) -> Void = { _, _ in },
    whenCancelled: @escaping () -> Void = {}
  ) -> Bool {
    let downstream: AnySubscriber<Output, Failure>? = state.withLock { state in
      guard !state.hasBegun, let downstream = state.downstream else { return nil }
      state.hasBegun = true
      state.source = Source(whenRequested: whenRequested, whenCancelled: whenCancelled)
      return downstream
    }
    guard let downstream else { return false }
    downstream.receive(subscription: self)
    state.drainEntered(deliver)
    return true
  }

  // MARK: What the source sends

  /// Whether somebody listens: neither the end was delivered, nor has the subscriber cancelled.
  @inlinable
  public var isActive: Bool { state.withLock { $0.downstream != nil } }

  /// How much is asked for beyond what was sent; nothing behind the end, though it may not have been delivered yet.
  @inlinable
  public var requested: Subscribers.Demand {
    state.withLock { state in
      let kept = state.steps.count
      return !state.isEnding && state.owed > .max(kept) ? state.owed - kept : .none
    }
  }

  /// Sends a value, once it is asked for: until then it is kept, with all others, without a limit.
  @inlinable
  public func send(_ value: Output) {
    let downstream: AnySubscriber<Output, Failure>? = state.withLock { state in
      guard state.owed > .none, state.pass() else { return nil }
      state.sent += 1
      state.owed -= 1
      return state.downstream
    }
    guard let downstream else { return add(.value(value)) }
    hand(value, to: downstream)
    state.drainEntered(deliver)
  }

  /// Sends a value if it is asked for, beyond what is kept already; otherwise it is dropped.
  ///
  /// - Returns: Whether it is sent.
  @discardableResult @inlinable
  public func sendIfRequested(_ value: Output) -> Bool {
    let isSent = state.withLock { state in
      guard state.downstream != nil, !state.isEnding, state.owed > .max(state.steps.count) else {
        state.sent += 1
        return false
      }
      state.add(.value(value))
      return true
    }
    if isSent { drain() }
    return isSent
  }

  /// Sends a value whether or not it is asked for.
  @inlinable
  func sendInExcess(_ value: Output) { add(.excess(value)) }

  /// Delivers nothing more before it is resumed.
  ///
  /// - Parameter start: Called when all before it is delivered; returns what is cancelled if the downstream cancels.
  @inlinable
  func pause(_ start: @escaping (_ resume: @escaping @Sendable () -> Void) -> any Cancellable) { add(.pause(start)) }

  /// Sends the end, behind all else.
  @inlinable
  public func send(completion: Subscribers.Completion<Failure>) {
    let rest: State? = state.withLock { state in
      guard state.pass() else { return nil }
      // Swapped, since a copy counts all references in it.
      var rest = State()
      swap(&rest, &state)
      return rest
    }
    if let rest { rest.downstream?.receive(completion: completion) } else { add(.completion(completion)) }
  }

  /// Asks nothing more of the source, which has ended or is to be cancelled.
  @inlinable
  func letGoOfSource(cancelling: Bool) {
    let source = state.withLock { $0.source.take() }
    if cancelling { source?.whenCancelled() }
    withExtendedLifetime(source) {}
  }

  @inlinable
  func add(_ step: Step) {
    state.drain(after: { $0.add(step) }, deliver)
  }

  /// Whether nothing has been sent that ends it, and somebody listens.
  @inlinable
  var takesMore: Bool { state.withLock { $0.downstream != nil && !$0.isEnding } }

  /// Keeps what is sent in a closure until ``drain()``, so that nothing comes back into it.
  ///
  /// - Returns: Whether it has sent anything.
  @inlinable
  func holding(_ body: () -> Void) -> Bool {
    let before = state.withLock { state in
      state.isHeld = true
      return state.sent
    }
    body()
    let after = state.withLock { state in
      state.isHeld = false
      return state.sent
    }
    return after != before
  }

  // MARK: What the downstream asks

  /// Notes what the subscriber asks for, and delivers what it may.
  @inlinable
  public func request(_ demand: Subscribers.Demand) { whenAsked(self, demand) }

  @inlinable
  func take(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let source = state.withLock { state in
      state.owed += demand
      return state.source
    }
    source?.whenRequested(self, demand)
    drain()
  }

  /// Ends it without a word: what is kept is dropped, and the source is told.
  @inlinable
  public func cancel() { whenLeft(self) }

  @inlinable
  func leave() {
    let rest = state.exchange(State())
    rest.pause?.cancel()
    rest.source?.whenCancelled()
  }

  // MARK: Delivery

  /// Delivers what may be delivered, unless another thread is at it, or a frame further up.
  @inlinable
  func drain() { state.drain(deliver) }

  @inlinable
  func deliver(_ next: Delivery) {
    switch next.step {
    case .value(let value), .excess(let value): hand(value, to: next.downstream)
    case .pause(let start):
      pauseBegins(start)
    case .completion(let completion):
      if state.exchange(State()).downstream != nil { next.downstream.receive(completion: completion) }
    }
  }

  @inlinable @inline(__always)
  func hand(_ value: Output, to downstream: AnySubscriber<Output, Failure>) {
    let more = downstream.receive(value)
    if more > .none { take(more) }
  }

  @inlinable
  func pauseBegins(_ start: (@escaping @Sendable () -> Void) -> any Cancellable) {
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
  /// Sends a value and finishes, or fails.
  @inlinable
  public func end(with result: Result<Output, Failure>) {
    switch result {
    case .success(let value):
      send(value)
      send(completion: .finished)
    case .failure(let error): send(completion: .failure(error))
    }
  }
}
