/// What an operator makes of one value.
@frozen
@usableFromInline
enum Step<Output> {
  /// A value for downstream.
  case emit(Output)
  /// Nothing; another value is asked of upstream in its place.
  case skip
  /// The end, without a value.
  case finish
}

/// What an operator does to one value: memory and value in, step and memory out.
///
/// Memory is read and written whole, so that no access to it is open while a closure of the caller runs: a closure
/// that sends into its own stream finds the memory as it was before the value.
@usableFromInline
protocol Machine<Input, Output> {
  associatedtype Input
  associatedtype Output
  /// What it keeps from one value to the next; `Void` if nothing.
  associatedtype Memory
  associatedtype Failures: FailureFlow

  /// What the operator's subscriber looks at before it takes an event.
  static var caution: Caution { get }

  func step(_ memory: Memory, _ input: Input) throws(Failures.Thrown) -> (Step<Output>, Memory)

  /// What Apple's Combine calls the operator.
  var name: String { get }
  func children(of memory: Memory) -> [(label: String?, value: Any)]
}

/// What a ``MachineSubscriber`` looks at before it takes an event: Apple's operators differ in it.
@usableFromInline
enum Caution {
  /// Nothing comes before the subscription, or the publisher or subscriber breaks the rules; after the end all is ignored.
  case strict
  /// Values and the end pass before the subscription, too; after the end all is ignored.
  case untilEnd
  /// Values pass in any state; the end only once the subscription is there.
  case none
}

extension Machine {
  @inlinable static var caution: Caution { .strict }

  @usableFromInline func children(of memory: Memory) -> [(label: String?, value: Any)] { [] }
}

/// Which failures go into an operator, are thrown in it, and come out.
@usableFromInline
protocol FailureFlow {
  associatedtype Upstream: Error
  associatedtype Thrown: Error
  associatedtype Downstream: Error

  static func pass(_ failure: Upstream) -> Downstream
  static func raise(_ thrown: Thrown) -> Downstream
}

/// Nothing is thrown, and failures pass as they are.
@usableFromInline
enum Total<Failure: Error>: FailureFlow {
  @usableFromInline typealias Upstream = Failure
  @usableFromInline typealias Thrown = Never
  @usableFromInline typealias Downstream = Failure

  @inlinable @inline(__always)
  static func pass(_ failure: Failure) -> Failure { failure }

  @inlinable @inline(__always)
  static func raise(_ thrown: Never) -> Failure {}
}

/// The operator's closure may throw, and downstream sees any error: the `try` twins.
@usableFromInline
enum Partial<Failure: Error>: FailureFlow {
  @usableFromInline typealias Upstream = Failure
  @usableFromInline typealias Thrown = any Error
  @usableFromInline typealias Downstream = any Error

  @inlinable @inline(__always)
  static func pass(_ failure: Failure) -> any Error { failure }

  @inlinable @inline(__always)
  static func raise(_ thrown: any Error) -> any Error { thrown }
}
