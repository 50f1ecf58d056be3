import StreamSupport

/// A server for HTTP/2 on the loopback interface that answers each request with frames that were written down before
/// (RFC 9113 §6).
///
///     let server = try FrameServer([[.head, .data("half"), .goAway(last: 1), .close], [.head, .data("ok", isLast: true)]])
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
  ///   request without one gets no answer.
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
private final class FrameScript: Sendable {
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

/// One connection, for the thread that reads the client's frames; others only wake the socket.
private final class FrameConnection {
  /// What a client may send (RFC 9113 §6.5.2), with room to spare.
  private static let largestPayload = 1 << 20
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private let socket: Socket
  private let script: FrameScript
  private let state: ServerState
  private let bell: Bell
  private var number = 0
  private var buffer: [UInt8] = []
  /// What is still to be sent for the latest request, and its stream.
  private var rest: ArraySlice<FrameServer.Frame> = []
  private var stream: [UInt8] = []
  /// Whether that request has come with all of its body.
  private var isWhole = false
  private var isOpen = true

  init(_ socket: Socket, _ script: FrameScript, _ state: ServerState) throws {
    (self.socket, self.script, self.state) = (socket, script, state)
    bell = try Bell()
  }

  /// Answers requests until the connection ends.
  func serve() {
    guard let (number, _) = state.add(socket) else { return }
    self.number = number
    if take(Self.preface.count) == Self.preface {
      send(FrameServer.Frame.bytes(type: 4))
      while isOpen, let head = take(9) {
        let length = head[..<3].reduce(0) { $0 << 8 | Int($1) }
        guard length <= Self.largestPayload, let payload = take(length) else { break }
        receive(type: head[3], flags: head[4], Array(head[5...]), payload)
      }
    }
    state.remove(connection: number)
  }

  private func receive(type: UInt8, flags: UInt8, _ stream: [UInt8], _ payload: [UInt8]) {
    let acknowledges = flags & 1 == 1
    // Of a request's frames the same flag says that they are its last.
    let endsStream = acknowledges
    switch type {
    case 0 where endsStream && stream == self.stream:
      isWhole = true
      // What waits for an answer to a PING does so still.
      if rest.first == .wholeRequest { play() }
    case 1:
      // With a priority, its last byte is the weight.
      let weight = flags & 0x28 == 0x20 && payload.count > 4 ? Int(payload[4]) + 1 : nil
      (rest, self.stream, isWhole) = (script.next(weighing: weight), stream, endsStream)
      play()
    case 4 where !acknowledges:
      send(FrameServer.Frame.bytes(type: 4, flags: 1))
    case 6 where !acknowledges:
      send(FrameServer.Frame.bytes(type: 6, flags: 1, payload))
    case 6:
      play()
    default:
      break
    }
  }

  /// Sends what is left of the answer, up to where the client has to be waited for.
  private func play() {
    var bytes: [UInt8] = []
    while isOpen, let frame = rest.first {
      if frame == .wholeRequest, !isWhole { break }
      rest.removeFirst()
      bytes += frame.bytes(on: stream)
      switch frame {
      case .ping:
        return send(bytes)
      case .pings, .settings:
        // Whatever comes now answers these.
        send(bytes)
        state.noteFlood()
        return drain()
      case .stall:
        send(bytes)
        bytes = []
        stall()
      case .close:
        send(bytes)
        socket.endSending()
        return drain()
      case .head, .data, .reset, .goAway, .nonsense, .wholeRequest:
        break
      }
    }
    if isOpen { send(bytes) }
  }

  private func stall() {
    guard isOpen, state.beginStall(of: number, bell) else { return }
    socket.waitForEnd(orBell: bell.descriptor)
    state.endStall(of: number)
  }

  /// Takes all that the client still sends, and is through: closing with that unread would be a reset.
  private func drain() {
    while !socket.receive(atMost: 65_536).isEmpty {}
    isOpen = false
  }

  private func send(_ bytes: [UInt8]) {
    isOpen = socket.send(bytes)
  }

  private func take(_ count: Int) -> [UInt8]? {
    while buffer.count < count {
      let received = socket.receive(atMost: 65_536)
      guard !received.isEmpty else { return nil }
      buffer += received
    }
    defer { buffer.removeFirst(count) }
    return Array(buffer.prefix(count))
  }
}
