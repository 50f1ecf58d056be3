/// The actions that led to a state, and the way to every state between.
///
///     var history = History(initialState: 0, reducer: counter)
///     history.record(.increment)
///     history.state(at: 0)   // 0
///
/// A plain value; a store that is made with a ``HistoryPolicy`` keeps one. It calls nothing but the reducer: no effect runs
/// a second time.
public struct History<State, Action> {
  /// One action.
  public struct Entry {
    /// The action.
    public let action: Action
    /// Where it came from.
    public let origin: ActionOrigin
  }

  /// The actions that are kept, oldest first, those behind ``position`` included.
  public private(set) var entries: [Entry] = []
  /// How many actions were forgotten; the first one kept has this number.
  public private(set) var forgotten = 0
  /// How many actions, the forgotten ones included, make the present state.
  public private(set) var position = 0

  private let reducer: Reducer<State, Action>
  private let policy: HistoryPolicy
  /// The states that are kept, by the number of actions that made them; the first is always there.
  private var snapshots: [Int: State]

  /// Makes a history without actions.
  public init(initialState: State, reducer: Reducer<State, Action>, policy: HistoryPolicy = .all) {
    self.reducer = reducer
    self.policy = policy
    snapshots = [0: initialState]
  }

  /// How many actions there were in all, the forgotten ones and those behind ``position`` included.
  public var count: Int { forgotten + entries.count }

  /// The positions that can be gone to.
  public var positions: ClosedRange<Int> { forgotten...count }

  /// The state after that many actions, which equals the fold of them; `nil` if they are not known.
  ///
  /// - Complexity: As many calls of the reducer as there are actions since the snapshot before.
  public func state(at position: Int) -> State? {
    guard positions.contains(position) else { return nil }
    var start = position
    while start > forgotten, snapshots[start] == nil { start -= 1 }
    guard var state = snapshots[start] else { return nil }
    for entry in entries[(start - forgotten)..<(position - forgotten)] { reducer(&state, entry.action) }
    return state
  }

  /// Adds an action behind the present state, in place of those that were there.
  ///
  /// - Returns: The state that the action leads to.
  @discardableResult
  public mutating func record(_ action: Action, origin: ActionOrigin = .sent) -> State? {
    guard var state = state(at: position) else { return nil }
    reducer(&state, action)
    record(action, origin, resultingIn: state)
    return state
  }

  /// What a history lets go of, for its owner to release.
  struct Forgotten {
    fileprivate var entries: [Entry] = []
    fileprivate var snapshots: [Int: State] = [:]
  }

  /// Adds an action whose outcome is known already.
  @discardableResult
  mutating func record(_ action: Action, _ origin: ActionOrigin, resultingIn state: State) -> Forgotten {
    var forgotten = forgetFuture()
    entries.append(Entry(action: action, origin: origin))
    position += 1
    if position.isMultiple(of: policy.snapshotInterval) { snapshots[position] = state }
    forgetPast(into: &forgotten)
    return forgotten
  }

  /// Goes to the state after that many actions.
  ///
  /// - Returns: The state there; `nil`, and nothing happens, if it is not known.
  @discardableResult
  public mutating func jump(to position: Int) -> State? {
    guard let state = state(at: position) else { return nil }
    self.position = position
    return state
  }

  /// Starts again, and takes all actions of a session.
  ///
  /// - Returns: The state at its end; `nil`, and nothing happens, if the initial state was forgotten.
  @discardableResult
  public mutating func replay(_ session: Session<Action>) -> State? {
    guard forgotten == 0, var state = snapshots[0] else { return nil }
    position = 0
    forgetFuture()
    for entry in session.entries {
      reducer(&state, entry.action)
      record(entry.action, entry.origin, resultingIn: state)
    }
    return state
  }

  /// The actions up to the present state.
  ///
  /// - Parameter redact: Takes secrets out of an action.
  /// - Throws: ``InvalidSession`` if the first actions were forgotten.
  public func session(redacting redact: (Action) -> Action = { $0 }) throws(InvalidSession) -> Session<Action> {
    guard forgotten == 0 else { throw .beginningForgotten(forgotten) }
    return Session(entries: entries[..<position].map { .init(action: redact($0.action), origin: $0.origin) })
  }

  @discardableResult
  private mutating func forgetFuture() -> Forgotten {
    guard position < count else { return Forgotten() }
    var forgotten = Forgotten(entries: Array(entries[(position - self.forgotten)...]))
    entries.removeLast(count - position)
    forgetSnapshots(into: &forgotten) { [position] in $0 > position }
    return forgotten
  }

  /// Forgets in steps of a whole interval, so that a snapshot is there to begin with.
  private mutating func forgetPast(into forgotten: inout Forgotten) {
    guard let limit = policy.limit else { return }
    let interval = policy.snapshotInterval
    let start = (count - limit) / interval * interval
    guard start > self.forgotten, snapshots[start] != nil else { return }
    forgotten.entries += entries[..<(start - self.forgotten)]
    entries.removeFirst(start - self.forgotten)
    self.forgotten = start
    forgetSnapshots(into: &forgotten) { $0 < start }
  }

  private mutating func forgetSnapshots(into forgotten: inout Forgotten, where isGone: (Int) -> Bool) {
    for key in snapshots.keys.filter(isGone) { forgotten.snapshots[key] = snapshots.removeValue(forKey: key) }
  }
}

extension History.Entry: Equatable where Action: Equatable {}
extension History.Entry: Sendable where Action: Sendable {}
extension History: Sendable where State: Sendable, Action: Sendable {}
