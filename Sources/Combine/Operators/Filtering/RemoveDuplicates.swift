extension Publisher {
  /// Publishes the values that differ from the one published before.
  ///
  /// - Demand: passes as it is; each value left out asks for one more.
  /// - Failure: passes as it is.
  /// - Threads: values are compared where the upstream sends.
  @inlinable @inline(__always)
  public func removeDuplicates() -> Publishers.RemoveDuplicates<Self> where Output: Equatable {
    removeDuplicates(by: ==)
  }

  /// Publishes the values that a closure tells from the one published before.
  ///
  /// - Parameter predicate: takes the last value published and a new one, and says whether they count as equal.
  /// - Demand: passes as it is; each value left out asks for one more.
  /// - Failure: passes as it is.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func removeDuplicates(
    by predicate: @escaping (Output, Output) -> Bool
  ) -> Publishers.RemoveDuplicates<Self> {
    Publishers.RemoveDuplicates(upstream: self, predicate: predicate)
  }

  /// Publishes the values that a closure tells from the one published before, and fails if it throws.
  ///
  /// - Parameter predicate: takes the last value published and a new one, and says whether they count as equal.
  /// - Demand: passes as it is; each value left out asks for one more.
  /// - Failure: an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryRemoveDuplicates(
    by predicate: @escaping (Output, Output) throws -> Bool
  ) -> Publishers.TryRemoveDuplicates<Self> {
    Publishers.TryRemoveDuplicates(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// A publisher of the upstream values that differ from the one published before.
  public struct RemoveDuplicates<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to compare.
    public let upstream: Upstream

    /// Says whether the last value published and a new one count as equal.
    public let predicate: (Output, Output) -> Bool

    /// Makes a publisher that leaves out repeated values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, predicate: @escaping (Output, Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(
        MachineSubscriber(
          RemoveDuplicatesMachine<Output, Total<Failure>>("RemoveDuplicates", predicate),
          remembering: nil,
          to: subscriber
        )
      )
    }
  }

  /// A publisher of the upstream values that a closure, which may throw, tells from the one published before.
  public struct TryRemoveDuplicates<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values to compare.
    public let upstream: Upstream

    /// Says whether the last value published and a new one count as equal, or throws.
    public let predicate: (Output, Output) throws -> Bool

    /// Makes a publisher that leaves out repeated values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, predicate: @escaping (Output, Output) throws -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, S.Failure == any Error {
      upstream.subscribe(
        MachineSubscriber(
          RemoveDuplicatesMachine<Output, Partial<Upstream.Failure>>("TryRemoveDuplicates", predicate),
          remembering: nil,
          to: subscriber
        )
      )
    }
  }
}

/// Remembers the last value published, and skips one that the predicate calls equal to it.
@usableFromInline
struct RemoveDuplicatesMachine<Input, Failures: FailureFlow>: Machine {
  @usableFromInline let name: String
  @usableFromInline let areEqual: (Input, Input) throws(Failures.Thrown) -> Bool

  @inlinable @inline(__always)
  init(_ name: String, _ areEqual: @escaping (Input, Input) throws(Failures.Thrown) -> Bool) {
    self.name = name
    self.areEqual = areEqual
  }

  @inlinable @inline(__always)
  func step(_ last: Input?, _ input: Input) throws(Failures.Thrown) -> (Step<Input>, Input?) {
    guard let last else { return (.emit(input), input) }
    return try areEqual(last, input) ? (.skip, last) : (.emit(input), input)
  }

  @usableFromInline
  func children(of last: Input?) -> [(label: String?, value: Any)] { [("last", last as Any)] }
}
