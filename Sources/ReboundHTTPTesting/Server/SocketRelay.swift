import Foundation

/// A client and a server, and what is under way between them, for a thread that waits for whatever is possible next: a side that
/// takes no bytes keeps nothing else waiting.
struct SocketRelay {
  let client: Socket
  let server: Socket
  /// What is still to be sent; until then, nothing more for that side is read.
  var (toClient, toServer) = (ArraySlice<UInt8>(), ArraySlice<UInt8>())

  /// Who can be read from now.
  struct Readiness {
    let client: Bool
    let server: Bool
    /// Whether the server's connection has been reset.
    let isReset: Bool
  }

  init(_ client: Socket, _ server: Socket) {
    (self.client, self.server) = (client, server)
  }

  /// Waits until something can be read or sent, or `bell` can be read.
  ///
  /// - Parameters:
  ///   - bell: `nil` if nobody rings.
  ///   - readsServer: Whether the server may be read from yet.
  func wait(orBell bell: Bell? = nil, readsServer: Bool = true) -> Readiness {
    var conditions = [
      Self.condition(client, reads: toServer.isEmpty, writes: !toClient.isEmpty),
      Self.condition(server, reads: readsServer && toClient.isEmpty, writes: !toServer.isEmpty),
      pollfd(fd: bell?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&conditions, nfds_t(conditions.count), -1) < 0 && errno == EINTR {}
    // An end is found by reading, too.
    let isReadable = conditions.map { $0.events & Int16(POLLIN) != 0 && $0.revents & ~Int16(POLLOUT) != 0 }
    return Readiness(
      client: isReadable[0],
      server: isReadable[1],
      isReset: conditions[1].revents & Int16(POLLERR) != 0
    )
  }

  private static func condition(_ socket: Socket, reads: Bool, writes: Bool) -> pollfd {
    // One of which nothing is wanted would tell of its end again and again.
    let descriptor = reads || writes ? socket.descriptor : -1
    return pollfd(fd: descriptor, events: Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), revents: 0)
  }

  /// Sends what both sides take without a wait; says whether they take any more at all.
  mutating func sendSome() -> Bool {
    server.sendSome(&toServer) && client.sendSome(&toClient)
  }
}
