import StreamSupport
import Synchronization

/// What such a subscription shows of itself.
@frozen
@usableFromInline
enum SequenceKind {
  case sequence
  case record
}

/// Delivers a sequence, one element ahead of the subscriber, and then an end.
@usableFromInline
final class SequenceSubscription<Elements: Swift.Sequence, Downstream: Subscriber>: SynchronousSource
where Downstream.Input == Elements.Element {
  @frozen
  @usableFromInline
  struct Contents {
    // Both are read and written by the one drain; emptied after it.
    @usableFromInline var iterator: Elements.Iterator?
    @usableFromInline var next: Elements.Element?
    // Emptied at the end, when no drain is under way.
    @usableFromInline var downstream: Downstream?
    @usableFromInline var elements: Elements?
    @usableFromInline var completion: Subscribers.Completion<Downstream.Failure>

    @inlinable @inline(__always)
    init(
      iterator: Elements.Iterator?,
      next: Elements.Element?,
      downstream: Downstream?,
      elements: Elements?,
      completion: Subscribers.Completion<Downstream.Failure>
    ) {
      self.iterator = iterator
      self.next = next
      self.downstream = downstream
      self.elements = elements
      self.completion = completion
    }
  }

  // Guarded as its parts are.
  @exclusivity(unchecked) @usableFromInline var contents: InlineStorage<Contents>
  @usableFromInline let kind: SequenceKind

  /// Subscribes `downstream` to `elements` and the end after them.
  @inlinable @inline(__always)
  static func subscribe(
    _ downstream: Downstream,
    to elements: Elements,
    ending completion: Subscribers.Completion<Downstream.Failure> = .finished,
    as kind: SequenceKind = .sequence
  ) {
    var iterator = elements.makeIterator()
    if let first = iterator.next() {
      entrust(downstream)
      downstream.receive(
        subscription: SequenceSubscription(
          first,
          iterator,
          of: elements,
          ending: completion,
          as: kind,
          to: downstream
        )
      )
    } else {
      downstream.receive(subscription: EmptySubscription.shared)
      downstream.receive(completion: completion)
    }
  }

  @inlinable @inline(__always)
  init(
    _ first: Elements.Element,
    _ iterator: Elements.Iterator,
    of elements: Elements,
    ending completion: Subscribers.Completion<Downstream.Failure>,
    as kind: SequenceKind,
    to downstream: Downstream
  ) {
    contents = InlineStorage {
      $0.initialize(
        to: Contents(
          iterator: iterator,
          next: first,
          downstream: downstream,
          elements: elements,
          completion: completion
        )
      )
    }
    self.kind = kind
    super.init { subscriber, duty in
      // Sources hand themselves over, nothing else.
      let subscriber = unsafeDowncast(subscriber, to: SequenceSubscription.self)
      switch duty {
      case .drain: subscriber.deliver()
      case .release: subscriber.release()
      case .destroy: subscriber.destroy()
      }
    }
  }

  deinit { perform(self, .destroy) }

  /// Delivers while something is owed.
  @inlinable @inline(__always)
  func deliver() {
    // Iterator and element are moved out, so that an iterator that holds a buffer stays its only owner.
    let (downstream, iterator, next) = contents.access { contents in
      (contents.pointee.downstream, contents.pointee.iterator.take(), contents.pointee.next.take())
    }
    guard let downstream, var iterator, var element = next else { return }
    while !isOver, outstanding.takeOne() {
      let following = iterator.next()
      let more = downstream.receive(element)
      guard let following else {
        guard !isOver else { return }
        finish()
        downstream.receive(completion: completion)
        return
      }
      element = following
      if more != .none { outstanding.add(more) }
    }
    contents.access { contents in
      contents.pointee.iterator = iterator
      contents.pointee.next = element
    }
  }

  @inlinable @inline(__always)
  func release() {
    // One by one: the compiler destroys a tuple by way of its type.
    let iterator = contents.access { $0.pointee.iterator.take() }
    let next = contents.access { $0.pointee.next.take() }
    let downstream = contents.access { $0.pointee.downstream.take() }
    let elements = contents.access { $0.pointee.elements.take() }
    withExtendedLifetime(iterator) {}
    withExtendedLifetime(next) {}
    withExtendedLifetime(downstream) {}
    withExtendedLifetime(elements) {}
  }

  @inlinable @inline(__always)
  func destroy() {
    release()
    contents.access { contents in
      withUnsafeMutablePointer(to: &contents.pointee.completion) { _ = $0.deinitialize(count: 1) }
    }
    contents.close()
  }

  @inlinable
  var elements: Elements? { contents.access { $0.pointee.elements } }

  @inlinable
  var completion: Subscribers.Completion<Downstream.Failure> { contents.access { $0.pointee.completion } }

  @usableFromInline
  override var name: String {
    if let elements { return String(describing: elements) }
    return switch kind {
    case .sequence: "Sequence"
    case .record: "Cancelled Events"
    }
  }

  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    let sequence: Any = elements.map { $0 as Any } ?? [Elements.Element]()
    return switch kind {
    case .sequence: [("sequence", sequence)]
    case .record: [("sequence", sequence), ("completion", completion)]
    }
  }
}
