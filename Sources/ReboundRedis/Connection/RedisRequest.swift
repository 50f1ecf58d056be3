#if Redis
  /// A command that waits for its answer.
  ///
  /// Unchecked, because whoever makes it hands it to the loop's thread, which alone uses it from then on.
  package final class RedisRequest: @unchecked Sendable {
    package typealias Answer = @Sendable (Result<RedisReply, RedisFailure>) -> Void

    let command: RedisCommand
    /// How long the answer may take.
    let limit: Duration
    /// Told of an answer that comes behind a time-out, so that what was granted can be given back.
    let late: (@Sendable (RedisReply) -> Void)?
    /// `nil` once it is answered.
    private var answer: Answer?
    /// When it was written to the connection.
    var start = Duration.zero
    /// Whether the script's text went with it.
    var hasText = false

    package init(
      _ command: RedisCommand,
      limit: Duration,
      late: (@Sendable (RedisReply) -> Void)? = nil,
      _ answer: @escaping Answer
    ) {
      self.command = command
      self.limit = limit
      self.late = late
      self.answer = answer
    }

    var isAnswered: Bool { answer == nil }

    func settle(_ result: Result<RedisReply, RedisFailure>) {
      guard let answer else {
        if case .success(let reply) = result { late?(reply) }
        return
      }
      self.answer = nil
      answer(result)
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
