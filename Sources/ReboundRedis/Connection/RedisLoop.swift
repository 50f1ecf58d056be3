#if Redis
  import CHiredis
  import Foundation
  import Rebound
  import StreamSupport

  /// The thread that carries the commands of one connection, with hiredis's asynchronous interface over epoll.
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
    private var context: UnsafeMutablePointer<redisAsyncContext>?
    private var descriptor: Int32 = -1
    /// What hiredis wants to be told of, and what epoll was told of that.
    private var (wantsRead, wantsWrite) = (false, false)
    private var (watchesRead, watchesWrite) = (false, false)
    private var reconnecting: RetryMachine<RedisFailure>?
    private var firstLoss = Duration.zero
    private var refusal: RedisFailure?
    private var unprepared = 0
    private var waiting = 0
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
        let (cancelled, isClosed) = mailbox.take(into: &batch, waiting: waiting)
        if isClosed { return finish() }
        for request in cancelled { abandon(request) }
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
      refusal = .closed
      if let context { redisAsyncFree(context) }
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
      guard event.descriptor == descriptor else { return }
      if event.can_read != 0, wantsRead, let context {
        lastAnswer = TimeSource.system.now
        redisAsyncHandleRead(context)
      }
      // The connection may be gone by now.
      if event.can_write != 0, wantsWrite, let context { redisAsyncHandleWrite(context) }
    }

    /// Writes now what can be written, and has epoll tell of the rest.
    private func flush() {
      if wantsWrite, case .ready = phase, let context { redisAsyncHandleWrite(context) }
      guard context != nil, watchesRead != wantsRead || watchesWrite != wantsWrite else { return }
      (watchesRead, watchesWrite) = (wantsRead, wantsWrite)
      rebound_epoll_modify(epoll, descriptor, watchesRead ? 1 : 0, watchesWrite ? 1 : 0)
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
        case .ready where waiting > 0: lastAnswer + settings.silenceLimit
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
        if now >= since + settings.connectLimit { give(up: .timedOut(after: settings.connectLimit)) }
      case .ready:
        if waiting > 0, now >= lastAnswer + settings.silenceLimit { give(up: .timedOut(after: settings.silenceLimit)) }
      case .stopped: break
      }
    }

    // MARK: The connection

    private func connect(_ now: Duration) {
      phase = .connecting(since: now)
      let made: UnsafeMutablePointer<redisAsyncContext>? =
        switch settings.address.endpoint {
        case .tcp(let host, let port): redisAsyncConnect(host, Int32(clamping: port))
        case .unix(let path): redisAsyncConnectUnix(path)
        }
      guard let context = made else { return lost(.connection("out of memory")) }
      guard context.pointee.err == 0 else {
        let reason = RedisFailure.connection(String(cString: rebound_redis_error(context)))
        redisAsyncFree(context)
        return lost(reason)
      }
      self.context = context
      descriptor = context.pointee.c.fd
      (watchesRead, watchesWrite, wantsRead, wantsWrite) = (false, false, false, false)
      rebound_epoll_add(epoll, descriptor, 0, 0)
      context.pointee.data = pointer
      context.pointee.ev.data = pointer
      context.pointee.ev.addRead = { RedisLoop.from($0).wantsRead = true }
      context.pointee.ev.delRead = { RedisLoop.from($0).wantsRead = false }
      context.pointee.ev.addWrite = { RedisLoop.from($0).wantsWrite = true }
      context.pointee.ev.delWrite = { RedisLoop.from($0).wantsWrite = false }
      context.pointee.ev.cleanup = { RedisLoop.from($0).connectionEnds() }
      redisAsyncSetConnectCallback(context) { context, status in
        guard status == REDIS_OK, let loop = context?.pointee.data else { return }
        RedisLoop.from(loop).prepare()
      }
    }

    /// Lives for as long as the thread, and with it every connection.
    private var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private static func from(_ pointer: UnsafeMutableRawPointer?) -> RedisLoop {
      guard let pointer else { preconditionFailure("hiredis hands back what it was given") }
      return Unmanaged.fromOpaque(pointer).takeUnretainedValue()
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
      guard case .success = result else { return }
      unprepared -= 1
      guard unprepared == 0 else { return }
      phase = .ready
      reconnecting = nil
      mailbox.open()
      tell(.ready)
    }

    private func give(up reason: RedisFailure) {
      refusal = reason
      if let context { redisAsyncFree(context) }
    }

    /// hiredis is about to free the connection; whatever waited has been answered with nothing.
    private func connectionEnds() {
      guard let context else { return }
      let reason = refusal ?? .connection(String(cString: rebound_redis_error(context)))
      rebound_epoll_remove(epoll, descriptor)
      self.context = nil
      descriptor = -1
      lost(reason)
    }

    private func lost(_ reason: RedisFailure) {
      refusal = nil
      waiting = 0
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
      if waiting == 0 { lastAnswer = now }
      for request in requests { write(request, at: now) }
    }

    private func write(_ request: RedisRequest, at now: Duration) {
      guard let context else { return request.settle(.failure(.disconnected)) }
      guard !request.isCancelled || request.isWritten else { return request.settle(.failure(.cancelled)) }
      request.start = now
      request.isWritten = true
      output.removeAll(keepingCapacity: true)
      request.command.write(to: &output, sendsText: request.hasText)
      waiting += 1
      // Taken back by the answer, which comes exactly once, also if it is that there is none.
      let retained = Unmanaged.passRetained(request).toOpaque()
      let status = output.withUnsafeBytes { bytes in
        redisAsyncFormattedCommand(
          context,
          { context, reply, request in
            guard let request, let loop = context?.pointee.data else { return }
            RedisLoop.from(loop).answered(
              Unmanaged<RedisRequest>.fromOpaque(request).takeRetainedValue(),
              reply?.assumingMemoryBound(to: redisReply.self)
            )
          },
          retained,
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
          bytes.count
        )
      }
      guard status == REDIS_OK else {
        waiting -= 1
        Unmanaged<RedisRequest>.fromOpaque(retained).release()
        return request.settle(.failure(.disconnected))
      }
      if let index = queues.firstIndex(where: { $0.limit == request.limit }) {
        queues[index].append(request)
      } else {
        queues.append(RedisRequestQueue(limit: request.limit))
        queues[queues.count - 1].append(request)
      }
    }

    private func answered(_ request: RedisRequest, _ reply: UnsafeMutablePointer<redisReply>?) {
      waiting = max(waiting - 1, 0)
      guard let reply else { return request.settle(.failure(refusal ?? .disconnected)) }
      let answer = RedisReply(reply.pointee)
      if case .error(let text) = answer, text.hasPrefix("NOSCRIPT"), !request.hasText, request.command.script != nil {
        // It has restarted, or another one has taken over.
        request.hasText = true
        return write(request, at: request.start)
      }
      request.settle(.success(answer))
    }
  }
#endif
