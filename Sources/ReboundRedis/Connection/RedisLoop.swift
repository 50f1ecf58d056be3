#if Redis
  import CHiredis
  import Foundation
  import Rebound
  import StreamSupport

  /// The thread that carries the commands of one connection: hiredis's buffers and its reader of answers, over epoll.
  ///
  /// Not hiredis's own asynchronous interface: it ends the process when an answer comes that nobody has asked for.
  ///
  /// Other threads leave it requests, and wake it when it may be asleep. All that waits is written together, and answers
  /// come in the same order: a thousand commands are under way as easily as one. It makes a lost connection again, as a
  /// ``RetryPolicy`` says. Nothing waits while there is no connection: such requests fail at once.
  ///
  /// Unchecked, because the lock guards what threads share, and only the loop's own thread uses the rest.
  package final class RedisLoop: @unchecked Sendable {
    private enum Phase {
      case waiting(until: Duration)
      case connecting(since: Duration)
      case ready
      case stopped
    }

    private let mailbox: RedisMailbox
    private let settings: Settings
    private let tell: @Sendable (Status) -> Void
    private let epoll = rebound_epoll_create()

    // Of the loop's thread.
    private var phase = Phase.waiting(until: .zero)
    private var context: UnsafeMutablePointer<redisContext>?
    /// `nil` if the connection is not encrypted.
    private var session: TLSSession?
    private var descriptor: Int32 = -1
    /// Whether the connection stands; it may still have to be prepared.
    private var isConnected = false
    /// Whether something is left to be written, and whether epoll tells when it can be.
    private var (hasOutput, watchesWrite) = (false, false)
    private var reconnecting: RetryMachine<RedisFailure>?
    private var firstLoss = Duration.zero
    private var unprepared = 0
    /// What is written and waits for an answer, in order.
    private var underWay = RedisRequestSequence()
    private var lastAnswer = Duration.zero
    private var queues: [RedisRequestQueue] = []
    private var output: [UInt8] = []
    /// What was taken out of the mailbox.
    private var batch: [RedisRequest] = []

    package init(_ settings: Settings, telling tell: @escaping @Sendable (Status) -> Void) {
      self.settings = settings
      self.tell = tell
      mailbox = RedisMailbox(maxWaiting: settings.maxWaiting)
      rebound_epoll_add(epoll, mailbox.wakeup, 1, 0)
    }

    deinit {
      Glibc.close(epoll)
    }

    package func start() {
      let thread = Thread { self.run() }
      thread.name = "rebound.redis"
      thread.start()
    }

    // MARK: Other threads

    /// Leaves a request to the thread, or fails it at once if there is no connection.
    package func post(_ request: RedisRequest) {
      if let failure = mailbox.post(request) { request.settle(.failure(failure)) }
    }

    /// Nobody waits for the answer any more; one that comes all the same is late.
    func cancel(_ request: RedisRequest) {
      mailbox.cancel(request)
    }

    /// Gives the connection up and makes another one, since what comes over it makes no sense.
    func reconnect(_ reason: RedisFailure) {
      mailbox.reconnect(reason)
    }

    /// Ends the thread; what is under way fails.
    package func close() {
      mailbox.close()
    }

    // MARK: The thread

    private func run() {
      // hiredis writes to sockets that the other side may have closed, and that must not end the process.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      var ready = [rebound_epoll_ready](repeating: rebound_epoll_ready(), count: 8)
      while true {
        advance(TimeSource.system.now)
        let orders = mailbox.take(into: &batch, waiting: underWay.count)
        if orders.isClosed { return finish() }
        if let mistrust = orders.mistrust, case .ready = phase { give(up: mistrust) }
        for request in orders.cancelled { abandon(request) }
        writeBatch()
        flush()
        let deadline = nextDeadline()
        let count = rebound_epoll_wait(
          epoll,
          &ready,
          mailbox.maySleep() ? milliseconds(until: deadline, from: TimeSource.system.now) : 0
        )
        for event in ready.prefix(Int(max(count, 0))) { handle(event) }
      }
    }

    private func finish() {
      phase = .stopped
      give(up: .closed)
      for request in batch { request.settle(.failure(.closed)) }
      batch = []
    }

    private func abandon(_ request: RedisRequest) {
      // One that has not come yet is not written when it does.
      request.isCancelled = true
      if request.isWritten, !request.isAnswered { request.settle(.failure(.cancelled)) }
    }

    private func handle(_ event: rebound_epoll_ready) {
      guard event.descriptor != mailbox.wakeup else { return rebound_eventfd_clear(mailbox.wakeup) }
      guard event.descriptor == descriptor, let context else { return }
      guard isConnected else {
        let error = rebound_socket_error(descriptor)
        guard error == 0 else { return give(up: .connection(String(cString: strerror(error)))) }
        return establish()
      }
      if event.can_read != 0 || session?.readWaitsForWrite == true { read(context) }
      if event.can_write != 0 { hasOutput = true }
    }

    /// The socket is connected: shakes hands, if it is to be encrypted.
    private func establish() {
      switch session?.handshake() {
      case .wantsRead: rebound_epoll_modify(epoll, descriptor, 1, 0)
      case .wantsWrite: rebound_epoll_modify(epoll, descriptor, 0, 1)
      case .failed(let failure): give(up: failure)
      case .done, nil:
        isConnected = true
        rebound_epoll_modify(epoll, descriptor, 1, 0)
        watchesWrite = false
        prepare()
      }
    }

    /// Writes now what can be written, and has epoll tell of the rest.
    private func flush() {
      guard hasOutput, isConnected, let context else { return }
      let waits: Bool
      if let session {
        switch session.flush() {
        case .done: (hasOutput, waits) = (false, session.readWaitsForWrite)
        case .wantsWrite: waits = true
        // Tried again with the next read.
        case .wantsRead: waits = session.readWaitsForWrite
        case .failed(let failure): return give(up: failure)
        }
      } else {
        var isDone: Int32 = 0
        guard redisBufferWrite(context, &isDone) == REDIS_OK else { return give(up: failure(of: context)) }
        hasOutput = isDone == 0
        waits = hasOutput
      }
      guard watchesWrite != waits else { return }
      watchesWrite = waits
      rebound_epoll_modify(epoll, descriptor, 1, watchesWrite ? 1 : 0)
    }

    /// Reads what has come, into hiredis's reader.
    ///
    /// - Returns: Why no more will come, if that is so.
    private func fill(_ context: UnsafeMutablePointer<redisContext>) -> RedisFailure? {
      guard let session else { return redisBufferRead(context) == REDIS_OK ? nil : failure(of: context) }
      var isFed = true
      let progress = session.read { bytes in
        let characters = bytes.assumingMemoryBound(to: CChar.self)
        isFed = isFed && redisReaderFeed(context.pointee.reader, characters.baseAddress, bytes.count) == REDIS_OK
      }
      guard isFed else { return .connection("out of memory") }
      if session.readWaitsForWrite { hasOutput = true }
      if case .failed(let failure) = progress { return failure }
      return nil
    }

    private func read(_ context: UnsafeMutablePointer<redisContext>) {
      let end = fill(context)
      let now = TimeSource.system.now
      // What is done with an answer may end the connection.
      while self.context == context {
        var reply: UnsafeMutableRawPointer?
        guard redisGetReplyFromReader(context, &reply) == REDIS_OK else { return give(up: failure(of: context)) }
        guard let reply else { break }
        defer { freeReplyObject(reply) }
        lastAnswer = now
        guard let request = underWay.popFirst() else {
          return give(up: .unexpected("an answer to no question"))
        }
        answered(request, reply.assumingMemoryBound(to: redisReply.self).pointee)
      }
      // What came before the end counts.
      if let end, self.context == context { give(up: end) }
    }

    private func failure(of context: UnsafeMutablePointer<redisContext>) -> RedisFailure {
      .connection(String(cString: rebound_redis_error(context)))
    }

    // MARK: Time

    private func milliseconds(until deadline: Duration?, from now: Duration) -> Int32 {
      guard let deadline else { return -1 }
      guard deadline > now else { return 0 }
      // Upwards: whoever wakes too early would spin until it is time.
      return Int32(min(((deadline - now).inSeconds * 1_000).rounded(.up), 60_000))
    }

    private func nextDeadline() -> Duration? {
      var next: Duration? =
        switch phase {
        case .waiting(let until): until
        case .connecting(let since): since + settings.connectLimit
        case .ready where underWay.count > 0: lastAnswer + settings.silenceLimit
        case .ready, .stopped: nil
        }
      for index in queues.indices {
        if let deadline = queues[index].nextDeadline() { next = min(next ?? deadline, deadline) }
      }
      return next
    }

    private func advance(_ now: Duration) {
      for index in queues.indices {
        for request in queues[index].expired(at: now) { request.settle(.failure(.timedOut(after: request.limit))) }
      }
      switch phase {
      case .waiting(let until): if now >= until { connect(now) }
      case .connecting(let since):
        if now >= since + settings.connectLimit { give(up: lateConnection) }
      case .ready:
        if underWay.count > 0, now >= lastAnswer + settings.silenceLimit {
          give(up: .timedOut(after: settings.silenceLimit))
        }
      case .stopped: break
      }
    }

    private var lateConnection: RedisFailure {
      let limit = settings.connectLimit
      // A server that expects commands waits for the end of the one that it takes the handshake for.
      guard session != nil, !isConnected else { return .timedOut(after: limit) }
      return .connection("TLS, the handshake: no answer within \(limit); look whether the server encrypts on this port")
    }

    // MARK: The connection

    private func connect(_ now: Duration) {
      phase = .connecting(since: now)
      let made: UnsafeMutablePointer<redisContext>? =
        switch settings.address.endpoint {
        case .tcp(let host, let port): redisConnectNonBlock(host, Int32(clamping: port))
        case .unix(let path): redisConnectUnixNonBlock(path)
        }
      guard let context = made else { return lost(.connection("out of memory")) }
      guard context.pointee.err == 0 else {
        let reason = failure(of: context)
        redisFree(context)
        return lost(reason)
      }
      if case .tcp(let host, _) = settings.address.endpoint, let tls = settings.address.tls {
        do {
          session = try TLSSession(tls, host: host, descriptor: context.pointee.fd)
        } catch {
          redisFree(context)
          return lost(error)
        }
      }
      self.context = context
      descriptor = context.pointee.fd
      (isConnected, hasOutput, watchesWrite) = (false, false, true)
      rebound_epoll_add(epoll, descriptor, 0, 1)
    }

    /// Says who one is, and loads the scripts.
    private func prepare() {
      var commands: [RedisCommand] = []
      if let password = settings.address.password {
        commands.append(
          settings.address.username.map { RedisCommand("AUTH", $0, password) } ?? RedisCommand("AUTH", password)
        )
      }
      if settings.address.database != 0 { commands.append(RedisCommand("SELECT", "\(settings.address.database)")) }
      for script in settings.scripts {
        var load = RedisCommand("SCRIPT", "LOAD")
        load.add(script.text)
        commands.append(load)
      }
      // Whoever is refused here is told so, and not only at the first command.
      commands.append(RedisCommand("PING"))
      unprepared = commands.count
      write(
        commands.map { command in
          RedisRequest(command, limit: settings.connectLimit) { self.prepared($0) }
        }
      )
    }

    private func prepared(_ result: Result<RedisReply, RedisFailure>) {
      guard case .connecting = phase else { return }
      if case .success(.error(let text)) = result { return give(up: .refused(text)) }
      guard case .success(let reply) = result else { return }
      unprepared -= 1
      guard unprepared == 0 else { return }
      // Something else may listen there, or nothing: a port of this machine can be connected with itself.
      guard reply == .status("PONG") else { return give(up: .unexpected("\(reply)")) }
      phase = .ready
      reconnecting = nil
      mailbox.open()
      tell(.ready)
    }

    private func give(up reason: RedisFailure) {
      guard let context else { return }
      rebound_epoll_remove(epoll, descriptor)
      // It may write a farewell to the socket, which the context closes.
      session = nil
      redisFree(context)
      self.context = nil
      (descriptor, isConnected, hasOutput) = (-1, false, false)
      var left = underWay
      underWay = RedisRequestSequence()
      lost(reason)
      while let request = left.popFirst() { request.settle(.failure(reason)) }
    }

    private func lost(_ reason: RedisFailure) {
      for request in mailbox.shut() { request.settle(.failure(.disconnected)) }
      if case .stopped = phase { return }
      let now = TimeSource.system.now
      if reconnecting == nil {
        reconnecting = RetryMachine(settings.reconnect, now: now)
        firstLoss = now
      }
      var action = reconnecting?.failed(with: reason, elapsed: now - firstLoss, now: now)
      // A budget whose account is behind the lost connection grants nothing.
      if case .ask = action { action = reconnecting?.answered(nil) }
      switch action {
      case .retry(let delay):
        phase = .waiting(until: now + delay)
        tell(.lost(reason))
      case .stop(let final):
        phase = .stopped
        tell(.gaveUp(final))
      case .ask, nil: break
      }
    }

    // MARK: Requests

    private func writeBatch() {
      // Out of the property, since an answer may come while it is written.
      var requests: [RedisRequest] = []
      swap(&requests, &batch)
      write(requests)
      requests.removeAll(keepingCapacity: requests.count < 1_024)
      swap(&requests, &batch)
    }

    private func write(_ requests: [RedisRequest]) {
      guard !requests.isEmpty else { return }
      let now = TimeSource.system.now
      if underWay.count == 0 { lastAnswer = now }
      output.removeAll(keepingCapacity: output.count < 1 << 20)
      for request in requests { encode(request, at: now) }
      guard !output.isEmpty, let context else { return }
      if let session {
        session.append(output)
        hasOutput = true
        return
      }
      let status = output.withUnsafeBytes { bytes in
        redisAppendFormattedCommand(context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
      }
      guard status == REDIS_OK else { return give(up: failure(of: context)) }
      hasOutput = true
    }

    private func encode(_ request: RedisRequest, at now: Duration) {
      guard context != nil else { return request.settle(.failure(.disconnected)) }
      guard !request.isCancelled || request.isWritten else { return request.settle(.failure(.cancelled)) }
      if !request.isWritten {
        request.start = now
        request.isWritten = true
        wait(for: request)
      }
      request.command.write(to: &output, sendsText: request.hasText)
      underWay.append(request)
    }

    /// Has the request's limit end the wait.
    private func wait(for request: RedisRequest) {
      if let index = queues.firstIndex(where: { $0.limit == request.limit }) {
        queues[index].append(request)
      } else {
        queues.append(RedisRequestQueue(limit: request.limit))
        queues[queues.count - 1].append(request)
      }
    }

    private func answered(_ request: RedisRequest, _ reply: redisReply) {
      let answer = RedisReply(reply)
      if case .error(let text) = answer, text.hasPrefix("NOSCRIPT"), !request.hasText, request.command.script != nil {
        // It has restarted, or another one has taken over.
        request.hasText = true
        return write([request])
      }
      request.settle(.success(answer))
    }
  }
#endif
