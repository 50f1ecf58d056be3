import Combine
import StreamSupport

/// What a time source has been asked to do later.
final class SimulatedTimer: Cancellable, Sendable {
  private let action: Locked<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) {
    self.action = Locked(action)
  }

  var isCancelled: Bool { action.withLock { $0 == nil } }

  func fire() { take()?() }

  func cancel() { withExtendedLifetime(take()) {} }

  private func take() -> (@Sendable () -> Void)? {
    action.withLock { action in
      defer { action = nil }
      return action
    }
  }
}
