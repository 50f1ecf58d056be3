#if Curl
  /// The transfers of one scheme, host and port; of the loop's thread.
  final class CurlOrigin {
    let server: Origin
    /// How the last address of it was written, up to its path.
    @exclusivity(unchecked) var spelling: String?
    @exclusivity(unchecked) private var activeCount = 0
    /// How many of those have a connection.
    @exclusivity(unchecked) private var connectedCount = 0
    /// Those that have not begun, oldest first.
    @exclusivity(unchecked) private var waiting: [CurlTransfer] = []
    /// Whether the loop is going to look at it.
    @exclusivity(unchecked) var isStirred = false

    init(_ server: Origin) {
      self.server = server
    }

    var isUnused: Bool { activeCount == 0 && waiting.isEmpty }

    func add(_ transfer: CurlTransfer) {
      waiting.append(transfer)
    }

    /// Lets go of one that has not begun; of any other, nothing happens.
    func remove(_ transfer: CurlTransfer) {
      if let index = waiting.firstIndex(where: { $0 === transfer }) { waiting.remove(at: index) }
    }

    /// The next that may begin, if one may.
    ///
    /// While a first secure connection is being made, nobody knows whether it can be shared, as with HTTP/2 it can; so the
    /// others wait for it, rather than make one each. libcurl has an option for this, and with it the fault of its limit:
    /// 7.88 forgets now and then to wake who waits.
    func next(atMost limit: Int) -> CurlTransfer? {
      let mayBegin = activeCount < limit && (!server.isSecure || activeCount == 0 || connectedCount > 0)
      guard mayBegin, !waiting.isEmpty else { return nil }
      return waiting.removeFirst()
    }

    func noteBegun() {
      activeCount += 1
    }

    func noteConnected() {
      connectedCount += 1
    }

    func noteEnded(wasConnected: Bool) {
      activeCount -= 1
      if wasConnected { connectedCount -= 1 }
    }
  }
#endif
