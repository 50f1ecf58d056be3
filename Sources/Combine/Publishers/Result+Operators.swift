extension Result.Publisher {
  /// Publishes whether a closure accepts the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func allSatisfy(_ predicate: (Success) -> Bool) -> Result<Bool, Failure>.Publisher {
    map(predicate)
  }

  /// Publishes the result of a closure, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryAllSatisfy(_ predicate: (Success) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    tryMap(predicate)
  }

  /// Publishes whether a closure accepts the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func contains(where predicate: (Success) -> Bool) -> Result<Bool, Failure>.Publisher {
    map(predicate)
  }

  /// Publishes the result of a closure, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryContains(where predicate: (Success) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    tryMap(predicate)
  }

  /// Publishes the value as an array of one.
  @inlinable
  public func collect() -> Result<[Success], Failure>.Publisher {
    map { [$0] }
  }

  /// Publishes the number one.
  @inlinable
  public func count() -> Result<Int, Failure>.Publisher {
    map { _ in 1 }
  }

  /// Publishes the same: the value is the first.
  @inlinable
  public func first() -> Result<Success, Failure>.Publisher {
    self
  }

  /// Publishes the same: the value is the last.
  @inlinable
  public func last() -> Result<Success, Failure>.Publisher {
    self
  }

  /// Publishes the same: there is no smaller value.
  ///
  /// The closure does not run.
  @inlinable
  public func min(by areInIncreasingOrder: (Success, Success) -> Bool) -> Result<Success, Failure>.Publisher {
    self
  }

  /// Publishes the same: there is no larger value.
  ///
  /// The closure does not run.
  @inlinable
  public func max(by areInIncreasingOrder: (Success, Success) -> Bool) -> Result<Success, Failure>.Publisher {
    self
  }

  /// Publishes the value, or the error of the closure.
  ///
  /// The closure runs at once, with the value twice; what it says does not count.
  @inlinable
  public func tryMin(by areInIncreasingOrder: (Success, Success) throws -> Bool) -> Result<Success, any Error>.Publisher
  {
    tryRemoveDuplicates(by: areInIncreasingOrder)
  }

  /// Publishes the value, or the error of the closure.
  ///
  /// The closure runs at once, with the value twice; what it says does not count.
  @inlinable
  public func tryMax(by areInIncreasingOrder: (Success, Success) throws -> Bool) -> Result<Success, any Error>.Publisher
  {
    tryRemoveDuplicates(by: areInIncreasingOrder)
  }

  /// Publishes a normal end alone, even for a failure.
  @inlinable
  public func ignoreOutput() -> Empty<Success, Failure> {
    Empty()
  }

  /// Publishes what a closure makes of the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func map<T>(_ transform: (Success) -> T) -> Result<T, Failure>.Publisher {
    result.map(transform).publisher
  }

  /// Publishes what a closure makes of the value, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryMap<T>(_ transform: (Success) throws -> T) -> Result<T, any Error>.Publisher {
    Result<T, any Error> { try transform(result.get()) }.publisher
  }

  /// Publishes what a closure makes of the failure.
  ///
  /// The closure runs at once.
  @inlinable
  public func mapError<E>(_ transform: (Failure) -> E) -> Result<Success, E>.Publisher where E: Error {
    result.mapError(transform).publisher
  }

  /// Publishes what a closure makes of a first result and the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: (T, Success) -> T) -> Result<T, Failure>.Publisher {
    map { nextPartialResult(initialResult, $0) }
  }

  /// Publishes what a closure makes of a first result and the value, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryReduce<T>(_ initialResult: T, _ nextPartialResult: (T, Success) throws -> T)
    -> Result<T, any Error>.Publisher
  {
    tryMap { try nextPartialResult(initialResult, $0) }
  }

  /// Publishes the same: nothing equals the value.
  ///
  /// The closure does not run.
  @inlinable
  public func removeDuplicates(by predicate: (Success, Success) -> Bool) -> Result<Success, Failure>.Publisher {
    self
  }

  /// Publishes the value, or the error of the closure.
  ///
  /// The closure runs at once, with the value twice; what it says does not count.
  @inlinable
  public func tryRemoveDuplicates(by predicate: (Success, Success) throws -> Bool)
    -> Result<Success, any Error>.Publisher
  {
    tryMap {
      _ = try predicate($0, $0)
      return $0
    }
  }

  /// Publishes the value, or another instead of a failure.
  @inlinable
  public func replaceError(with output: Success) -> Result<Success, Never>.Publisher {
    result.flatMapError { _ in .success(output) }.publisher
  }

  /// Publishes the same: there is a value, or a failure.
  @inlinable
  public func replaceEmpty(with output: Success) -> Result<Success, Failure>.Publisher {
    self
  }

  /// Publishes the same: trying again changes nothing.
  @inlinable
  public func retry(_ times: Int) -> Result<Success, Failure>.Publisher {
    self
  }

  /// Publishes what a closure makes of a first result and the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func scan<T>(_ initialResult: T, _ nextPartialResult: (T, Success) -> T) -> Result<T, Failure>.Publisher {
    reduce(initialResult, nextPartialResult)
  }

  /// Publishes what a closure makes of a first result and the value, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryScan<T>(_ initialResult: T, _ nextPartialResult: (T, Success) throws -> T)
    -> Result<T, any Error>.Publisher
  {
    tryReduce(initialResult, nextPartialResult)
  }
}

extension Result.Publisher where Failure == Never {
  /// Publishes the same, with another type for the failure that can't come.
  @inlinable
  public func setFailureType<E>(to failureType: E.Type) -> Result<Success, E>.Publisher where E: Error {
    switch result {
    case .success(let output): Result<Success, E>.Publisher(.success(output))
    }
  }
}

extension Result.Publisher where Success: Equatable {
  /// Publishes whether the value is this one.
  @inlinable
  public func contains(_ output: Success) -> Result<Bool, Failure>.Publisher {
    map { $0 == output }
  }

  /// Publishes the same: nothing equals the value.
  @inlinable
  public func removeDuplicates() -> Result<Success, Failure>.Publisher {
    self
  }
}

extension Result.Publisher where Success: Comparable {
  /// Publishes the same: there is no smaller value.
  @inlinable
  public func min() -> Result<Success, Failure>.Publisher {
    self
  }

  /// Publishes the same: there is no larger value.
  @inlinable
  public func max() -> Result<Success, Failure>.Publisher {
    self
  }
}
