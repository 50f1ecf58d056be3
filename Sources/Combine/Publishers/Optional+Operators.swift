extension Optional.Publisher {
  /// Publishes whether a closure accepts the value, or nothing without one.
  ///
  /// The closure runs at once.
  @inlinable
  public func allSatisfy(_ predicate: (Wrapped) -> Bool) -> Optional<Bool>.Publisher {
    Optional<Bool>.Publisher(output.map(predicate))
  }

  /// Publishes the value as an array of one, or an empty array.
  @inlinable
  public func collect() -> Optional<[Wrapped]>.Publisher {
    Optional<[Wrapped]>.Publisher(output.map { [$0] } ?? [])
  }

  /// Publishes what a closure makes of the value, unless that is nil.
  ///
  /// The closure runs at once.
  @inlinable
  public func compactMap<T>(_ transform: (Wrapped) -> T?) -> Optional<T>.Publisher {
    Optional<T>.Publisher(output.flatMap(transform))
  }

  /// Publishes the same: there is no smaller value.
  ///
  /// The closure does not run.
  @inlinable
  public func min(by areInIncreasingOrder: (Wrapped, Wrapped) -> Bool) -> Optional<Wrapped>.Publisher {
    self
  }

  /// Publishes the same: there is no larger value.
  ///
  /// The closure does not run.
  @inlinable
  public func max(by areInIncreasingOrder: (Wrapped, Wrapped) -> Bool) -> Optional<Wrapped>.Publisher {
    self
  }

  /// Publishes whether a closure accepts the value, or nothing without one.
  ///
  /// The closure runs at once.
  @inlinable
  public func contains(where predicate: (Wrapped) -> Bool) -> Optional<Bool>.Publisher {
    Optional<Bool>.Publisher(output.map(predicate))
  }

  /// Publishes the number one, or nothing without a value.
  @inlinable
  public func count() -> Optional<Int>.Publisher {
    Optional<Int>.Publisher(output.map { _ in 1 })
  }

  /// Publishes the value, unless as many values are dropped as there are, or more.
  @inlinable
  public func dropFirst(_ count: Int = 1) -> Optional<Wrapped>.Publisher {
    // Trapping is what Apple's Combine does here; a negative number is a mistake in the calling code.
    precondition(
      count >= 0,
      "Combine: the count of 'dropFirst' must not be negative, but is \(count). Use zero or more."
    )
    return count == 0 ? self : Optional.Publisher(nil)
  }

  /// Publishes the value, unless a closure drops it.
  ///
  /// The closure runs at once.
  @inlinable
  public func drop(while predicate: (Wrapped) -> Bool) -> Optional<Wrapped>.Publisher {
    filter { !predicate($0) }
  }

  /// Publishes the same: the value is the first.
  @inlinable
  public func first() -> Optional<Wrapped>.Publisher {
    self
  }

  /// Publishes the value if a closure accepts it.
  ///
  /// The closure runs at once.
  @inlinable
  public func first(where predicate: (Wrapped) -> Bool) -> Optional<Wrapped>.Publisher {
    filter(predicate)
  }

  /// Publishes the same: the value is the last.
  @inlinable
  public func last() -> Optional<Wrapped>.Publisher {
    self
  }

  /// Publishes the value if a closure accepts it.
  ///
  /// The closure runs at once.
  @inlinable
  public func last(where predicate: (Wrapped) -> Bool) -> Optional<Wrapped>.Publisher {
    filter(predicate)
  }

  /// Publishes the value if a closure accepts it.
  ///
  /// The closure runs at once.
  @inlinable
  public func filter(_ isIncluded: (Wrapped) -> Bool) -> Optional<Wrapped>.Publisher {
    Optional.Publisher(output.flatMap { isIncluded($0) ? $0 : nil })
  }

  /// Publishes the end alone.
  @inlinable
  public func ignoreOutput() -> Empty<Wrapped, Never> {
    Empty()
  }

  /// Publishes what a closure makes of the value.
  ///
  /// The closure runs at once.
  @inlinable
  public func map<T>(_ transform: (Wrapped) -> T) -> Optional<T>.Publisher {
    Optional<T>.Publisher(output.map(transform))
  }

  /// Publishes the value if the index is 0.
  @inlinable
  public func output(at index: Int) -> Optional<Wrapped>.Publisher {
    // Trapping is what Apple's Combine does here; a negative number is a mistake in the calling code.
    precondition(
      index >= 0,
      "Combine: the index of 'output(at:)' must not be negative, but is \(index). Use zero or more."
    )
    return index == 0 ? self : Optional.Publisher(nil)
  }

  /// Publishes the value if 0 is in the range.
  @inlinable
  public func output<R>(in range: R) -> Optional<Wrapped>.Publisher where R: RangeExpression, R.Bound == Int {
    let range = range.relative(to: 0..<Int.max)
    // Trapping on both is what Apple's Combine does here, for a range without end, too.
    precondition(
      range.lowerBound >= 0 && range.upperBound < Int.max - 1,
      "Combine: 'output(in:)' of an Optional.Publisher can't use \(range). Begin at zero or above, and name an end."
    )
    return range.contains(0) ? self : Optional.Publisher(nil)
  }

  /// Publishes the value if at least one is wanted.
  @inlinable
  public func prefix(_ maxLength: Int) -> Optional<Wrapped>.Publisher {
    // Trapping is what Apple's Combine does here; a negative number is a mistake in the calling code.
    precondition(
      maxLength >= 0,
      "Combine: the length of 'prefix' must not be negative, but is \(maxLength). Use zero or more."
    )
    return maxLength > 0 ? self : Optional.Publisher(nil)
  }

  /// Publishes the value if a closure accepts it.
  ///
  /// The closure runs at once.
  @inlinable
  public func prefix(while predicate: (Wrapped) -> Bool) -> Optional<Wrapped>.Publisher {
    filter(predicate)
  }

  /// Publishes what a closure makes of a first result and the value, or nothing without a value.
  ///
  /// The closure runs at once.
  @inlinable
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: (T, Wrapped) -> T) -> Optional<T>.Publisher {
    map { nextPartialResult(initialResult, $0) }
  }

  /// Publishes the same: nothing equals the value.
  ///
  /// The closure does not run.
  @inlinable
  public func removeDuplicates(by predicate: (Wrapped, Wrapped) -> Bool) -> Optional<Wrapped>.Publisher {
    self
  }

  /// Publishes the same: there is no failure to replace.
  @inlinable
  public func replaceError(with output: Wrapped) -> Optional<Wrapped>.Publisher {
    self
  }

  /// Publishes the value, or another without one.
  @inlinable
  public func replaceEmpty(with output: Wrapped) -> Just<Wrapped> {
    Just<Wrapped>(self.output ?? output)
  }

  /// Publishes the same: there is no failure to try again after.
  @inlinable
  public func retry(_ times: Int) -> Optional<Wrapped>.Publisher {
    self
  }

  /// Publishes what a closure makes of a first result and the value, or nothing without a value.
  ///
  /// The closure runs at once.
  @inlinable
  public func scan<T>(_ initialResult: T, _ nextPartialResult: (T, Wrapped) -> T) -> Optional<T>.Publisher {
    reduce(initialResult, nextPartialResult)
  }
}

extension Optional.Publisher where Wrapped: Equatable {
  /// Publishes whether the value is this one, or nothing without one.
  @inlinable
  public func contains(_ output: Wrapped) -> Optional<Bool>.Publisher {
    Optional<Bool>.Publisher(self.output.map { $0 == output })
  }

  /// Publishes the same: nothing equals the value.
  @inlinable
  public func removeDuplicates() -> Optional<Wrapped>.Publisher {
    self
  }
}

extension Optional.Publisher where Wrapped: Comparable {
  /// Publishes the same: there is no smaller value.
  @inlinable
  public func min() -> Optional<Wrapped>.Publisher {
    self
  }

  /// Publishes the same: there is no larger value.
  @inlinable
  public func max() -> Optional<Wrapped>.Publisher {
    self
  }
}
