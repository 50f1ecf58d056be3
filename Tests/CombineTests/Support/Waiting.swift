import Dispatch
import StreamSupport

/// Something that happens on another thread, and that a test waits for.
///
/// The limit is there for the day that it does not happen: a test must fail then, not hang. No test measures it.
final class Signal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func send() {
    semaphore.signal()
  }

  /// Waits until it was sent so often, once by default; says whether it was.
  ///
  /// The limit is for an event that never comes: the test then fails, in place of standing still.
  func wait(times: Int = 1) -> Bool {
    (0..<times).allSatisfy { _ in semaphore.wait(timeout: .now() + .seconds(60)) == .success }
  }
}

/// A value that several threads change.
///
/// Unchecked, because the lock guards every access.
final class Shared<Value>: @unchecked Sendable {
  private let lock = Lock()
  private var stored: Value

  init(_ value: Value) {
    stored = value
  }

  var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }

  func change<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&stored) }
  }
}
