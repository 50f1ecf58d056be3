import Combine
import Dispatch
import Rebound
import StreamSupport

/// A request with all that a screen shows of it: the value, the progress, the error, and the ways out of it.
///
///     let network = reachability.connectivity.map { $0 == .online }.eraseToAnyPublisher()
///     let weather = RecoverableRequest(api.forecast(for: city), network: network)
///     weather.$state.sink { render($0) }.store(in: &subscriptions)
///     weather.load()
///
/// The value stays while it loads again and after that failed. The error stays while it is tried again, with a sign of
/// progress, so nothing flickers; it goes when a value comes, or a new error takes its place. A try begins
///
/// - when somebody calls ``load()`` or ``retry()``, which outranks a try that runs;
/// - when the countdown of a server's hint (`RetryAfterProviding`) is at zero;
/// - when the network comes back after a failure for the lack of it, with ever longer pauses if that happens often.
///
/// The last two are not for what must not be done twice: an error can say so (`RetryAfterProviding.mayBeRepeated`), as the
/// failure of an order does that may have been placed. Then it is left to a person to try again, whatever the presentation
/// has for a countdown.
///
/// Every try subscribes to the same publisher anew; what counts attempts in it, such as a retry policy, begins at one.
///
/// - Threads: Everything happens on the scheduler, which has to be serial. Call from there.
/// - Time: That of the request is the current one (`TimeSource.current`) while its publisher is subscribed to.
public final class RecoverableRequest<Output>: ObservableObject {
  /// What a screen shows.
  public struct State {
    /// What came last; stays while it loads again and after that failed.
    public internal(set) var value: Output?
    /// Whether a try runs.
    public internal(set) var isLoading = false
    /// The error, and what comes next.
    public internal(set) var problem: Problem?
    /// How many errors there were, those that are alike included.
    ///
    /// It tells an error from the same one before, so that it can be announced again.
    public internal(set) var problemCount = 0
  }

  /// An error that is shown.
  public struct Problem: Hashable, Sendable {
    /// What is shown and how.
    public let presentation: Presentation
    /// The seconds until the next try; `nil` without a countdown.
    public let secondsLeft: Int?
    /// Whether it is tried again just now.
    public let isRetrying: Bool

    /// The problem as plain text, as it would stand on a screen.
    public var rendered: String { presentation.rendered(countdown: secondsLeft, isRetrying: isRetrying) }
  }

  /// What a screen shows.
  @Published public private(set) var state = State()

  private let present: (any Error, PresentationContext) -> Presentation
  private let context: PresentationContext
  private let subscribe: (RecoverableRequest) -> AnyCancellable
  private let home: TimedScheduler

  private var machine: RecoveryMachine
  private var value: Output?
  private var problemCount = 0
  private var attempt: AnyCancellable?
  /// Tells the try that runs from those before.
  private var attemptNumber = 0
  private var timer: (any Cancellable)?
  private var networkChanges: AnyCancellable?
  /// Whether something has changed that is not published yet, and who publishes it.
  private var isOutdated = false
  private var publishing = DrainLoop()

  /// Makes a request that has not begun.
  ///
  /// - Parameters:
  ///   - publisher: The request, subscribed to for each try. One that is shared or a `Future` repeats its outcome; wrap
  ///     its making in `Deferred`.
  ///   - context: What is going on. Whether there is content, which attempt it is, and whether there is a network is
  ///     filled in.
  ///   - network: Whether there is a network, told at each change.
  ///   - policy: When to try again without being asked.
  ///   - present: How an error is shown.
  ///   - scheduler: Where everything happens.
  ///   - time: Measures countdowns and pauses; `nil` is that of the scheduler, if it has one of its own, such as one for
  ///     tests, and otherwise `TimeSource.current`.
  public init<Upstream: Publisher, Context: Scheduler>(
    _ publisher: Upstream,
    context: PresentationContext = .firstLoad,
    network: AnyPublisher<Bool, Never> = Empty().eraseToAnyPublisher(),
    policy: AutomaticRetryPolicy = .standard,
    presenting present: @escaping (any Error, PresentationContext) -> Presentation = ReboundPresentation.present,
    scheduler: Context = DispatchQueue.main,
    time: TimeSource? = nil
  ) where Upstream.Output == Output {
    self.present = present
    self.context = context
    home = TimedScheduler(scheduler, time: time)
    machine = RecoveryMachine(policy)
    subscribe = { request in
      let number = request.attemptNumber
      return publisher.receive(on: scheduler).sink(
        receiveCompletion: { [weak request] in request?.ended($0.error, number) },
        receiveValue: { [weak request] in request?.received($0, number) }
      )
    }
    networkChanges = network.receive(on: scheduler).sink { [weak self] in self?.network(isOnline: $0) }
  }

