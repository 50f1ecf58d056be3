import StreamSupport

/// Who listens to an observer: as long as nobody does, nothing needs to be built for it.
@usableFromInline
package final class Audience: Sendable {
  /// Somebody who never leaves, for an observer that is called itself.
  @usableFromInline package static let always = Audience(1)

  @usableFromInline let listeners = Tally()

  private init(_ count: Int) {
    listeners.add(count)
  }

  /// Nobody yet.
  package convenience init() {
    self.init(0)
  }

  /// Whether there is somebody; reading it costs as good as nothing, and calls no foreign code.
  @inlinable package var isThere: Bool { listeners.count > 0 }

  /// One more listens, or one fewer.
  func change(by difference: Int) { listeners.add(difference) }

  /// Nobody listens any more, and nobody will: its observers can be let go.
  @usableFromInline package var isOver: Bool { listeners.count < 0 }

  /// Whoever has told those who listen is gone.
  func end() { listeners.add(.min / 2) }
}

/// An object of this package that builds no event for observers to whom nobody listens.
package protocol AttentiveObservable: PolicyObservable {
  /// Tells one more observer what is decided while somebody listens to it, as `onDecision(_:)` does.
  func onDecision(to audience: Audience, _ observer: @escaping @Sendable (any PolicyDecision) -> Void)

  /// Somebody has come to listen to an observer: what begins from now on must not go unnoticed.
  ///
  /// Nothing is to be done, if nothing is said; only where calls go through without a look at who listens.
  func listenerCame()
}

extension AttentiveObservable {
  package func listenerCame() {}
}
