/// How a shared object behaves if it is asked one thing after the other.
///
///     struct RegisterModel: SequentialModel {
///       let initial: Int? = nil
///
///       func next(_ value: Int?, _ call: RegisterCall, _ answer: Int??) -> Int?? {
///         switch call {
///         case .write(let new): .some(new)
///         case .read: answer == nil || answer == .some(value) ? .some(value) : nil
///         }
///       }
///     }
public protocol SequentialModel<Operation, Answer> {
  /// What is asked.
  associatedtype Operation: Sendable
  /// What comes of it.
  associatedtype Answer: Sendable
  /// What the object remembers.
  associatedtype State: Hashable

  /// What it remembers at first.
  var initial: State { get }

  /// What it remembers after a call, or `nil` if it could not have answered so.
  ///
  /// - Parameters:
  ///   - state: What it remembers before.
  ///   - operation: What is asked.
  ///   - answer: What came of it; `nil` for a call that has not returned, which may have had any answer.
  func next(_ state: State, _ operation: Operation, _ answer: Answer?) -> State?

  /// Which part of the object a call is about, where parts know nothing of each other: a key of a map. Each part is then
  /// checked by itself, which takes much less time (Herlihy and Wing, 1990: linearizability is local).
  func part(of operation: Operation) -> AnyHashable
}

extension SequentialModel {
  /// The object is one.
  public func part(of operation: Operation) -> AnyHashable { 0 }
}
