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
/// A change that fails is taken out, wherever it stands; those before and behind it stay.
public struct Optimistic<Change: OptimisticChange> {
  /// The value as the server knows it.
  public private(set) var confirmed: Change.Value
  /// The changes that the server has not agreed to yet, in order.
  public private(set) var pending: [Change] = []
  /// The value with all changes made.
  public private(set) var value: Change.Value

  /// Makes a value without changes.
  public init(_ value: Change.Value) {
    confirmed = value
    self.value = value
  }

  /// Makes a change; one with the same id that is pending is replaced.
  public mutating func begin(_ change: Change) {
    if let index = pending.firstIndex(where: { $0.id == change.id }) {
      pending[index] = change
      makeAgain()
    } else {
      pending.append(change)
      change.apply(to: &value)
    }
  }

  /// The server has agreed to a change.
  ///
  /// - Returns: Whether it was pending; otherwise nothing happens.
  @discardableResult
  public mutating func confirm(_ id: Change.ID) -> Bool {
    guard let change = take(id) else { return false }
    change.apply(to: &confirmed)
    makeAgain()
    return true
  }

  /// The server has refused a change, or can't be asked: it is taken back.
  ///
  /// - Returns: Whether it was pending; otherwise nothing happens.
  @discardableResult
  public mutating func rollBack(_ id: Change.ID) -> Bool {
    guard take(id) != nil else { return false }
    makeAgain()
    return true
  }

  /// The server has said what the value is; the pending changes are made on top of it.
  public mutating func replaceConfirmed(with value: Change.Value) {
    confirmed = value
    makeAgain()
  }

  private mutating func take(_ id: Change.ID) -> Change? {
    pending.firstIndex { $0.id == id }.map { pending.remove(at: $0) }
  }

  private mutating func makeAgain() {
    value = pending.reduce(into: confirmed) { $1.apply(to: &$0) }
  }
}

extension Optimistic: Equatable where Change: Equatable, Change.Value: Equatable {}
extension Optimistic: Sendable where Change: Sendable, Change.Value: Sendable {}
