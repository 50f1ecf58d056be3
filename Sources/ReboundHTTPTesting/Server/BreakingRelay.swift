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
  ///
  /// It waits for nothing else: one side that takes no bytes keeps neither a break nor the other way waiting.
  func carry(atMost limit: Int, _ count: (Int) -> Void) {
    var left = limit
    var (toServer, toClient) = (ArraySlice<UInt8>(), ArraySlice<UInt8>())
    while left > 0 || !toClient.isEmpty {
      let isReadable = wait(
        client: events(reads: toServer.isEmpty, writes: !toClient.isEmpty),
        server: events(reads: toClient.isEmpty, writes: !toServer.isEmpty)
      )
      if let how = ending.withLock({ $0 }) { return end(client, how) }
      if toServer.isEmpty, isReadable.client {
        toServer = client.receive(atMost: 65_536)[...]
        guard !toServer.isEmpty else { break }
      }
      if toClient.isEmpty, isReadable.server {
        toClient = server.receive(atMost: min(65_536, left))[...]
        guard !toClient.isEmpty else { break }
        left -= toClient.count
        count(toClient.count)
      }
      guard server.sendSome(&toServer), client.sendSome(&toClient) else { break }
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

  private func events(reads: Bool, writes: Bool) -> Int16 {
    Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))
  }

  /// Waits until something can be read or written, or the bell rings.
  private func wait(client: Int16, server: Int16) -> (client: Bool, server: Bool) {
    // One of which nothing is wanted would tell of its end again and again.
    var conditions = [
      pollfd(fd: client == 0 ? -1 : self.client.descriptor, events: client, revents: 0),
      pollfd(fd: server == 0 ? -1 : self.server.descriptor, events: server, revents: 0),
      pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&conditions, nfds_t(conditions.count), -1) < 0 && errno == EINTR {}
    // An end is found by reading, too.
    let isReadable = conditions.map { $0.events & Int16(POLLIN) != 0 && $0.revents & ~Int16(POLLOUT) != 0 }
    return (isReadable[0], isReadable[1])
  }
}
