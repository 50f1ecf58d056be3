import Combine

/// How an execution that was let in has ended.
public enum ExecutionEnd: Sendable {
  /// It has succeeded, or was cancelled after a value: whoever takes the first one and leaves has been answered.
  case succeeded
  /// It has failed.
  case failed(any Error)
  /// It was cancelled before a value came, and says nothing about the service.
  case cancelled
}

/// What lets executions in, at once or later, and takes back what it has let them in with.
///
/// A bulkhead and a rate limiter are such controls. A type that conforms to this and to ``Policy`` needs no machine of its
/// own. What is granted is taken back exactly once, however the execution ends, also if it is cancelled while it waits.
public protocol AdmissionControl: Sendable {
  /// What an execution is let in with.
  associatedtype Grant: Sendable

  /// Lets an execution in if that takes no wait and there is nothing to tell; the way of nearly all calls.
  func admitAtOnce(_ execution: ExecutionContext) -> Grant?

  /// Lets an execution in as ``admitAtOnce(_:)`` does; for a control that decides by the time.
  ///
  /// - Parameters:
  ///   - execution: Which asks.
  ///   - moment: Set to the present if it was read, so that ``ask(_:at:_:)`` need not read it again.
  func admitAtOnce(_ execution: ExecutionContext, _ moment: inout Duration?) -> Grant?

  /// Asks to be let in as ``ask(_:_:)`` does; for a control that decides by the time.
  ///
  /// - Parameters:
  ///   - execution: Which asks.
  ///   - moment: The present, if it was read to let the execution in at once.
  ///   - answer: Called at most once, now or later, on any thread.
  /// - Returns: Cancelled if nobody waits for the answer any more; `nil` if there is nothing to cancel.
  func ask(
    _ execution: ExecutionContext,
    at moment: Duration?,
    _ answer: @escaping @Sendable (Result<Grant, any Error>) -> Void
  ) -> (any Cancellable)?

  /// Asks to be let in.
  ///
  /// - Parameters:
  ///   - execution: Which asks.
  ///   - answer: Called at most once, now or later, on any thread.
  /// - Returns: Cancelled if nobody waits for the answer any more; `nil` if there is nothing to cancel.
  func ask(
    _ execution: ExecutionContext,
    _ answer: @escaping @Sendable (Result<Grant, any Error>) -> Void
  ) -> (any Cancellable)?

  /// Takes back what was granted, before the end is delivered.
  func settle(_ grant: Grant, _ end: ExecutionEnd, _ execution: ExecutionContext)
}

extension AdmissionControl {
  /// Always asks.
  public func admitAtOnce(_ execution: ExecutionContext) -> Grant? { nil }

  /// The time does not matter.
  @inlinable
  public func admitAtOnce(_ execution: ExecutionContext, _ moment: inout Duration?) -> Grant? {
    admitAtOnce(execution)
  }

  /// The time does not matter.
  @inlinable
  public func ask(
    _ execution: ExecutionContext,
    at moment: Duration?,
    _ answer: @escaping @Sendable (Result<Grant, any Error>) -> Void
  ) -> (any Cancellable)? {
    ask(execution, answer)
  }
}

extension Policy where Self: AdmissionControl {
  /// Makes the machine of one execution.
  @inlinable
  public func makeMachine(_ execution: ExecutionContext) -> AdmissionMachine<Self> { AdmissionMachine(self) }
}

/// One execution that is let in before it begins.
public struct AdmissionMachine<Control: AdmissionControl>: PolicyMachine {
  /// It does not care what calls fail with.
  public typealias Failure = any Error

  @usableFromInline let control: Control
  @usableFromInline var grant: Control.Grant?
  @usableFromInline var waiter: AnswerWaiter<Result<Control.Grant, any Error>>?

  @inlinable
  init(_ control: Control) {
    self.control = control
  }

  /// Asks to be let in.
  @inlinable
  public mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
    var moment: Duration?
    grant = control.admitAtOnce(execution, &moment)
    return grant == nil ? ask(execution, at: moment) : .proceed
  }

  @inlinable
  mutating func ask(_ execution: ExecutionContext, at moment: Duration?) -> Decision<any Error> {
    let waiter = AnswerWaiter<Result<Control.Grant, any Error>>()
    self.waiter = waiter
    let execution = execution.onAnyThread
    let pending = control.ask(execution, at: moment) { [control] answer in
      // What is granted behind a cancel goes back at once.
      if !waiter.answer(answer), case .success(let late) = answer { control.settle(late, .cancelled, execution) }
    }
    if let pending { waiter.keep(pending) }
    return woken(execution)
  }

  /// Takes the answer.
  @inlinable
  public mutating func woken(_ execution: ExecutionContext) -> Decision<any Error> {
    guard let waiter else { return .proceed }
    guard let answer = waiter.take() else { return .park(waiter.wait) }
    self.waiter = nil
    switch answer {
    case .success(let grant):
      self.grant = grant
      return .proceed
    case .failure(let error): return .refuse(error)
    }
  }

  /// Gives back what was granted.
  @inlinable
  public mutating func succeeded(_ execution: ExecutionContext) -> Decision<any Error> {
    settle(.succeeded, execution)
    return .proceed
  }

  /// Gives back what was granted.
  @inlinable
  public mutating func failed(with error: any Error, _ execution: ExecutionContext) -> Decision<any Error> {
    settle(.failed(error), execution)
    return .proceed
  }

  /// Gives back what was granted, as after a success if a value came before; or no longer waits for it.
  @inlinable
  public mutating func cancelled(_ execution: ExecutionContext) {
    settle(execution.delivered > 0 ? .succeeded : .cancelled, execution)
    if waiter != nil { abandon(execution) }
  }

  @inlinable
  mutating func abandon(_ execution: ExecutionContext) {
    if case .success(let late) = waiter?.abandon() { control.settle(late, .cancelled, execution) }
    waiter = nil
  }

  @inlinable
  mutating func settle(_ end: ExecutionEnd, _ execution: ExecutionContext) {
    guard let grant else { return }
    self.grant = nil
    control.settle(grant, end, execution)
  }
}
