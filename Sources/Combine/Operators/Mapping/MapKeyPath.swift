extension Publisher {
  /// Publishes one property of each value.
  ///
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: the property is read where the upstream sends.
  @inlinable @inline(__always)
  public func map<T>(_ keyPath: KeyPath<Output, T>) -> Publishers.MapKeyPath<Self, T> {
    Publishers.MapKeyPath(upstream: self, keyPath: keyPath)
  }

  /// Publishes two properties of each value, as a tuple.
  ///
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: the properties are read where the upstream sends.
  @inlinable @inline(__always)
  public func map<T0, T1>(
    _ keyPath0: KeyPath<Output, T0>,
    _ keyPath1: KeyPath<Output, T1>
  ) -> Publishers.MapKeyPath2<Self, T0, T1> {
    Publishers.MapKeyPath2(upstream: self, keyPath0: keyPath0, keyPath1: keyPath1)
  }

  /// Publishes three properties of each value, as a tuple.
  ///
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: the properties are read where the upstream sends.
  @inlinable @inline(__always)
  public func map<T0, T1, T2>(
    _ keyPath0: KeyPath<Output, T0>,
    _ keyPath1: KeyPath<Output, T1>,
    _ keyPath2: KeyPath<Output, T2>
  ) -> Publishers.MapKeyPath3<Self, T0, T1, T2> {
    Publishers.MapKeyPath3(upstream: self, keyPath0: keyPath0, keyPath1: keyPath1, keyPath2: keyPath2)
  }
}

extension Publishers {
  /// A publisher of one property of each upstream value.
  public struct MapKeyPath<Upstream: Publisher, Output>: Publisher {
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values whose property is published.
    public let upstream: Upstream

    /// The property.
    public let keyPath: KeyPath<Upstream.Output, Output>

    @inlinable @inline(__always)
    init(upstream: Upstream, keyPath: KeyPath<Upstream.Output, Output>) {
      self.upstream = upstream
      self.keyPath = keyPath
    }

    /// Attaches a subscriber to the upstream, through the key path.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      upstream.subscribe(
        PassThroughSubscriber(MapKeyPathMachine<Upstream.Output, Output, Failure>(keyPath), to: subscriber)
      )
    }
  }

  /// A publisher of two properties of each upstream value.
  public struct MapKeyPath2<Upstream: Publisher, Output0, Output1>: Publisher {
    /// Both properties.
    public typealias Output = (Output0, Output1)
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values whose properties are published.
    public let upstream: Upstream

    /// The first property.
    public let keyPath0: KeyPath<Upstream.Output, Output0>

    /// The second property.
    public let keyPath1: KeyPath<Upstream.Output, Output1>

    @inlinable @inline(__always)
    init(
      upstream: Upstream,
      keyPath0: KeyPath<Upstream.Output, Output0>,
      keyPath1: KeyPath<Upstream.Output, Output1>
    ) {
      self.upstream = upstream
      self.keyPath0 = keyPath0
      self.keyPath1 = keyPath1
    }

    /// Attaches a subscriber to the upstream, through the key paths.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, S.Input == (Output0, Output1) {
      upstream.subscribe(
        PassThroughSubscriber(
          MapKeyPath2Machine<Upstream.Output, Output0, Output1, Failure>(keyPath0, keyPath1),
          to: subscriber
        )
      )
    }
  }

  /// A publisher of three properties of each upstream value.
  public struct MapKeyPath3<Upstream: Publisher, Output0, Output1, Output2>: Publisher {
    /// All three properties.
    public typealias Output = (Output0, Output1, Output2)
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values whose properties are published.
    public let upstream: Upstream

    /// The first property.
    public let keyPath0: KeyPath<Upstream.Output, Output0>

    /// The second property.
    public let keyPath1: KeyPath<Upstream.Output, Output1>

    /// The third property.
    public let keyPath2: KeyPath<Upstream.Output, Output2>

    @inlinable @inline(__always)
    init(
      upstream: Upstream,
      keyPath0: KeyPath<Upstream.Output, Output0>,
      keyPath1: KeyPath<Upstream.Output, Output1>,
      keyPath2: KeyPath<Upstream.Output, Output2>
    ) {
      self.upstream = upstream
      self.keyPath0 = keyPath0
      self.keyPath1 = keyPath1
      self.keyPath2 = keyPath2
    }

    /// Attaches a subscriber to the upstream, through the key paths.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, S.Input == (Output0, Output1, Output2) {
      upstream.subscribe(
        PassThroughSubscriber(
          MapKeyPath3Machine<Upstream.Output, Output0, Output1, Output2, Failure>(keyPath0, keyPath1, keyPath2),
          to: subscriber
        )
      )
    }
  }
}

@usableFromInline
struct MapKeyPathMachine<Input, Output, Failure: Error>: PassThroughMachine {
  @usableFromInline typealias NewFailure = Failure
  @usableFromInline let keyPath: KeyPath<Input, Output>

  @inlinable @inline(__always)
  init(_ keyPath: KeyPath<Input, Output>) {
    self.keyPath = keyPath
  }

  @inlinable @inline(__always)
  func step(_ input: Input) -> Step<Output> { .emit(input[keyPath: keyPath]) }

  @usableFromInline var name: String { "ValueForKey" }
  @usableFromInline var children: [(label: String?, value: Any)] { [("keyPath", keyPath)] }
}

@usableFromInline
struct MapKeyPath2Machine<Input, Output0, Output1, Failure: Error>: PassThroughMachine {
  @usableFromInline typealias NewFailure = Failure
  @usableFromInline let keyPath0: KeyPath<Input, Output0>
  @usableFromInline let keyPath1: KeyPath<Input, Output1>

  @inlinable @inline(__always)
  init(_ keyPath0: KeyPath<Input, Output0>, _ keyPath1: KeyPath<Input, Output1>) {
    self.keyPath0 = keyPath0
    self.keyPath1 = keyPath1
  }

  @inlinable @inline(__always)
  func step(_ input: Input) -> Step<(Output0, Output1)> {
    .emit((input[keyPath: keyPath0], input[keyPath: keyPath1]))
  }

  @usableFromInline var name: String { "ValueForKeys" }
  @usableFromInline
  var children: [(label: String?, value: Any)] { [("keyPath0", keyPath0), ("keyPath1", keyPath1)] }
}

@usableFromInline
struct MapKeyPath3Machine<Input, Output0, Output1, Output2, Failure: Error>: PassThroughMachine {
  @usableFromInline typealias NewFailure = Failure
  @usableFromInline let keyPath0: KeyPath<Input, Output0>
  @usableFromInline let keyPath1: KeyPath<Input, Output1>
  @usableFromInline let keyPath2: KeyPath<Input, Output2>

  @inlinable @inline(__always)
  init(_ keyPath0: KeyPath<Input, Output0>, _ keyPath1: KeyPath<Input, Output1>, _ keyPath2: KeyPath<Input, Output2>) {
    self.keyPath0 = keyPath0
    self.keyPath1 = keyPath1
    self.keyPath2 = keyPath2
  }

  @inlinable @inline(__always)
  func step(_ input: Input) -> Step<(Output0, Output1, Output2)> {
    .emit((input[keyPath: keyPath0], input[keyPath: keyPath1], input[keyPath: keyPath2]))
  }

  @usableFromInline var name: String { "ValueForKeys" }
  @usableFromInline
  var children: [(label: String?, value: Any)] {
    [("keyPath0", keyPath0), ("keyPath1", keyPath1), ("keyPath2", keyPath2)]
  }
}
