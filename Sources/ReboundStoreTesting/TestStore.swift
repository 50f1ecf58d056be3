import Combine
import ReboundStore
import ReboundTesting
import StreamSupport

/// A store for tests, in virtual time, that wants every action and every change of the state to be expected.
///
///     let store = TestStore(initialState: AppState(), reducer: appReducer, middlewares: [animals(service)])
///     try store.send(.fetch) { $0.fetchInProgress = true }
///     store.advance(by: .seconds(2))
///     try store.receive(.fetched("Dog")) {
///       $0.fetchInProgress = false
///       $0.current = "Dog"
///     }
///     try store.finish()
///
/// Every expectation that does not hold is thrown, and reads as a difference. With ``Exhaustivity/on``, which is the
/// default, each action of an effect has to be received, in order, before the next one is sent, and no effect may run at
/// the end. Close with ``finish()``, or run the test in ``run(_:)``, which does.
///
/// Use it from one thread at a time.
public final class TestStore<State: Equatable, Action> {
  /// How much has to be expected.
  public enum Exhaustivity: Hashable, Sendable {
    /// Every action, every change, and no effect that runs on at the end.
    case on
    /// What is expected has to be right; other actions, changes and effects may be.
    case off
  }

  /// The time of the store and its effects.
  public let scheduler: TestScheduler
  /// How much has to be expected.
  public var exhaustivity: Exhaustivity

  /// The store itself.
  public let store: Store<State, Action>

  private let taken: Taken<State, Action>
  private let describe: (Action) -> String
  /// The state after all that was expected.
  private var expectedState: State

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - initialState: The state before the first action.
  ///   - reducer: How the state answers actions.
  ///   - middlewares: What is to happen because of actions, as publishers.
  ///   - reactions: What is to happen because of actions, as effects with ids.
  ///   - exhaustivity: How much has to be expected.
  ///   - scheduler: Where actions are taken, and the time of all that the store executes.
  ///   - describe: The text of an action in a failure.
  public init(
    initialState: State,
    reducer: Reducer<State, Action>,
    middlewares: [Middleware<State, Action>] = [],
    reactions: [Reaction<State, Action>] = [],
    exhaustivity: Exhaustivity = .on,
    scheduler: TestScheduler = TestScheduler(),
    describing describe: @escaping (Action) -> String = { "\($0)" }
  ) {
    let taken = Taken<State, Action>()
    store = Store(
      initialState: initialState,
      reducer: reducer,
      middlewares: middlewares,
      reactions: reactions,
      observers: [{ taken.add($0) }],
      scheduler: scheduler
    )
    self.taken = taken
    self.scheduler = scheduler
    self.exhaustivity = exhaustivity
    self.describe = describe
    expectedState = initialState
  }

  /// The state after all that was expected.
  public var state: State { expectedState }

  /// Sends an action, and does all that is due now.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - change: Makes of the state before what is expected after; by default the state stays as it is. With
  ///     ``Exhaustivity/off`` only what it sets has to be right, for which it is called with the state after, too: one that
  ///     may not stand that throws, as one that takes the last element of a list does.
  /// - Throws: ``TestStoreFailure``.
  public func send(_ action: Action, changes change: ((inout State) throws -> Void)? = nil) throws {
    // What is due may hold actions of effects that have come.
    scheduler.advance()
    try refuseUnreceived(before: "send(\(describe(action)))")
    store.dispatch(action)
    scheduler.advance()
    guard let transition = taken.next(where: { $0.origin == .sent }) else {
      throw TestStoreFailure.notTaken(action: describe(action))
    }
    try check(transition, change)
  }

  /// Expects the next action of an effect, one that is due now included.
  ///
  /// - Parameters:
  ///   - isExpected: Whether an action is the one.
  ///   - name: The expected action in words, for a failure.
  ///   - change: Makes of the state before what is expected after; by default the state stays as it is. With
  ///     ``Exhaustivity/off`` only what it sets has to be right, for which it is called with the state after, too: one that
  ///     may not stand that throws, as one that takes the last element of a list does.
  /// - Throws: ``TestStoreFailure``.
  /// - Returns: The action.
  @discardableResult
  public func receive(
    where isExpected: (Action) -> Bool,
    as name: String = "an action",
    changes change: ((inout State) throws -> Void)? = nil
  ) throws -> Action {
    scheduler.advance()
    while let transition = taken.next(where: { _ in true }) {
      if isExpected(transition.action) {
        try check(transition, change)
        return transition.action
      }
      guard exhaustivity == .off else {
        throw TestStoreFailure.unexpected(expected: name, received: describe(transition.action))
      }
      expectedState = transition.after
    }
    throw TestStoreFailure.nothingReceived(expected: name, openEffects: store.effectCount)
  }

