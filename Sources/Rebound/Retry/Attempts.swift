import Combine
import StreamSupport

/// One subscription to a publisher that tries again: the attempts, one after the other, seen as one.
///
/// A subclass says what comes of a failed attempt, by overriding ``attemptFailed(_:with:)``, or of one that has finished,
/// in a question that it opens itself: see ``attemptFinished(_:)``. Either ends with exactly one call, then or later and
/// on any thread, of ``resume(after:)`` or ``end(with:after:)``.
///
/// The lock guards all state, that of subclasses included, and is held for a few lines, never while foreign code runs.
/// What leaves the state is handed out first and released after.
class Attempts<Upstream: Publisher, Downstream: Subscriber>: Subscription
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  private enum Phase {
    /// Not begun.
    case ready
    /// Subscribing to the upstream, whose subscription has not come yet.
    case subscribing(attempt: Int)
    /// An attempt runs.
    case running(attempt: Int, any Subscription)
    /// This attempt has ended, and the subclass has not decided yet; what it holds meanwhile ends with the phase.
    case asking(after: Int, held: (any Cancellable)?)
    /// The next attempt comes as soon as the loop gets to it.
    case due
    case over
  }

  private struct State {
    var phase = Phase.ready
    /// Both go when it is over.
    var ends: (upstream: Upstream, downstream: Downstream)?
    /// What the downstream has requested and not yet received.
    var owed = Subscribers.Demand.none
    /// Whether some thread is in the loop that subscribes, and will see that another attempt is due.
    var isLooping = false
    /// The number of the attempt that was begun last, from 1.
    var attempt = 0
    /// How many values were delivered, by all attempts and by the latest.
    var delivered = 0
    var deliveredByAttempt = 0
    /// How many values of the latest attempt are still to be left out.
    var toSkip = 0
    /// An end that came behind the go-ahead for an attempt, and waits until that has been subscribed to.
    var end: Subscribers.Completion<Upstream.Failure>?
  }

  let lock = Lock()
  private var state = State()
  private let skipsDelivered: Bool

  /// - Parameter skipsDelivered: Whether to leave out of each attempt as many values as were delivered before it.
  init(upstream: Upstream, downstream: Downstream, skipsDelivered: Bool = false) {
    self.skipsDelivered = skipsDelivered
    state.ends = (upstream, downstream)
  }

  /// Starts the first attempt, unless the downstream has cancelled already.
  func begin() {
    lock.withLock { if case .ready = state.phase { state.phase = .due } }
    subscribeWhileDue()
  }

  // MARK: What subclasses override

  /// An attempt failed, or was given up.
  ///
  /// Called with the lock open, and never inside another call of it.
  func attemptFailed(_ attempt: Int, with error: Upstream.Failure) {
    end(with: .failure(error), after: attempt)
  }

  /// An attempt finished, which is the end of it all unless a subclass makes it a question, with ``ask(after:_:)``.
  ///
  /// Called with the lock open.
  func attemptFinished(_ attempt: Int) {
    let rest: (Phase, (upstream: Upstream, downstream: Downstream)?)? = lock.withLock {
      isCurrent(attempt) ? endLocked() : nil
    }
    guard let (_, ends) = rest else { return }
    letGo(.finished)
    ends?.downstream.receive(completion: .finished)
  }

  /// All is over, or the downstream has cancelled: lets go of what the subclass holds.
  ///
  /// Called once, with the lock open, before the completion is delivered.
  ///
  /// - Parameter completion: `nil` after a cancel.
  func letGo(_ completion: Subscribers.Completion<Upstream.Failure>?) {}

  /// A value of an attempt.
  ///
  /// - Returns: What the attempt may send on top of what was requested.
  func receive(_ input: Upstream.Output, of attempt: Int) -> Subscribers.Demand {
    let (downstream, skipped): (Downstream?, Subscribers.Demand) = lock.withLock {
      guard case .running(attempt, _) = state.phase, state.owed > .none else { return (nil, .none) }
      if state.toSkip > 0 {
        state.toSkip -= 1
        // What is left out is made good.
        return (nil, .max(1))
      }
      state.owed -= 1
      state.delivered += 1
      state.deliveredByAttempt += 1
      return (state.ends?.downstream, .none)
    }
    guard let downstream else { return skipped }
    let more = downstream.receive(input)
    guard more > .none else { return .none }
    // The upstream may have failed meanwhile, from inside the downstream; then the demand is the next attempt's.
    let successor: (any Subscription)?? = lock.withLock {
      state.owed += more
      guard case .running(let current, let subscription) = state.phase else { return .some(nil) }
      return current == attempt ? nil : .some(subscription)
    }
    guard let successor else { return more }
    successor?.request(more)
    return .none
  }

  // MARK: What the downstream asks

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let running: (any Subscription)? = lock.withLock {
      state.owed += demand
      guard case .running(_, let subscription) = state.phase else { return nil }
      return subscription
    }
    running?.request(demand)
  }

  func cancel() {
    guard let (phase, ends) = lock.withLock({ endLocked() }) else { return }
    stop(phase, for: nil)
    // Released here, with the lock open: the last reference to a publisher or subscriber may run its deinit.
    withExtendedLifetime(ends) {}
  }
}

