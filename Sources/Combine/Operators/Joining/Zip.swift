import StreamSupport
import Synchronization

extension Publisher {
  /// Publishes the values of this publisher and of another publisher together, one of each, in the order in which they came.
  ///
  /// A value waits until all others have one for it, however many that may be. The stream finishes when a publisher
  /// has finished whose values are used up; the others are cancelled then.
  ///
  /// - Demand: passes to all as it is, and a row that is complete is always delivered.
  /// - Failure: the first failure cancels the others, drops what waits and ends the stream.
  /// - Threads: a row arrives where its last value is sent, one at a time.
  /// - Complexity: constant for each value on average, also when one publisher is far ahead.
  @inlinable @inline(__always)
  public func zip<P>(_ other: P) -> Publishers.Zip<Self, P>
  where P: Publisher, Failure == P.Failure {
    Publishers.Zip(self, other)
  }

  /// Publishes what a closure makes of this publisher's values and those of another publisher, taken one each, in order.
  ///
  /// - Demand, failure and threads: as without the closure, which runs where the row is completed.
  @inlinable @inline(__always)
  public func zip<P, T>(
    _ other: P,
    _ transform: @escaping (Output, P.Output) -> T
  ) -> Publishers.Map<Publishers.Zip<Self, P>, T>
  where P: Publisher, Failure == P.Failure {
    Publishers.Map(upstream: zip(other)) { transform($0.0, $0.1) }
  }

  /// Publishes the values of this publisher and of two other publishers together, one of each, in the order in which they came.
  ///
  /// A value waits until all others have one for it, however many that may be. The stream finishes when a publisher
  /// has finished whose values are used up; the others are cancelled then.
  ///
  /// - Demand: passes to all as it is, and a row that is complete is always delivered.
  /// - Failure: the first failure cancels the others, drops what waits and ends the stream.
  /// - Threads: a row arrives where its last value is sent, one at a time.
  /// - Complexity: constant for each value on average, also when one publisher is far ahead.
  @inlinable @inline(__always)
  public func zip<P, Q>(_ publisher1: P, _ publisher2: Q) -> Publishers.Zip3<Self, P, Q>
  where P: Publisher, Failure == P.Failure, Q: Publisher, P.Failure == Q.Failure {
    Publishers.Zip3(self, publisher1, publisher2)
  }

  /// Publishes what a closure makes of this publisher's values and those of two other publishers, taken one each, in order.
  ///
  /// - Demand, failure and threads: as without the closure, which runs where the row is completed.
  @inlinable @inline(__always)
  public func zip<P, Q, T>(
    _ publisher1: P,
    _ publisher2: Q,
    _ transform: @escaping (Output, P.Output, Q.Output) -> T
  ) -> Publishers.Map<Publishers.Zip3<Self, P, Q>, T>
  where P: Publisher, Failure == P.Failure, Q: Publisher, P.Failure == Q.Failure {
    Publishers.Map(upstream: zip(publisher1, publisher2)) { transform($0.0, $0.1, $0.2) }
  }

  /// Publishes the values of this publisher and of three other publishers together, one of each, in the order in which they came.
  ///
  /// A value waits until all others have one for it, however many that may be. The stream finishes when a publisher
  /// has finished whose values are used up; the others are cancelled then.
  ///
  /// - Demand: passes to all as it is, and a row that is complete is always delivered.
  /// - Failure: the first failure cancels the others, drops what waits and ends the stream.
  /// - Threads: a row arrives where its last value is sent, one at a time.
  /// - Complexity: constant for each value on average, also when one publisher is far ahead.
  @inlinable @inline(__always)
  public func zip<P, Q, R>(_ publisher1: P, _ publisher2: Q, _ publisher3: R) -> Publishers.Zip4<Self, P, Q, R>
  where P: Publisher, Failure == P.Failure, Q: Publisher, P.Failure == Q.Failure, R: Publisher, Q.Failure == R.Failure {
    Publishers.Zip4(self, publisher1, publisher2, publisher3)
  }

  /// Publishes what a closure makes of this publisher's values and those of three other publishers, taken one each, in order.
  ///
  /// - Demand, failure and threads: as without the closure, which runs where the row is completed.
  @inlinable @inline(__always)
  public func zip<P, Q, R, T>(
    _ publisher1: P,
    _ publisher2: Q,
    _ publisher3: R,
    _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
  ) -> Publishers.Map<Publishers.Zip4<Self, P, Q, R>, T>
  where P: Publisher, Failure == P.Failure, Q: Publisher, P.Failure == Q.Failure, R: Publisher, Q.Failure == R.Failure {
    Publishers.Map(upstream: zip(publisher1, publisher2, publisher3)) { transform($0.0, $0.1, $0.2, $0.3) }
  }
}

extension Publishers {
  /// A publisher of rows of two, one value of each of its publishers.
  public struct Zip<A: Publisher, B: Publisher>: Publisher
  where A.Failure == B.Failure {
    /// One value of each publisher.
    public typealias Output = (A.Output, B.Output)
    /// Fails as any of the publishers does.
    public typealias Failure = A.Failure

    /// The first publisher.
    public let a: A

    /// The second publisher.
    public let b: B

    /// Makes a publisher of rows of two.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B) {
      self.a = a
      self.b = b
    }

