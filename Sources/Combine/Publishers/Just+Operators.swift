extension Just {
  /// Publishes whether a closure accepts the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func allSatisfy(_ predicate: (Output) -> Bool) -> Just<Bool> {
    Just<Bool>(predicate(output))
  }

  /// Publishes the result of a closure, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryAllSatisfy(_ predicate: (Output) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    Result { try predicate(output) }.publisher
  }

  /// Publishes the value as an array of one.
  @inlinable
  public func collect() -> Just<[Output]> {
    Just<[Output]>([output])
  }

  /// Publishes what a closure makes of the value, unless that is nil.
  ///
  /// The closure runs at once.
  @inlinable
  public func compactMap<T>(_ transform: (Output) -> T?) -> Optional<T>.Publisher {
    Optional<T>.Publisher(transform(output))
  }

  /// Publishes the value: there is no smaller one.
  ///
  /// The closure does not run.
  @inlinable
  public func min(by areInIncreasingOrder: (Output, Output) -> Bool) -> Just<Output> {
    self
  }

  /// Publishes the value: there is no larger one.
  ///
  /// The closure does not run.
  @inlinable
  public func max(by areInIncreasingOrder: (Output, Output) -> Bool) -> Just<Output> {
    self
  }

  /// Publishes values before this one.
  @inlinable
  public func prepend(_ elements: Output...) -> Publishers.Sequence<[Output], Never> {
    prepend(elements)
  }

  /// Publishes the elements of a sequence before this value.
  @inlinable
  public func prepend<S>(_ elements: S) -> Publishers.Sequence<[Output], Never> where Output == S.Element, S: Sequence {
    Publishers.Sequence(sequence: Array(elements) + [output])
  }

  /// Publishes values after this one.
  @inlinable
  public func append(_ elements: Output...) -> Publishers.Sequence<[Output], Never> {
    append(elements)
  }

  /// Publishes the elements of a sequence after this value.
  @inlinable
  public func append<S>(_ elements: S) -> Publishers.Sequence<[Output], Never> where Output == S.Element, S: Sequence {
    Publishers.Sequence(sequence: [output] + Array(elements))
  }

  /// Publishes whether a closure accepts the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func contains(where predicate: (Output) -> Bool) -> Just<Bool> {
    Just<Bool>(predicate(output))
  }

  /// Publishes the result of a closure, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryContains(where predicate: (Output) throws -> Bool) -> Result<Bool, any Error>.Publisher {
    Result { try predicate(output) }.publisher
  }

  /// Publishes the number one.
  @inlinable
  public func count() -> Just<Int> {
    Just<Int>(1)
  }

  /// Publishes the value, unless as many values are dropped as there are, or more.
  @inlinable
  public func dropFirst(_ count: Int = 1) -> Optional<Output>.Publisher {
    // Trapping is what Apple's Combine does here; a negative number is a mistake in the calling code.
    precondition(
      count >= 0,
      "Combine: the count of 'dropFirst' must not be negative, but is \(count). Use zero or more."
    )
    return Optional.Publisher(count == 0 ? output : nil)
  }

  /// Publishes the value, unless a closure drops it.
  ///
  /// The closure runs at once.
  @inlinable
  public func drop(while predicate: (Output) -> Bool) -> Optional<Output>.Publisher {
    Optional.Publisher(predicate(output) ? nil : output)
  }

  /// Publishes the value: it is the first.
  @inlinable
  public func first() -> Just<Output> {
    self
  }

  /// Publishes the value if a closure accepts it.
  ///
  /// The closure runs at once.
  @inlinable
  public func first(where predicate: (Output) -> Bool) -> Optional<Output>.Publisher {
    filter(predicate)
  }

  /// Publishes the value: it is the last.
  @inlinable
  public func last() -> Just<Output> {
    self
  }

  /// Publishes the value if a closure accepts it.
  ///
  /// The closure runs at once.
  @inlinable
  public func last(where predicate: (Output) -> Bool) -> Optional<Output>.Publisher {
    filter(predicate)
  }

  /// Publishes the value if a closure accepts it.
  ///
  /// The closure runs at once.
  @inlinable
  public func filter(_ isIncluded: (Output) -> Bool) -> Optional<Output>.Publisher {
    Optional.Publisher(isIncluded(output) ? output : nil)
  }

  /// Publishes the end alone.
  @inlinable
  public func ignoreOutput() -> Empty<Output, Never> {
    Empty()
  }

  /// Publishes what a closure makes of the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func map<T>(_ transform: (Output) -> T) -> Just<T> {
    Just<T>(transform(output))
  }

  /// Publishes what a closure makes of the value, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryMap<T>(_ transform: (Output) throws -> T) -> Result<T, any Error>.Publisher {
    Result { try transform(output) }.publisher
  }

  /// Publishes the same, with another type for the failure that can't come.
  ///
  /// The closure does not run.
  @inlinable
  public func mapError<E>(_ transform: (Never) -> E) -> Result<Output, E>.Publisher where E: Error {
    Result.Publisher(.success(output))
  }

  /// Publishes the value if the index is 0.
  @inlinable
  public func output(at index: Int) -> Optional<Output>.Publisher {
    // Trapping is what Apple's Combine does here; a negative number is a mistake in the calling code.
    precondition(
      index >= 0,
      "Combine: the index of 'output(at:)' must not be negative, but is \(index). Use zero or more."
    )
    return Optional.Publisher(index == 0 ? output : nil)
  }

  /// Publishes the value if the range begins at 0, even if it is empty.
  @inlinable
  public func output<R>(in range: R) -> Optional<Output>.Publisher where R: RangeExpression, R.Bound == Int {
    Optional.Publisher(range.relative(to: 0..<Int.max).lowerBound == 0 ? output : nil)
  }

  /// Publishes the value if at least one is wanted.
  @inlinable
  public func prefix(_ maxLength: Int) -> Optional<Output>.Publisher {
    // Trapping is what Apple's Combine does here; a negative number is a mistake in the calling code.
    precondition(
      maxLength >= 0,
      "Combine: the length of 'prefix' must not be negative, but is \(maxLength). Use zero or more."
    )
    return Optional.Publisher(maxLength > 0 ? output : nil)
  }

  /// Publishes the value if a closure accepts it.
  ///
  /// The closure runs at once.
  @inlinable
  public func prefix(while predicate: (Output) -> Bool) -> Optional<Output>.Publisher {
    filter(predicate)
  }

  /// Publishes what a closure makes of a first result and the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: (T, Output) -> T) -> Result<T, Never>.Publisher {
    Result.Publisher(.success(nextPartialResult(initialResult, output)))
  }

  /// Publishes what a closure makes of a first result and the value, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryReduce<T>(_ initialResult: T, _ nextPartialResult: (T, Output) throws -> T)
    -> Result<T, any Error>.Publisher
  {
    Result { try nextPartialResult(initialResult, output) }.publisher
  }

  /// Publishes the value: nothing equals it.
  ///
  /// The closure does not run.
  @inlinable
  public func removeDuplicates(by predicate: (Output, Output) -> Bool) -> Just<Output> {
    self
  }

  /// Publishes the value, or the error of the closure.
  ///
  /// The closure runs at once, with the value twice; what it says does not count.
  @inlinable
  public func tryRemoveDuplicates(by predicate: (Output, Output) throws -> Bool) -> Result<Output, any Error>.Publisher
  {
    Result {
      _ = try predicate(output, output)
      return output
    }
    .publisher
  }

  /// Publishes the value: there is no failure to replace.
  @inlinable
  public func replaceError(with output: Output) -> Just<Output> {
    self
  }

  /// Publishes the value: it is there.
  @inlinable
  public func replaceEmpty(with output: Output) -> Just<Output> {
    self
  }

  /// Publishes the value: there is no failure to try again after.
  @inlinable
  public func retry(_ times: Int) -> Just<Output> {
    self
  }

  /// Publishes what a closure makes of a first result and the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func scan<T>(_ initialResult: T, _ nextPartialResult: (T, Output) -> T) -> Result<T, Never>.Publisher {
    reduce(initialResult, nextPartialResult)
  }

  /// Publishes what a closure makes of a first result and the value, or its error.
  ///
  /// The closure runs at once.
  @inlinable
  public func tryScan<T>(_ initialResult: T, _ nextPartialResult: (T, Output) throws -> T)
    -> Result<T, any Error>.Publisher
  {
    tryReduce(initialResult, nextPartialResult)
  }

  /// Publishes the same, with another type for the failure that can't come.
  @inlinable
  public func setFailureType<E>(to failureType: E.Type) -> Result<Output, E>.Publisher where E: Error {
    Result.Publisher(.success(output))
  }
}

extension Just where Output: Equatable {
  /// Publishes whether the value is this one.
  @inlinable
  public func contains(_ output: Output) -> Just<Bool> {
    Just<Bool>(self.output == output)
  }

  /// Publishes the value: nothing equals it.
  @inlinable
  public func removeDuplicates() -> Just<Output> {
    self
  }
}

extension Just where Output: Comparable {
  /// Publishes the value: there is no smaller one.
  @inlinable
  public func min() -> Just<Output> {
    self
  }

  /// Publishes the value: there is no larger one.
  @inlinable
  public func max() -> Just<Output> {
    self
  }
}
