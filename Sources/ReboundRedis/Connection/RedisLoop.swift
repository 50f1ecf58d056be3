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
    private struct Mailbox {
      var requests: [RedisRequest] = []
      var isReady = false
      var isClosed = false
      /// How many are written and wait for an answer, as the loop knew when it was here last.
      var waiting = 0
    }

    private enum Phase {
      case waiting(until: Duration)
      case connecting(since: Duration)
      case ready
      case stopped
    }

    private let mailbox = Locked(Mailbox())
    private let settings: Settings
    private let tell: @Sendable (Status) -> Void
    private let wakeup = rebound_eventfd_create()
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

    package init(_ settings: Settings, telling tell: @escaping @Sendable (Status) -> Void) {
      self.settings = settings
      self.tell = tell
      rebound_epoll_add(epoll, wakeup, 1, 0)
    }

    package func start() {
      let thread = Thread { self.run() }
      thread.name = "rebound.redis"
      thread.start()
    }

    // MARK: Other threads

    /// Leaves a request to the thread, or fails it at once if there is no connection.
    package func post(_ request: RedisRequest) {
      let failure: RedisFailure? = mailbox.withLock { mailbox in
        guard mailbox.isReady else { return mailbox.isClosed ? .closed : .disconnected }
        let waiting = mailbox.waiting + mailbox.requests.count
        guard waiting < settings.maxWaiting else { return .overloaded(waiting: waiting) }
        // Whoever left the first has woken it.
        if mailbox.requests.isEmpty { rebound_eventfd_raise(wakeup) }
        mailbox.requests.append(request)
        return nil
      }
      if let failure { request.settle(.failure(failure)) }
    }

    /// Ends the thread; what is under way fails.
    package func close() {
      mailbox.withLock { mailbox in
        mailbox.isClosed = true
        mailbox.isReady = false
        rebound_eventfd_raise(wakeup)
      }
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
        let now = TimeSource.system.now
        advance(now)
        let (requests, isClosed) = takeRequests()
        if isClosed { return finish(requests) }
        write(requests)
        flush()
        let count = rebound_epoll_wait(epoll, &ready, milliseconds(until: nextDeadline(), from: TimeSource.system.now))
        for event in ready.prefix(Int(max(count, 0))) { handle(event) }
      }
    }

    private func finish(_ requests: [RedisRequest]) {
      phase = .stopped
      refusal = .closed
      if let context { redisAsyncFree(context) }
      for request in requests { request.settle(.failure(.closed)) }
      Glibc.close(epoll)
      Glibc.close(wakeup)
    }

    private func takeRequests() -> ([RedisRequest], isClosed: Bool) {
      mailbox.withLock { mailbox in
        let requests = mailbox.requests
        mailbox.requests = []
        mailbox.waiting = waiting + requests.count
        return (requests, mailbox.isClosed)
      }
    }

    private func handle(_ event: rebound_epoll_ready) {
      guard event.descriptor != wakeup else { return rebound_eventfd_clear(wakeup) }
      guard event.descriptor == descriptor else { return }
      if event.can_read != 0, wantsRead, let context { redisAsyncHandleRead(context) }
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
      var deadlines: [Duration] = []
      switch phase {
      case .waiting(let until): deadlines.append(until)
      case .connecting(let since): deadlines.append(since + settings.connectLimit)
      case .ready: if waiting > 0 { deadlines.append(lastAnswer + settings.silenceLimit) }
      case .stopped: break
      }
      for index in queues.indices {
        if let deadline = queues[index].nextDeadline() { deadlines.append(deadline) }
      }
      return deadlines.min()
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
      mailbox.withLock { $0.isReady = !$0.isClosed }
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
      let left = mailbox.withLock { mailbox in
        mailbox.isReady = false
        defer { mailbox.requests = [] }
        return mailbox.requests
      }
      for request in left { request.settle(.failure(.disconnected)) }
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

    private func write(_ requests: [RedisRequest]) {
      guard !requests.isEmpty else { return }
      let now = TimeSource.system.now
      if waiting == 0 { lastAnswer = now }
      for request in requests { write(request, at: now) }
    }

    private func write(_ request: RedisRequest, at now: Duration) {
      guard let context else { return request.settle(.failure(.disconnected)) }
      request.start = now
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
      lastAnswer = TimeSource.system.now
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
