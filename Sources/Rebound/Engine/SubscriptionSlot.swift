import Combine

/// The place of an upstream's subscription, which is there for a while.
///
/// In place of an optional existential, each copy and each end of which asks the runtime what lies in it, also where there
/// is nothing. Whoever has the lock that guards it moves the subscription in and out; what is moved out is copied bit by bit,
/// so that nothing foreign runs with the lock held, and is released with the lock open.
@usableFromInline
package struct SubscriptionSlot {
  @usableFromInline typealias Words = (UInt, UInt, UInt, UInt, UInt)

  @usableFromInline var words: Words = (0, 0, 0, 0, 0)
  @usableFromInline package private(set) var isFull = false

  @inlinable
  package init() {}

  /// Room for an existential with one witness table, whose size no platform of Swift has otherwise.
  @inlinable @inline(__always)
  mutating func access<Result>(_ body: (UnsafeMutablePointer<any Subscription>) -> Result) -> Result {
    withUnsafeMutablePointer(to: &words) {
      body(UnsafeMutableRawPointer($0).assumingMemoryBound(to: (any Subscription).self))
    }
  }

  /// Puts a subscription into the empty place.
  @inlinable @inline(__always)
  package mutating func put(_ subscription: any Subscription) {
    access { $0.initialize(to: subscription) }
    isFull = true
  }

  /// Empties the place.
  ///
  /// - Returns: What was in it, to be released once.
  @inlinable @inline(__always)
  package mutating func take() -> SubscriptionSlot {
    let before = self
    isFull = false
    return before
  }

  /// The subscription in a place that is full.
  @inlinable @inline(__always)
  package var subscription: any Subscription {
    mutating get { access { $0.pointee } }
  }

  /// Lets go of what was taken out.
  @inlinable @inline(__always)
  package consuming func release() {
    guard isFull else { return }
    access { _ = $0.deinitialize(count: 1) }
  }

  /// Cancels what was taken out, and lets go of it.
  @inlinable @inline(__always)
  package consuming func cancel() {
    guard isFull else { return }
    access { $0.pointee.cancel() }
    access { _ = $0.deinitialize(count: 1) }
  }
}
