import Combine
import Foundation
import Rebound
import StreamSupport

extension WebAPIClient {
  /// The events that a server sends, over as many connections as it takes (HTML Standard, "Server-sent events").
  ///
  ///     client.events(for: Prices()).sink { print($0) } receiveValue: { event in print(event) }
  ///
  /// A connection that breaks or is closed is made again, after the pause that the policy and the server ask for, and
  /// the server is told the last id that has come, so that it can go on from there. Credentials, breakers and
  /// adaptations have their part in it; cache, retries and deadlines do not. Redirects are not followed.
  ///
  /// - Parameters:
  ///   - request: Where the stream is. Without limits of its own it may be silent for ever.
  ///   - policy: When a connection is made again; events in between start its count and back-off afresh.
  ///
  /// - Demand: The connection is made on subscription. While events wait that were not requested, the transport pauses.
  /// - Failure: What the policy does not take up again; a refusal by status, or another media type, for one. It comes when the
  ///   body of that answer has ended, or 10 s after its head.
  /// - Threads: As ``publisher(for:)``; its `values` wait for that, too, and ``eventSequence(of:reconnecting:)`` does not.
  public func events<R: Request>(
    for request: R,
    reconnecting policy: RetryPolicy<NetworkFailure> = .reconnecting
  ) -> AnyPublisher<ServerSentEvent, NetworkFailure> {
    scheduled(Deferred { self.stream(request, policy) })
  }

  /// The events that a server sends, for an asynchronous function; see ``events(for:reconnecting:)``.
  ///
  ///     for try await event in client.eventSequence(of: Prices()) { print(event) }
  ///
  /// - Parameters:
  ///   - request: Where the stream is. Without limits of its own it may be silent for ever.
  ///   - policy: When a connection is made again; events in between start its count and back-off afresh.
  ///
  /// - Demand: The connection is made when the loop begins. While an event is worked on and others wait, the transport pauses.
  /// - Failure: As ``events(for:reconnecting:)``, and ``NetworkFailure/Kind-swift.enum/cancelled`` if the task is cancelled.
  /// - Threads: It waits for no queue, and the function goes on where it was.
  public func eventSequence<R: Request>(
    of request: R,
    reconnecting policy: RetryPolicy<NetworkFailure> = .reconnecting
  ) -> ResponseSequence<ServerSentEvent> {
    ResponseSequence(of: request.operation) { stream(request, policy) }
  }

  private func stream<R: Request>(
    _ request: R,
    _ policy: RetryPolicy<NetworkFailure>
  ) -> AnyPublisher<ServerSentEvent, NetworkFailure> {
    let parts = RequestParts(request, request.parser)
    let context = context(for: parts, observer)
    var prepared: HTTPRequest
    do {
      prepared = try prepare(parts, limits: TransportLimits(connect: .seconds(10)), context)
    } catch {
      return Fail(error: unprepared(parts, context, error)).eraseToAnyPublisher()
    }
    // What is read as it comes takes no memory, however long it goes on; a single event has a limit of its own.
    prepared.message.limits.responseBytes = nil
    prepared.message.headers.set(["Accept": "text/event-stream", "Cache-Control": "no-store"])
    context.tell(.began(prepared.message))
    let (first, memory) = (prepared, StreamMemory())
    let attempts = Counter()
    return Deferred {
      var attempt = first.attempt(attempts.next())
      let lastEventID = HTTPHeaders.Field("Last-Event-ID", memory.lastEventID)
      if !lastEventID.value.isEmpty, lastEventID.isValid {
        attempt.message.headers[lastEventID.name] = lastEventID.value
      }
      return connection(attempt, memory)
    }
    .retry(RetryPolicy.http(policy).onEvent { context.learn($0) }, time: time)
    .mapError { context.ended(with: context.last($0)) }
    .handleEvents(
      receiveCompletion: { if case .failure(let failure) = $0 { context.tell(.failed(failure)) } },
      receiveCancel: { context.tell(.cancelled) }
    )
    .eraseToAnyPublisher()
  }

  /// One connection: what stands next to the network opens it, and then its events are read.
  private func connection(
    _ request: HTTPRequest,
    _ memory: StreamMemory
  ) -> AnyPublisher<ServerSentEvent, NetworkFailure> {
    let current = CurrentReader()
    let network: @Sendable (HTTPRequest) -> HTTPAnswer = { [transport] request in
      // Whoever has changed it on the way.
      if let failure = request.invalidField { return Fail(error: failure).eraseToAnyPublisher() }
      return SingleAnswer(name: "Opening") { answer in
        let reader = current.renew(EventReader(request, memory))
        let opening = Opening(reader)
        reader.open(over: transport) { result in
          // From here on the connection belongs to whoever reads it.
          opening.opened()
          answer(result)
        }
        return opening
      }
      .eraseToAnyPublisher()
    }
    let chain = middleware.filter { $0.place >= .authentication }.reversed().reduce(network) { next, middleware in
      { @Sendable request in middleware.answer(request, next: next) }
    }
    return chain(request).map { _ in EventPublisher(reader: current.reader) }
      .switchToLatest()
      .eraseToAnyPublisher()
  }
}

extension RetryPolicy<NetworkFailure> {
  /// For ever, after 1 s at first and half a minute at last, with full jitter, afresh after each event; later if the server
  /// asks for it, however much later.
  public static var reconnecting: RetryPolicy {
    RetryPolicy(
      clamping: nil,
      backoff: .exponential(from: .seconds(1), upTo: .seconds(30)),
      maxHint: .longestDelay
    )
    .countingInARow()
  }
}

/// The reader of the connection that was opened last.
private final class CurrentReader: Sendable {
  private let current = Locked<EventReader?>(nil)

  var reader: EventReader? { current.withLock { $0 } }

  func renew(_ reader: EventReader) -> EventReader {
    withExtendedLifetime(current.exchange(reader)) {}
    return reader
  }
}

/// A connection that is being opened.
private final class Opening: Cancellable, Sendable {
  private let reader: EventReader
  private let isOpen = Locked(false)

  init(_ reader: EventReader) {
    self.reader = reader
  }

  func opened() { isOpen.withLock { $0 = true } }

  func cancel() {
    if !isOpen.withLock({ $0 }) { reader.cancel() }
  }
}

/// The events of an open connection.
private struct EventPublisher: Publisher {
  typealias Output = ServerSentEvent
  typealias Failure = NetworkFailure

  let reader: EventReader?

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    guard let reader else {
      return Empty().receive(subscriber: subscriber)
    }
    subscriber.receive(subscription: Reading(reader))
    reader.read(into: .init(receive: { subscriber.receive($0) }, end: { subscriber.receive(completion: $0) }))
  }
}

private final class Reading: Subscription, CustomStringConvertible {
  private let reader: EventReader

  init(_ reader: EventReader) {
    self.reader = reader
  }

  var description: String { "Events" }

  func request(_ demand: Subscribers.Demand) {
    if demand > .none { reader.ask(for: demand) }
  }

  func cancel() {
    reader.cancel()
  }
}
