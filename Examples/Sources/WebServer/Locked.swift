import Foundation

/// A value that can only be reached while holding its lock.
///
/// NSLock rather than `Synchronization.Mutex`, because ThreadSanitizer reports false races under the latter on Linux.
package final class Locked<Value>: @unchecked Sendable {
  // Sendable by this invariant: `value` is touched only inside `withLock`, and only Sendable results leave it.
  private var value: Value
  private let lock = NSLock()

  package init(_ value: sending Value) {
    self.value = value
  }

  /// Runs `body` with the value while holding the lock.
  ///
  /// Calling it again from inside `body` deadlocks.
  package func withLock<Result: Sendable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
