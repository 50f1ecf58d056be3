import StreamSupport
import Synchronization

extension Publisher {
  /// Publishes the latest values of this publisher and of another publisher together, each time that one sends a value.
  ///
  /// Nothing comes before each has sent a value, and the stream finishes when all have. A value that comes without
  /// demand, or from inside the delivery of another, is only kept as the latest.
  ///
  /// - Demand: passes to all as it is; what a value is answered with goes to the publisher that sent it.
  /// - Failure: the first failure cancels the others and ends the stream.
  /// - Threads: values arrive where they are sent, one at a time.
  @inlinable @inline(__always)
  public func combineLatest<P>(_ other: P) -> Publishers.CombineLatest<Self, P>
  where P: Publisher, Failure == P.Failure {
    Publishers.CombineLatest(self, other)
  }

  /// Publishes what a closure makes of the latest values of this publisher and of another publisher.
  ///
  /// - Demand, failure and threads: as without the closure, which runs where the value is sent.
  @inlinable @inline(__always)
  public func combineLatest<P, T>(
    _ other: P,
    _ transform: @escaping (Output, P.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T>
  where P: Publisher, Failure == P.Failure {
    Publishers.Map(upstream: combineLatest(other)) { transform($0.0, $0.1) }
  }

  /// Publishes the latest values of this publisher and of two other publishers together, each time that one sends a value.
  ///
  /// Nothing comes before each has sent a value, and the stream finishes when all have. A value that comes without
  /// demand, or from inside the delivery of another, is only kept as the latest.
  ///
  /// - Demand: passes to all as it is; what a value is answered with goes to the publisher that sent it.
  /// - Failure: the first failure cancels the others and ends the stream.
  /// - Threads: values arrive where they are sent, one at a time.
  @inlinable @inline(__always)
  public func combineLatest<P, Q>(_ publisher1: P, _ publisher2: Q) -> Publishers.CombineLatest3<Self, P, Q>
  where P: Publisher, Failure == P.Failure, Q: Publisher, P.Failure == Q.Failure {
    Publishers.CombineLatest3(self, publisher1, publisher2)
  }

  /// Publishes what a closure makes of the latest values of this publisher and of two other publishers.
  ///
  /// - Demand, failure and threads: as without the closure, which runs where the value is sent.
  @inlinable @inline(__always)
  public func combineLatest<P, Q, T>(
    _ publisher1: P,
    _ publisher2: Q,
    _ transform: @escaping (Output, P.Output, Q.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest3<Self, P, Q>, T>
  where P: Publisher, Failure == P.Failure, Q: Publisher, P.Failure == Q.Failure {
    Publishers.Map(upstream: combineLatest(publisher1, publisher2)) { transform($0.0, $0.1, $0.2) }
  }

  /// Publishes the latest values of this publisher and of three other publishers together, each time that one sends a value.
  ///
  /// Nothing comes before each has sent a value, and the stream finishes when all have. A value that comes without
  /// demand, or from inside the delivery of another, is only kept as the latest.
  ///
  /// - Demand: passes to all as it is; what a value is answered with goes to the publisher that sent it.
  /// - Failure: the first failure cancels the others and ends the stream.
  /// - Threads: values arrive where they are sent, one at a time.
  @inlinable @inline(__always)
  public func combineLatest<P, Q, R>(_ publisher1: P, _ publisher2: Q, _ publisher3: R)
    -> Publishers.CombineLatest4<Self, P, Q, R>
  where P: Publisher, Failure == P.Failure, Q: Publisher, P.Failure == Q.Failure, R: Publisher, Q.Failure == R.Failure {
    Publishers.CombineLatest4(self, publisher1, publisher2, publisher3)
  }

  /// Publishes what a closure makes of the latest values of this publisher and of three other publishers.
  ///
  /// - Demand, failure and threads: as without the closure, which runs where the value is sent.
  @inlinable @inline(__always)
  public func combineLatest<P, Q, R, T>(
    _ publisher1: P,
    _ publisher2: Q,
    _ publisher3: R,
    _ transform: @escaping (Output, P.Output, Q.Output, R.Output) -> T
  ) -> Publishers.Map<Publishers.CombineLatest4<Self, P, Q, R>, T>
  where P: Publisher, Failure == P.Failure, Q: Publisher, P.Failure == Q.Failure, R: Publisher, Q.Failure == R.Failure {
    Publishers.Map(upstream: combineLatest(publisher1, publisher2, publisher3)) { transform($0.0, $0.1, $0.2, $0.3) }
  }
}

extension Publishers {
  /// A publisher of the latest values of two publishers.
  public struct CombineLatest<A: Publisher, B: Publisher>: Publisher
  where A.Failure == B.Failure {
    /// One value of each publisher.
    public typealias Output = (A.Output, B.Output)
    /// Fails as any of the publishers does.
    public typealias Failure = A.Failure

    /// The first publisher.
    public let a: A

    /// The second publisher.
    public let b: B

    /// Makes a publisher of the latest values of two others.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B) {
      self.a = a
      self.b = b
    }

    /// Attaches to the publishers in order, and hands the subscriber its subscription when it has all of theirs.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where B.Failure == S.Failure, S.Input == (A.Output, B.Output), S: Subscriber {
      typealias Buffers = InputBuffers2<LatestValue<A.Output>, LatestValue<B.Output>>
      let parent = CombineLatestSubscription<Buffers, S>(upstreamCount: 2, to: subscriber)
      a.subscribe(JoinInput(Buffers.SlotA.self, of: parent))
      b.subscribe(JoinInput(Buffers.SlotB.self, of: parent))
    }
  }

  /// A publisher of the latest values of three publishers.
  public struct CombineLatest3<A: Publisher, B: Publisher, C: Publisher>: Publisher
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

    /// Makes a publisher of the latest values of three others.
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
      typealias Buffers = InputBuffers3<LatestValue<A.Output>, LatestValue<B.Output>, LatestValue<C.Output>>
      let parent = CombineLatestSubscription<Buffers, S>(upstreamCount: 3, to: subscriber)
      a.subscribe(JoinInput(Buffers.SlotA.self, of: parent))
      b.subscribe(JoinInput(Buffers.SlotB.self, of: parent))
      c.subscribe(JoinInput(Buffers.SlotC.self, of: parent))
    }
  }

