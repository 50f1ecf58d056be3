import Combine

/// What is done about failures, overload and waits around a call: a retry, a breaker, a limit, or one of one's own.
///
/// A policy is a plain value, or an object that executions share. For each execution it makes a machine, which is told
/// what happens and decides what is done. Two drivers run all machines: one for asynchronous functions, one for
/// publishers. So a policy that conforms to this has both forms, and that for sequences, and stands in a ``Pipeline``.
///
///     struct PauseBefore: Policy {
///       let pause: Duration
///       var descriptor: StageDescriptor { StageDescriptor(PolicyKind("pause")) }
///       func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(pause: pause) }
///
///       struct Machine: PolicyMachine {
///         var pause: Duration?
///         mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
///           defer { pause = nil }
///           return pause.map { .wait($0) } ?? .proceed
///         }
///       }
///     }
public protocol Policy<Failure>: Sendable {
  /// What its calls fail with; `any Error` for a policy that does not care.
  associatedtype Failure
  /// What decides about one execution.
  associatedtype Machine: PolicyMachine where Machine.Failure == Failure

  /// Makes the machine of an execution that begins.
  func makeMachine(_ execution: ExecutionContext) -> Machine

  /// What the policy is, with its parameters: for the description of a pipeline.
  var descriptor: StageDescriptor { get }

  /// What a ``Pipeline`` has to know about it, to refuse an order that makes no sense.
  var traits: StageTraits { get }

  /// A pipeline has been made of it: here an object that executions share lets its events be seen, if there are any to
  /// be told.
  func register(with events: PolicyEvents?, pipeline: String)

  /// Runs an asynchronous function under this policy; a policy with a driver of its own says how.
  nonisolated(nonsending) func execute<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Call.Output
  where Call.Failure == Failure
}

extension Policy {
  /// The descriptor, and nothing else.
  public var traits: StageTraits { StageTraits(descriptor: descriptor) }

  /// Nothing is shared.
  public func register(with events: PolicyEvents?, pipeline: String) {}

  /// As the machine decides.
  @inlinable @inline(__always)
  public nonisolated(nonsending) func execute<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Call.Output
  where Call.Failure == Failure {
    try await drive(execution) { () async throws(Failure) -> Call.Output in try await call() }
  }
}

extension Policy where Machine: TimedMachine {
  /// As the machine decides, in a task of its own.
  @inlinable @inline(__always)
  public nonisolated(nonsending) func execute<Call: AsyncCall>(_ execution: ExecutionContext, _ call: Call) async throws
    -> Call.Output
  where Call.Failure == Failure {
    try await race(execution, call)
  }
}

/// Decides what is done in one execution.
///
/// It is told one thing after the other, never two at the same time, with no lock held. Each answer is a ``Decision``. The
/// defaults let everything pass, so a machine says only what is particular to it.
///
/// In every execution that has begun, exactly one of these comes last: a success or a failure that it lets pass, an end
/// that it decides on itself, or ``cancelled(_:)``.
public protocol PolicyMachine<Failure>: SendableMetatype {
  /// What calls fail with.
  associatedtype Failure: Error

  /// An attempt is about to begin: the first, or another one that this machine asked for.
  ///
  /// `.proceed` begins it.
  mutating func begins(_ execution: ExecutionContext) -> Decision<Failure>

  /// The machine has asked to wait for a ``Waker``, and was woken.
  ///
  /// The same as ``begins(_:)`` unless told otherwise. It may come while an attempt runs, if the waker is used then.
  mutating func woken(_ execution: ExecutionContext) -> Decision<Failure>

  /// The attempt has succeeded: a function has returned, or a publisher has finished.
  ///
  /// `.proceed` lets it pass, and the execution is over.
  mutating func succeeded(_ execution: ExecutionContext) -> Decision<Failure>

  /// The attempt has failed; not because it was cancelled, or because the time was over while a policy inside of it waited.
  ///
  /// `.proceed` lets the failure pass, and the execution is over.
  mutating func failed(with error: Failure, _ execution: ExecutionContext) -> Decision<Failure>

  /// Nobody waits for the execution any more: it was cancelled, or its time was over, while an attempt ran or while it waited.
  mutating func cancelled(_ execution: ExecutionContext)

  /// Whether ``valuesCame(_:)`` is to be called; false unless told otherwise. Read once, after the first ``begins(_:)``.
  var observesValues: Bool { get }

  /// A publisher has delivered a value, or was asked for some after it was owed none.
  ///
  /// Called before the value is delivered. Of several that come while the machine is busy, it hears once.
  mutating func valuesCame(_ execution: ExecutionContext)

