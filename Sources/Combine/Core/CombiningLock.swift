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
@usableFromInline
struct CombiningLock: ~Copyable {
  // The thread inside, or 0, with the mark in its lowest bit. Only the thread inside writes its own number here, so a
  // thread that reads its own number is inside.
  @usableFromInline let owner = Atomic<UInt>(0)
  // Touched by the thread inside alone; atomic only because the structure is read through a `let`.
  @usableFromInline let depth = Atomic<Int>(0)
  // Holds one reference; made when two threads meet for the first time.
  private let contention = Atomic<Unmanaged<Contention>?>(nil)

  @inlinable static var mark: UInt { 1 }

  @inlinable
  init() {}

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
    let current = owner.load(ordering: .relaxed)
    if current & ~Self.mark == thread {
      guard current == thread || mayEnterAgain() else { return false }
    } else if !take(as: thread) {
      return false
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
    if owner.load(ordering: .relaxed) & ~Self.mark != thread, !take(as: thread) { return false }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    return true
  }

  /// Leaves, and says whether the lock is free now.
  @inlinable @inline(__always) @discardableResult
  func leave() -> Bool {
    let remaining = depth.load(ordering: .relaxed) &- 1
    depth.store(remaining, ordering: .relaxed)
    guard remaining == 0 else { return false }
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
  func take(as thread: UInt) -> Bool {
    owner.compareExchange(expected: 0, desired: thread, ordering: .sequentiallyConsistent).exchanged
  }
}

// When threads meet.
extension CombiningLock {
  /// Has an event dealt with inside, behind all that was delegated before: by the thread inside, before it leaves, or at
  /// once if that has left meanwhile.
  ///
  /// Only after ``enterIfFree()`` has said no.
  ///
  /// - Returns: Whether the caller has done it and is still inside; it has to ``leave()`` then.
  @usableFromInline
  func delegate(_ event: @escaping () -> Void) -> Bool {
    guard findContention().delegate(event, to: owner, by: currentThread()) else { return false }
    depth.store(1, ordering: .relaxed)
    event()
    return true
  }

  /// Whether something that was delegated is not done yet, as far as this thread knows.
  @inlinable @inline(__always)
  var hasDelegated: Bool { owner.load(ordering: .relaxed) & Self.mark != 0 && isDelegating() }

  @usableFromInline
  func isDelegating() -> Bool {
    contention.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { $0.isDelegating } ?? false
  }

  /// Whether a thread inside may enter once more, though something may be delegated.
  ///
  /// Only if it is what was delegated that enters, or if nothing else is left of that.
  @usableFromInline
  func mayEnterAgain() -> Bool {
    contention.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { contention in
      contention.isWorking ? isOutermost || !contention.hasMore : !contention.hasMore
    } ?? true
  }

  @usableFromInline
  func wait(as thread: UInt) {
    // Most are inside for less time than it takes to fall asleep.
    for _ in 0..<100 where owner.load(ordering: .relaxed) == 0 {
      if take(as: thread) { return }
    }
    findContention().wait(for: owner, as: thread)
  }

  /// Does what was delegated, and leaves.
  @usableFromInline
  func leaveMarked() {
    contention.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { contention in
      repeat {
        depth.store(1, ordering: .relaxed)
        contention.work()
        depth.store(0, ordering: .relaxed)
      } while !contention.open(owner)
    }
  }

  private func findContention() -> Contention {
    if let present = contention.load(ordering: .acquiring) { return present.takeUnretainedValue() }
    let made = Contention()
    let (exchanged, original) = contention.compareExchange(
      expected: nil,
      desired: .passRetained(made),
      ordering: .sequentiallyConsistent
    )
    guard !exchanged, let original else { return made }
    Unmanaged.passUnretained(made).release()
    return original.takeUnretainedValue()
  }
}
