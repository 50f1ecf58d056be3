import StreamSupport

/// What an operator that adds up has after one value.
@frozen
@usableFromInline
enum Reduction<Memory, Output> {
  /// More values are needed.
  case more(Memory)
  /// The result is known already; upstream is not needed any more.
  case decided(Output)
}

/// What a reducing operator adds up, and when it has seen enough.
@usableFromInline
protocol Reducer<Input, Output> {
  associatedtype Input
  associatedtype Output
  associatedtype Memory
  associatedtype Failures: FailureFlow

  /// Whether `add` runs no code of the caller, not even a `deinit`, so that the memory may be moved out while it grows.
  ///
  /// Memory that holds an array then stays unique, and grows in place.
  static var runsNoForeignCode: Bool { get }

  /// The memory before the first value.
  var initial: Memory { get }

  func add(_ input: Input, to memory: consuming Memory) throws(Failures.Thrown) -> Reduction<Memory, Output>

  /// The result at the end of upstream; nil if there is none.
  func result(of memory: Memory) -> Output?

  /// What Apple's Combine calls the operator.
  var name: String { get }

  /// What it shows instead of what all reducing operators show; nil if it shows the same.
  func children(of memory: Memory?) -> [(label: String?, value: Any)]?
}

extension Reducer {
  @inlinable
  static var runsNoForeignCode: Bool { false }

  @usableFromInline
  func children(of memory: Memory?) -> [(label: String?, value: Any)]? { nil }
}

/// An operator that asks for everything and publishes one result: Apple's reduce producers.
///
/// The result, and the end after it, wait for the first request of any size; a failure does not wait. Events before
/// the subscription are ignored, and so is everything after the end.
@usableFromInline
final class ReduceSubscriber<A: Reducer, Downstream: Subscriber>: UpstreamSubscription, Subscriber
where Downstream.Input == A.Output, Downstream.Failure == A.Failures.Downstream {
  @usableFromInline typealias Input = A.Input
  @usableFromInline typealias Failure = A.Failures.Upstream

  @usableFromInline let accumulator: A
  @usableFromInline let downstream: Downstream
  // Moved out while it grows, or copied; written whole by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var memory: A.Memory?
  @usableFromInline let deferred = DeferredResult()
  // Written before the result arrives, taken by the one who is told to.
  @exclusivity(unchecked) @usableFromInline var result: A.Output?

  @inlinable @inline(__always)
  init(_ accumulator: A, to downstream: Downstream) {
    self.accumulator = accumulator
    self.memory = accumulator.initial
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    downstream.receive(subscription: self)
    // Downstream may have cancelled from inside.
    if isHolding { subscription.request(.unlimited) }
  }

  @inlinable @inline(__always)
  func receive(_ input: A.Input) -> Subscribers.Demand {
    guard isHolding, let memory else { return .none }
    if A.runsNoForeignCode { self.memory = nil }
    do throws(A.Failures.Thrown) {
      switch try accumulator.add(input, to: consume memory) {
      case .more(let memory): remember(memory)
      case .decided(let output): decide(output)
      }
    } catch {
      // Upstream first: a subscriber may subscribe anew from inside `receive(completion:)`.
      guard let upstream = end() else { return .none }
      upstream.cancel()
      fail(A.Failures.raise(error))
    }
    return .none
  }

  @inlinable @inline(__always)
  func remember(_ memory: consuming A.Memory) {
    // What was there goes once this is in its place: a value may send another as it goes.
    let replaced = exchange(&self.memory, with: memory)
    withExtendedLifetime(replaced) {}
  }

  @inlinable
  func receive(completion: Subscribers.Completion<A.Failures.Upstream>) {
    guard end() != nil else { return }
    switch completion {
    case .finished: publish(memory.flatMap { accumulator.result(of: $0) })
    case .failure(let error): fail(A.Failures.pass(error))
    }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(accumulator.name)
    if !isWaiting, deferred.request() { deliver() }
  }

  @usableFromInline
  override func cancel() {
    guard !isWaiting else { return }
    if deferred.end() == .ready { releaseResult() }
    end()?.cancel()
  }

  @inlinable
  func decide(_ output: A.Output) {
    guard let upstream = end() else { return }
    upstream.cancel()
    publish(output)
  }

  @inlinable
  func publish(_ output: A.Output?) {
    // What was added up is of no more use, and may be large.
    memory = nil
    result = output
    switch deferred.arrive() {
    case .waits: break
    case .isWanted: deliver()
    case .isLate: releaseResult()
    }
  }

  @inlinable
  func deliver() {
    let output = result
    result = nil
    if let output { _ = downstream.receive(output) }
    // Downstream may have cancelled from inside.
    if deferred.end() != .over { downstream.receive(completion: .finished) }
  }

  @inlinable
  func fail(_ error: A.Failures.Downstream) {
    memory = nil
    if deferred.end() != .over { downstream.receive(completion: .failure(error)) }
  }

  @usableFromInline
  func releaseResult() {
    let abandoned = result
    result = nil
    withExtendedLifetime(abandoned) {}
  }

  @usableFromInline override var name: String { accumulator.name }

  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    accumulator.children(of: memory)
      ?? [
        ("downstream", downstream), ("result", memory.flatMap { accumulator.result(of: $0) } as Any),
        ("initial", accumulator.result(of: accumulator.initial) as Any), ("status", status),
      ]
  }
}
