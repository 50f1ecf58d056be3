/// An operator for `tryMap` and `tryScan`, which lets values pass that no subscription announced.
///
/// Apple's implementation does not look at its state before it takes a value: values before the subscription are
/// delivered, and so are values after the end, which a well-behaved upstream does not send.
@usableFromInline
final class TryMachineSubscriber<M: Machine, Downstream: Subscriber>: UpstreamSubscription, Subscriber
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

  @inlinable
  func receive(subscription: any Subscription) {
    if hold(subscription) { downstream.receive(subscription: self) }
  }

  @inlinable @inline(__always)
  func receive(_ input: M.Input) -> Subscribers.Demand {
    do throws(M.Failures.Thrown) {
      let (step, memory) = try machine.step(memory, input)
      self.memory = memory
      switch step {
      case .emit(let output): return downstream.receive(output)
      case .skip, .finish: return .max(1)
      }
    } catch {
      guard let upstream = end() else { return .none }
      upstream.cancel()
      downstream.receive(completion: .failure(M.Failures.raise(error)))
      return .none
    }
  }

  @inlinable
  func receive(completion: Subscribers.Completion<M.Failures.Upstream>) {
    guard end() != nil else { return }
    downstream.receive(completion: completion.mapError(M.Failures.pass))
  }

  @usableFromInline override var name: String { machine.name }
  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    // Apple's `TryMap`, which remembers nothing, shows nothing.
    let memories = machine.children(of: memory)
    return memories.isEmpty ? [] : [("downstream", downstream), ("status", status)] + memories
  }
}
