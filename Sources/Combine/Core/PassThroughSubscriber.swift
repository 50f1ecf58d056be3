/// What a pass-through operator does to one value, without memory of its own.
@usableFromInline
protocol PassThroughMachine<Input, Output> {
  associatedtype Input
  associatedtype Output
  associatedtype Failure: Error
  associatedtype NewFailure: Error

  /// Whether values are dropped in some cases; if not, `step` always emits.
  func step(_ input: Input) -> Step<Output>
  func convert(_ failure: Failure) -> NewFailure

  /// What Apple's Combine calls the operator.
  var name: String { get }
  var children: [(label: String?, value: Any)] { get }
}

extension PassThroughMachine {
  @usableFromInline var children: [(label: String?, value: Any)] { [] }
}

extension PassThroughMachine where NewFailure == Failure {
  @inlinable @inline(__always)
  func convert(_ failure: Failure) -> Failure { failure }
}

/// An operator that touches values and failures only: no lock, no allocation, no subscription of its own.
///
/// The downstream gets the upstream's own subscription. Nothing is judged: events pass in any state and any number.
@usableFromInline
struct PassThroughSubscriber<M: PassThroughMachine, Downstream: Subscriber>: Subscriber, CustomStringConvertible,
  CustomReflectable,
  CustomPlaygroundDisplayConvertible
where Downstream.Input == M.Output, Downstream.Failure == M.NewFailure {
  @usableFromInline typealias Input = M.Input
  @usableFromInline typealias Failure = M.Failure

  @usableFromInline let machine: M
  @usableFromInline let downstream: Downstream
  @usableFromInline let combineIdentifier: CombineIdentifier

  @inlinable @inline(__always)
  init(_ machine: M, to downstream: consuming Downstream) {
    self.machine = machine
    self.downstream = downstream
    combineIdentifier = CombineIdentifier()
  }

  @inlinable @inline(__always)
  func receive(subscription: any Subscription) {
    downstream.receive(subscription: subscription)
  }

  @inlinable @inline(__always)
  func receive(_ input: M.Input) -> Subscribers.Demand {
    switch machine.step(input) {
    case .emit(let output): downstream.receive(output)
    case .skip, .finish: .max(1)
    }
  }

  @inlinable
  func receive(completion: Subscribers.Completion<M.Failure>) {
    downstream.receive(completion: completion.mapError(machine.convert))
  }

  @usableFromInline var description: String { machine.name }
  @usableFromInline var playgroundDescription: Any { machine.name }
  @usableFromInline
  var customMirror: Mirror {
    Mirror(self, children: machine.children.map { (label: $0.label, value: $0.value) })
  }
}
