import Combine
import Dispatch
import Rebound
import StreamSupport

/// What is on the screen about errors: one thing on each surface, at most one alert.
///
///     let queue = PresentationQueue()
///     queue.present(error, in: .refresh)
///     queue.$screen.map(\.alert).sink { show($0) }.store(in: &subscriptions)
///     queue.choose("retry", on: id)    // tells `onChoice`, takes the alert away, shows the next
///
/// What says the same as something that is there is merged into it, and counted. So is what comes within
/// ``PresentationQueuePolicy/mergeWindow`` after it was dismissed, or its time as a toast was over, unless it was dismissed
/// by asking for another try: its failure is news. However often it comes within the window, it is shown again after it: else
/// nothing would say why nothing works. That there is no network is one thing, in whatever words it comes, and goes with
/// ``networkIsBack()``.
///
/// Where more than ``PresentationQueuePolicy/maxWaiting`` would wait, the latest of the least important is dropped,
/// and goes to ``onDrop``.
///
/// - Threads: May be used from any. The screen is published where the change is made, one change after the other; toasts
///   end on the scheduler. A screen wants both on the main queue.
///
/// Unchecked, because `@Published` must be a variable; it is changed by one thread at a time. The lock guards the rest,
/// and no foreign code runs under it.
public final class PresentationQueue: ObservableObject, @unchecked Sendable {
  /// What is on the screen.
  public struct Screen: Hashable, Sendable {
    /// What stands beside fields, by field.
    public internal(set) var fields: [String: String] = [:]
    /// A message that goes by itself.
    public internal(set) var toast: PresentedItem?
    /// A message that stays beside the content.
    public internal(set) var banner: PresentedItem?
    /// A message that has to be answered.
    public internal(set) var alert: PresentedItem?
    /// A message in place of the content.
    public internal(set) var fullScreen: PresentedItem?
    /// The way to sign in.
    public internal(set) var signIn: PresentedItem?

    /// The screen as plain text, surface by surface; empty if there is nothing.
    public var rendered: String {
      let beside = fields.sorted { $0.key < $1.key }.map { "[inline \($0.key)] \($0.value)" }
      let items = [fullScreen, signIn, alert, banner, toast].compactMap { $0?.presentation.rendered() }
      return (items + beside).joined(separator: "\n")
    }
  }

  /// What a person has chosen.
  public struct Choice: Hashable, Sendable {
    /// Where it was chosen.
    public let item: PresentedItem
    /// What was chosen.
    public let choice: RecoveryChoice
  }

  /// What is on the screen.
  @Published public private(set) var screen = Screen()

  private let policy: PresentationQueuePolicy
  private let home: TimedScheduler
  private let choices = PassthroughSubject<Choice, Never>()
  private let drops = PassthroughSubject<PresentedItem, Never>()

  private struct State: Drained {
    var machine: PresentationQueueMachine
    var toastTimer: (id: Int, timer: any Cancellable)?
    /// Whether there is something to publish, and who does it.
    var isChanged = false
    var loop = DrainLoop()

    mutating func takeNext() -> Screen? {
      defer { isChanged = false }
      return isChanged ? screen : nil
    }

    var screen: Screen {
      Screen(
        fields: machine.fields,
        toast: machine.current(.toast),
        banner: machine.current(.banner),
        alert: machine.current(.alert),
        fullScreen: machine.current(.fullScreen),
        signIn: machine.current(.signIn)
      )
    }
  }

  private let state: Locked<State>

  /// Makes a queue with nothing to show.
  ///
  /// - Parameters:
  ///   - policy: How to merge and clear.
  ///   - scheduler: Where toasts end.
  ///   - time: Measures what belongs together, and how long toasts stay; `nil` is that of the scheduler, if it has one of
  ///     its own, such as one for tests, and otherwise `TimeSource.current`.
  public init<Context: Scheduler>(
    _ policy: PresentationQueuePolicy = .standard,
    scheduler: Context = DispatchQueue.main,
    time: TimeSource? = nil
  ) {
    self.policy = policy
    home = TimedScheduler(scheduler, time: time)
    state = Locked(State(machine: PresentationQueueMachine(policy)))
  }

