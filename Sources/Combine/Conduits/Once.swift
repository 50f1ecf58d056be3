import Synchronization

/// Delivers one value upon the first request, and the end after it.
@usableFromInline
final class Once<Downstream: Subscriber>: Source {
  // Emptied at the end, when no drain is under way.
  @exclusivity(unchecked) @usableFromInline var downstream: Downstream?
  @usableFromInline let output: Downstream.Input
  @usableFromInline let label: String

  @inlinable @inline(__always)
  init(_ output: Downstream.Input, label: String, to downstream: Downstream) {
    self.output = output
    self.label = label
    self.downstream = downstream
    super.init { once, duty in
      // Sources hand themselves over, nothing else.
      let once = unsafeDowncast(once, to: Once.self)
      switch duty {
      case .drain: once.deliver()
      case .release: once.release()
      }
    }
  }

  @inlinable
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(label)
    ledger.owe(demand)
    runDrain()
  }

  @inlinable @inline(__always)
  func deliver() {
    guard let downstream else { return }
    _ = downstream.receive(output)
    guard !isOver.load(ordering: .acquiring) else { return }
    finish()
    downstream.receive(completion: .finished)
  }

  @inlinable @inline(__always)
  func release() {
    let held = downstream
    downstream = nil
    withExtendedLifetime(held) {}
  }

  @usableFromInline override var name: String { label }
  @usableFromInline override var children: [(label: String?, value: Any)] { [(nil, output)] }
}
