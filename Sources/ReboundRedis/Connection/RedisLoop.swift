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
    private var connection: RedisConnection?
    private var reconnecting: RetryMachine<RedisFailure>?
    private var firstLoss = Duration.zero
    private var unprepared = 0
    /// Whether there was an answer since the connection was prepared; whether it makes sense, who has it finds out.
    private var hasAnswered = false
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
        if case .ready = phase { judge(orders.mistrust) }
        for request in orders.cancelled { abandon(request) }
        writeBatch()
        do { try connection?.flush() } catch { give(up: error) }
        let deadline = nextDeadline()
        let count = rebound_epoll_wait(
          epoll,
          &ready,
          mailbox.maySleep() ? milliseconds(until: deadline, from: TimeSource.system.now) : 0
        )
        for event in ready.prefix(Int(max(count, 0))) { handle(event) }
      }
    }

    /// Gives up a connection over which nonsense has come.
    ///
    /// Only behind an answer that nobody complains of the next loss is a first one again: whoever speaks nonsense as soon as
    /// it is connected is not to be asked again and again without a longer and longer pause.
    private func judge(_ mistrust: RedisFailure?) {
      if let mistrust {
        give(up: mistrust)
      } else if hasAnswered {
        reconnecting = nil
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
      guard let connection, event.descriptor == connection.descriptor else { return }
      do throws(RedisFailure) {
        guard connection.isConnected else {
          if try connection.connect() { prepare() }
          return
        }
        if connection.mayRead(event) { try read(connection) }
      } catch {
        // What is done with an answer may have ended the connection.
        if self.connection === connection { give(up: error) }
      }
    }

    private func read(_ connection: RedisConnection) throws(RedisFailure) {
      let end: RedisFailure?
      do throws(RedisFailure) {
        try connection.read()
        end = nil
      } catch {
        end = error
      }
      let now = TimeSource.system.now
      while self.connection === connection, let reply = try connection.nextReply() {
        defer { freeReplyObject(reply) }
        lastAnswer = now
        guard let request = underWay.popFirst() else { throw .unexpected("an answer to no question") }
        if case .ready = phase { hasAnswered = true }
        answered(request, reply.pointee)
      }
      // What came before the end counts.
      if let end { throw end }
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
      guard connection?.isShakingHands == true else { return .timedOut(after: limit) }
      return .connection("TLS, the handshake: no answer within \(limit); look whether the server encrypts on this port")
    }

    // MARK: The connection

    private func connect(_ now: Duration) {
      phase = .connecting(since: now)
      do {
        connection = try RedisConnection(to: settings.address, in: epoll)
      } catch {
        lost(error)
      }
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
      if case .success(.error(var text)) = result {
        // What stands there in the server's place may repeat what it was told.
        if let password = settings.address.password, !password.isEmpty {
          text = text.replacingOccurrences(of: password, with: "…")
        }
        return give(up: .refused(text))
      }
      guard case .success(let reply) = result else { return }
      unprepared -= 1
      guard unprepared == 0 else { return }
      // Something else may listen there, or nothing: a port of this machine can be connected with itself.
      guard reply == .status("PONG") else { return give(up: .unexpected("\(reply)")) }
      phase = .ready
      hasAnswered = false
      mailbox.open()
      tell(.ready)
    }

    private func give(up reason: RedisFailure) {
      guard connection != nil else { return }
      connection = nil
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
      guard !output.isEmpty else { return }
      do { try connection?.append(output) } catch { give(up: error) }
    }

    private func encode(_ request: RedisRequest, at now: Duration) {
      guard connection != nil else { return request.settle(.failure(.disconnected)) }
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
