#if !canImport(Darwin) && !TSAN
  import Synchronization
#endif

/// State that is only reached through its lock: "guarded by" as a type.
///
/// A body is short, and no foreign code runs in it: closures, subscribers and the deinits of values are foreign. What a
/// body takes out of the state it returns, so that it is released with the lock open. Not recursive.
///
/// A function that is read more than once stands in a struct, not here by itself: as a `State` it gets a wrapper around
/// the wrappers that it has each time that the lock is taken.
public struct Locked<State>: ~Copyable {
  #if canImport(Darwin) || TSAN
    @usableFromInline let lock = Lock()
    @usableFromInline let address: UnsafeMutablePointer<State>
  #else
    @usableFromInline let mutex: Mutex<Confined<State>>
  #endif

  /// Guards a state.
  @inlinable
  public init(_ state: consuming State) {
    #if canImport(Darwin) || TSAN
      address = .allocate(capacity: 1)
      address.initialize(to: state)
    #else
      mutex = Mutex(Confined(state))
    #endif
  }

  #if canImport(Darwin) || TSAN
    deinit {
      address.deinitialize(count: 1)
      address.deallocate()
    }
  #endif

  /// Runs a body with the lock held, and returns what it returns.
  @inlinable @inline(__always)
  public func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    #if canImport(Darwin) || TSAN
      lock.lock()
      defer { lock.unlock() }
      return try body(&address.pointee)
    #else
      return try mutex.withLock { (held: inout sending Confined<State>) throws(Failure) -> sending Confined<Result> in
        Confined(try body(&held.value))
      }.value
    #endif
  }

  /// Puts another state in the place of this one.
  ///
  /// - Returns: The state before, which the caller releases with the lock open.
  @inlinable @inline(__always)
  public func exchange(_ new: consuming State) -> State {
    withLock { swap(&$0, &new) }
    return new
  }
}

// The lock serialises every access to the state.
extension Locked: @unchecked Sendable {}