  /// Whether an attempt is to leave out as many values as were delivered before it; false unless told otherwise.
  var skipsDelivered: Bool { get }

  /// By when whatever is inside has to be done; `nil` for no limit of one's own.
  var deadline: Deadline? { get }

  /// When ``timerFired(_:)`` is to be called if nothing happens first; `nil` for never. On the time of the execution.
  ///
  /// Read after each of the calls above, where the machine is a ``TimedMachine``.
  var wakeTime: Duration? { get }

  /// The time has come that ``wakeTime`` has named.
  ///
  /// `.proceed` lets the attempt run on, or the wait go on. Everything else ends the attempt.
  mutating func timerFired(_ execution: ExecutionContext) -> Decision<Failure>

  /// Whether ``wakeTime`` is looked at; as a ``TimedMachine`` says.
  static var isTimed: Bool { get }
}

/// A machine that may end an attempt that runs, when a time has come.
///
/// An asynchronous function then runs in a task of its own, so that it can be cancelled.
public protocol TimedMachine<Failure>: PolicyMachine {}

extension PolicyMachine {
  /// Lets the attempt begin.
  @inlinable public mutating func begins(_ execution: ExecutionContext) -> Decision<Failure> { .proceed }
  /// As ``begins(_:)``.
  @inlinable public mutating func woken(_ execution: ExecutionContext) -> Decision<Failure> { begins(execution) }
  /// Lets the success pass.
  @inlinable public mutating func succeeded(_ execution: ExecutionContext) -> Decision<Failure> { .proceed }
  /// Lets the failure pass.
  @inlinable
  public mutating func failed(with error: Failure, _ execution: ExecutionContext) -> Decision<Failure> { .proceed }
  /// Does nothing.
  @inlinable public mutating func cancelled(_ execution: ExecutionContext) {}
  /// Values do not matter.
  @inlinable public var observesValues: Bool { false }
  /// Does nothing.
  @inlinable public mutating func valuesCame(_ execution: ExecutionContext) {}
  /// It delivers all of its own.
  @inlinable public var skipsDelivered: Bool { false }
  /// No limit.
  @inlinable public var deadline: Deadline? { nil }
  /// Never.
  @inlinable public var wakeTime: Duration? { nil }
  /// Lets the attempt run on.
  @inlinable public mutating func timerFired(_ execution: ExecutionContext) -> Decision<Failure> { .proceed }
  /// It is not.
  @inlinable public static var isTimed: Bool { false }
}

extension TimedMachine {
  /// It is.
  @inlinable public static var isTimed: Bool { true }
}

/// What a machine decides.
public enum Decision<Failure: Error> {
  /// Goes on: the attempt begins, what has come is let through, what runs goes on.
  case proceed
  /// Lets no attempt run, and asks again (``PolicyMachine/begins(_:)``) after this long; zero or less is at once.
  case wait(Duration)
  /// Lets no attempt run until the waker is used, and then asks (``PolicyMachine/woken(_:)``).
  ///
  /// The closure is called once, at once, with no lock held. The waker may be used in it, later, or more than once.
  case park(_ register: (Waker) -> Void)
  /// Ends the execution without a failure. An asynchronous function has nothing to return then, and throws
  /// ``FinishedWithoutValue``.
  case finish
  /// Ends the execution with this failure, in place of whatever was going on.
  case fail(Failure)
  /// Ends the execution with an error of the policy's own; a publisher with another type of failures makes it into one.
  case refuse(any Error)
}

/// Wakes an execution that waits for something other than time.
///
/// It may be used on any thread, and more than once. After the execution is over it does nothing.
public struct Waker: Sendable {
  @usableFromInline let target: any Wakeable

  @usableFromInline
  init(_ target: any Wakeable) {
    self.target = target
  }

  /// Has the machine asked again.
  public func wake() {
    target.wake()
  }

  /// Hands over what is to be cancelled at once if the execution is, in place of what was handed over before.
  ///
  /// The machine hears of the cancel as soon as it is not being asked; this does not wait for that.
  public func keep(_ pending: any Cancellable) {
    target.keep(pending)
  }
}

/// What a waker wakes.
@usableFromInline
protocol Wakeable: AnyObject, Sendable {
  func wake()
  func keep(_ pending: any Cancellable)
}

/// What a timer rings for; captured in place of a generic type, whose conformances a closure must not carry elsewhere.
protocol TimerTarget: AnyObject, Sendable {
  func timerRang(_ number: Int)
}
