import Combine
import StreamSupport

/// An error that nobody could be given any more, since the stream or the call that it belongs to had ended before.
public struct DroppedError: Sendable {
  /// The error.
  public let error: any Error
  /// Which operator or policy had no use for it: "Hedged".
  public let source: String

  /// Describes an error that was dropped.
  public init(_ error: any Error, by source: String) {
    self.error = error
    self.source = source
  }
}

extension DroppedError: CustomStringConvertible {
  /// One line for a log: "Hedged dropped an error that came too late: timedOut".
  public var description: String { "\(source) dropped an error that came too late: \(error)" }
}

/// Where errors go that come too late to be delivered.
///
///     let observation = DroppedErrors.observe { log.notice("\($0)") }
///
/// A stream ends once, so a failure that comes after the end has nowhere to go: that of a hedge that lost, or of an
/// upstream that a timeout has given up. Nothing happens to it unless somebody observes; then each observer is told, on
/// the thread of the failure, with no lock held. What comes after a cancel by the downstream is not told: nobody wanted
/// it. Nor is a cancel, which is no failure.
public enum DroppedErrors {
  private typealias Observer = @Sendable (DroppedError) -> Void

  private struct State {
    var observers: [(number: Int, observer: Observer)] = []
    var lastNumber = 0
  }

  private static let state = Locked(State())

  /// Calls an observer with every error that this module drops anywhere in the process.
  ///
  /// - Parameter observer: Called on the thread of the failure.
  /// - Returns: What ends the observation when it is cancelled or released.
  public static func observe(_ observer: @escaping @Sendable (DroppedError) -> Void) -> AnyCancellable {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.observers.append((state.lastNumber, observer))
      return state.lastNumber
    }
    return AnyCancellable {
      let removed = state.withLock { state in
        state.observers.firstIndex { $0.number == number }.map { state.observers.remove(at: $0) }
      }
      withExtendedLifetime(removed) {}
    }
  }

  /// Tells the observers of an error that cannot be delivered.
  ///
  /// For operators of one's own, too.
  ///
  /// - Parameters:
  ///   - error: The error; a `CancellationError` is left out.
  ///   - source: Which operator or policy has no use for it.
  public static func report(_ error: any Error, by source: String) {
    if error is CancellationError { return }
    for (_, observer) in state.withLock({ $0.observers }) { observer(DroppedError(error, by: source)) }
  }
}
