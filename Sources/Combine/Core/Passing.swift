/// A subscriber that takes values, or only passes them on to one that does.
///
/// While nobody comes or goes at a ``SubscriberList`` and all want everything, operators that only pass values on have nothing to say,
/// so values skip them. Subscription and end do not, nor does any value that an operator might have to count or to stop.
///
/// Whether there is a target, and its type, depend on the subscriber's own type alone.
@usableFromInline
protocol Passing {
  /// What values end up in; kept by the subscriber for as long as that is kept itself.
  ///
  /// - Parameter address: where the subscriber is: to hand over itself, it would be copied into memory of its own.
  static func target(at address: UnsafeRawPointer) -> AnyObject?

  /// Delivers the value at an address to targets of the same type as this subscriber's.
  func deliver(_ input: UnsafeRawPointer, in run: SnapshotRun)
}

/// What the values for a subscriber end up in, if it knows.
///
/// Found at run time: when a snapshot is made, not for each value.
@usableFromInline
func target<S: Subscriber>(of subscriber: S) -> AnyObject? {
  guard let type = S.self as? any Passing.Type else { return nil }
  return withUnsafePointer(to: subscriber) { type.target(at: $0) }
}

extension MulticastSubscriber: Passing {
  @usableFromInline
  static func target(at address: UnsafeRawPointer) -> AnyObject? {
    // As the protocol has it; so in all of them.
    Combine.target(of: address.assumingMemoryBound(to: MulticastSubscriber.self).pointee.downstream)
  }

  @inlinable @inline(__always)
  func deliver(_ input: UnsafeRawPointer, in run: SnapshotRun) {
    (downstream as? any Passing)?.deliver(input, in: run)
  }
}

extension AutoconnectSubscriber: Passing {
  @usableFromInline
  static func target(at address: UnsafeRawPointer) -> AnyObject? {
    Combine.target(of: address.assumingMemoryBound(to: AutoconnectSubscriber.self).pointee.downstream)
  }

  @inlinable @inline(__always)
  func deliver(_ input: UnsafeRawPointer, in run: SnapshotRun) {
    (downstream as? any Passing)?.deliver(input, in: run)
  }
}

extension Subscribers.Sink: Passing {
  @usableFromInline
  static func target(at address: UnsafeRawPointer) -> AnyObject? {
    address.assumingMemoryBound(to: Subscribers.Sink<Input, Failure>.self).pointee
  }

  @inlinable @inline(__always)
  func deliver(_ input: UnsafeRawPointer, in run: SnapshotRun) {
    // Who has a value of this type passes its address.
    let input = input.assumingMemoryBound(to: Input.self).pointee
    // Targets of a run have one type.
    run.walk { _ = unsafeDowncast($0, to: Subscribers.Sink<Input, Failure>.self).receive(input) }
  }
}
