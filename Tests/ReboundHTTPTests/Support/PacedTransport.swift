import Foundation
import ReboundHTTP
import StreamSupport

/// Sends its pieces when the test says so, and takes its time to pause and to go on.
final class PacedTransport: Transport, TransportExchange {
  private let headers: HTTPHeaders
  private let log = ValueLog<String>()
  private let state = Locked(State())

  private struct State {
    var receiver: (@Sendable (TransportEvent) -> Void)?
    var whilePausing: (@Sendable () -> Void)?
    var whileResuming: (@Sendable () -> Void)?
    var isPaused = false
    var sent = 0
  }

  /// - Parameter headers: Those of its answer.
  init(_ headers: HTTPHeaders = [:]) {
    self.headers = headers
  }

  var pace: [String] { log.values }
  /// What it was told last, from the moment when it is told.
  var isPaused: Bool { state.withLock { $0.isPaused } }
  /// How many pieces.
  var sent: Int { state.withLock { $0.sent } }

  /// Done while it is being told to pause for the first time.
  func whenPausing(_ work: @escaping () -> Void) {
    // Called on the test's own thread, as all of this is.
    nonisolated(unsafe) let work = work
    state.withLock { $0.whilePausing = { work() } }
  }

  /// The same of being told to go on.
  func whenResuming(_ work: @escaping () -> Void) {
    // As above.
    nonisolated(unsafe) let work = work
    state.withLock { $0.whileResuming = { work() } }
  }

  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    state.withLock { $0.receiver = receiver }
    return self
  }

  func send(_ count: Int) { send(Data(count: count)) }

  func send(_ piece: Data) {
    let (receiver, isFirst) = state.withLock { state in
      defer { state.sent += 1 }
      return (state.receiver, state.sent == 0)
    }
    if isFirst { receiver?(.head(ResponseHead(status: 200, headers: headers, url: .service))) }
    receiver?(.chunk(piece))
  }

  func finish() { state.withLock { $0.receiver.take() }?(.finished) }

  func cancel() {}

  func pause() {
    state.withLock { $0.isPaused = true }
    log.append("pausing")
    state.withLock { $0.whilePausing.take() }?()
    log.append("paused")
  }

  func resume() {
    state.withLock { $0.isPaused = false }
    log.append("resuming")
    state.withLock { $0.whileResuming.take() }?()
    log.append("resumed")
  }
}