  /// What people choose, on the thread that says so.
  public var onChoice: AnyPublisher<Choice, Never> { choices.eraseToAnyPublisher() }

  /// What was dropped because too many wait, on the thread that has presented what was too much.
  public var onDrop: AnyPublisher<PresentedItem, Never> { drops.eraseToAnyPublisher() }

  /// How many wait behind those that are shown.
  public var waitingCount: Int { state.withLock { $0.machine.waitingCount } }

  /// Shows an error in the way that `present(_:in:)` decides.
  ///
  /// - Returns: The id of what is shown, or waits to be; `nil` for what can't be dismissed: nothing, what stands beside
  ///   fields, and what was dropped because too many wait.
  @discardableResult
  public func present(_ error: any Error, in context: PresentationContext, priority: Int = 0) -> Int? {
    present(ReboundPresentation.present(error, in: context), priority: priority)
  }

  /// Shows a presentation.
  ///
  /// - Parameters:
  ///   - presentation: What to show and how.
  ///   - priority: What is more important is shown first; an alert that is shown stays.
  /// - Returns: The id of what is shown, or waits to be; `nil` for what can't be dismissed: nothing, what stands beside
  ///   fields, and what was dropped because too many wait.
  @discardableResult
  public func present(_ presentation: Presentation, priority: Int = 0) -> Int? {
    let now = home.time.now
    let (id, dropped) = change { $0.present(presentation, priority: priority, now: now) }
    if let dropped { drops.send(dropped) }
    return id
  }

  /// Takes something away, shown or waiting; a second time, or for something else, it does nothing.
  public func dismiss(_ id: Int) {
    let now = home.time.now
    change { _ = $0.dismiss(id, now: now) }
  }

  /// Takes the choice that a person has made, and takes away what offered it.
  ///
  /// One about something that is gone, or that was not offered, does nothing.
  public func choose(_ choice: RecoveryChoice.ID, on id: Int) {
    let item = state.withLock { $0.screen }.item(id)
    guard let item, let chosen = item.message?.choices.first(where: { $0.id == choice }) else { return }
    let now = home.time.now
    let taken = change { $0.dismiss(id, isAnswered: chosen.role != .cancel, now: now) }
    if let taken { choices.send(Choice(item: taken, choice: chosen)) }
  }

  /// Takes away what stands beside a field, as when it is typed into.
  public func clear(field: String) {
    change { $0.clear(field) }
  }

  /// Takes away what says that there is no network; the next time is news.
  public func networkIsBack() {
    change { $0.networkIsBack() }
  }

  /// Changes the machine, then publishes the screen, one change after the other whichever threads they come from.
  @discardableResult
  private func change<Result>(_ body: (inout PresentationQueueMachine) -> Result) -> Result {
    let result = state.withLock { state in
      state.isChanged = true
      return body(&state.machine)
    }
    state.drain { changed in
      startTimer(of: changed.toast)
      if changed != screen { screen = changed }
    }
    return result
  }

  /// Starts the time of a toast when it is shown.
  private func startTimer(of toast: PresentedItem?) {
    let (isNew, before) = state.withLock { state in
      guard state.toastTimer?.id != toast?.id else { return (false, nil as (any Cancellable)?) }
      let before = state.toastTimer?.timer
      state.toastTimer = nil
      return (toast != nil, before)
    }
    before?.cancel()
    guard isNew, let toast else { return }
    let timer = home.perform(after: policy.toastDuration) { [weak self] in self?.dismiss(toast.id) }
    state.withLock { $0.toastTimer = (toast.id, timer) }
  }
}

extension PresentationQueue.Screen {
  fileprivate func item(_ id: Int) -> PresentedItem? {
    [toast, banner, alert, fullScreen, signIn].lazy.compactMap { $0 }.first { $0.id == id }
  }
}