// MARK: - What subclasses call

extension Attempts {
  /// Keeps something that ends with the question after this attempt: when it is resumed, ended or cancelled.
  ///
  /// Cancels it at once if the question is no longer open.
  func hold(_ held: any Cancellable, after attempt: Int) {
    let isOpen = lock.withLock {
      guard case .asking(attempt, _) = state.phase else { return false }
      state.phase = .asking(after: attempt, held: held)
      return true
    }
    if !isOpen { held.cancel() }
  }

  /// The attempt whose failure waits for a decision.
  var openQuestion: Int? {
    lock.withLock {
      guard case .asking(let attempt, _) = state.phase else { return nil }
      return attempt
    }
  }

  /// Delivers one more value after this attempt, then the finish, unless it was decided otherwise.
  ///
  /// The value is one for which something is owed.
  func end(delivering value: Upstream.Output, after attempt: Int) {
    let downstream: Downstream? = lock.withLock {
      guard case .asking(attempt, _) = state.phase else { return nil }
      return state.ends?.downstream
    }
    guard let downstream else { return }
    _ = downstream.receive(value)
    end(with: .finished, after: attempt)
  }

  /// How many values the latest attempt has delivered.
  var deliveredCount: Int { lock.withLock { state.deliveredByAttempt } }

  /// Whether this attempt runs and something is owed.
  func isWaitedFor(_ attempt: Int) -> Bool {
    lock.withLock {
      guard case .running(attempt, _) = state.phase else { return false }
      return state.owed > .none
    }
  }

  /// Lets the next attempt follow this one, unless that has been decided already.
  func resume(after attempt: Int) {
    let held: (any Cancellable)?? = lock.withLock {
      guard case .asking(attempt, let held) = state.phase else { return nil }
      state.phase = .due
      return .some(held)
    }
    guard let held else { return }
    held?.cancel()
    subscribeWhileDue()
  }

  /// Ends it all after this attempt, unless it was decided otherwise.
  ///
  /// Without an attempt it ends whatever goes on; an attempt that has its go-ahead is still subscribed to, however soon
  /// the end comes behind it.
  func end(with completion: Subscribers.Completion<Upstream.Failure>, after attempt: Int? = nil) {
    let rest: (Phase, (upstream: Upstream, downstream: Downstream)?)? = lock.withLock {
      if let attempt {
        guard case .asking(attempt, _) = state.phase else { return nil }
      } else if case .due = state.phase {
        state.end = completion
        return nil
      }
      return endLocked()
    }
    guard let (phase, ends) = rest else { return }
    stop(phase, for: completion)
    ends?.downstream.receive(completion: completion)
  }

  /// Treats an attempt as failed: one that has said so, or one that is given up and cancelled.
  func fail(_ attempt: Int, with error: Upstream.Failure, cancelling: Bool = false) {
    ask(after: attempt, cancelling: cancelling) { attemptFailed(attempt, with: error) }
  }

