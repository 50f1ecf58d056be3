#if Redis
  /// A command that waits for its answer.
  ///
  /// Unchecked, because whoever makes it hands it to the loop's thread, which alone uses it from then on.
  package final class RedisRequest: @unchecked Sendable {
    package typealias Outcome = Result<RedisReply, RedisFailure>
    package typealias Answer = @Sendable (Outcome) -> Void

    private enum Receiver {
      case closure(Answer)
      case task(UnsafeContinuation<Void, Never>)
    }

    let command: RedisCommand
    /// How long the answer may take.
    let limit: Duration
    /// Told of an answer that comes behind a time-out or a cancel, so that what was granted can be given back.
    let late: (@Sendable (RedisReply) -> Void)?
    /// `nil` once it is answered.
    private var receiver: Receiver?
    /// When it was written to the connection.
    var start = Duration.zero
    /// Whether the script's text went with it.
    var hasText = false
    /// Whether it was written, and whether nobody waits for it any more; of the loop's thread.
    var isWritten = false
    var isCancelled = false

    package init(
      _ command: RedisCommand,
      limit: Duration,
      late: (@Sendable (RedisReply) -> Void)? = nil,
      _ answer: @escaping Answer
    ) {
      self.command = command
      self.limit = limit
      self.late = late
      receiver = .closure(answer)
    }

    /// A request for which a task will wait.
    init(_ command: RedisCommand, limit: Duration, late: (@Sendable (RedisReply) -> Void)?) {
      self.command = command
      self.limit = limit
      self.late = late
    }

    /// What a task that waits finds when it goes on.
    private(set) var outcome = Outcome.failure(.disconnected)

    /// Has a task go on when there is an ``outcome``; before the request is handed to the loop.
    ///
    /// - Parameter continuation: Resumed once, as any request is answered once: what is written by hiredis's one callback,
    ///   what is not by whoever finds that.
    func resume(_ continuation: UnsafeContinuation<Void, Never>) {
      receiver = .task(continuation)
    }

    var isAnswered: Bool { receiver == nil }

    func settle(_ outcome: Outcome) {
      guard let receiver else {
        if case .success(let reply) = outcome { late?(reply) }
        return
      }
      self.receiver = nil
      switch receiver {
      case .closure(let answer): answer(outcome)
      case .task(let continuation):
        self.outcome = outcome
        continuation.resume()
      }
    }
  }

  /// Requests in the order in which they were written.
  struct RedisRequestSequence {
    private var requests: [RedisRequest?] = []
    private var first = 0

    var count: Int { requests.count - first }

    mutating func append(_ request: RedisRequest) {
      requests.append(request)
    }

    mutating func popFirst() -> RedisRequest? {
      guard first < requests.count else { return nil }
      defer {
        requests[first] = nil
        first += 1
        if first == requests.count {
          requests.removeAll(keepingCapacity: requests.count < 65_536)
          first = 0
        } else if first > 1_024, first * 2 > requests.count {
          requests.removeFirst(first)
          first = 0
        }
      }
      return requests[first]
    }
  }

  /// Requests in the order in which they were written, whose limits are all the same.
  struct RedisRequestQueue {
    let limit: Duration
    private var requests: [RedisRequest] = []
    private var first = 0

    init(limit: Duration) {
      self.limit = limit
    }

    mutating func append(_ request: RedisRequest) {
      if first > 64, first * 2 > requests.count {
        requests.removeFirst(first)
        first = 0
      }
      requests.append(request)
    }

    /// When the first one that is not answered has waited for too long; `nil` if none waits.
    mutating func nextDeadline() -> Duration? {
      while first < requests.count, requests[first].isAnswered { first += 1 }
      guard first < requests.count else {
        requests.removeAll(keepingCapacity: requests.count < 1_024)
        first = 0
        return nil
      }
      return requests[first].start + limit
    }

    /// Takes out those that have waited for too long.
    mutating func expired(at now: Duration) -> [RedisRequest] {
      var expired: [RedisRequest] = []
      while let deadline = nextDeadline(), deadline <= now {
        expired.append(requests[first])
        first += 1
      }
      return expired
    }
  }
#endif
