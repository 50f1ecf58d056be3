#if Redis
  import CHiredis
  import Foundation

  /// One connection: hiredis's buffers and its reader of answers, and the encryption between them and the socket, if there
  /// is any; for the thread of its loop only.
  ///
  /// It stands in the loop's epoll as long as it lives.
  final class RedisConnection {
    /// Whether commands can be sent: the socket is connected, and hands are shaken.
    private(set) var isConnected = false
    /// What its events are told by.
    let descriptor: Int32
    private let context: UnsafeMutablePointer<redisContext>
    /// `nil` if it is not encrypted.
    private let session: TLSSession?
    private let epoll: Int32
    /// Whether something is left to be written, and whether epoll tells when it can be.
    private var (hasOutput, watchesWrite) = (false, true)

    /// Begins to connect.
    init(to address: RedisAddress, in epoll: Int32) throws(RedisFailure) {
      let (made, encryption): (UnsafeMutablePointer<redisContext>?, (tls: RedisTLS, host: String)?) =
        switch address.endpoint {
        case .tcp(let host, let port):
          (redisConnectNonBlock(host, Int32(clamping: port)), address.tls.map { ($0, host) })
        case .unix(let path): (redisConnectUnixNonBlock(path), nil)
        }
      guard let context = made else { throw .connection("out of memory") }
      do throws(RedisFailure) {
        guard context.pointee.err == 0 else { throw Self.failure(of: context) }
        session =
          if let encryption {
            try TLSSession(encryption.tls, host: encryption.host, descriptor: context.pointee.fd)
          } else {
            nil
          }
      } catch {
        redisFree(context)
        throw error
      }
      (self.context, self.epoll, descriptor) = (context, epoll, context.pointee.fd)
      rebound_epoll_add(epoll, descriptor, 0, 1)
    }

    deinit {
      rebound_epoll_remove(epoll, descriptor)
      // It may write a farewell to the socket, which the context closes.
      session?.close()
      redisFree(context)
    }

    /// Whether a handshake goes on.
    var isShakingHands: Bool { session != nil && !isConnected }

    /// Goes on with connecting, since the socket is ready.
    ///
    /// - Returns: Whether it is connected now.
    func connect() throws(RedisFailure) -> Bool {
      let error = rebound_socket_error(descriptor)
      guard error == 0 else { throw .connection(String(cString: strerror(error))) }
      switch try session?.handshake() {
      case .wantsRead: rebound_epoll_modify(epoll, descriptor, 1, 0)
      case .wantsWrite: rebound_epoll_modify(epoll, descriptor, 0, 1)
      case .done, nil:
        isConnected = true
        rebound_epoll_modify(epoll, descriptor, 1, 0)
        watchesWrite = false
      }
      return isConnected
    }

    /// Whether a read may bring something, now that the socket is ready.
    func mayRead(_ event: rebound_epoll_ready) -> Bool {
      if event.can_write != 0 { hasOutput = true }
      return event.can_read != 0 || session?.readWaitsForWrite == true
    }

    // MARK: Output

    /// Keeps commands for ``flush()``.
    func append(_ bytes: [UInt8]) throws(RedisFailure) {
      hasOutput = true
      if let session { return session.append(bytes) }
      let status = bytes.withUnsafeBytes { bytes in
        redisAppendFormattedCommand(context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
      }
      guard status == REDIS_OK else { throw Self.failure(of: context) }
    }

    /// Writes now what can be written, and has epoll tell of the rest.
    func flush() throws(RedisFailure) {
      guard hasOutput, isConnected else { return }
      let waits: Bool
      if let session {
        let progress = try session.flush()
        if case .done = progress { hasOutput = false }
        // What waits for a read is tried again behind it.
        waits = session.readWaitsForWrite || progress == .wantsWrite
      } else {
        var isDone: Int32 = 0
        guard redisBufferWrite(context, &isDone) == REDIS_OK else { throw Self.failure(of: context) }
        hasOutput = isDone == 0
        waits = hasOutput
      }
      guard watchesWrite != waits else { return }
      watchesWrite = waits
      rebound_epoll_modify(epoll, descriptor, 1, watchesWrite ? 1 : 0)
    }

    // MARK: Input

    /// Reads what has come, for ``nextReply()``; also if it throws, since no more will come.
    func read() throws(RedisFailure) {
      guard let session else {
        guard redisBufferRead(context) == REDIS_OK else { throw Self.failure(of: context) }
        return
      }
      var isFed = true
      try session.read { bytes in
        let characters = bytes.assumingMemoryBound(to: CChar.self)
        isFed = isFed && redisReaderFeed(context.pointee.reader, characters.baseAddress, bytes.count) == REDIS_OK
      }
      guard isFed else { throw .connection("out of memory") }
      if session.readWaitsForWrite { hasOutput = true }
    }

    /// The next answer that has come whole, to be freed; `nil` if there is none.
    func nextReply() throws(RedisFailure) -> UnsafeMutablePointer<redisReply>? {
      var reply: UnsafeMutableRawPointer?
      guard redisGetReplyFromReader(context, &reply) == REDIS_OK else { throw Self.failure(of: context) }
      return reply?.assumingMemoryBound(to: redisReply.self)
    }

    private static func failure(of context: UnsafeMutablePointer<redisContext>) -> RedisFailure {
      .connection(String(cString: rebound_redis_error(context)))
    }
  }
#endif