  deinit {
    timer?.cancel()
  }

  /// Begins a try; one that runs is cancelled.
  public func load() {
    act(machine.begin())
  }

  /// Begins a try, as a person asked for; the same as ``load()``.
  public func retry() {
    load()
  }

  /// Gives up: cancels the try that runs or waits, and takes the error away.
  ///
  /// The value stays.
  public func cancel() {
    attemptNumber += 1
    machine.cancelled()
    dropAttempt()
    act(.nothing)
  }

  // MARK: What happens

  private func received(_ value: Output, _ number: Int) {
    guard number == attemptNumber else { return }
    machine.received()
    self.value = value
    publish()
  }

  private func ended(_ error: (any Error)?, _ number: Int) {
    guard number == attemptNumber else { return }
    dropAttempt()
    guard number == attemptNumber else { return }
    guard let error else {
      machine.finished()
      return act(.nothing)
    }
    var context = context
    context.hasContent = context.hasContent || value != nil
    context.attempt = machine.failures + 1
    context.isOffline = context.isOffline || !machine.isOnline
    let presentation = present(error, context)
    // Whoever was asked may have cancelled it, or begun another one.
    guard number == attemptNumber else { return }
    let mayRepeat = (error as? any RetryAfterProviding)?.mayBeRepeated ?? true
    let action = machine.failed(presentation, mayRepeat: mayRepeat, now: home.time.now)
    if presentation != .ignore { problemCount += 1 }
    act(action)
  }

  private func network(isOnline: Bool) {
    act(machine.network(isOnline: isOnline, now: home.time.now))
  }

  private func act(_ action: RecoveryMachine.Action) {
    if action == .begin { attemptNumber += 1 }
    let number = attemptNumber
    wait()
    publish()
    // Whoever was told may have cancelled it, or begun another one.
    guard action == .begin, number == attemptNumber else { return }
    // The one before is cancelled first, so that it can't answer any more. Its end may cancel this one, too.
    dropAttempt()
    guard number == attemptNumber else { return }
    let begun = TimeSource.$current.withValue(home.time) { subscribe(self) }
    // It may have ended while it began.
    if number == attemptNumber, machine.isLoading { attempt = begun }
  }

  /// Ends the try that runs; it is taken out first, since who hears of its end may call ``load()`` or ``cancel()``.
  private func dropAttempt() {
    let dropped = attempt.take()
    dropped?.cancel()
  }

  /// Publishes what there is to show; what a subscriber changes meanwhile comes behind it.
  ///
  /// One inside of the other, the outer assignment would overwrite what the inner one has published.
  private func publish() {
    isOutdated = true
    guard publishing.enter() else { return }
    while publishing.next(isOutdated ? true : nil) != nil {
      isOutdated = false
      state = makeState()
    }
  }

  private func makeState() -> State {
    let problem = machine.problem.map {
      Problem(
        presentation: $0,
        secondsLeft: machine.secondsLeft(now: home.time.now),
        isRetrying: machine.isLoading
      )
    }
    return State(value: value, isLoading: machine.isLoading, problem: problem, problemCount: problemCount)
  }

  /// Waits for the next second of the countdown, or for what is due before.
  private func wait() {
    timer?.cancel()
    timer = nil
    guard let due = machine.nextDue else { return }
    let now = home.time.now
    let toNextSecond = machine.secondsLeft(now: now).map { seconds in
      (machine.countdownEnd ?? now) - now - .seconds(max(seconds - 1, 0))
    }
    let pause = min(due - now, toNextSecond ?? (due - now))
    timer = home.perform(after: max(pause, .zero)) { [weak self] in
      guard let self else { return }
      act(machine.tick(now: home.time.now))
    }
  }
}

extension RecoverableRequest.State: Equatable where Output: Equatable {}
extension RecoverableRequest.State: Sendable where Output: Sendable {}

extension Subscribers.Completion {
  fileprivate var error: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
