import Combine

/// What an execution that waits has, and one that does not wait need not have: the timer of a wait, and that of its machine.
///
/// Guarded by the lock of the subscription that has it, and by whoever has taken it out of there. A timer that fires under
/// another number than the present one has been superseded.
@usableFromInline
final class PolicyTimers {
  @exclusivity(unchecked) private var wait: (any Cancellable)?
  @exclusivity(unchecked) private(set) var waitNumber = 0
  @exclusivity(unchecked) var timer: (any Cancellable)?
  @exclusivity(unchecked) private(set) var number = 0
  @exclusivity(unchecked) private(set) var due = Duration.zero
  @exclusivity(unchecked) private(set) var isSet = false

  init() {}

  /// - Returns: The number of the wait that begins.
  func beginWait() -> Int {
    waitNumber += 1
    return waitNumber
  }

  /// - Returns: What was waited for before, to be released with the lock open.
  func replaceWait(_ pending: (any Cancellable)?) -> (any Cancellable)? {
    let before = wait.take()
    wait = pending
    return before
  }

  /// - Returns: The number of the timer that is to be set for this time, and the one that it takes the place of.
  func begin(_ due: Duration) -> (number: Int, superseded: (any Cancellable)?) {
    number += 1
    self.due = due
    isSet = true
    return (number, timer.take())
  }

  /// - Returns: The timer that has fired, to be released with the lock open.
  func end() -> (any Cancellable)? {
    isSet = false
    return timer.take()
  }

  /// Stops whatever is waited for; with no lock held, once it was taken out.
  @usableFromInline
  func cancel() {
    wait?.cancel()
    timer?.cancel()
  }
}