  /// Moves time on, and does all that falls due on the way.
  public func advance(by stride: VirtualTime.Stride = .zero) {
    scheduler.advance(by: stride)
  }

  /// Does all that is scheduled, however late.
  ///
  /// - Throws: `TestScheduler.StillBusy` if it never ends.
  public func runToTheEnd() throws {
    try scheduler.run()
  }

  /// Expects that nothing is left: no action that was not received, no effect that runs.
  ///
  /// - Throws: ``TestStoreFailure``.
  public func finish() throws {
    scheduler.advance()
    try refuseUnreceived(before: "the end")
    guard exhaustivity == .on, store.effectCount > 0 else { return }
    throw TestStoreFailure.openEffects(count: store.effectCount, nextDue: scheduler.nextDue.map { "\($0)" })
  }

  /// Runs a test, and then expects that nothing is left.
  public func run(_ test: (TestStore) throws -> Void) throws {
    try test(self)
    try finish()
  }

  /// Lets actions of effects go by that were not received, in whatever exhaustivity.
  public func skipReceived() {
    while let transition = taken.next(where: { _ in true }) { expectedState = transition.after }
  }

  private func refuseUnreceived(before next: String) throws {
    guard exhaustivity == .on else { return skipReceived() }
    let left = taken.all.map { describe($0.action) }
    if !left.isEmpty { throw TestStoreFailure.unreceived(actions: left, before: next) }
  }

  private func check(_ transition: Transition<State, Action>, _ change: ((inout State) throws -> Void)?) throws {
    guard exhaustivity == .on else { return try checkWhatIsSet(transition, change) }
    var expected = expectedState
    try change?(&expected)
    expectedState = transition.after
    guard expected != transition.after else { return }
    try refuse(StateDiff.differences(from: expected, to: transition.after), after: transition)
  }

  /// What is not exhaustive asks only for what the closure sets.
  private func checkWhatIsSet(
    _ transition: Transition<State, Action>,
    _ change: ((inout State) throws -> Void)?
  ) throws {
    var (expected, changed) = (transition.after, transition.before)
    do {
      try change?(&expected)
    } catch {
      // It is for the state before, so it may want what is gone in the one after.
      guard let change, (try? change(&changed)) != nil else { throw error }
      expectedState = transition.after
      guard changed != transition.after else { return }
      let set = StateDiff.differences(from: transition.before, to: changed)
      return try refuse(transition, differingFrom: changed, in: set)
    }
    expectedState = transition.after
    guard expected != transition.after else { return }
    let set = StateDiff.differences(from: expected, to: transition.after)
    // A change of what was there, such as of a count by one, is made of the state before. There it tells what is wrong with
    // what it sets; all else may have changed as well.
    guard let change, (try? change(&changed)) != nil else { try refuse(set, after: transition) }
    guard changed != transition.after else { return }
    try refuse(transition, differingFrom: changed, in: set)
  }

  private func refuse(
    _ transition: Transition<State, Action>,
    differingFrom changed: State,
    in set: [StateDiff.Difference]
  ) throws {
    let wrong = StateDiff.differences(from: changed, to: transition.after)
      .filter { difference in set.contains { $0.meets(difference) } }
    if !wrong.isEmpty { try refuse(wrong, after: transition) }
  }

  private func refuse(_ wrong: [StateDiff.Difference], after transition: Transition<State, Action>) throws -> Never {
    throw TestStoreFailure.wrongState(after: describe(transition.action), differences: wrong.map(\.line))
  }
}

extension TestStore where Action: Equatable {
  /// Expects the next action of an effect.
  ///
  /// - Throws: ``TestStoreFailure``.
  public func receive(_ action: Action, changes change: ((inout State) throws -> Void)? = nil) throws {
    try receive(where: { $0 == action }, as: describe(action), changes: change)
  }
}

/// The actions that a store has taken and no expectation has asked for yet; added on any thread.
private final class Taken<State, Action>: Sendable {
  private let transitions = Locked<[Transition<State, Action>]>([])

  var all: [Transition<State, Action>] { transitions.withLock { $0 } }

  func add(_ transition: Transition<State, Action>) {
    transitions.withLock { $0.append(transition) }
  }

  func next(where isMeant: (Transition<State, Action>) -> Bool) -> Transition<State, Action>? {
    guard let index = all.firstIndex(where: isMeant) else { return nil }
    return transitions.withLock { $0.remove(at: index) }
  }
}
