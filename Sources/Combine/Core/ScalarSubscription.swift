import StreamSupport
import Synchronization

/// Delivers one value upon the first request, and the end after it.
@usableFromInline
final class ScalarSubscription<Downstream: Subscriber>: SynchronousSource {
  // The output, and who is to get it: nobody after the end, when no drain is under way.
  @exclusivity(unchecked) @usableFromInline var contents:
    InlineStorage<(downstream: Downstream?, output: Downstream.Input)>
  @usableFromInline let label: String

  @inlinable @inline(__always)
  init(_ output: Downstream.Input, label: String, to downstream: Downstream) {
    contents = InlineStorage { $0.initialize(to: (downstream, output)) }
    self.label = label
    super.init { scalar, duty in
      // Sources hand themselves over, nothing else.
      let scalar = unsafeDowncast(scalar, to: ScalarSubscription.self)
      switch duty {
      case .drain: scalar.deliver()
      case .release: scalar.release()
      case .destroy: scalar.destroy()
      }
    }
  }

  deinit { perform(self, .destroy) }

  @inlinable
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(label)
    outstanding.add(demand)
    runDrain()
  }

  @inlinable @inline(__always)
  func deliver() {
    let (receiver, output) = contents.access { $0.pointee }
    guard let receiver else { return }
    _ = receiver.receive(output)
    guard !isOver else { return }
    finish()
    receiver.receive(completion: .finished)
  }

  @inlinable @inline(__always)
  func release() {
    let held = contents.access { $0.pointee.downstream.take() }
    withExtendedLifetime(held) {}
  }

  @inlinable @inline(__always)
  func destroy() {
    release()
    contents.access { contents in
      withUnsafeMutablePointer(to: &contents.pointee.output) { _ = $0.deinitialize(count: 1) }
    }
    contents.close()
  }

  @usableFromInline override var name: String { label }
  @usableFromInline override var children: [(label: String?, value: Any)] {
    [(nil, contents.access { $0.pointee.output })]
  }
}
