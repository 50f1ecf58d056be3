import Foundation
import StreamSupport

/// Carries bytes between clients and a server on the loopback interface, counts them, and breaks connections on command:
/// below TLS, where the server itself cannot.
///
///     let relay = try BreakingRelay(to: server.port)
///     // a client asks the server over relay.port
///     relay.breakAll(.reset)
///
/// It is stopped when it is released. All methods may be called from any thread; each connection has a thread of its own.
public final class BreakingRelay: Sendable {
  /// What the client gets to see.
  public enum Break: Hashable, Codable, Sendable {
    /// The connection is reset.
    case reset
    /// The connection ends in order, without a word of TLS's.
    case close
    /// Something comes that is no record of TLS, and then the end.
    case send([UInt8])
  }

  private let listener: Socket
  private let bell: Bell
  private let state: RelayState

  /// Starts a relay on a free port.
  ///
  /// - Parameters:
  ///   - port: Where the server listens.
  ///   - limits: After how many bytes to the client the first connections end in order, each in its turn; the later ones
  ///     are left alone.
  public init(to port: UInt16, endingAfter limits: [Int] = []) throws {
    listener = try .boundToLoopback()
    bell = try Bell()
    state = RelayState(limits)
    try listener.listen(backlog: 64)
    listener.serveConnections(untilBell: bell) { [state] client in
      guard let server = try? Socket.connected(to: port), let own = try? RelayedConnection(client, server) else {
        return
      }
      let (number, limit) = state.add(own)
      own.carry(atMost: limit) { state.count($0, of: number) }
      state.remove(number)
    }
  }

  deinit {
    bell.ring()
    breakAll(.reset)
  }

  /// Where it listens.
  public var port: UInt16 { listener.port }

  /// How many bytes each connection has carried to its client, in the order in which they were made.
  public var carried: [Int] { state.carried }

  /// Breaks all connections there are.
  public func breakAll(_ how: Break) {
    for connection in state.connections { connection.end(how) }
  }
}

/// What a relay and its connections share.
private final class RelayState: Sendable {
  private struct State {
    var connections: [Int: RelayedConnection] = [:]
    var carried: [Int] = []
    var limits: [Int]
  }

  private let state: Locked<State>

  init(_ limits: [Int]) {
    state = Locked(State(limits: limits))
  }

  var carried: [Int] { state.withLock { $0.carried } }
  var connections: [RelayedConnection] { state.withLock { Array($0.connections.values) } }

  /// Gives a connection its number, and how many bytes it may carry to its client.
  func add(_ connection: RelayedConnection) -> (number: Int, limit: Int) {
    state.withLock { state in
      let number = state.carried.count
      state.carried.append(0)
      state.connections[number] = connection
      return (number, state.limits.isEmpty ? .max : state.limits.removeFirst())
    }
  }

  func remove(_ number: Int) { state.withLock { $0.connections[number] = nil } }

  func count(_ bytes: Int, of number: Int) { state.withLock { $0.carried[number] += bytes } }
}

/// One connection, for the thread that carries its bytes; others only say that it is to end.
private final class RelayedConnection: Sendable {
  private let (client, server): (Socket, Socket)
  private let bell: Bell
  private let ending = Locked<BreakingRelay.Break?>(nil)

  init(_ client: Socket, _ server: Socket) throws {
    (self.client, self.server) = (client, server)
    bell = try Bell()
  }

  func end(_ how: BreakingRelay.Break) {
    ending.withLock { $0 = how }
    bell.ring()
  }

  /// Carries until one side ends, or the limit is reached, or it is to break.
  func carry(atMost limit: Int, _ count: (Int) -> Void) {
    var left = limit
    var relay = SocketRelay(client, server)
    while left > 0 || !relay.toClient.isEmpty {
      let isReadable = relay.wait(orBell: bell)
      if let how = ending.withLock({ $0 }) { return end(client, how) }
      if isReadable.client {
        relay.toServer = client.receive(atMost: 65_536)[...]
        guard !relay.toServer.isEmpty else { break }
      }
      if isReadable.server {
        relay.toClient = server.receive(atMost: min(65_536, left))[...]
        guard !relay.toClient.isEmpty else { break }
        left -= relay.toClient.count
        count(relay.toClient.count)
      }
      guard relay.sendSome() else { break }
    }
    end(client, .close)
  }

  private func end(_ client: Socket, _ how: BreakingRelay.Break) {
    switch how {
    case .reset: return client.resetWhenClosed()
    case .close: break
    case .send(let bytes): _ = client.send(bytes)
    }
    server.wake()
    client.endSending()
    // Closing with anything unread would be a reset.
    while !client.receive(atMost: 65_536).isEmpty {}
  }
}
