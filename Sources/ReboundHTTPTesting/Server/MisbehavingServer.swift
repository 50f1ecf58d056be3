import Foundation
import StreamSupport

/// An HTTP server on the loopback interface that goes wrong in exactly the way it is told.
///
///     let server = try MisbehavingServer()
///     server.program("/forecast", .status(503), .closeInBody, .answer("sunny"))
///     // the first request gets a 503, the second half a body, all others the answer
///
/// It never waits for a while: where a fault stalls, it goes on when the client gives up, or when the test says so.
/// Everything that it received stands in ``requests``. It is stopped when it is released.
///
/// All methods may be called from any thread. Each connection has a thread of its own.
public final class MisbehavingServer: Sendable {
  private let state: ServerState
  private let listener: Socket
  private let bell: Bell

  /// Starts a server on a free port.
  public init() throws {
    listener = try .boundToLoopback()
    try listener.listen(backlog: 512)
    bell = try Bell()
    state = ServerState()
    listener.serveConnections(untilBell: bell) { [state] socket in
      // Without another descriptor for its bell, it is closed.
      (try? ServedConnection(socket, state))?.serve()
    }
  }

  deinit {
    stop()
  }

  /// Where it listens.
  public var port: UInt16 { listener.port }

  /// The URL of a path on this server.
  ///
  /// - Parameters:
  ///   - path: With its leading slash, and encoded.
  ///   - host: "localhost" is another host to a client, and this server all the same.
  ///   - scheme: "https" for faults of the handshake.
  public func url(_ path: String = "/", host: String = "127.0.0.1", scheme: String = "http") -> URL {
    guard let url = URL(string: "\(scheme)://\(host):\(port)\(path)") else {
      // A test that writes such a path has to be told where it did.
      preconditionFailure("'\(path)' is no path of a URL")
    }
    return url
  }

  /// Says what happens to the requests for a path: the first fault to the first, the second to the second and so on, and
  /// the last to all further ones.
  ///
  /// A path that is not programmed is answered with 404.
  public func program(_ path: String, _ faults: Fault...) {
    state.program(path, faults)
  }

  /// Says what happens to the next connections, before a request is read from them; `nil` lets one pass.
  ///
  /// - Parameters:
  ///   - faults: One for each connection from now on.
  ///   - last: For all connections after those.
  public func programConnections(_ faults: Fault?..., then last: Fault? = nil) {
    state.programConnections(faults, last)
  }

  /// What it received so far, oldest first.
  public var requests: [ReceivedRequest] { state.requests }

  /// How many connections were made.
  public var connectionCount: Int { state.connectionCount }

  /// Whether faults stall at all; if not, they go on at once.
  public var stalls: Bool {
    get { state.stalls }
    set { state.stalls = newValue }
  }

  /// Whether what comes is kept in ``requests``, as it is unless a test says otherwise.
  public var recordsRequests: Bool {
    get { state.records }
    set { state.records = newValue }
  }

  /// Lets all connections that stall go on with their next step.
  public func goOn() {
    state.goOn()
  }

  /// Waits until so many stalls have begun since the server was made, it is stopped, or the task is cancelled; returns at once
  /// if they have.
  public func stallsReached(_ count: Int = 1) async {
    await state.until(.stallBegun, count)
  }

  /// Waits until so many connections have ended since the server was made, it is stopped, or the task is cancelled; returns at
  /// once if they have.
  public func connectionsEnded(_ count: Int = 1) async {
    await state.until(.connectionEnded, count)
  }

  /// Closes all connections, and takes no more: on Linux they are refused from then on.
  public func stop() {
    state.stop()
    listener.stopListening(bell)
  }
}

/// A port on which nobody listens, for as long as this is held.
public final class RefusingPort: Sendable {
  private let socket: Socket

  /// Takes a free port.
  public init() throws {
    socket = try .boundToLoopback()
  }

  /// Its number.
  public var port: UInt16 { socket.port }
}

/// A port that neither accepts nor refuses connections, for as long as this is held.
///
/// Its queue is full, so the system drops what comes in, as a broken firewall does.
public final class SilentPort: Sendable {
  private let socket: Socket
  private let queued: [Socket]

  /// Takes a free port.
  public init() throws {
    let listener = try Socket.boundToLoopback()
    try listener.listen(backlog: 0)
    socket = listener
    queued = try (0..<8).map { _ in
      let client = try Socket.boundToLoopback()
      client.startConnecting(to: listener.port)
      return client
    }
  }

  /// Its number.
  public var port: UInt16 { socket.port }
}
