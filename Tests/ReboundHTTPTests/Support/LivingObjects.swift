import StreamSupport

/// Counts which of the objects it was shown are still alive.
final class LivingObjects: Sendable {
  private struct Reference {
    weak var object: AnyObject?
  }

  private struct State {
    var references: [Reference] = []
    var pruneAt = 256
  }

  private let state = Locked(State())

  func watch(_ object: AnyObject) {
    state.withLock { state in
      state.references.append(Reference(object: object))
      guard state.references.count >= state.pruneAt else { return }
      state.references.removeAll { $0.object == nil }
      state.pruneAt = max(256, state.references.count * 2)
    }
  }

  var count: Int {
    state.withLock { $0.references.count { $0.object != nil } }
  }
}
