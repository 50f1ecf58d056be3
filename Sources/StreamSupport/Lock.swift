#if canImport(Darwin)
  import Darwin
#else
  import Synchronization
#endif

#if TSAN
  // ThreadSanitizer does not see the lock code in the uninstrumented Synchronization library and would report
  // every hand-over through it as a race; these two functions of its runtime tell it.
  @_silgen_name("__tsan_acquire")
  @usableFromInline func threadSanitizerAcquire(_ address: UnsafeRawPointer)

  @_silgen_name("__tsan_release")
  @usableFromInline func threadSanitizerRelease(_ address: UnsafeRawPointer)
#endif

/// A leaf lock: held for a few lines, never while foreign code runs, never two at once.
///
/// It is the only leaf lock of the package, stored inline where the platform allows. Not recursive: taking it twice on
/// one thread is a programming error that stops the process or hangs, depending on the platform.
public struct Lock: ~Copyable {
  #if canImport(Darwin)
    @usableFromInline let handle: UnsafeMutablePointer<os_unfair_lock>
  #else
    @usableFromInline let handle = Mutex<Void>(())
  #endif
  #if TSAN
    // One byte whose address stands for this lock in ThreadSanitizer's eyes.
    @usableFromInline let token = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
  #endif

  /// Makes an open lock.
  @inlinable
  public init() {
    #if canImport(Darwin)
      handle = .allocate(capacity: 1)
      handle.initialize(to: os_unfair_lock())
    #endif
  }

  #if canImport(Darwin) || TSAN
    deinit {
      #if canImport(Darwin)
        handle.deallocate()
      #endif
      #if TSAN
        token.deallocate()
      #endif
    }
  #endif

  /// Waits until the lock is open, and takes it.
  @inlinable @inline(__always)
  public func lock() {
    #if canImport(Darwin)
      os_unfair_lock_lock(handle)
    #else
      handle._unsafeLock()
    #endif
    #if TSAN
      threadSanitizerAcquire(token)
    #endif
  }

  /// Takes the lock if it is open, and says whether it did.
  @inlinable @inline(__always)
  public func tryLock() -> Bool {
    #if canImport(Darwin)
      let taken = os_unfair_lock_trylock(handle)
    #else
      let taken = handle._unsafeTryLock()
    #endif
    #if TSAN
      if taken { threadSanitizerAcquire(token) }
    #endif
    return taken
  }

  /// Opens the lock; only the thread that took it may.
  @inlinable @inline(__always)
  public func unlock() {
    #if TSAN
      threadSanitizerRelease(token)
    #endif
    #if canImport(Darwin)
      os_unfair_lock_unlock(handle)
    #else
      handle._unsafeUnlock()
    #endif
  }

  /// Runs `body` with the lock held, and returns what it returns.
  @inlinable @inline(__always)
  public func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }
}

// The lock serialises every access to what it guards; its own state is atomic.
extension Lock: @unchecked Sendable {}
