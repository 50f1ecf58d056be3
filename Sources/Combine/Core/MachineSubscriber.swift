/// The subscriber of an operator that runs values through a machine and can end the stream.
///
/// - What it takes, and when, is the machine's ``Caution``.
/// - Demand passes up as it is; a skipped value asks for one more.
/// - When the machine ends the stream or throws, upstream is cancelled first, then downstream told.
@usableFromInline
final class MachineSubscriber<M: Machine, Downstream: Subscriber>: UpstreamSubscription, Subscriber
where Downstream.Input == M.Output, Downstream.Failure == M.Failures.Downstream {
  @usableFromInline typealias Input = M.Input
  @usableFromInline typealias Failure = M.Failures.Upstream

  @usableFromInline let machine: M
  @usableFromInline let downstream: Downstream
  // Read and written whole, by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var memory: M.Memory

  @inlinable
  init(_ machine: M, remembering memory: M.Memory, to downstream: Downstream) {
    self.machine = machine
    self.memory = memory
    self.downstream = downstream
    super.init()
  }

  @inlinable @inline(__always)
  func receive(subscription: any Subscription) {
    if hold(subscription) { downstream.receive(subscription: self) }
  }

  @inlinable @inline(__always)
  func receive(_ input: M.Input) -> Subscribers.Demand {
    guard mayTake else { return receiveOutOfTurn() }
    do throws(M.Failures.Thrown) {
      let (step, memory) = try machine.step(memory, input)
      if MemoryLayout<M.Memory>.size == 0 {
        // A memory of no bytes has no place of its own: ThreadSanitizer would take a change of it for one of this object.
        self.memory = memory
      } else {
        // What was there goes once this is in its place: a value may send another as it goes.
        let replaced = exchange(&self.memory, with: memory)
        withExtendedLifetime(replaced) {}
      }
      switch step {
      case .emit(let output): return downstream.receive(output)
      case .skip: return .max(1)
      case .finish: finish(.finished)
      }
    } catch {
      finish(.failure(M.Failures.raise(error)))
    }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<M.Failures.Upstream>) {
    if M.caution == .strict, isWaiting { outOfTurn("received its completion before its subscription") }
    guard endOnce() != nil else { return }
    downstream.receive(completion: completion.mapError(M.Failures.pass))
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    if M.caution == .strict {
      demand.mustNotBeNone(machine.name)
      guard !isWaiting else {
        violation(
          machine.name,
          "was asked for values before its subscription",
          advice: "A subscriber must wait for receive(subscription:) before it calls request(_:)."
        )
      }
    }
    held?.request(demand)
  }

  @usableFromInline
  override func cancel() {
    if M.caution == .strict { endForGood()?.cancel() } else { end()?.cancel() }
  }

  // Settled at compile time where the code is specialised.
  @inlinable @inline(__always)
  var mayTake: Bool {
    switch M.caution {
    case .strict: isHolding
    case .untilEnd: !isOver
    case .none: true
    }
  }

  @inlinable
  func endOnce() -> Ending? {
    M.caution == .untilEnd ? conclude() : end().map { Ending(upstream: $0) }
  }

  @inlinable
  func finish(_ completion: Subscribers.Completion<M.Failures.Downstream>) {
    // Upstream first: a subscriber may subscribe anew from inside `receive(completion:)`.
    guard let ending = endOnce() else { return }
    ending.upstream?.cancel()
    downstream.receive(completion: completion)
  }

  @usableFromInline
  func receiveOutOfTurn() -> Subscribers.Demand {
    if isWaiting { outOfTurn("received a value before its subscription") }
    return .none
  }

  @usableFromInline
  func outOfTurn(_ event: String) -> Never {
    violation(machine.name, event, advice: "A publisher must call receive(subscription:) first.")
  }

  @usableFromInline override var name: String { machine.name }
  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    let memories = machine.children(of: memory)
    return switch M.caution {
    case .strict: [("downstream", downstream)] + memories
    case .untilEnd: [("downstream", downstream), ("finished", isOver), ("upstreamSubscription", held as Any)]
    // Apple's `TryMap`, which remembers nothing, shows nothing.
    case .none: memories.isEmpty ? [] : [("downstream", downstream), ("status", status)] + memories
    }
  }
}