  /// Puts an end to an attempt, unless it is over already, and asks what comes of it.
  ///
  /// - Parameters:
  ///   - attempt: One that has ended, or is given up.
  ///   - cancelling: Whether it is given up.
  ///   - question: Called with the lock open, and never inside another call of it.
  func ask(after attempt: Int, cancelling: Bool = false, _ question: () -> Void) {
    let ended: (Phase, wasLooping: Bool)? = lock.withLock {
      guard isCurrent(attempt) else { return nil }
      let before = (state.phase, state.isLooping)
      state.phase = .asking(after: attempt, held: nil)
      // An answer that comes before the question returns waits for the loop below: no recursion.
      state.isLooping = true
      return before
    }
    guard let (phase, wasLooping) = ended else { return }
    if cancelling, case .running(_, let subscription) = phase { subscription.cancel() }
    question()
    guard !wasLooping else { return }
    lock.withLock { state.isLooping = false }
    subscribeWhileDue()
  }
}

// MARK: - What an attempt tells

extension Attempts {
  fileprivate func receive(_ subscription: any Subscription, of attempt: Int) {
    let owed: Subscribers.Demand? = lock.withLock {
      guard case .subscribing(attempt) = state.phase else { return nil }
      state.phase = .running(attempt: attempt, subscription)
      return state.owed
    }
    guard let owed else { return subscription.cancel() }
    if owed > .none { subscription.request(owed) }
  }

  fileprivate func receive(_ completion: Subscribers.Completion<Upstream.Failure>, of attempt: Int) {
    switch completion {
    case .finished: attemptFinished(attempt)
    case .failure(let error): fail(attempt, with: error)
    }
  }

  /// Whether what this attempt says counts; with the lock held.
  private func isCurrent(_ attempt: Int) -> Bool {
    switch state.phase {
    case .subscribing(let current), .running(let current, _): return current == attempt
    case .ready, .asking, .due, .over: return false
    }
  }

  /// Ends it all; with the lock held.
  ///
  /// - Returns: What there is to stop and to release, for the first caller.
  private func endLocked() -> (Phase, (upstream: Upstream, downstream: Downstream)?)? {
    if case .over = state.phase { return nil }
    let rest = (state.phase, state.ends)
    state.phase = .over
    state.ends = nil
    return rest
  }

  private func stop(_ phase: Phase, for completion: Subscribers.Completion<Upstream.Failure>?) {
    switch phase {
    case .running(_, let subscription): subscription.cancel()
    case .asking(_, let held): held?.cancel()
    case .ready, .subscribing, .due, .over: break
    }
    letGo(completion)
  }

  /// Subscribes as long as an attempt is due.
  ///
  /// An attempt that fails while it is being subscribed to makes the next one due and returns; this loop, further up on
  /// the stack, gets to it. So any number of synchronous failures takes the same stack.
  private func subscribeWhileDue() {
    while let (attempt, upstream) = nextAttempt() {
      upstream.subscribe(attempt)
      let end = lock.withLock {
        state.isLooping = false
        return state.end
      }
      if let end { self.end(with: end) }
    }
  }

  private func nextAttempt() -> (Attempt<Upstream, Downstream>, Upstream)? {
    lock.withLock {
      guard case .due = state.phase, !state.isLooping, let ends = state.ends else { return nil }
      state.isLooping = true
      state.attempt += 1
      state.deliveredByAttempt = 0
      state.toSkip = skipsDelivered ? state.delivered : 0
      state.phase = .subscribing(attempt: state.attempt)
      return (Attempt(state.attempt, of: self), ends.upstream)
    }
  }
}

/// The subscriber of one attempt.
///
/// Each attempt has its own, so that whatever a superseded one still sends is known.
private final class Attempt<Upstream: Publisher, Downstream: Subscriber>: Subscriber, CustomStringConvertible
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  private let number: Int
  private let attempts: Attempts<Upstream, Downstream>

  init(_ number: Int, of attempts: Attempts<Upstream, Downstream>) {
    self.number = number
    self.attempts = attempts
  }

  var description: String { "\(attempts)" }

  func receive(subscription: any Subscription) {
    attempts.receive(subscription, of: number)
  }

  func receive(_ input: Upstream.Output) -> Subscribers.Demand {
    attempts.receive(input, of: number)
  }

  func receive(completion: Subscribers.Completion<Upstream.Failure>) {
    attempts.receive(completion, of: number)
  }
}
