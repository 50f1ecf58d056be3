import Combine
import Dispatch
import Foundation
import Rebound
import ReboundOutbox

/// Sends requests now or later: each is stored before it is sent, and sent until the service has it.
///
///     let outbox = RequestOutbox(
///       "orders",
///       sendingWith: client,
///       storage: FileOutboxStorage(at: file),
///       reachability: SystemReachability.shared
///     )
///     outbox.start()
///     try await outbox.enqueue(PlaceOrder(cart), key: "cart")
///
/// What is stored is what the request's own type says: method, path and query, header fields, the bytes of the body. What
/// the client adds (its address, its header fields, its limits, a credential) is added when it is sent. A request that
/// holds a credential itself, in its address or its header fields, is refused with ``RequestWithCredential``; its body is stored as
/// it is, so keep passwords out of it. Its response is nobody's to wait for, since the program may have been started anew
/// meanwhile; ``answers`` tells of all of them.
///
/// Each attempt has the entry's key in its Idempotency-Key field, so that the service knows a repetition. So a POST is sent
/// again, too. A request that says ``Idempotency/notIdempotent`` is not, after an attempt that may have arrived, but becomes
/// a dead letter; let it say so if the service does not know the field. While the storage fails, such a request waits: it is
/// sent only once it is stored that it is.
///
/// What a failure means is `OutboxVerdict.init`. The client needs no middleware that tries again; one that
/// does is only a second layer of attempts inside each of the outbox's.
public final class RequestOutbox: Sendable {
  /// An answer to a stored request.
  public struct Answer: Sendable {
    /// What was sent.
    public let entry: OutboxEntry<StoredRequest>
    /// What came back.
    public let response: HTTPResponse
  }

  /// The outbox itself: what it holds, its events, and how to take back, retry, discard, pause and close.
  public let queue: Outbox<StoredRequest>
  private let client: WebAPIClient
  private let maxBytes: Int
  private let answered: SharedSubject<PassthroughSubject<Answer, Never>>

  /// Makes an outbox; nothing happens before ``start()`` or the first request.
  ///
  /// - Parameters:
  ///   - name: What it is for, for logs.
  ///   - client: Sends the requests. Its answers are needed where it delivers them: on the main queue, unless it was made
  ///     to deliver elsewhere.
  ///   - policy: How much it holds, how often it tries, and for how long.
  ///   - storage: Where the requests are; no other outbox may have it at the same time.
  ///   - reachability: Without a network nothing is sent, and when it is back, requests go out at once. Without this, the
  ///     pauses alone decide.
  ///   - scheduler: Where it works, and whose time its pauses take. Its storage blocks it.
  ///   - judge: What a failure means for the request.
  public init<Context: Scheduler>(
    _ name: String,
    sendingWith client: WebAPIClient,
    policy: OutboxPolicy = .standard,
    storage: any OutboxStorage,
    reachability: (any Reachability)? = nil,
    scheduler: Context = DispatchQueue(label: "ReboundHTTP.Outbox", qos: .utility),
    judging judge: @escaping @Sendable (NetworkFailure) -> OutboxVerdict = { OutboxVerdict($0) }
  ) {
    let answered = SharedSubject(PassthroughSubject<Answer, Never>())
    self.client = client
    self.answered = answered
    maxBytes = policy.maxBytes
    queue = Outbox(
      name,
      policy: policy,
      storage: storage,
      online: reachability.map { $0.connectivity.map { $0 == .online }.eraseToAnyPublisher() },
      scheduler: scheduler,
      wallClock: { Date(timeIntervalSince1970: client.time.wallClock.inSeconds) },
      random: client.random,
      deliveringWith: { entry in
        deliver(entry, client, judge) {
          answered.subject.send(Answer(entry: entry, response: $0))
        }
      }
    )
    .repeating { $0.payload.isRepeatable }
  }

  /// Reads the storage and begins to send what is there; nothing happens the second time.
  public func start() {
    queue.start()
  }

  /// What the service has answered to requests of this outbox.
  ///
  /// - Demand: An answer that comes while nobody asks is dropped.
  /// - Failure: Never; nor does it finish.
  /// - Threads: Where the client delivers. An answer comes before the request is removed, so it may come twice if the
  ///   process ends in between.
  public var answers: AnyPublisher<Answer, Never> { answered.subject.eraseToAnyPublisher() }

