extension FrameServer {
  /// One frame, for the stream of the request or for the connection, or what happens in its place.
  public enum Frame: Hashable, Codable, Sendable {
    /// HEADERS: the status 200, and nothing else.
    case head
    /// DATA: a part of the body, of 255 bytes at most; what is more is left out.
    case data(String, isLast: Bool = false)
    /// RST_STREAM: the stream is ended, for the reason with that number (RFC 9113 §7).
    case reset(UInt8)
    /// GOAWAY: the connection is about to end; none but the streams up to that number are dealt with.
    case goAway(last: UInt8, _ reason: UInt8 = 0)
    /// PING; what is behind it is sent once the client has answered, and so has read what is before.
    case ping
    /// So many PING frames at once, each of which wants an answer. They are the last of an answer.
    case pings(Int)
    /// So many SETTINGS frames at once, each of which wants an answer. They are the last of an answer.
    case settings(Int)
    /// DATA for a stream that nobody has opened.
    case nonsense
    /// Nothing, until the request has come whole, with its body; what is behind it is sent then. Without it an answer begins with
    /// the request's head.
    case wholeRequest
    /// Nothing, until the client closes the connection.
    case stall
    /// The connection is closed in order.
    case close

    /// How long the data of a frame may be.
    static let mostData = 255

    /// A frame is nine bytes (its length, type and flags, and the stream's number) and what they announce.
    static func bytes(type: UInt8, flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
      Array(octets(UInt32(payload.count)).dropFirst()) + [type, flags] + octets(stream) + payload
    }

    /// WINDOW_UPDATE: so many bytes more may come.
    static func windowBytes(_ count: Int, on stream: UInt32 = 0) -> [UInt8] {
      bytes(type: 8, on: stream, octets(UInt32(count)))
    }

    static func octets(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// What it is on a stream; but for data, of which only so much is sent at once as the client takes.
    func bytes(on stream: UInt32) -> [UInt8] {
      switch self {
      // As the static table of RFC 7541 has it. There is no other, which a client that wants a small one must be told (§4.2).
      case .head: Frame.bytes(type: 1, flags: 4, on: stream, [0x20, 0x88])
      case .reset(let reason): Frame.bytes(type: 3, on: stream, [0, 0, 0, reason])
      case .goAway(let last, let reason): Frame.bytes(type: 7, [0, 0, 0, last, 0, 0, 0, reason])
      // What the client answers with, so that it is known whose answer goes on.
      case .ping: Frame.bytes(type: 6, [0, 0, 0, 0] + Frame.octets(stream))
      case .pings(let count): Frame.flood(Frame.bytes(type: 6, [UInt8](repeating: 0, count: 8)), count)
      case .settings(let count): Frame.flood(Frame.bytes(type: 4), count)
      case .nonsense: Frame.bytes(type: 0, on: 0x63, [0x61])
      case .data, .wholeRequest, .stall, .close: []
      }
    }

    private static func flood(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
      Array(repeatElement(bytes, count: max(count, 0)).joined())
    }
  }
}