  /// A publisher of the latest values of four publishers.
  public struct CombineLatest4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
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

    /// Makes a publisher of the latest values of four others.
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
      typealias Buffers = InputBuffers4<
        LatestValue<A.Output>, LatestValue<B.Output>, LatestValue<C.Output>, LatestValue<D.Output>
      >
      let parent = CombineLatestSubscription<Buffers, S>(upstreamCount: 4, to: subscriber)
      a.subscribe(JoinInput(Buffers.SlotA.self, of: parent))
      b.subscribe(JoinInput(Buffers.SlotB.self, of: parent))
      c.subscribe(JoinInput(Buffers.SlotC.self, of: parent))
      d.subscribe(JoinInput(Buffers.SlotD.self, of: parent))
    }
  }
}

extension Publishers.CombineLatest: Equatable where A: Equatable, B: Equatable {}
extension Publishers.CombineLatest3: Equatable where A: Equatable, B: Equatable, C: Equatable {}
extension Publishers.CombineLatest4: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable {}

/// Keeps the latest value of each upstream.
@usableFromInline
final class CombineLatestSubscription<Buffers: InputBuffers, Downstream: Subscriber>: Join<Buffers, Downstream>,
  JoinParent
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
    guard !outstanding.isClosed else {
      leave()
      return .none
    }
    let displaced = S.put(input, into: &buffers)
    var answer = Subscribers.Demand.none
    var requested = Subscribers.Demand.none
    if !isDelivering, let output = buffers.take(), outstanding.takeOne() {
      isDelivering = true
      answer = downstream.receive(output)
      isDelivering = false
      requested = requestedInside
      requestedInside = .none
      if answer != .none { outstanding.add(answer) }
    }
    leave()
    // A value may run code of its own when it goes.
    withExtendedLifetime(displaced) {}
    // With the combining lock open, see ``SerialSubscription/request(from:_:)``.
    if requested != .none { requestFromAll(requested) }
    return answer
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    outstanding.add(demand)
    requestOrNote(demand)
  }

  @usableFromInline override var isDone: Bool { upstreams.areAllOver }

  @usableFromInline override var name: String { "CombineLatest" }
  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    [
      ("downstream", downstream), ("upstreamSubscriptions", upstreams.held.map(\.original)),
      ("demand", outstanding.demand ?? .none), ("buffers", buffers.contents),
    ]
  }
}
