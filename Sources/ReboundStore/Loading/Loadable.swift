/// Something that is loaded, and the way there: nothing is lost while it loads again or after it failed.
///
///     state.animal.begin()                             // loading(previous: nil, attempt: 1)
///     state.animal.fail(with: .network)                // failed(network, previous: nil, attempt: 1)
///     state.animal.begin()                             // loading(previous: nil, attempt: 1)
///     state.animal.succeed(with: "Alpaca")             // loaded("Alpaca", at: nil)
///
/// Every load has a number, its ``generation``. An answer that says for which load it is counts only if no other load
/// has begun since, so the latest wins whatever the order of the answers.
///
/// A plain value with pure transitions: it loads nothing by itself. An empty list that was loaded is not a failure, and a
/// failure is not an empty list.
public struct Loadable<Value, Failure: Error> {
  /// How far the loading is.
  public enum Phase {
    /// Nobody has asked for it.
    case idle
    /// It is being loaded; the attempt counts from 1.
    case loading(previous: Value?, attempt: Int)
    /// It is there, and when it came, if that was said.
    case loaded(Value, at: Duration?)
    /// It could not be loaded, after so many attempts.
    case failed(Failure, previous: Value?, attempt: Int)
  }

  /// How far the loading is.
  public private(set) var phase: Phase
  /// The number of the load that was begun last; zero before the first.
  public private(set) var generation = 0
  /// When the previous value came.
  private var previousCameAt: Duration?

  /// Makes something that nobody has asked for.
  public init() {
    phase = .idle
  }

  /// Makes something that is there already.
  ///
  /// - Parameters:
  ///   - value: What is there.
  ///   - time: When it came, on any clock that only grows.
  public init(_ value: Value, at time: Duration? = nil) {
    phase = .loaded(value, at: time)
  }

  // MARK: Reading

  /// The value, or while it loads again and after it failed the one before.
  public var value: Value? {
    switch phase {
    case .idle: nil
    case .loading(let previous, _), .failed(_, let previous, _): previous
    case .loaded(let value, _): value
    }
  }

  /// What it failed with, until the next load.
  public var error: Failure? {
    if case .failed(let error, _, _) = phase { error } else { nil }
  }

  /// Whether it is being loaded.
  public var isLoading: Bool {
    if case .loading = phase { true } else { false }
  }

  /// The number of the attempt that runs or was the last; zero where there is none.
  public var attempt: Int {
    switch phase {
    case .idle, .loaded: 0
    case .loading(_, let attempt), .failed(_, _, let attempt): attempt
    }
  }

  /// How old the value is; `nil` without one, or if it was not said when it came.
  public func age(at now: Duration) -> Duration? {
    switch phase {
    case .idle: nil
    case .loaded(_, let time): time.map { now - $0 }
    case .loading(let previous, _), .failed(_, let previous, _):
      previous == nil ? nil : previousCameAt.map { now - $0 }
    }
  }

  // MARK: Transitions

  /// A load begins, and outranks the one before.
  ///
  /// - Returns: Its number, for the answer.
  @discardableResult
  public mutating func begin() -> Int {
    if case .loaded(_, let time) = phase { previousCameAt = time }
    phase = .loading(previous: value, attempt: 1)
    generation += 1
    return generation
  }

  /// An attempt has failed and another one follows, as part of the same load.
  ///
  /// - Parameters:
  ///   - attempt: The number of the attempt that follows; `nil` counts on.
  ///   - generation: Of which load; `nil` stands for the latest.
  /// - Returns: Whether that load is the latest and still runs; otherwise nothing happens.
  @discardableResult
  public mutating func retry(attempt: Int? = nil, generation: Int? = nil) -> Bool {
    guard isCurrent(generation), case .loading(let previous, let last) = phase else { return false }
    phase = .loading(previous: previous, attempt: attempt ?? last + 1)
    return true
  }

  /// A load has brought a value.
  ///
  /// - Parameters:
  ///   - value: What it has brought.
  ///   - time: When, on any clock that only grows.
  ///   - generation: Of which load; `nil` stands for the latest.
  /// - Returns: Whether that load is the latest and still runs; otherwise nothing happens.
  @discardableResult
  public mutating func succeed(with value: Value, at time: Duration? = nil, generation: Int? = nil) -> Bool {
    guard isCurrent(generation), isLoading else { return false }
    phase = .loaded(value, at: time)
    return true
  }

  /// A load has failed; the value before is kept.
  ///
  /// - Returns: Whether that load is the latest and still runs; otherwise nothing happens.
  @discardableResult
  public mutating func fail(with error: Failure, generation: Int? = nil) -> Bool {
    guard isCurrent(generation), case .loading(let previous, let attempt) = phase else { return false }
    phase = .failed(error, previous: previous, attempt: attempt)
    return true
  }

  /// A load has ended, one way or the other.
  ///
  /// - Returns: Whether that load is the latest and still runs; otherwise nothing happens.
  @discardableResult
  public mutating func end(with result: Result<Value, Failure>, at time: Duration? = nil, generation: Int? = nil)
    -> Bool
  {
    switch result {
    case .success(let value): succeed(with: value, at: time, generation: generation)
    case .failure(let error): fail(with: error, generation: generation)
    }
  }

  /// The load was given up, which is no failure: the value before is there again, or nothing is.
  ///
  /// What it answers after all is dropped.
  public mutating func cancel() {
    guard case .loading(let previous, _) = phase else { return }
    phase = previous.map { .loaded($0, at: previousCameAt) } ?? .idle
  }

  /// Takes the error away: the value before is there again, or nothing is.
  ///
  /// Without an error nothing happens.
  public mutating func dismissError() {
    guard case .failed(_, let previous, _) = phase else { return }
    phase = previous.map { .loaded($0, at: previousCameAt) } ?? .idle
  }

  /// The same with a changed value, and a changed value before.
  public func map<Other>(_ transform: (Value) -> Other) -> Loadable<Other, Failure> {
    var other = Loadable<Other, Failure>()
    other.generation = generation
    other.previousCameAt = previousCameAt
    other.phase =
      switch phase {
      case .idle: .idle
      case .loading(let previous, let attempt): .loading(previous: previous.map(transform), attempt: attempt)
      case .loaded(let value, let time): .loaded(transform(value), at: time)
      case .failed(let error, let previous, let attempt):
        .failed(error, previous: previous.map(transform), attempt: attempt)
      }
    return other
  }

  private func isCurrent(_ generation: Int?) -> Bool {
    generation == nil || generation == self.generation
  }
}

extension Loadable.Phase: Equatable where Value: Equatable, Failure: Equatable {}
extension Loadable: Equatable where Value: Equatable, Failure: Equatable {}
extension Loadable.Phase: Hashable where Value: Hashable, Failure: Hashable {}
extension Loadable: Hashable where Value: Hashable, Failure: Hashable {}
extension Loadable.Phase: Sendable where Value: Sendable {}
extension Loadable: Sendable where Value: Sendable {}
extension Loadable.Phase: Codable where Value: Codable, Failure: Codable {}
extension Loadable: Codable where Value: Codable, Failure: Codable {}
