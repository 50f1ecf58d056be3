/// What has happened to a subscription, and its machine has not heard yet.
@usableFromInline
struct PendingEvents: OptionSet {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable static var cancel: PendingEvents { .init(rawValue: 1) }
  @inlinable static var values: PendingEvents { .init(rawValue: 2) }
  @inlinable static var finish: PendingEvents { .init(rawValue: 4) }
  @inlinable static var failure: PendingEvents { .init(rawValue: 8) }
  @inlinable static var waitOver: PendingEvents { .init(rawValue: 16) }
  @inlinable static var woken: PendingEvents { .init(rawValue: 32) }
  @inlinable static var timer: PendingEvents { .init(rawValue: 64) }
}

/// How far a subscription has come.
@usableFromInline
enum SubscriptionPhase: UInt8 {
  /// Not begun, or it waits, or its machine is being asked.
  case idle
  /// An attempt is to be subscribed to as soon as the loop gets to it.
  case due
  /// Subscribing to the upstream, whose subscription has not come yet.
  case subscribing
  case running
  case over
  /// The machine has ended it while an attempt ran, whose failure may still come.
  case cutOff
}
