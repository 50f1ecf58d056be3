/// A subscriber that takes values, or only passes them on to one that does.
///
/// While nobody comes or goes at a ``Crowd`` and all want everything, pipes that only pass values on have nothing to say,
/// so values skip them. Subscription and end do not, nor does any value that a pipe might have to count or to stop.
///
/// Whether there is a target, and its type, depend on the subscriber's own type alone.
@usableFromInline
protocol Passing {
  /// What values end up in; kept by the subscriber for as long as that is kept itself.
  ///
  /// - Parameter address: where the subscriber is: to hand over itself, it would be copied into memory of its own.
  static func target(at address: UnsafeRawPointer) -> AnyObject?

  /// Delivers the value at an address to targets of the same type as this subscriber's.
  func deliver(_ input: UnsafeRawPointer, in run: RosterRun)
}

/// What the values for a subscriber end up in, if it knows.
///
/// Found at run time: when a roster is made, not for each value.
@usableFromInline
func target<S: Subscriber>(of subscriber: S) -> AnyObject? {
  guard let type = S.self as? any Passing.Type else { return nil }
  return withUnsafePointer(to: subscriber) { type.target(at: $0) }
}

extension MulticastConduit: Passing {
  @usableFromInline
  static func target(at address: UnsafeRawPointer) -> AnyObject? {
    // As the protocol has it; so in all of them.
    Combine.target(of: address.assumingMemoryBound(to: MulticastConduit.self).pointee.downstream)
  }

  @inlinable @inline(__always)
  func deliver(_ input: UnsafeRawPointer, in run: RosterRun) {
    (downstream as? any Passing)?.deliver(input, in: run)
  }
}

extension AutoconnectConduit: Passing {
  @usableFromInline
  static func target(at address: UnsafeRawPointer) -> AnyObject? {
    Combine.target(of: address.assumingMemoryBound(to: AutoconnectConduit.self).pointee.downstream)
  }

  @inlinable @inline(__always)
  func deliver(_ input: UnsafeRawPointer, in run: RosterRun) {
    (downstream as? any Passing)?.deliver(input, in: run)
  }
}

extension Subscribers.Sink: Passing {
  @usableFromInline
  static func target(at address: UnsafeRawPointer) -> AnyObject? {
    address.assumingMemoryBound(to: Subscribers.Sink<Input, Failure>.self).pointee
  }

  @inlinable @inline(__always)
  func deliver(_ input: UnsafeRawPointer, in run: RosterRun) {
    // Who has a value of this type passes its address.
    let input = input.assumingMemoryBound(to: Input.self).pointee
    // Targets of a run have one type.
    run.walk { _ = unsafeDowncast($0, to: Subscribers.Sink<Input, Failure>.self).receive(input) }
  }
}
