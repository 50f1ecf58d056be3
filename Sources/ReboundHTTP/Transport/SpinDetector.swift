#if Curl
  import Dispatch

  /// Says when a loop spins: turns and turns, and nothing comes of it.
  ///
  /// While an upload waits for its window of HTTP/2, libcurl 7.88 wants to write, and a socket that takes bytes is ready each time:
  /// the loop would ask it as often as it can until the server has made room.
  struct SpinDetector {
    /// How long the loop rests, and may be late for what comes meanwhile.
    static let rest = DispatchTimeInterval.milliseconds(1)
    /// How many turns are tried first, since most servers make room before these are over.
    static let most = 32

    private var count = 0

    /// Notes the end of a turn.
    ///
    /// - Parameters:
    ///   - hasMoved: Whether any bytes have come or gone in it, or a request has begun or ended.
    ///   - hasWaited: Whether no socket was ready at once.
    /// - Returns: Whether the loop should rest before the next one.
    mutating func end(hasMoved: Bool, hasWaited: Bool) -> Bool {
      count = hasMoved || hasWaited ? 0 : min(count + 1, SpinDetector.most + 1)
      return count > SpinDetector.most
    }
  }
#endif
