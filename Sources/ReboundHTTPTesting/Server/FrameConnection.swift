/// One connection of a ``FrameServer``, for the thread that reads the client's frames; others only wake the socket.
///
/// It takes all that a client sends, and opens its windows again at once; what it sends keeps to the client's (RFC 9113 §5.2).
final class FrameConnection {
  private typealias Frame = FrameServer.Frame

  /// A request, and what is still to be sent for it.
  private final class Exchange {
    let stream: UInt32
    var rest: ArraySlice<Frame>
    /// How many bytes of the first of those, which is data, were sent.
    var sent = 0
    /// How many bytes of data the client takes.
    var window: Int
    /// Whether the request has come with all of its body.
    var isWhole = false
    var waitsForPing = false
    var isReset = false

    init(_ stream: UInt32, _ answer: ArraySlice<Frame>, window: Int) {
      (self.stream, rest, self.window) = (stream, answer, window)
    }
  }

  /// Which of them a frame has depends on its type.
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let acknowledges = Flags(rawValue: 1)
    static let endsStream = Flags(rawValue: 1)
    static let endsHead = Flags(rawValue: 4)
    static let isPadded = Flags(rawValue: 8)
    static let hasPriority = Flags(rawValue: 0x20)
  }

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  /// What a client may send that has not been told of more (RFC 9113 §6.5.2).
  private static let largestPayload = 16_384

  private let socket: Socket
  private let script: FrameScript
  private let state: ServerState
  private let bell: Bell
  private var number = 0
  private var buffer: [UInt8] = []
  private var output: [UInt8] = []
  private var isOpen = true

  /// Those that are not over, by their streams.
  private var exchanges: [UInt32: Exchange] = [:]
  private var latestStream: UInt32 = 0
  /// A head that goes on in the next frame.
  private var head: (stream: UInt32, weight: Int?, endsStream: Bool)?
  /// How many bytes of data the client takes in all, and on a new stream.
  private var (window, firstWindow) = (65_535, 65_535)

  init(_ socket: Socket, _ script: FrameScript, _ state: ServerState) throws {
    (self.socket, self.script, self.state) = (socket, script, state)
    bell = try Bell()
  }

  /// Answers requests until the connection ends.
  func serve() {
    guard let (number, _) = state.add(socket) else { return }
    self.number = number
    if take(Self.preface.count) == Self.preface {
      output = Frame.bytes(type: 4)
      flush()
      while isOpen, let head = take(9) {
        let length = Int(Self.number(head[..<3]))
        guard length <= Self.largestPayload else {
          refuse()
          break
        }
        guard let payload = take(length) else { break }
        receive(type: head[3], Flags(rawValue: head[4]), on: Self.number(head[5...]) & 0x7FFF_FFFF, payload)
        flush()
      }
    }
    state.remove(connection: number)
  }

  // MARK: What comes

  private func receive(type: UInt8, _ flags: Flags, on stream: UInt32, _ payload: [UInt8]) {
    switch type {
    case 0:
      receiveData(count: payload.count, on: stream, isLast: flags.contains(.endsStream))
    case 1:
      // The last byte of a priority is the weight; before it may stand how much is padding.
      let place = flags.contains(.isPadded) ? 5 : 4
      let weight = flags.contains(.hasPriority) && payload.count > place ? Int(payload[place]) + 1 : nil
      head = (stream, weight, flags.contains(.endsStream))
      if flags.contains(.endsHead) { receiveHead() }
    case 3:
      exchanges[stream] = nil
    case 4 where !flags.contains(.acknowledges):
      receive(settings: payload)
    case 6 where !flags.contains(.acknowledges):
      output += Frame.bytes(type: 6, flags: 1, payload)
    case 6:
      guard let exchange = exchanges[Self.number(payload.suffix(4))] else { return }
      exchange.waitsForPing = false
      play(exchange)
    case 8:
      let increment = Int(Self.number(payload.prefix(4)) & 0x7FFF_FFFF)
      if stream == 0 { window += increment } else { exchanges[stream]?.window += increment }
      playAll()
    case 9 where flags.contains(.endsHead):
      receiveHead()
    default:
      break
    }
  }

  /// Begins to answer a request, or ends one whose trailers these are.
  private func receiveHead() {
    guard let (stream, weight, endsStream) = head else { return }
    head = nil
    if stream > latestStream {
      latestStream = stream
      exchanges[stream] = Exchange(stream, script.next(weighing: weight), window: firstWindow)
    }
    guard let exchange = exchanges[stream] else { return }
    if endsStream { exchange.isWhole = true }
    play(exchange)
  }

  private func receiveData(count: Int, on stream: UInt32, isLast: Bool) {
    let exchange = exchanges[stream]
    if count > 0 {
      output += Frame.windowBytes(count)
      if let exchange, !isLast, !exchange.isReset { output += Frame.windowBytes(count, on: stream) }
    }
    guard isLast, let exchange else { return }
    exchange.isWhole = true
    play(exchange)
  }

  private func receive(settings: [UInt8]) {
    output += Frame.bytes(type: 4, flags: 1)
    for start in stride(from: 0, to: settings.count - 5, by: 6) where settings[start..<start + 2] == [0, 4] {
      let size = Int(Self.number(settings[start + 2..<start + 6]))
      for exchange in exchanges.values { exchange.window += size - firstWindow }
      firstWindow = size
    }
    playAll()
  }

  // MARK: What is sent

  private func playAll() {
    for stream in exchanges.keys.sorted() { if let exchange = exchanges[stream] { play(exchange) } }
  }

  /// Sends what is left of an answer, up to where the client has to be waited for.
  private func play(_ exchange: Exchange) {
    while isOpen, !exchange.waitsForPing, let frame = exchange.rest.first {
      if frame == .wholeRequest, !exchange.isWhole { break }
      if case .data(let text, let isLast) = frame, !put(text, isLast: isLast, of: exchange) { break }
      exchange.rest.removeFirst()
      output += frame.bytes(on: exchange.stream)
      switch frame {
      case .ping: exchange.waitsForPing = true
      case .reset: exchange.isReset = true
      case .pings, .settings:
        // Whatever comes now answers these.
        flush()
        state.noteFlood()
        drain()
      case .stall: stall()
      case .close: close()
      case .head, .data, .goAway, .nonsense, .wholeRequest: break
      }
    }
    if exchange.rest.isEmpty, exchange.isWhole || exchange.isReset { exchanges[exchange.stream] = nil }
  }

  /// Puts out as much of the data as the client takes, and says whether that is all.
  private func put(_ text: String, isLast: Bool, of exchange: Exchange) -> Bool {
    let left = text.utf8.prefix(Frame.mostData).dropFirst(exchange.sent)
    let part = left.prefix(max(min(window, exchange.window), 0))
    let isAll = part.count == left.count
    exchange.sent = isAll ? 0 : exchange.sent + part.count
    guard isAll || !part.isEmpty else { return false }
    output += Frame.bytes(type: 0, flags: isAll && isLast ? 1 : 0, on: exchange.stream, Array(part))
    window -= part.count
    exchange.window -= part.count
    return isAll
  }

  private func stall() {
    flush()
    guard isOpen, state.beginStall(of: number, bell) else { return }
    socket.waitForEnd(orBell: bell.descriptor)
    state.endStall(of: number)
  }

  /// Ends a connection over which more has come in one frame than is allowed (`FRAME_SIZE_ERROR`).
  private func refuse() {
    output += Frame.bytes(type: 7, Frame.octets(latestStream) + [0, 0, 0, 6])
    close()
  }

  private func close() {
    flush()
    socket.endSending()
    drain()
  }

  /// Takes all that the client still sends, and is through: closing with that unread would be a reset.
  private func drain() {
    while !socket.receive(atMost: 65_536).isEmpty {}
    isOpen = false
  }

  private func flush() {
    guard isOpen, !output.isEmpty else { return }
    isOpen = socket.send(output)
    output = []
  }

  // MARK: Bytes

  private func take(_ count: Int) -> [UInt8]? {
    socket.receive(exactly: count, buffering: &buffer)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }
}
