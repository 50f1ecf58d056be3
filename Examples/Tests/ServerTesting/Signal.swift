import Foundation

/// Something that happens once, and can be waited for.
public final class Signal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  /// Makes a signal that hasn't been given.
  public init() {}

  /// Gives the signal.
  public func give() {
    semaphore.signal()
  }

  /// Waits until the signal has been given as often as it has been waited for.
  ///
  /// - Throws: `LoopbackClient.Failure` at the deadline, which only a broken program reaches.
  public func wait() async throws {
    try await onOwnThread { [semaphore] in
      let seconds = Int(LoopbackClient.deadline.components.seconds)
      guard semaphore.wait(timeout: .now() + .seconds(seconds)) == .success else {
        throw LoopbackClient.Failure(description: "The signal wasn't given in \(seconds) seconds")
      }
    }
  }
}
