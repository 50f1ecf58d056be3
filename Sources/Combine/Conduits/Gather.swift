import StreamSupport

/// What an operator that adds up has after one value.
@frozen
@usableFromInline
enum Sum<Memory, Output> {
  /// More values are needed.
  case more(Memory)
  /// The result is known already; upstream is not needed any more.
  case decided(Output)
}

/// What a reducing operator adds up, and when it has seen enough.
@usableFromInline
protocol Accumulator<Input, Output> {
  associatedtype Input
  associatedtype Output
  associatedtype Memory
  associatedtype Failures: FailureFlow

  /// Whether `add` runs no code of the caller, so that the memory may be moved out while it grows. Memory that holds
  /// an array then stays unique, and grows in place.
  static var runsNoForeignCode: Bool { get }

  func add(_ input: Input, to memory: consuming Memory) throws(Failures.Thrown) -> Sum<Memory, Output>

  /// The result at the end of upstream; nil if there is none.
  func result(of memory: Memory) -> Output?

  /// What Apple's Combine calls the operator.
  var name: String { get }
  func children(of memory: Memory?, downstream: Any) -> [(label: String?, value: Any)]
}

extension Accumulator {
  @inlinable
  static var runsNoForeignCode: Bool { false }

  @usableFromInline
  func children(of memory: Memory?, downstream: Any) -> [(label: String?, value: Any)] {
    [
      ("downstream", downstream), ("result", memory.flatMap { result(of: $0) } as Any), ("initial", memory as Any),
      ("status", "gathering"),
    ]
  }
}

/// A pipe that asks for everything and publishes one result: Apple's reduce producers.
///
/// The result, and the end after it, wait for the first request of any size; a failure does not wait. Events before
/// the subscription are ignored, and so is everything after the end.
@usableFromInline
final class Gather<A: Accumulator, Downstream: Subscriber>: Link, Subscriber
where Downstream.Input == A.Output, Downstream.Failure == A.Failures.Downstream {
  @usableFromInline typealias Input = A.Input
  @usableFromInline typealias Failure = A.Failures.Upstream

  @usableFromInline
  enum Outcome {
    /// Neither end nor request has come.
    case open
    /// A request came first.
    case requested
    /// The end came first; the result waits.
    case ready(A.Output?)
    case published
  }

  @usableFromInline let accumulator: A
  @usableFromInline let downstream: Downstream
  // Moved out while it grows, or copied; written whole by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var memory: A.Memory?
  // Guarded by `lock`.
  @exclusivity(unchecked) @usableFromInline var outcome = Outcome.open

  @inlinable
  init(_ accumulator: A, startingWith memory: A.Memory, to downstream: Downstream) {
    self.accumulator = accumulator
    self.memory = memory
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    downstream.receive(subscription: self)
    subscription.request(.unlimited)
  }

  @inlinable @inline(__always)
  func receive(_ input: A.Input) -> Subscribers.Demand {
    guard isHolding, let memory else { return .none }
    if A.runsNoForeignCode { self.memory = nil }
    do throws(A.Failures.Thrown) {
      switch try accumulator.add(input, to: memory) {
      case .more(let memory):
        self.memory = memory
      case .decided(let output):
        guard let upstream = end() else { return .none }
        upstream.cancel()
        publish(output)
      }
    } catch {
      guard let upstream = end() else { return .none }
      upstream.cancel()
      fail(A.Failures.raise(error))
    }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<A.Failures.Upstream>) {
    guard end() != nil else { return }
    switch completion {
    case .finished: publish(memory.flatMap { accumulator.result(of: $0) })
    case .failure(let error): fail(A.Failures.pass(error))
    }
  }

  @inlinable
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(accumulator.name)
    lock.lock()
    switch outcome {
    case .open:
      outcome = .requested
      lock.unlock()
    case .ready(let output):
      outcome = .published
      lock.unlock()
      deliver(output)
    case .requested, .published:
      lock.unlock()
    }
  }

  @inlinable
  override func cancel() {
    lock.lock()
    let abandoned = outcome
    outcome = .published
    lock.unlock()
    // Released here, outside the lock, since the result may run code of its own when it goes.
    withExtendedLifetime(abandoned) {}
    end()?.cancel()
  }

  @inlinable
  func publish(_ output: A.Output?) {
    lock.lock()
    switch outcome {
    case .open:
      outcome = .ready(output)
      lock.unlock()
    case .requested:
      outcome = .published
      lock.unlock()
      deliver(output)
    case .ready, .published:
      lock.unlock()
    }
  }

  @inlinable
  func deliver(_ output: A.Output?) {
    if let output { _ = downstream.receive(output) }
    downstream.receive(completion: .finished)
  }

  @inlinable
  func fail(_ error: A.Failures.Downstream) {
    lock.lock()
    guard case .published = outcome else {
      outcome = .published
      lock.unlock()
      downstream.receive(completion: .failure(error))
      return
    }
    lock.unlock()
  }

  @usableFromInline override var name: String { accumulator.name }
  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    accumulator.children(of: memory, downstream: downstream)
  }
}
