import Combine
import Rebound

extension Outbox {
  /// Reads the storage and begins to deliver what is there; nothing happens the second time.
  ///
  /// Whether that succeeds is told by the events ``OutboxEvent/opened(pending:deadLetters:interrupted:damage:)`` and
  /// ``OutboxEvent/couldNotOpen(_:)``. After a failure, the next call of any kind tries again.
  public func start() {
    post(.start { _ in })
  }

  /// Reads the storage and begins to deliver what is there; nothing happens the second time.
  ///
  /// - Throws: ``OutboxFailure/storage(_:)``, with ``OutboxStorageFailure/inUse(_:)`` if another outbox has it.
  public func open() async throws(OutboxFailure) {
    try await answer { self.post(.start($0)) }
  }

  /// Stores an entry, to be delivered behind the others of its key.
  ///
  /// Storing cannot be cancelled half-way: cancelling the task has no effect. Use ``cancel(_:)`` to take an entry back.
  ///
  /// - Parameters:
  ///   - payload: What to deliver.
  ///   - key: What it belongs to: entries of one key are delivered in order.
  ///   - options: Whether it replaces others, how long it may wait, and by what a repetition is known.
  /// - Returns: The entry, which is stored by then.
  /// - Throws: ``OutboxFailure``; the entry is not stored then, unless the storage has failed in a way that nobody can
  ///   tell.
  @discardableResult
  public func enqueue(
    _ payload: Payload,
    key: String,
    options: OutboxOptions = .standard
  ) async throws(OutboxFailure) -> OutboxEntry<Payload> {
    try await enqueue(key: key, options: options) { payload }
  }

  /// Stores an entry, to be delivered behind the others of its key, once for each subscriber.
  ///
  /// - Demand: Nothing is stored before a value is requested. A cancel after that takes nothing back.
  /// - Failure: ``OutboxFailure``.
  /// - Threads: The outbox's scheduler.
  ///
  /// - Parameters:
  ///   - payload: What to deliver.
  ///   - key: What it belongs to: entries of one key are delivered in order.
  ///   - options: Whether it replaces others, how long it may wait, and by what a repetition is known.
  public func enqueueing(
    _ payload: Payload,
    key: String,
    options: OutboxOptions = .standard
  ) -> AnyPublisher<OutboxEntry<Payload>, OutboxFailure> {
    enqueueing(key: key, options: options) { payload }
  }

  /// Takes back an entry that is not delivered yet, and stops it if it is under way.
  ///
  /// - Returns: Whether it is gone, and whether it may have arrived.
  /// - Throws: ``OutboxFailure``; the entry stays then.
  @discardableResult
  public func cancel(_ id: OutboxEntryID) async throws(OutboxFailure) -> OutboxCancellation {
    try await answer { self.post(.cancel(id, $0)) }
  }

  /// Has a dead letter tried again, in its old place among those of its key, with all its attempts and time before it.
  ///
  /// Its time begins anew: its own, if it was given one (``OutboxOptions/timeToLive``), and otherwise the policy's.
  ///
  /// - Returns: Whether there is such a dead letter.
  /// - Throws: ``OutboxFailure``; it stays a dead letter then.
  @discardableResult
  public func retry(_ id: OutboxEntryID) async throws(OutboxFailure) -> Bool {
    try await answer { self.post(.revive(id, $0)) }
  }

  /// Drops a dead letter.
  ///
  /// - Returns: Whether there was such a dead letter.
  /// - Throws: ``OutboxFailure``; it stays then.
  @discardableResult
  public func discard(_ id: OutboxEntryID) async throws(OutboxFailure) -> Bool {
    try await answer { self.post(.discard(id, $0)) }
  }

  /// As ``cancel(_:)``, once for each subscriber, when a value is requested.
  public func cancelling(_ id: OutboxEntryID) -> AnyPublisher<OutboxCancellation, OutboxFailure> {
    publisher { self.post(.cancel(id, $0)) }
  }

  /// As ``retry(_:)``, once for each subscriber, when a value is requested.
  public func retrying(_ id: OutboxEntryID) -> AnyPublisher<Bool, OutboxFailure> {
    publisher { self.post(.revive(id, $0)) }
  }

  /// As ``discard(_:)``, once for each subscriber, when a value is requested.
  public func discarding(_ id: OutboxEntryID) -> AnyPublisher<Bool, OutboxFailure> {
    publisher { self.post(.discard(id, $0)) }
  }

  /// Sends nothing more until ``resume()``; what is under way goes on, and entries are still stored.
  public func pause() {
    post(.pause(true))
  }

  /// Goes on after a ``pause()``.
  public func resume() {
    post(.pause(false))
  }

  /// Ends all pauses after failures, also those that the other side has asked for: for a person who does not want to wait.
  public func deliverNow() {
    post(.wake(all: true))
  }

  /// Cancels what is under way, and leaves the storage to others; nothing is lost, and nothing more can be done with this
  /// outbox.
  public func close() async {
    // Closing cannot fail.
    _ = try? await answer { self.post(.close($0)) }
  }

  /// Stores an entry whose payload is made on the outbox's scheduler.
  package func enqueue(
    key: String,
    options: OutboxOptions,
    making make: @escaping @Sendable () throws -> Payload
  ) async throws(OutboxFailure) -> OutboxEntry<Payload> {
    try await answer { self.post(.enqueue(OutboxDraft(make: make, key: key, options: options), $0)) }
  }

  /// Stores an entry whose payload is made on the outbox's scheduler, once for each subscriber.
  package func enqueueing(
    key: String,
    options: OutboxOptions,
    making make: @escaping @Sendable () throws -> Payload
  ) -> AnyPublisher<OutboxEntry<Payload>, OutboxFailure> {
    publisher { self.post(.enqueue(OutboxDraft(make: make, key: key, options: options), $0)) }
  }

  private nonisolated(nonsending) func answer<Value: Sendable>(
    _ ask: (@escaping @Sendable (Result<Value, OutboxFailure>) -> Void) -> Void
  ) async throws(OutboxFailure) -> Value {
    let result: Result<Value, OutboxFailure> = await withCheckedContinuation { continuation in
      ask { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  private func publisher<Value: Sendable>(
    _ ask: @escaping @Sendable (@escaping @Sendable (Result<Value, OutboxFailure>) -> Void) -> Void
  ) -> AnyPublisher<Value, OutboxFailure> {
    SingleAnswer(name: "Outbox") { answer in
      ask(answer)
      return nil
    }
    .eraseToAnyPublisher()
  }
}
