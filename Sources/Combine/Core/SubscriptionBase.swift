/// A subscription as operators hold it: an object.
///
/// `any Subscription` takes five words, and is copied and destroyed through tables of its type, ten times in a short
/// life. All subscriptions of this module that come and go by the thousand descend from here, so that to hold one is to
/// hold a reference; any other gets a box, see ``Subscription/asBase``.
@usableFromInline
class SubscriptionBase: Subscription {
  @usableFromInline
  init() {}

  @usableFromInline func request(_ demand: Subscribers.Demand) {}
  @usableFromInline func cancel() {}

  /// The subscription as it was received.
  @usableFromInline var original: any Subscription { self }
  @usableFromInline var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }

  /// What Apple's Combine calls this.
  @usableFromInline var name: String { "\(type(of: self))" }
  /// What it shows of itself, if it is a ``ReflectedSubscription``.
  @usableFromInline var children: [(label: String?, value: Any)] { [] }
}

/// A subscription that shows itself as Apple's do.
@usableFromInline
protocol ReflectedSubscription: SubscriptionBase, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{}

extension ReflectedSubscription {
  @usableFromInline var description: String { name }
  @usableFromInline var playgroundDescription: Any { name }
  @usableFromInline
  var customMirror: Mirror {
    // Without the base classes, which Apple's subscriptions do not have.
    Mirror(self, children: children.map { (label: $0.label, value: $0.value) }, ancestorRepresentation: .suppressed)
  }
}

/// Holds a subscription that is not one of this module's operators.
@usableFromInline
final class SubscriptionBox: SubscriptionBase {
  @usableFromInline let content: any Subscription

  @usableFromInline
  init(_ content: any Subscription) {
    self.content = content
  }

  @usableFromInline override func request(_ demand: Subscribers.Demand) { content.request(demand) }
  @usableFromInline override func cancel() { content.cancel() }
  @usableFromInline override var original: any Subscription { content }
}

extension Subscription {
  /// This subscription if it is an object of this module, else a box for it.
  ///
  /// Not inlined at all costs: so the compiler meets a call, and can specialise it where it comes to know what is inside
  /// the existential. Then the cast costs nothing.
  @inlinable
  var asBase: SubscriptionBase {
    if _isConcrete(Self.self) { return self as? SubscriptionBase ?? SubscriptionBox(self) }
    guard Self.self is AnyObject.Type else { return SubscriptionBox(self) }
    // An object is one reference whatever its class, and nothing else; a cast from that only walks up its superclasses.
    return unsafeBitCast(self, to: AnyObject.self) as? SubscriptionBase ?? SubscriptionBox(self)
  }
}
