import Synchronization

/// What a feed shows of itself.
@frozen
@usableFromInline
enum FeedKind {
  case sequence
  case record
}

/// Delivers a sequence, one element ahead of the subscriber, and then an end.
@usableFromInline
final class Feed<Elements: Swift.Sequence, Downstream: Subscriber>: Source where Downstream.Input == Elements.Element {
  // Both are read and written by the one drain; emptied after it.
  @exclusivity(unchecked) @usableFromInline var iterator: Elements.Iterator?
  @exclusivity(unchecked) @usableFromInline var next: Elements.Element?
  // Emptied at the end, when no drain is under way.
  @exclusivity(unchecked) @usableFromInline var downstream: Downstream?
  @exclusivity(unchecked) @usableFromInline var elements: Elements?
  @usableFromInline let completion: Subscribers.Completion<Downstream.Failure>
  @usableFromInline let kind: FeedKind

  /// Subscribes `downstream` to `elements` and the end after them.
  @inlinable @inline(__always)
  static func subscribe(
    _ downstream: Downstream,
    to elements: Elements,
    ending completion: Subscribers.Completion<Downstream.Failure> = .finished,
    as kind: FeedKind = .sequence
  ) {
    var iterator = elements.makeIterator()
    if let first = iterator.next() {
      entrust(downstream)
      downstream.receive(
        subscription: Feed(
          first,
          iterator,
          of: elements,
          ending: completion,
          as: kind,
          to: downstream
        )
      )
    } else {
      downstream.receive(subscription: Subscriptions.empty)
      downstream.receive(completion: completion)
    }
  }

  @inlinable @inline(__always)
  init(
    _ first: Elements.Element,
    _ iterator: Elements.Iterator,
    of elements: Elements,
    ending completion: Subscribers.Completion<Downstream.Failure>,
    as kind: FeedKind,
    to downstream: Downstream
  ) {
    self.iterator = iterator
    next = first
    self.elements = elements
    self.completion = completion
    self.kind = kind
    self.downstream = downstream
    super.init { feed, duty in
      // Sources hand themselves over, nothing else.
      let feed = unsafeDowncast(feed, to: Feed.self)
      switch duty {
      case .drain: feed.deliver()
      case .release: feed.release()
      }
    }
  }

  /// Delivers while something is owed.
  @inlinable @inline(__always)
  func deliver() {
    guard let downstream, var iterator, var element = next else { return }
    // Moved out, so that an iterator that holds a buffer stays its only owner.
    self.iterator = nil
    self.next = nil
    while !isOver.load(ordering: .relaxed), ledger.takeOne() {
      let following = iterator.next()
      let more = downstream.receive(element)
      guard let following else {
        guard !isOver.load(ordering: .acquiring) else { return }
        finish()
        downstream.receive(completion: completion)
        return
      }
      element = following
      if more != .none { ledger.owe(more) }
    }
    self.iterator = iterator
    self.next = element
  }

  @inlinable @inline(__always)
  func release() {
    let held = (iterator, next, downstream, elements)
    iterator = nil
    next = nil
    downstream = nil
    elements = nil
    withExtendedLifetime(held) {}
  }

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
