import StreamSupport

/// Counts which of the objects it was shown are still alive.
///
/// Unchecked, because the lock guards all of it.
final class LivingObjects: @unchecked Sendable {
  private struct Reference {
    weak var object: AnyObject?
  }

  private let lock = Lock()
  private var references: [Reference] = []
  private var pruneAt = 256

  func watch(_ object: AnyObject) {
    lock.withLock {
      references.append(Reference(object: object))
      guard references.count >= pruneAt else { return }
      references.removeAll { $0.object == nil }
      pruneAt = max(256, references.count * 2)
    }
  }

  var count: Int {
    lock.withLock { references.count { $0.object != nil } }
  }
}
