import Combine

/// What a publisher sends: a value, or the end.
public enum StreamEvent<Value, Failure: Error> {
  /// A value.
  case value(Value)
  /// The end, with an error.
  case failure(Failure)
  /// The end, without one.
  case finished
}

extension StreamEvent: Equatable where Value: Equatable, Failure: Equatable {}
extension StreamEvent: Hashable where Value: Hashable, Failure: Hashable {}
extension StreamEvent: Sendable where Value: Sendable {}

extension Publisher {
  /// Turns values and the end into values, to look at them, log them or build other events from them.
  ///
  ///     request.materialize().handleEvents(receiveOutput: log.write).dematerialize()
  ///
  /// - Demand: Passes up. The end is a value too, and waits until one is requested. Values beyond the demand are
  ///   dropped.
  /// - Failure: Never; n values and the end become n + 1 values, followed by the finish.
  /// - Threads: Where the upstream sends; an end that waited for a request comes where the request is made.
  public func materialize() -> some Publisher<StreamEvent<Output, Failure>, Never> {
    handle("Materialize") { value, emitter in
      emitter.sendIfRequested(.value(value))
    } completion: { end, emitter in
      if case .failure(let error) = end { emitter.send(.failure(error)) } else { emitter.send(.finished) }
      emitter.send(completion: .finished)
    }
  }

  /// Turns events back into what they stand for; undoes ``Combine/Publisher/materialize()``.
  ///
  /// - Demand: Passes up.
  /// - Failure: That of the first event that is a failure. The first event that is an end cancels the upstream, and an
  ///   upstream that finishes without one finishes this.
  /// - Threads: Where the upstream sends.
  public func dematerialize<Value, Original: Error>() -> some Publisher<Value, Original>
  where Output == StreamEvent<Value, Original>, Failure == Never {
    handle("Dematerialize") { event, emitter in
      if case .value(let value) = event {
        emitter.sendIfRequested(value)
        return
      }
      if case .failure(let error) = event { emitter.send(completion: .failure(error)) }
      emitter.send(completion: .finished)
    } completion: { _, emitter in
      emitter.send(completion: .finished)
    }
  }

  /// Only the values of a stream of events.
  ///
  /// - Demand: Passes up; what is left out is made good.
  public func values<Value, Original: Error>() -> Publishers.CompactMap<Self, Value>
  where Output == StreamEvent<Value, Original> {
    compactMap { if case .value(let value) = $0 { value } else { nil } }
  }

  /// Only the failures of a stream of events.
  ///
  /// - Demand: Passes up; what is left out is made good.
  public func failures<Value, Original: Error>() -> Publishers.CompactMap<Self, Original>
  where Output == StreamEvent<Value, Original> {
    compactMap { if case .failure(let error) = $0 { error } else { nil } }
  }

  /// Only the values of a stream of results.
  ///
  ///     let answers = username.flatMapLatestResult { service.isAvailable($0) }.share()
  ///     answers.values().assign(to: &$isAvailable)
  ///     answers.failures().map(\.localizedDescription).assign(to: &$message)
  ///
  /// - Demand: Passes up; what is left out is made good.
  public func values<Value, Original: Error>() -> Publishers.CompactMap<Self, Value>
  where Output == Result<Value, Original> {
    compactMap { if case .success(let value) = $0 { value } else { nil } }
  }

  /// Only the failures of a stream of results.
  ///
  /// - Demand: Passes up; what is left out is made good.
  public func failures<Value, Original: Error>() -> Publishers.CompactMap<Self, Original>
  where Output == Result<Value, Original> {
    compactMap { if case .failure(let error) = $0 { error } else { nil } }
  }
}
