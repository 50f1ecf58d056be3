/// What a ``MisbehavingServer`` does with a connection or a request, step by step.
///
/// The catalogue of faults is made of these; a test may make its own:
///
///     server.program("/slow", Fault("late body", at: .body, [.send(Fault.head(length: 3)), .stall, .send("abc")]))
///
/// When the steps are through, the connection is ready for the next request, unless a step has ended it.
public struct Fault: Hashable, Sendable, CustomStringConvertible {
  /// How far an exchange has come when it goes wrong.
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    /// Before the request is read.
    case connection
    /// While the client negotiates a secure connection.
    case handshake
    /// While the request is read.
    case request
    /// Before the end of the response's head.
    case head
    /// After the head.
    case body
  }

  /// One thing that the server does.
  public enum Step: Hashable, Sendable {
    /// Reads the whole body of the request; says "100 Continue" to a client that waits for it.
    case readBody
    /// Reads some bytes, at least one and at most so many, whatever they are.
    case readSome(atMost: Int)
    /// Sends bytes.
    case send([UInt8])
    /// Sends bytes one by one, each in a packet of its own.
    case drip([UInt8])
    /// Sends the same bytes again and again, so many times at most, as long as the client takes them.
    case flood([UInt8], times: Int)
    /// Waits until the client closes the connection, or ``MisbehavingServer/goOn()`` is called.
    case stall
    /// Ends the connection as a crash does: the client gets a reset.
    case reset
    /// Ends the connection in order.
    case close

    /// Sends a text.
    public static func send(_ text: String) -> Step { .send(Array(text.utf8)) }
    /// Sends a text byte by byte.
    public static func drip(_ text: String) -> Step { .drip(Array(text.utf8)) }
  }

  /// What it is, in a few words.
  public let name: String
  /// How far the exchange has come when it goes wrong.
  public let phase: Phase
  /// What the server does.
  public let steps: [Step]

  /// Makes a fault.
  ///
  /// - Parameters:
  ///   - name: What it is, in a few words.
  ///   - phase: How far the exchange has come when it goes wrong. Those of a connection or a handshake begin before the
  ///     head of a request is read, the others after it.
  ///   - steps: What the server does.
  public init(_ name: String, at phase: Phase, _ steps: [Step]) {
    self.name = name
    self.phase = phase
    self.steps = steps
  }

  /// The name.
  public var description: String { name }

  /// Whether it begins before a request is read.
  public var isOfConnection: Bool { phase == .connection || phase == .handshake }

  /// Whether the server waits for somebody at some point.
  public var stalls: Bool { steps.contains(.stall) }

  /// The head of a response.
  ///
  /// - Parameters:
  ///   - status: Its status code.
  ///   - length: The Content-Length; `nil` leaves the field out.
  ///   - fields: Further fields, each a line without its end.
  public static func head(_ status: Int = 200, length: Int? = nil, fields: [String] = []) -> String {
    let lengths = length.map { ["Content-Length: \($0)"] } ?? []
    return (["HTTP/1.1 \(status) Programmed"] + lengths + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }
}
