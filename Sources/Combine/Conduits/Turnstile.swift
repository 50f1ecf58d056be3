import Dispatch
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
@inlinable @inline(__always)
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
/// leaf locks only. Foreign code runs while a turnstile is held: that is its purpose. But an upstream may send from inside
/// a request, and who requests may be inside the turnstile of another upstream. So threads may come to wait for each
/// other. The ``WaitForGraph`` tells who would close such a circle: that one turns back, and has the thread inside, which
/// is asleep, do what it came for, see ``enterUnlessDeadlocked()``.
///
/// To enter is one atomic exchange; to leave is a store, as long as no two threads have met here. Who then has a
/// thing to tell the thread inside does so in this order, and the thread inside in that:
///
/// ```text
/// outside:  write the message; sharing := announced; process barrier; sharing := settled; look at `holder`
/// inside:   `holder` := 0; look at `sharing`; if it is not `alone`: full fence; look for messages
/// ```
///
/// *Either the one outside finds `holder` free, or the one inside finds the message.* For the barrier comes to pass
/// somewhere in what the thread inside does. If before its look at `sharing`, that sees the announcement, and what
/// follows sees the message. If after, its store to `holder` is before the barrier too, and the one outside sees it.
/// A message that is written when `sharing` is settled needs no barrier: whoever is found inside then had the barrier
/// pass before its look at `sharing`, by the same argument, so there are full fences on both sides. Messages are
/// the ``line`` of those who wait, and whatever a caller of ``tryEnter()`` wrote before.
///
/// Where sequentially consistent stores are cheap, on all but x86-64, `holder` := 0 is one, and the order of such
/// operations takes the place of the barrier.
@usableFromInline
struct Turnstile: ~Copyable {
  /// Whether two threads have met at a turnstile: once they have, that stays so.
  @usableFromInline
  enum Sharing {
    /// They have not: to leave is a store.
    @inlinable static var alone: UInt8 { 0 }
    /// They have, but some thread may not know yet.
    @inlinable static var announced: UInt8 { 1 }
    /// They have, and every thread inside knows when it leaves.
    @inlinable static var settled: UInt8 { 2 }
  }

  // The thread inside; 0 if there is none. Only the holder writes its own number here, so a thread that reads its own
  // number is the holder.
  @usableFromInline let holder = Atomic<UInt>(0)
  // Touched by the holder alone; atomic only because the structure is read through a `let`.
  @usableFromInline let depth = Atomic<Int>(0)
  @usableFromInline let sharing: Atomic<UInt8>
  // Holds one reference; made when a thread has to wait for the first time.
  private let line = Atomic<Unmanaged<WaitingLine>?>(nil)

  @inlinable
  init() {
    sharing = Atomic(ProcessBarrier.isAvailable ? Sharing.alone : Sharing.settled)
  }

  deinit {
    line.load(ordering: .acquiring)?.release()
  }

  /// Whether the calling thread is inside, once only.
  @inlinable
  var isOutermost: Bool { depth.load(ordering: .relaxed) == 1 }

