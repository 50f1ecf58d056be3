import Rebound

/// Something that an outbox has decided, or that has happened to it.
public enum OutboxEvent<Payload: Sendable>: Sendable {
  /// Its storage was read.
  ///
  /// So many entries were under way when it was left; they are sent again, and the other side may have them already.
  case opened(pending: Int, deadLetters: Int, interrupted: Int, damage: [OutboxDamage])
  /// Its storage could not be read; the next call tries again.
  case couldNotOpen(any Error)
  /// An entry is stored.
  case enqueued(OutboxEntry<Payload>)
  /// An entry that waited is dropped, because a later one of its key takes its place.
  case replaced(OutboxEntry<Payload>, by: OutboxEntryID)
  /// An entry is sent.
  case began(OutboxEntry<Payload>)
  /// An entry was delivered.
  case delivered(OutboxEntry<Payload>)
  /// An attempt has failed, and the entry's key waits this long, or until there is a network.
  case postponed(OutboxEntry<Payload>, any Error, delay: Duration)
  /// An entry is given up, and kept as a dead letter.
  case buried(OutboxDeadLetter<Payload>)
  /// The app has taken an entry back.
  case cancelled(OutboxEntry<Payload>, OutboxCancellation)
  /// The app has a dead letter tried again.
  case revived(OutboxEntry<Payload>)
  /// The app has dropped a dead letter.
  case discarded(OutboxDeadLetter<Payload>)
  /// The app has told it to send nothing more, or to go on.
  case paused(Bool)
  /// There is a network again, or none any more.
  case online(Bool)
  /// The storage failed. What was promised is still there; what has happened since may happen again after a restart.
  case storageFailed(any Error)
}

extension OutboxEvent: CustomStringConvertible {
  /// One line for a log, without payloads.
  public var description: String {
    switch self {
    case .opened(let pending, let deadLetters, let interrupted, let damage):
      let again = interrupted > 0 ? ", \(interrupted) of them to be sent again" : ""
      let found = damage.map { "; \($0)" }.joined()
      return "opened with \(pending) pending\(again), \(deadLetters) dead letters\(found)"
    case .couldNotOpen(let error): return "could not be opened: \(error)"
    case .enqueued(let entry): return "\(entry): stored"
    case .replaced(let entry, let later): return "\(entry): replaced by entry \(later)"
    case .began(let entry): return "\(entry): attempt \(entry.attempts) begins"
    case .delivered(let entry): return "\(entry): delivered"
    case .postponed(let entry, let error, let delay): return "\(entry): failed (\(error)); trying again in \(delay)"
    case .buried(let letter): return "\(letter)"
    case .cancelled(let entry, .cancelledTooLate): return "\(entry): taken back, but it may have arrived"
    case .cancelled(let entry, _): return "\(entry): taken back"
    case .revived(let entry): return "\(entry): to be tried again"
    case .discarded(let letter): return "\(letter.entry): discarded"
    case .paused(let isPaused): return isPaused ? "paused" : "going on"
    case .online(let isOnline): return isOnline ? "back online" : "offline"
    case .storageFailed(let error): return "storage failed: \(error)"
    }
  }
}

extension OutboxEvent {
  /// How much it matters to whoever reads a log.
  public var severity: PolicyEvent.Severity {
    switch self {
    case .couldNotOpen, .buried, .storageFailed: .error
    case .opened(_, _, _, let damage): damage.isEmpty ? .info : .error
    case .postponed, .cancelled(_, .cancelledTooLate): .warning
    case .enqueued, .replaced, .began, .delivered, .cancelled, .revived, .discarded, .paused, .online: .info
    }
  }
}
