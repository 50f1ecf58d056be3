import Synchronization

/// When threads meet.
extension CombiningLock {
  /// Has an event dealt with inside, behind all that was delegated before: by the thread inside, before it leaves, or at
  /// once if that has left meanwhile.
  ///
  /// Only after ``enterIfFree()`` has said no.
  ///
  /// - Returns: Whether the caller has done it and is still inside; it has to ``leave()`` then.
  @usableFromInline
  func delegate(_ event: @escaping () -> Void) -> Bool {
    let contention = findContention()
    share()
    guard contention.delegate(event, to: owner, by: currentThread()) else { return false }
    doDelegated()
    depth.store(1, ordering: .relaxed)
    event()
    return true
  }

  /// Whether something that was delegated is not done yet, as far as this thread knows.
  @inlinable @inline(__always)
  var hasDelegated: Bool { !isAlone && isDelegating() }

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
    let contention = findContention()
    share()
    // Most are inside for less time than it takes to fall asleep.
    for _ in 0..<100 where owner.load(ordering: .relaxed) == 0 {
      if take(as: thread) { return }
    }
    contention.wait(for: owner, as: thread)
  }

  @usableFromInline
  func tryAgain(as thread: UInt) -> Bool {
    share()
    // Between what the caller wrote and the look at the owner.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    return take(as: thread)
  }

  /// Does what was delegated, for who has just come in or is about to leave.
  @usableFromInline
  func doDelegated() {
    contention.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { contention in
      guard contention.hasMore else { return }
      depth.store(1, ordering: .relaxed)
      contention.work()
      depth.store(0, ordering: .relaxed)
    }
  }

  /// Does what was delegated, and leaves.
  @usableFromInline
  func leaveMarked() {
    contention.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { contention in
      repeat { doDelegated() } while !contention.open(owner)
    }
  }

  /// Sees to what was left here while a thread left as if it were alone, and was not.
  @usableFromInline
  func catchUp() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let hasTaken = contention.load(ordering: .acquiring)?
      ._withUnsafeGuaranteedRef { $0.takeIfLeft(owner, by: currentThread()) }
    if hasTaken == true { leaveMarked() }
  }

  /// Sees to it that from now on all who leave do so by an exchange.
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
