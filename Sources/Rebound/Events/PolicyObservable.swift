/// An object that calls share, whose decisions and gauge a ``PolicyEvents`` can watch: also one of one's own.
///
///     extension Throttle: PolicyObservable {
///       static let kind = PolicyKind("throttle")
///       var reading: (any PolicyReading)? { snapshot }
///       func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) { onEvent { observer($0) } }
///     }
///
///     events.watch(throttle)
public protocol PolicyObservable: AnyObject, Sendable {
  /// The kind of the policy.
  static var kind: PolicyKind { get }
  /// What it protects, for its decisions and its gauge; its kind, if it has no name.
  var name: String { get }
  /// What it holds now; `nil`, if nothing is said, where there is nothing to read. Reading it changes nothing.
  var reading: (any PolicyReading)? { get }
  /// Tells one more observer what is decided, in order, with no lock held; nobody, if nothing is said.
  func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void)
}

extension PolicyObservable {
  /// Its kind.
  public var name: String { Self.kind.description }
  /// There is nothing to read.
  public var reading: (any PolicyReading)? { nil }
  /// There is nothing to tell.
  public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) {}
}

/// An object of this package whose events are its decisions.
package protocol EventTelling: AttentiveObservable {
  associatedtype Event: PolicyDecision

  /// Tells one more observer what is decided while somebody listens to it, in order, with no lock held.
  func onEvent(to audience: Audience, _ observer: @escaping @Sendable (Event) -> Void)
}

extension EventTelling {
  /// That of its events.
  public static var kind: PolicyKind { Event.kind }
  /// Tells one more observer what is decided, as `onEvent(_:)` does.
  public func onDecision(_ observer: @escaping @Sendable (any PolicyDecision) -> Void) {
    onDecision(to: .always, observer)
  }

  package func onDecision(to audience: Audience, _ observer: @escaping @Sendable (any PolicyDecision) -> Void) {
    onEvent(to: audience) { observer($0) }
  }
}