  @inlinable @inline(__always)
  func enter() {
    let thread = currentThread()
    if holder.load(ordering: .relaxed) != thread,
      !holder.compareExchange(expected: 0, desired: thread, ordering: .acquiring).exchanged
    {
      _ = wait(as: thread, canTurnBack: false)
    }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// Enters, and says so; false if the thread inside waits for this one.
  ///
  /// Also false if this thread is inside, and something delegated would be overtaken. In both cases what was to be done
  /// inside is to be delegated, before anything else.
  @inlinable @inline(__always)
  func enterUnlessDeadlocked() -> Bool {
    let thread = currentThread()
    if holder.load(ordering: .relaxed) == thread {
      guard !hasDelegated || mayEnterAgain() else { return false }
    } else if !holder.compareExchange(expected: 0, desired: thread, ordering: .acquiring).exchanged {
      guard wait(as: thread, canTurnBack: true) else { return false }
    }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    return true
  }

  /// Whether something that was delegated is not done yet, as far as this thread knows.
  @inlinable @inline(__always)
  var hasDelegated: Bool { sharing.load(ordering: .relaxed) != Sharing.alone && isDelegating() }

  /// Enters if nobody else is inside, and says whether it did.
  ///
  /// If not, then who is inside sees, after it has left, all that the caller wrote before.
  @inlinable
  func tryEnter() -> Bool {
    let thread = currentThread()
    if holder.load(ordering: .relaxed) != thread,
      !holder.compareExchange(expected: 0, desired: thread, ordering: .acquiring).exchanged
    {
      guard tryAgain(as: thread) else { return false }
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
    if sharing.load(ordering: .relaxed) != Sharing.alone {
      leaveShared()
      return true
    }
    // The memory model would let the compiler exchange these two; LLVM moves no ordered atomic operation past another. The
    // processor may, see above.
    #if arch(x86_64)
      holder.store(0, ordering: .releasing)
    #else
      holder.store(0, ordering: .sequentiallyConsistent)
    #endif
    if sharing.load(ordering: .sequentiallyConsistent) != Sharing.alone { catchUp() }
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

// When threads meet.
extension Turnstile {
  /// Leaves where threads have met.
  @usableFromInline
  func leaveShared() {
    // Who delegates holds up the thread inside until that is done, so nothing comes after this look.
    if isDelegating() { doDelegated() }
    // A full fence as well.
    _ = holder.exchange(0, ordering: .sequentiallyConsistent)
    wakeNext()
  }

  /// Does what is missing when a thread has left as if it were alone, and was not.
  @usableFromInline
  func catchUp() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    wakeNext()
  }

  @usableFromInline
  func tryAgain(as thread: UInt) -> Bool {
    share()
    // Between what the caller wrote and the look at the holder.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return take(as: thread)
  }

  /// Waits until nobody is inside, and enters; false if it turns back instead.
  @usableFromInline
  func wait(as thread: UInt, canTurnBack: Bool) -> Bool {
    let line = findLine()
    share()
    // Most are inside for less time than it takes to fall asleep.
    for _ in 0..<100 where holder.load(ordering: .relaxed) == 0 {
      if take(as: thread) { return true }
    }
    let bell = DispatchSemaphore(value: 0)
    if join(line, bell, as: thread) { return true }
    WaitForGraph.shared.add(thread, at: holder, bell: bell, canTurnBack: canTurnBack)
    defer { WaitForGraph.shared.remove(thread) }
    while !WaitForGraph.shared.mustTurnBack(thread) {
      bell.wait()
      if join(line, bell, as: thread) { return true }
    }
    // If it has been rung for already, that wakes nobody else; but the one inside, which is held up, still has to leave.
    line.quit(bell)
    return false
  }

  /// Joins the line, unless it gets in.
  private func join(_ line: WaitingLine, _ bell: DispatchSemaphore, as thread: UInt) -> Bool {
    line.join(bell)
    // Whoever is inside now looks at the line after it has left.
    guard take(as: thread) else { return false }
    // If it has been rung for already, that wakes nobody else; but this one, now inside, rings when it leaves.
    line.quit(bell)
    return true
  }

  private func take(as thread: UInt) -> Bool {
    holder.compareExchange(expected: 0, desired: thread, ordering: .sequentiallyConsistent).exchanged
  }

  /// Sees to it that from now on all who leave look for messages, see above.
  private func share() {
    guard sharing.load(ordering: .acquiring) != Sharing.settled else { return }
    _ = sharing.compareExchange(
      expected: Sharing.alone,
      desired: Sharing.announced,
      ordering: .sequentiallyConsistent
    )
    ProcessBarrier.pass()
    sharing.store(Sharing.settled, ordering: .sequentiallyConsistent)
  }

  private func wakeNext() {
    line.load(ordering: .sequentiallyConsistent)?._withUnsafeGuaranteedRef { $0.wakeNext() }
  }

  private func findLine() -> WaitingLine {
    if let present = line.load(ordering: .acquiring) { return present.takeUnretainedValue() }
    let made = WaitingLine()
    let (exchanged, original) = line.compareExchange(
      expected: nil,
      desired: .passRetained(made),
      ordering: .sequentiallyConsistent
    )
    guard !exchanged, let original else { return made }
    Unmanaged.passUnretained(made).release()
    return original.takeUnretainedValue()
  }
}

// When threads would wait for each other.
extension Turnstile {
  /// Has the thread inside do something before it leaves.
  ///
  /// Only right after ``enterUnlessDeadlocked()`` has said false: the thread inside is asleep then, or is this one, and
  /// can't be about to leave.
  @usableFromInline
  func delegate(_ work: @escaping () -> Void) {
    findLine().delegate(work)
  }

  @usableFromInline
  func isDelegating() -> Bool {
    line.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { $0.isDelegating } ?? false
  }

  /// Whether a thread inside may enter once more, though something is delegated.
  ///
  /// Only if it is what was delegated that enters, or if nothing else is left of that.
  @usableFromInline
  func mayEnterAgain() -> Bool {
    line.load(ordering: .acquiring)?
      ._withUnsafeGuaranteedRef { $0.isWorking && (isOutermost || !$0.hasMore) } ?? true
  }

  /// Does what was delegated, the oldest first.
  ///
  /// Called when the last of the calls that have entered is about to leave.
  private func doDelegated() {
    depth.store(1, ordering: .relaxed)
    line.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { $0.work() }
    depth.store(0, ordering: .relaxed)
  }
}

/// The threads that wait at one turnstile, in the order in which they came, and what others have left to be done.
///
/// Each has a bell of its own. Who is in the line is asleep or about to look once more; who was taken out is rung for.
private final class WaitingLine {
  private let lock = Lock()
  // Guarded by `lock`.
  @exclusivity(unchecked) private var bells: [DispatchSemaphore] = []
  // Changed under `lock`.
  private let count = Atomic<Int>(0)
  // Guarded by `lock`.
  @exclusivity(unchecked) private var delegated = Queue<() -> Void>()
  // Changed under `lock`: how much of it waits, and whether some of it is being done.
  private let delegatedCount = Atomic<Int>(0)
  private let isAtWork = Atomic<Bool>(false)

  func join(_ bell: DispatchSemaphore) {
    lock.lock()
    bells.append(bell)
    count.store(bells.count, ordering: .sequentiallyConsistent)
    lock.unlock()
  }

  func quit(_ bell: DispatchSemaphore) {
    lock.lock()
    bells.removeAll { $0 === bell }
    count.store(bells.count, ordering: .sequentiallyConsistent)
    lock.unlock()
  }

  func wakeNext() {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    lock.lock()
    let next = bells.isEmpty ? nil : bells.removeFirst()
    count.store(bells.count, ordering: .sequentiallyConsistent)
    lock.unlock()
    next?.signal()
  }

  func delegate(_ work: @escaping () -> Void) {
    lock.lock()
    delegated.append(work)
    delegatedCount.store(delegated.count, ordering: .sequentiallyConsistent)
    lock.unlock()
  }

  // In this order: what is not there any more is being done.
  var isDelegating: Bool { hasMore || isWorking }
  var hasMore: Bool { delegatedCount.load(ordering: .sequentiallyConsistent) > 0 }
  var isWorking: Bool { isAtWork.load(ordering: .sequentiallyConsistent) }

  /// Does all that is delegated, also what comes meanwhile.
  func work() {
    while let next = takeDelegated() { next() }
  }

  private func takeDelegated() -> (() -> Void)? {
    lock.lock()
    defer { lock.unlock() }
    let next = delegated.popFirst()
    isAtWork.store(next != nil, ordering: .sequentiallyConsistent)
    delegatedCount.store(delegated.count, ordering: .sequentiallyConsistent)
    return next
  }
}
