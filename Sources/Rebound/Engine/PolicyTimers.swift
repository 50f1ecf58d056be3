import Combine

/// The timer of a wait, and that of the machine.
///
/// Guarded by the lock of the subscription that has it. A timer that fires under another number than the present one has been
/// superseded.
@usableFromInline
struct PolicyTimers {
  /// An object: to be rid of any other existential takes a question to the runtime, also where there is none.
  typealias Pending = any Cancellable & AnyObject

  /// What is stopped together.
  @usableFromInline
  struct Held {
    fileprivate var wait: Pending?
    fileprivate var timer: Pending?

    /// Stops whatever is waited for; with no lock held.
    @usableFromInline
    func cancel() {
      wait?.cancel()
      timer?.cancel()
    }
  }

  private var held = Held()
  private(set) var waitNumber = 0
  private(set) var number = 0
  private(set) var due = Duration.zero
  private(set) var isSet = false

  @usableFromInline
  init() {}

  /// - Returns: The number of the wait that begins.
  mutating func beginWait() -> Int {
    waitNumber += 1
    return waitNumber
  }

  /// - Returns: What was waited for before, to be released with the lock open.
  mutating func replaceWait(_ pending: Pending?) -> Pending? {
    let before = held.wait.take()
    held.wait = pending
    return before
  }

  /// - Returns: The number of the timer that is to be set for this time, and the one that it takes the place of.
  mutating func begin(_ due: Duration) -> (number: Int, superseded: Pending?) {
    number += 1
    self.due = due
    isSet = true
    return (number, held.timer.take())
  }

  /// - Returns: Whether this was the timer to be set last, and has not fired.
  mutating func keep(_ timer: Pending, under number: Int) -> Bool {
    guard isSet, number == self.number else { return false }
    held.timer = timer
    return true
  }

  /// - Returns: The timer that has fired, to be released with the lock open.
  mutating func end() -> Pending? {
    isSet = false
    return held.timer.take()
  }

  /// - Returns: All that is waited for, to be stopped with the lock open.
  @usableFromInline
  mutating func takeAll() -> Held {
    isSet = false
    let before = held
    held = Held()
    return before
  }
}

extension ValueBox: Cancellable where Value == any Cancellable {
  @usableFromInline func cancel() { value.cancel() }
}
