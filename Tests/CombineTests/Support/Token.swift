/// Runs a closure when it is released.
final class Token: Sendable {
  private let whenReleased: @Sendable () -> Void

  init(_ whenReleased: @escaping @Sendable () -> Void) {
    self.whenReleased = whenReleased
  }

  deinit { whenReleased() }

  /// For closures that are to keep the token and have no other use for it.
  func touch() {}
}
