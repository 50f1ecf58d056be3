/// What waits to be forgotten while a storage is busy: one thing after the other, and in place of more than may wait, everything
/// once for all.
struct HTTPCacheRemovals {
  /// What someone has to put into the queue who wants something forgotten.
  enum Turn {
    case own
    case everything
    /// What is to forget everything is there already.
    case none
  }

  private static let most = 1_000

  private var count = 0
  private var isPurgeWaiting = false
  /// Whether something came behind the purge that waits, and with it perhaps copies to be stored that it is to forget.
  private var isNextPurgeDue = false

  mutating func enter() -> Turn {
    if count < HTTPCacheRemovals.most {
      count += 1
      return .own
    }
    isNextPurgeDue = isPurgeWaiting
    defer { isPurgeWaiting = true }
    return isPurgeWaiting ? .none : .everything
  }

  mutating func leave() {
    count -= 1
  }

  /// - Returns: Whether everything is to be forgotten once more.
  mutating func endPurge() -> Bool {
    (isPurgeWaiting, isNextPurgeDue) = (isNextPurgeDue, false)
    return isPurgeWaiting
  }
}
