import Combine
import StreamSupport

/// A subscriber that writes down all that it receives, and requests as it is told.
///
///     let recorder = Recorder<Int, Never>(requesting: .max(1), on: scheduler)
///     publisher.subscribe(recorder)
///     recorder.request(.max(2))
///     #expect(recorder.values == [1, 2, 3])
///
/// It writes down events that no publisher should send, too: values beyond the demand, values after the completion,
/// second completions. ``demand`` is the ledger of requests and values.
public final class Recorder<Input, Failure: Error>: Subscriber, Cancellable, Sendable {
  /// Something that a subscriber receives.
  public enum Event {
    /// A subscription.
    case subscription
    /// A value.
    case value(Input)
    /// A completion.
    case completion(Subscribers.Completion<Failure>)
  }

  /// An event and when it came.
  public struct Entry {
    /// When it came, on the recorder's scheduler; ``VirtualTime/start`` without one.
    public let time: VirtualTime
    /// What came.
    public let event: Event
  }

  private struct State {
    var log: [Entry] = []
    var ledger = DemandLedger()
    var cancels: [VirtualTime] = []
    var subscription: (any Subscription)?
    /// Whether it was cancelled before it had any subscription.
    var isCancelledEarly = false

    mutating func takeSubscription() -> (any Subscription)? { subscription.take() }
  }

  private let scheduler: TestScheduler?
  private let initialDemand: Subscribers.Demand
  // A test's closures need not be Sendable: they run where the publisher sends.
  private let answer: Confined<(Input, Recorder) -> Subscribers.Demand>
  private let whenCompleted: Confined<() -> Void>
  private let state = Locked(State())

  /// Makes a recorder.
  ///
  /// - Parameters:
  ///   - demand: What to request as soon as there is a subscription; `.none` requests nothing.
  ///   - scheduler: Whose time to write down.
  ///   - answer: Called with each value after it was written down, and with the recorder, to request more or to cancel
  ///     from inside; what it returns is added to the demand.
  ///   - whenCompleted: Called after each completion was written down, to wake up who waits for it.
  public init(
    requesting demand: Subscribers.Demand = .unlimited,
    on scheduler: TestScheduler? = nil,
    answering answer: @escaping (Input, Recorder) -> Subscribers.Demand = { _, _ in .none },
    whenCompleted: @escaping () -> Void = {}
  ) {
    initialDemand = demand
    self.scheduler = scheduler
    self.answer = Confined(answer)
    self.whenCompleted = Confined(whenCompleted)
  }

  /// Writes down the subscription, keeps it, and requests the initial demand.
  ///
  /// Of several the last one is kept. One that comes after the cancel that was meant for it is cancelled.
  public func receive(subscription: any Subscription) {
    write(.subscription)
    let (previous, isCancelled) = state.withLock { state in
      let previous = state.takeSubscription()
      state.subscription = subscription
      defer { state.isCancelledEarly = false }
      return (previous, state.isCancelledEarly)
    }
    withExtendedLifetime(previous) {}
    if isCancelled { return cancel() }
    if initialDemand > .none { request(initialDemand, from: subscription) }
  }

  /// Writes down a value.
  public func receive(_ input: Input) -> Subscribers.Demand {
    write(.value(input))
    let more = answer.value(input, self)
    let time = now
    state.withLock { $0.ledger.request(more, at: time) }
    return more
  }

  /// Writes down a completion, and lets go of the subscription.
  public func receive(completion: Subscribers.Completion<Failure>) {
    write(.completion(completion))
    withExtendedLifetime(state.withLock { $0.takeSubscription() }) {}
    whenCompleted.value()
  }

  /// Requests more from the subscription; without one, nothing happens.
  public func request(_ demand: Subscribers.Demand) {
    guard let subscription else { return }
    request(demand, from: subscription)
  }

  /// Cancels the subscription and lets go of it; if none has come yet, the first one as soon as it comes.
  public func cancel() {
    let held = state.withLock { state in
      let held = state.takeSubscription()
      if held == nil, state.log.isEmpty { state.isCancelledEarly = true }
      return held
    }
    guard let subscription = held else { return }
    let time = now
    state.withLock { $0.cancels.append(time) }
    subscription.cancel()
  }

  private func request(_ demand: Subscribers.Demand, from subscription: any Subscription) {
    let time = now
    // Before the request, which may deliver.
    state.withLock { $0.ledger.request(demand, at: time) }
    subscription.request(demand)
  }

  private var now: VirtualTime { scheduler?.now ?? .start }

  private func write(_ event: Event) {
    let entry = Entry(time: now, event: event)
    state.withLock { state in
      state.log.append(entry)
      if case .value = event { state.ledger.deliver(at: entry.time) }
    }
  }
}

// MARK: - Reading

extension Recorder {
  /// All that came, in order, with the times.
  public var entries: [Entry] { state.withLock { $0.log } }

  /// All that came, in order.
  public var events: [Event] { entries.map(\.event) }

  /// What was requested and delivered, moment by moment.
  public var demand: DemandLedger { state.withLock { $0.ledger } }

  /// The subscription that it holds: the last that came, until the end comes or the recorder cancels.
  public var subscription: (any Subscription)? { state.withLock { $0.subscription } }

  /// When the recorder cancelled a subscription; `nil` if it has not.
  public var cancelTime: VirtualTime? { state.withLock { $0.cancels.last } }

  /// The values that came, in order.
  public var values: [Input] {
    entries.compactMap { if case .value(let value) = $0.event { value } else { nil } }
  }

  /// The values that came, in order, with their times.
  public var timedValues: [(time: VirtualTime, value: Input)] {
    entries.compactMap { if case .value(let value) = $0.event { ($0.time, value) } else { nil } }
  }

  /// The completions that came; more than one is a publisher's fault.
  public var completions: [Subscribers.Completion<Failure>] {
    entries.compactMap { if case .completion(let completion) = $0.event { completion } else { nil } }
  }

  /// The first completion; `nil` if none has come.
  public var completion: Subscribers.Completion<Failure>? { completions.first }

  /// When the first completion came; `nil` if none has come.
  public var completionTime: VirtualTime? {
    entries.first { if case .completion = $0.event { true } else { false } }?.time
  }

  /// The error of the first completion; `nil` if none has come, or if it is a finish.
  public var failure: Failure? {
    if case .failure(let error) = completion { error } else { nil }
  }

  /// Whether the first completion has come, and is a finish.
  public var isFinished: Bool {
    if case .finished = completion { true } else { false }
  }

  /// How many subscriptions came; more than one is a publisher's fault, or the recorder subscribes more than once.
  public var subscriptionCount: Int {
    entries.count { if case .subscription = $0.event { true } else { false } }
  }
}

extension Recorder.Event: Equatable where Input: Equatable, Failure: Equatable {}
extension Recorder.Entry: Equatable where Input: Equatable, Failure: Equatable {}
extension Recorder.Event: Sendable where Input: Sendable {}
extension Recorder.Entry: Sendable where Input: Sendable {}