  /// Stores a request, to be sent behind the others of its key.
  ///
  /// - Parameters:
  ///   - request: What to send. Its body is read now, on the outbox's scheduler.
  ///   - key: What it belongs to: requests of one key are sent in order, one at a time.
  ///   - options: Whether it replaces others, how long it may wait, and by what a repetition is known.
  /// - Returns: The entry, which is stored by then.
  /// - Throws: `OutboxFailure`; what is wrong with the request is in `OutboxFailure.unstorable`.
  @discardableResult
  public func enqueue(
    _ request: some Request,
    key: String,
    options: OutboxOptions = .standard
  ) async throws(OutboxFailure) -> OutboxEntry<StoredRequest> {
    try await queue.enqueue(key: key, options: known(options, by: request), making: stored(request))
  }

  /// Stores a request, to be sent behind the others of its key, once for each subscriber.
  ///
  /// - Demand: Nothing is stored before a value is requested. A cancel after that takes nothing back.
  /// - Failure: `OutboxFailure`; what is wrong with the request is in `OutboxFailure.unstorable`.
  /// - Threads: The outbox's scheduler.
  ///
  /// - Parameters:
  ///   - request: What to send.
  ///   - key: What it belongs to: requests of one key are sent in order, one at a time.
  ///   - options: Whether it replaces others, how long it may wait, and by what a repetition is known.
  public func enqueueing(
    _ request: some Request,
    key: String,
    options: OutboxOptions = .standard
  ) -> AnyPublisher<OutboxEntry<StoredRequest>, OutboxFailure> {
    queue.enqueueing(key: key, options: known(options, by: request), making: stored(request))
  }

  private func stored(_ request: some Request) -> @Sendable () throws -> StoredRequest {
    { [client, maxBytes] in
      try StoredRequest(request, redaction: client.redaction, random: client.random, limit: maxBytes)
    }
  }

  /// A key that the request has itself is the entry's.
  private func known(_ options: OutboxOptions, by request: some Request) -> OutboxOptions {
    var options = options
    guard options.idempotencyKey == nil else { return options }
    options.idempotencyKey =
      if case .key(let key) = request.idempotency { key } else { request.headers["Idempotency-Key"] }
    return options
  }
}

/// One attempt.
private func deliver(
  _ entry: OutboxEntry<StoredRequest>,
  _ client: WebAPIClient,
  _ judge: @escaping @Sendable (NetworkFailure) -> OutboxVerdict,
  whenAnswered: @escaping @Sendable (HTTPResponse) -> Void
) -> AnyPublisher<OutboxVerdict, Never> {
  // Of one attempt before this it is not known whether it arrived.
  if !entry.payload.isRepeatable, entry.attempts > 1 {
    return Just(.refused(MayHaveArrived(setback: entry.lastSetback?.text))).eraseToAnyPublisher()
  }
  let delivery: OutboxDelivery
  do {
    delivery = try OutboxDelivery(entry, below: client.baseURL)
  } catch {
    return Just(.refused(error)).eraseToAnyPublisher()
  }
  return client.publisher(for: delivery)
    .map { response -> OutboxVerdict in
      whenAnswered(response)
      return .delivered
    }
    .catch { failure -> Just<OutboxVerdict> in
      let verdict = judge(failure)
      if entry.payload.isRepeatable { return Just(verdict) }
      switch verdict {
      // What counts as no way to the service may be its own answer: a page for a browser, or what it has led on to.
      case .unreachable where failure.provesNothingWasDone, .delivered, .refused: return Just(verdict)
      // Of an attempt that counts it would not be known the next time that it has done nothing.
      case .tryLater(let error, let pause) where failure.provesNothingWasDone:
        return Just(.unreachable(error, after: pause))
      case .unreachable, .tryLater: return Just(.refused(MayHaveArrived(setback: "\(failure)")))
      }
    }
    .eraseToAnyPublisher()
}

/// A request that must not be sent twice may have arrived; so it was not sent again.
public struct MayHaveArrived: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is known of the attempt that may have arrived.
  public let setback: String?

  /// Describes what is known.
  ///
  /// - Parameter setback: What is known of the attempt that may have arrived.
  public init(setback: String?) {
    self.setback = setback
  }

  /// What happened, and what to do about it.
  public var description: String {
    """
    It may have arrived, and must not be sent twice: \(setback ?? "the process ended while it was under way"). Find out \
    whether the service has it, then retry or discard it.
    """
  }
}

extension MayHaveArrived: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "This may have arrived already, so it is not sent a second time." }
  /// What to do next, for people.
  public var recoverySuggestion: String? { "Look whether the service has it; then send it again, or discard it." }
}