    /// Attaches to the publishers in order, and hands the subscriber its subscription when it has all of theirs.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where B.Failure == S.Failure, S.Input == (A.Output, B.Output), S: Subscriber {
      typealias Buffers = InputBuffers2<Queue<A.Output>, Queue<B.Output>>
      let parent = ZipSubscription<Buffers, S>(upstreamCount: 2, to: subscriber)
      a.subscribe(JoinInput(Buffers.SlotA.self, of: parent))
      b.subscribe(JoinInput(Buffers.SlotB.self, of: parent))
    }
  }

  /// A publisher of rows of three, one value of each of its publishers.
  public struct Zip3<A: Publisher, B: Publisher, C: Publisher>: Publisher
  where A.Failure == B.Failure, B.Failure == C.Failure {
    /// One value of each publisher.
    public typealias Output = (A.Output, B.Output, C.Output)
    /// Fails as any of the publishers does.
    public typealias Failure = A.Failure

    /// The first publisher.
    public let a: A

    /// The second publisher.
    public let b: B

    /// The third publisher.
    public let c: C

    /// Makes a publisher of rows of three.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B, _ c: C) {
      self.a = a
      self.b = b
      self.c = c
    }

    /// Attaches to the publishers in order, and hands the subscriber its subscription when it has all of theirs.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where C.Failure == S.Failure, S.Input == (A.Output, B.Output, C.Output), S: Subscriber {
      typealias Buffers = InputBuffers3<Queue<A.Output>, Queue<B.Output>, Queue<C.Output>>
      let parent = ZipSubscription<Buffers, S>(upstreamCount: 3, to: subscriber)
      a.subscribe(JoinInput(Buffers.SlotA.self, of: parent))
      b.subscribe(JoinInput(Buffers.SlotB.self, of: parent))
      c.subscribe(JoinInput(Buffers.SlotC.self, of: parent))
    }
  }

  /// A publisher of rows of four, one value of each of its publishers.
  public struct Zip4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
  where A.Failure == B.Failure, B.Failure == C.Failure, C.Failure == D.Failure {
    /// One value of each publisher.
    public typealias Output = (A.Output, B.Output, C.Output, D.Output)
    /// Fails as any of the publishers does.
    public typealias Failure = A.Failure

    /// The first publisher.
    public let a: A

    /// The second publisher.
    public let b: B

    /// The third publisher.
    public let c: C

    /// The fourth publisher.
    public let d: D

    /// Makes a publisher of rows of four.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B, _ c: C, _ d: D) {
      self.a = a
      self.b = b
      self.c = c
      self.d = d
    }

    /// Attaches to the publishers in order, and hands the subscriber its subscription when it has all of theirs.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where D.Failure == S.Failure, S.Input == (A.Output, B.Output, C.Output, D.Output), S: Subscriber {
      typealias Buffers = InputBuffers4<Queue<A.Output>, Queue<B.Output>, Queue<C.Output>, Queue<D.Output>>
      let parent = ZipSubscription<Buffers, S>(upstreamCount: 4, to: subscriber)
      a.subscribe(JoinInput(Buffers.SlotA.self, of: parent))
      b.subscribe(JoinInput(Buffers.SlotB.self, of: parent))
      c.subscribe(JoinInput(Buffers.SlotC.self, of: parent))
      d.subscribe(JoinInput(Buffers.SlotD.self, of: parent))
    }
  }
}

extension Publishers.Zip: Equatable where A: Equatable, B: Equatable {}
extension Publishers.Zip3: Equatable where A: Equatable, B: Equatable, C: Equatable {}
extension Publishers.Zip4: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable {}

/// Keeps in queues what has no partner yet.
@usableFromInline
final class ZipSubscription<Buffers: InputBuffers, Downstream: Subscriber>: Join<Buffers, Downstream>, JoinParent
where Downstream.Input == Buffers.Output {
  @usableFromInline typealias Failure = Downstream.Failure

  @inlinable @inline(__always)
  override init(upstreamCount: Int, to downstream: Downstream) {
    super.init(upstreamCount: upstreamCount, to: downstream)
  }

  @inlinable @inline(__always)
  func receive<S: InputSlot>(_ input: S.Input, at slot: S.Type) -> Subscribers.Demand where S.Buffers == Buffers {
    guard enter() else {
      return delegate({ [self] in receive(input, at: slot) }, from: { [self] in upstreams.held(at: S.index) })
    }
    // Nothing is displaced from a queue.
    guard !outstanding.isClosed, S.put(input, into: &buffers) == nil, let output = buffers.take() else {
      leave()
      return .none
    }
    let wasDelivering = isDelivering
    let requestedBefore = requestedInside
    isDelivering = true
    requestedInside = .none
    let more = downstream.receive(output) + requestedInside
    isDelivering = wasDelivering
    requestedInside = requestedBefore
    if isUsedUp { end(.finished) }
    leave()
    // The one that completed the row gets its share as the answer.
    if more != .none { requestFromAll(more, except: S.index) }
    return more
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    requestOrNote(demand)
  }

  /// Whether an upstream has finished whose values are used up.
  @inlinable @inline(__always)
  var isUsedUp: Bool {
    var finished = upstreams.finished.load(ordering: .relaxed)
    while finished != 0 {
      if buffers.isEmpty(at: finished.trailingZeroBitCount) { return true }
      finished &= finished - 1
    }
    return false
  }

  @usableFromInline
  override var isDone: Bool { isUsedUp }

  @usableFromInline override var name: String { "Zip" }
}
