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

/// A number that tells this thread from all others alive; never 0, and even.
@inlinable @inline(__always)
func currentThread() -> UInt {
  #if canImport(WinSDK)
    // A multiple of four, as the system has it.
    UInt(GetCurrentThreadId())
  #elseif canImport(Glibc)
    // The address of an aligned structure.
    UInt(pthread_self())
  #else
    UInt(bitPattern: pthread_self())
  #endif
}

/// A recursive lock held while events go downstream, so that a subscriber sees one event at a time.
///
/// Locks are taken on the way *down* only, upstream's before downstream's; `request` and `cancel` go up and take leaf
/// locks only. Foreign code runs while the lock is held: that is its purpose.
///
/// Who comes while another thread is inside has three ways:
/// - ``enter()`` waits until that thread has left. For sources, which nobody can hold up from below.
/// - ``enterIfFree()`` says no, and the caller ``delegate(_:)``s its event: the thread inside deals with it before it
///   leaves. For what has several upstreams: an upstream may send from inside a request, and who requests may be inside
///   another such lock, so threads that waited might wait for each other.
/// - ``tryEnter()`` says no, and the caller leaves a note of its own. Whoever is inside finds it if it looks after
///   ``leave()``: note and look are sequentially consistent, as all changes of `owner` are.
///
/// The number of the thread inside and the mark that somebody waits, or has delegated something, share a word. So to
/// enter is one atomic exchange and to leave is another, which fails if there is a mark.
///
/// Until two threads meet here for the first time, to leave is a store. Who comes second announces that, runs a
/// ``ProcessBarrier``, and only then marks the lock, or looks at `owner` once more. The barrier finds the thread inside
///
/// - before its look at `sharing` in ``leave()``: it leaves by the exchange, and finds the mark;
/// - after its store: all see that `owner` is free;
/// - between the two: the store may wipe the mark away. Then its second look at `sharing`, after the store, sends it to
///   see what was left here (``catchUp()``), and who enters before it does so sees to that first.
@usableFromInline
struct CombiningLock: ~Copyable {
  // The thread inside, or 0, with the mark in its lowest bit. Only the thread inside writes its own number here, so a
  // thread that reads its own number is inside.
  @usableFromInline let owner = Atomic<UInt>(0)
  // Touched by the thread inside alone; atomic only because the structure is read through a `let`.
  @usableFromInline let depth = Atomic<Int>(0)
  @usableFromInline let sharing: Atomic<UInt8>
  // Holds one reference; made when two threads meet for the first time.
  let contention = Atomic<Unmanaged<Contention>?>(nil)

  @inlinable static var mark: UInt { 1 }

  /// Whether two threads have met here: once they have, that stays so.
  @usableFromInline
  enum Sharing {
    /// They have not: to leave is a store.
    @inlinable static var alone: UInt8 { 0 }
    /// They have, but some thread may not know yet.
    @inlinable static var announced: UInt8 { 1 }
    /// They have, and every thread inside knows when it leaves.
    @inlinable static var settled: UInt8 { 2 }
  }

  @inlinable
  init() {
    sharing = Atomic(ProcessBarrier.isAvailable ? Sharing.alone : Sharing.settled)
  }

  deinit {
    contention.load(ordering: .acquiring)?.release()
  }

  /// Whether the calling thread is inside.
  @inlinable
  var isMine: Bool { owner.load(ordering: .relaxed) & ~Self.mark == currentThread() }

  /// Whether the calling thread is inside, once only.
  @inlinable
  var isOutermost: Bool { depth.load(ordering: .relaxed) == 1 }

  /// Waits until no other thread is inside, and enters.
  @inlinable @inline(__always)
  func enter() {
    let thread = currentThread()
    if owner.load(ordering: .relaxed) & ~Self.mark != thread, !take(as: thread) { wait(as: thread) }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// Enters if no other thread is inside, and says whether it did; if not, the caller delegates its event.
  ///
  /// Also false if this thread is inside, and something delegated would be overtaken.
  @inlinable @inline(__always)
  func enterIfFree() -> Bool {
    let thread = currentThread()
    if owner.load(ordering: .relaxed) & ~Self.mark == thread {
      guard isAlone || mayEnterAgain() else { return false }
    } else if !take(as: thread) {
      return false
    } else if !isAlone {
      doDelegated()
    }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    return true
  }

  /// Enters if no other thread is inside, and says whether it did.
  ///
  /// If not, then who is inside sees, after it has left, all that the caller wrote before.
  @inlinable
  func tryEnter() -> Bool {
    let thread = currentThread()
    if owner.load(ordering: .relaxed) & ~Self.mark != thread, !take(as: thread), !tryAgain(as: thread) { return false }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    return true
  }

  /// Leaves, and says whether the lock is free now.
  @inlinable @inline(__always) @discardableResult
  func leave() -> Bool {
    let remaining = depth.load(ordering: .relaxed) &- 1
    depth.store(remaining, ordering: .relaxed)
    guard remaining == 0 else { return false }
    if isAlone {
      // The memory model would let the compiler exchange these two; LLVM moves no ordered atomic operation past another.
      // The processor may, see above.
      #if arch(x86_64)
        owner.store(0, ordering: .releasing)
      #else
        owner.store(0, ordering: .sequentiallyConsistent)
      #endif
      if sharing.load(ordering: .sequentiallyConsistent) != Sharing.alone { catchUp() }
      return true
    }
    let current = owner.load(ordering: .relaxed) & ~Self.mark
    if !owner.compareExchange(expected: current, desired: 0, ordering: .sequentiallyConsistent).exchanged {
      leaveMarked()
    }
    return true
  }

  /// Runs `body` inside.
  @inlinable @inline(__always)
  func pass<Result>(_ body: () -> Result) -> Result {
    enter()
    defer { leave() }
    return body()
  }

  @inlinable @inline(__always)
  var isAlone: Bool { sharing.load(ordering: .relaxed) == Sharing.alone }

  @inlinable @inline(__always)
  func take(as thread: UInt) -> Bool {
    owner.compareExchange(expected: 0, desired: thread, ordering: .sequentiallyConsistent).exchanged
  }
}
