/// A change that is shown before the server has agreed to it.
public protocol OptimisticChange<Value>: Identifiable {
  /// What it changes.
  associatedtype Value

  /// Makes the change.
  ///
  /// Pure, since it is made again on top of what the server says.
  func apply(to value: inout Value)
}

/// A value as the server knows it, with changes on top that the server has not agreed to yet.
///
///     state.likes.begin(Like(id: 1, of: "Alpaca"))     // shown at once
///     state.likes.rollBack(1)                          // the server refused: as if it had not been
///
/// A change that fails is taken out, wherever it stands; those before and behind it stay. One that the server agrees to
/// before an earlier one keeps its place behind it, so that answers in another order do not turn the changes around.
///
/// So each change needs its end, also one that nobody answers: confirm it, or take it back. What is confirmed behind one
/// that stays pending is kept, and made again at each call, until the server says what the value is.
///
/// - Complexity: Each call, and ``pending``, is O(n) in the changes since the first that is pending. The values are there.
public struct Optimistic<Change: OptimisticChange> {
  fileprivate struct Entry {
    var change: Change
    var isConfirmed = false
  }

  /// The value as the server knows it.
  public private(set) var confirmed: Change.Value
  /// The value with all changes made.
  public private(set) var value: Change.Value

  /// The value below the changes in line.
  private var base: Change.Value
  /// The changes that are pending, and confirmed ones behind them, in order.
  private var line: [Entry] = []

  /// Makes a value without changes.
  public init(_ value: Change.Value) {
    confirmed = value
    base = value
    self.value = value
  }

  /// The changes that the server has not agreed to yet, in order.
  public var pending: [Change] { line.filter { !$0.isConfirmed }.map(\.change) }

  /// Makes a change; one with the same id that is pending is replaced.
  public mutating func begin(_ change: Change) {
    if let index = indexOfPending(change.id) {
      line[index].change = change
      makeAgain()
    } else {
      line.append(Entry(change: change))
      change.apply(to: &value)
    }
  }

  /// The server has agreed to a change.
  ///
  /// It is kept in line for as long as an earlier one is pending.
  ///
  /// - Returns: Whether it was pending; otherwise nothing happens.
  @discardableResult
  public mutating func confirm(_ id: Change.ID) -> Bool {
    guard let index = indexOfPending(id) else { return false }
    line[index].isConfirmed = true
    makeAgain()
    return true
  }

  /// The server has refused a change, or can't be asked: it is taken back.
  ///
  /// - Returns: Whether it was pending; otherwise nothing happens.
  @discardableResult
  public mutating func rollBack(_ id: Change.ID) -> Bool {
    guard let index = indexOfPending(id) else { return false }
    line.remove(at: index)
    makeAgain()
    return true
  }

  /// The server has said what the value is; the pending changes are made on top of it.
  public mutating func replaceConfirmed(with value: Change.Value) {
    base = value
    line.removeAll(where: \.isConfirmed)
    makeAgain()
  }

  private func indexOfPending(_ id: Change.ID) -> Int? {
    line.firstIndex { $0.change.id == id && !$0.isConfirmed }
  }

  private mutating func makeAgain() {
    let settled = line.prefix(while: \.isConfirmed)
    for entry in settled { entry.change.apply(to: &base) }
    line.removeFirst(settled.count)
    (confirmed, value) = (base, base)
    for entry in line {
      entry.change.apply(to: &value)
      if entry.isConfirmed { entry.change.apply(to: &confirmed) }
    }
  }
}

extension Optimistic.Entry: Equatable where Change: Equatable {}
extension Optimistic.Entry: Sendable where Change: Sendable {}

extension Optimistic: Equatable where Change: Equatable, Change.Value: Equatable {}
extension Optimistic: Sendable where Change: Sendable, Change.Value: Sendable {}
