import Combine
import StreamSupport

/// Work that a scheduler repeats until it is called off, which may be before the scheduler has returned how.
///
/// Unchecked, because the lock guards both, and what is cancelled may be so from any thread.
final class RepeatingWork: @unchecked Sendable {
  private let lock = Lock()
  private var cancellable: (any Cancellable)?
  private var isCancelled = false

  /// Takes what calls it off.
  func hold(_ cancellable: any Cancellable) {
    let isLate = lock.withLock {
      if !isCancelled { self.cancellable = cancellable }
      return isCancelled
    }
    if isLate { cancellable.cancel() }
  }

  /// Calls it off, and says whether this is the first time.
  @discardableResult
  func cancel() -> Bool {
    let (isFirst, cancellable) = lock.withLock {
      let before = (!isCancelled, self.cancellable)
      isCancelled = true
      self.cancellable = nil
      return before
    }
    cancellable?.cancel()
    return isFirst
  }
}
