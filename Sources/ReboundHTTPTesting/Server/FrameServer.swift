import StreamSupport

/// A server for HTTP/2 on the loopback interface that answers each request with frames that were written down before
/// (RFC 9113 §6).
///
///     let server = try FrameServer([[.head, .data("half"), .goAway(last: 1), .close], [.head, .data("ok", isLast: true)]])
///
/// It takes a request's body whatever its size, and sends no more data at once than the client takes (RFC 9113 §5.2); requests over
/// one connection are answered at the same time, but for what a ``Frame/stall`` holds up.
///
/// It speaks in the clear, and clients want TLS: a ``TLSTerminator`` that offers "h2" stands before it. It is stopped when it
/// is released. All methods may be called from any thread; each connection has a thread of its own.
public final class FrameServer: Sendable {
  private let script: FrameScript
  private let state: ServerState
  private let listener: Socket
  private let bell: Bell

  /// Starts a server on a free port.
  ///
  /// - Parameter answers: For each request in turn, whichever connection it comes over; the last is for all that follow. A
  ///   request without one gets no answer, and one that the client takes back (RST_STREAM) no more of it.
  public init(_ answers: [[Frame]]) throws {
    script = FrameScript(answers)
    state = ServerState()
    listener = try .boundToLoopback()
    try listener.listen(backlog: 64)
    bell = try Bell()
    listener.serveConnections(untilBell: bell) { [script, state] socket in
      // Without another descriptor for its bell, it is closed.
      (try? FrameConnection(socket, script, state))?.serve()
    }
  }

  deinit {
    stop()
  }

  /// Where it listens.
  public var port: UInt16 { listener.port }

  /// How many requests have come.
  public var requestCount: Int { script.weights.count }

  /// What the streams of the requests weigh, where they say so (RFC 7540 §6.2).
  public var weights: [Int?] { script.weights }

  /// Waits until so many of its answers have come to a ``Frame/stall`` since the server was made, it is stopped, or the task is
  /// cancelled; returns at once if they have.
  public func stallsReached(_ count: Int = 1) async {
    await state.until(.stallBegun, count)
  }

  /// Waits until it has sent so many floods (``Frame/pings(_:)``, ``Frame/settings(_:)``) since it was made, it is stopped, or
  /// the task is cancelled; returns at once if it has.
  public func floodsSent(_ count: Int = 1) async {
    await state.until(.floodSent, count)
  }

  /// Closes all connections, and takes no more: on Linux they are refused from then on.
  public func stop() {
    state.stop()
    listener.stopListening(bell)
  }
}

/// The answers of a server of frames, and what has asked for them.
final class FrameScript: Sendable {
  private struct State {
    var answers: ArraySlice<[FrameServer.Frame]>
    var weights: [Int?] = []
  }

  private let state: Locked<State>

  init(_ answers: [[FrameServer.Frame]]) {
    state = Locked(State(answers: answers[...]))
  }

  var weights: [Int?] { state.withLock { $0.weights } }

  /// The answer to the next request.
  func next(weighing weight: Int?) -> ArraySlice<FrameServer.Frame> {
    state.withLock { state in
      state.weights.append(weight)
      guard let answer = state.answers.first else { return [] }
      if state.answers.count > 1 { state.answers.removeFirst() }
      return answer[...]
    }
  }
}
