import StreamSupport
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(WinSDK)
  import WinSDK
#endif

/// A number that tells this thread from all others alive, never 0.
@usableFromInline
func currentThread() -> UInt {
  #if canImport(WinSDK)
    UInt(GetCurrentThreadId())
  #elseif canImport(Glibc)
    UInt(pthread_self())
  #else
    UInt(bitPattern: pthread_self())
  #endif
}

/// A recursive lock held while events go downstream, so that a subscriber sees one event at a time.
///
/// Turnstiles are taken on the way *down* only, upstream's before downstream's; `request` and `cancel` go up and take
/// leaf locks only, so there is no cycle. Foreign code runs while a turnstile is held: that is its purpose.
@usableFromInline
struct Turnstile: ~Copyable {
  @usableFromInline let lock = Lock()
  // Only the holder writes its own number here, so a thread that reads its own number is the holder.
  @usableFromInline let holder = Atomic<UInt>(0)
  // Touched by the holder alone; atomic only because the structure is read through a `let`.
  @usableFromInline let depth = Atomic<Int>(0)

  @inlinable
  init() {}

  /// Whether the calling thread is inside, once only.
  @inlinable
  var isOutermost: Bool { depth.load(ordering: .relaxed) == 1 }

  @inlinable @inline(__always)
  func enter() {
    let thread = currentThread()
    if holder.load(ordering: .relaxed) != thread {
      lock.lock()
      holder.store(thread, ordering: .relaxed)
    }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// Enters if nobody else is inside, and says whether it did.
  @inlinable
  func tryEnter() -> Bool {
    let thread = currentThread()
    if holder.load(ordering: .relaxed) != thread {
      guard lock.tryLock() else { return false }
      holder.store(thread, ordering: .relaxed)
    }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    return true
  }

  /// Leaves, and says whether the turnstile is free now.
  @inlinable @inline(__always) @discardableResult
  func leave() -> Bool {
    let remaining = depth.load(ordering: .relaxed) &- 1
    depth.store(remaining, ordering: .relaxed)
    guard remaining == 0 else { return false }
    holder.store(0, ordering: .relaxed)
    lock.unlock()
    return true
  }

  /// Runs `body` inside.
  @inlinable @inline(__always)
  func pass<Result>(_ body: () -> Result) -> Result {
    enter()
    defer { leave() }
    return body()
  }
}
