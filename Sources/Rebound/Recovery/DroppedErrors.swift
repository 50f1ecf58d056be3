import Combine
import StreamSupport

/// An error that nobody could be given any more, since the stream or the call that it belongs to had ended before.
public struct DroppedError: Sendable {
  /// The error.
  public let error: any Error
  /// Which operator or policy had no use for it: "Hedged".
  public let source: String

  /// Describes an error that was dropped.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - source: Which operator or policy had no use for it.
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
  private static let observers = DroppedErrorObservers()

  /// Calls an observer with every error that this module drops anywhere in the process.
  ///
  /// - Parameter observer: Called on the thread of the failure.
  /// - Returns: What ends the observation when it is cancelled or released.
  public static func observe(_ observer: @escaping @Sendable (DroppedError) -> Void) -> AnyCancellable {
    let number = observers.add(observer)
    return AnyCancellable { observers.remove(number) }
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
    for observer in observers.all { observer(DroppedError(error, by: source)) }
  }
}

/// Who observes dropped errors.
///
/// Unchecked, because the lock guards all that changes, and no observer is called or released under it.
private final class DroppedErrorObservers: @unchecked Sendable {
  typealias Observer = @Sendable (DroppedError) -> Void

  private let lock = Lock()
  private var observers: [(number: Int, observer: Observer)] = []
  private var lastNumber = 0

  var all: [Observer] { lock.withLock { observers.map(\.observer) } }

  func add(_ observer: @escaping Observer) -> Int {
    lock.withLock {
      lastNumber += 1
      observers.append((lastNumber, observer))
      return lastNumber
    }
  }

  func remove(_ number: Int) {
    let removed: Observer? = lock.withLock {
      guard let index = observers.firstIndex(where: { $0.number == number }) else { return nil }
      return observers.remove(at: index).observer
    }
    withExtendedLifetime(removed) {}
  }
}
