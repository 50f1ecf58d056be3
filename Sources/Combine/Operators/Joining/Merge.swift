import StreamSupport
import Synchronization

extension Publisher {
  /// Publishes the values of this publisher and of another of the same type, as they come.
  ///
  /// Otherwise as `merge(with:)` for publishers of different types.
  @inlinable @inline(__always)
  public func merge(with other: Self) -> Publishers.MergeMany<Self> {
    Publishers.MergeMany([self, other])
  }

  /// Publishes the values of this publisher and of another, as they come, until both have finished.
  ///
  /// - Demand: each publisher is asked for one value at a time, which waits until it is owed; or for everything once
  ///   there is no limit.
  /// - Failure: the first failure cancels the others, drops what waits and ends the stream.
  /// - Threads: values arrive where they are sent, one at a time.
  @inlinable @inline(__always)
  public func merge<P>(with other: P) -> Publishers.Merge<Self, P>
  where P: Publisher, Failure == P.Failure, Output == P.Output {
    Publishers.Merge(self, other)
  }

  /// Publishes the values of this publisher and of two others, as they come, until all have finished.
  ///
  /// Otherwise as `merge(with:)` for two publishers.
  @inlinable @inline(__always)
  public func merge<B, C>(
    with b: B,
    _ c: C
  ) -> Publishers.Merge3<Self, B, C>
  where
    B: Publisher, C: Publisher, Failure == B.Failure, Output == B.Output, B.Failure == C.Failure,
    B.Output == C.Output
  {
    Publishers.Merge3(self, b, c)
  }

  /// Publishes the values of this publisher and of three others, as they come, until all have finished.
  ///
  /// Otherwise as `merge(with:)` for two publishers.
  @inlinable @inline(__always)
  public func merge<B, C, D>(
    with b: B,
    _ c: C,
    _ d: D
  ) -> Publishers.Merge4<Self, B, C, D>
  where
    B: Publisher, C: Publisher, D: Publisher, Failure == B.Failure, Output == B.Output, B.Failure == C.Failure,
    B.Output == C.Output, C.Failure == D.Failure, C.Output == D.Output
  {
    Publishers.Merge4(self, b, c, d)
  }

  /// Publishes the values of this publisher and of four others, as they come, until all have finished.
  ///
  /// Otherwise as `merge(with:)` for two publishers.
  @inlinable @inline(__always)
  public func merge<B, C, D, E>(
    with b: B,
    _ c: C,
    _ d: D,
    _ e: E
  ) -> Publishers.Merge5<Self, B, C, D, E>
  where
    B: Publisher, C: Publisher, D: Publisher, E: Publisher, Failure == B.Failure, Output == B.Output,
    B.Failure == C.Failure, B.Output == C.Output, C.Failure == D.Failure, C.Output == D.Output,
    D.Failure == E.Failure, D.Output == E.Output
  {
    Publishers.Merge5(self, b, c, d, e)
  }

  /// Publishes the values of this publisher and of five others, as they come, until all have finished.
  ///
  /// Otherwise as `merge(with:)` for two publishers.
  @inlinable @inline(__always)
  public func merge<B, C, D, E, F>(
    with b: B,
    _ c: C,
    _ d: D,
    _ e: E,
    _ f: F
  ) -> Publishers.Merge6<Self, B, C, D, E, F>
  where
    B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher, Failure == B.Failure,
    Output == B.Output, B.Failure == C.Failure, B.Output == C.Output, C.Failure == D.Failure, C.Output == D.Output,
    D.Failure == E.Failure, D.Output == E.Output, E.Failure == F.Failure, E.Output == F.Output
  {
    Publishers.Merge6(self, b, c, d, e, f)
  }

  /// Publishes the values of this publisher and of six others, as they come, until all have finished.
  ///
  /// Otherwise as `merge(with:)` for two publishers.
  @inlinable @inline(__always)
  public func merge<B, C, D, E, F, G>(
    with b: B,
    _ c: C,
    _ d: D,
    _ e: E,
    _ f: F,
    _ g: G
  ) -> Publishers.Merge7<Self, B, C, D, E, F, G>
  where
    B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher, G: Publisher, Failure == B.Failure,
    Output == B.Output, B.Failure == C.Failure, B.Output == C.Output, C.Failure == D.Failure, C.Output == D.Output,
    D.Failure == E.Failure, D.Output == E.Output, E.Failure == F.Failure, E.Output == F.Output,
    F.Failure == G.Failure, F.Output == G.Output
  {
    Publishers.Merge7(self, b, c, d, e, f, g)
  }

  /// Publishes the values of this publisher and of seven others, as they come, until all have finished.
  ///
  /// Otherwise as `merge(with:)` for two publishers.
  @inlinable @inline(__always)
  public func merge<B, C, D, E, F, G, H>(
    with b: B,
    _ c: C,
    _ d: D,
    _ e: E,
    _ f: F,
    _ g: G,
    _ h: H
  ) -> Publishers.Merge8<Self, B, C, D, E, F, G, H>
  where
    B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher, G: Publisher, H: Publisher,
    Failure == B.Failure, Output == B.Output, B.Failure == C.Failure, B.Output == C.Output, C.Failure == D.Failure,
    C.Output == D.Output, D.Failure == E.Failure, D.Output == E.Output, E.Failure == F.Failure, E.Output == F.Output,
    F.Failure == G.Failure, F.Output == G.Output, G.Failure == H.Failure, G.Output == H.Output
  {
    Publishers.Merge8(self, b, c, d, e, f, g, h)
  }
}

extension Publishers {
  /// A publisher of the values of two publishers, as they come.
  public struct Merge<A: Publisher, B: Publisher>: Publisher
  where A.Failure == B.Failure, A.Output == B.Output {
    /// The kind of values published.
    public typealias Output = A.Output
    /// Fails as any of the publishers does.
    public typealias Failure = A.Failure

    /// The first publisher.
    public let a: A

    /// The second publisher.
    public let b: B

    /// Makes a publisher of the values of two others.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B) {
      self.a = a
      self.b = b
    }

    /// Hands the subscriber its subscription, and then attaches to the publishers in order.
    @inlinable
    public func receive<S>(subscriber: consuming S) where B.Failure == S.Failure, B.Output == S.Input, S: Subscriber {
      let parent = MergeSubscription.handOver(upstreamCount: 2, to: subscriber)
      a.subscribe(MergeInput(0, of: parent))
      b.subscribe(MergeInput(1, of: parent))
    }

    /// Joins another publisher into one publisher of three.
    @inlinable @inline(__always)
    public func merge<P>(with other: P) -> Merge3<A, B, P>
    where P: Publisher, B.Failure == P.Failure, B.Output == P.Output {
      Merge3(a, b, other)
    }

    /// Joins two other publishers into one publisher of four.
    @inlinable @inline(__always)
    public func merge<Z, Y>(with z: Z, _ y: Y) -> Merge4<A, B, Z, Y>
    where
      Z: Publisher, Y: Publisher, B.Failure == Z.Failure, B.Output == Z.Output, Z.Failure == Y.Failure,
      Z.Output == Y.Output
    {
      Merge4(a, b, z, y)
    }

    /// Joins three other publishers into one publisher of five.
    @inlinable @inline(__always)
    public func merge<Z, Y, X>(with z: Z, _ y: Y, _ x: X) -> Merge5<A, B, Z, Y, X>
    where
      Z: Publisher, Y: Publisher, X: Publisher, B.Failure == Z.Failure, B.Output == Z.Output,
      Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure, Y.Output == X.Output
    {
      Merge5(a, b, z, y, x)
    }

    /// Joins four other publishers into one publisher of six.
    @inlinable @inline(__always)
    public func merge<Z, Y, X, W>(with z: Z, _ y: Y, _ x: X, _ w: W) -> Merge6<A, B, Z, Y, X, W>
    where
      Z: Publisher, Y: Publisher, X: Publisher, W: Publisher, B.Failure == Z.Failure, B.Output == Z.Output,
      Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure, Y.Output == X.Output,
      X.Failure == W.Failure, X.Output == W.Output
    {
      Merge6(a, b, z, y, x, w)
    }

    /// Joins five other publishers into one publisher of seven.
    @inlinable @inline(__always)
    public func merge<Z, Y, X, W, V>(with z: Z, _ y: Y, _ x: X, _ w: W, _ v: V) -> Merge7<A, B, Z, Y, X, W, V>
    where
      Z: Publisher, Y: Publisher, X: Publisher, W: Publisher, V: Publisher, B.Failure == Z.Failure,
      B.Output == Z.Output, Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure,
      Y.Output == X.Output, X.Failure == W.Failure, X.Output == W.Output, W.Failure == V.Failure, W.Output == V.Output
    {
      Merge7(a, b, z, y, x, w, v)
    }

    /// Joins six other publishers into one publisher of eight.
    @inlinable @inline(__always)
    public func merge<Z, Y, X, W, V, U>(
      with z: Z,
      _ y: Y,
      _ x: X,
      _ w: W,
      _ v: V,
      _ u: U
    ) -> Merge8<A, B, Z, Y, X, W, V, U>
    where
      Z: Publisher, Y: Publisher, X: Publisher, W: Publisher, V: Publisher, U: Publisher, B.Failure == Z.Failure,
      B.Output == Z.Output, Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure,
      Y.Output == X.Output, X.Failure == W.Failure, X.Output == W.Output, W.Failure == V.Failure,
      W.Output == V.Output, V.Failure == U.Failure, V.Output == U.Output
    {
      Merge8(a, b, z, y, x, w, v, u)
    }
  }

  /// A publisher of the values of three publishers, as they come.
  public struct Merge3<A: Publisher, B: Publisher, C: Publisher>: Publisher
  where A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output {
    /// The kind of values published.
    public typealias Output = A.Output
    /// Fails as any of the publishers does.
    public typealias Failure = A.Failure

    /// The first publisher.
    public let a: A

    /// The second publisher.
    public let b: B

    /// The third publisher.
    public let c: C

    /// Makes a publisher of the values of three others.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B, _ c: C) {
      self.a = a
      self.b = b
      self.c = c
    }

    /// Hands the subscriber its subscription, and then attaches to the publishers in order.
    @inlinable
    public func receive<S>(subscriber: consuming S) where C.Failure == S.Failure, C.Output == S.Input, S: Subscriber {
      let parent = MergeSubscription.handOver(upstreamCount: 3, to: subscriber)
      a.subscribe(MergeInput(0, of: parent))
      b.subscribe(MergeInput(1, of: parent))
      c.subscribe(MergeInput(2, of: parent))
    }

    /// Joins another publisher into one publisher of four.
    @inlinable @inline(__always)
    public func merge<P>(with other: P) -> Merge4<A, B, C, P>
    where P: Publisher, C.Failure == P.Failure, C.Output == P.Output {
      Merge4(a, b, c, other)
    }

    /// Joins two other publishers into one publisher of five.
    @inlinable @inline(__always)
    public func merge<Z, Y>(with z: Z, _ y: Y) -> Merge5<A, B, C, Z, Y>
    where
      Z: Publisher, Y: Publisher, C.Failure == Z.Failure, C.Output == Z.Output, Z.Failure == Y.Failure,
      Z.Output == Y.Output
    {
      Merge5(a, b, c, z, y)
    }

    /// Joins three other publishers into one publisher of six.
    @inlinable @inline(__always)
    public func merge<Z, Y, X>(with z: Z, _ y: Y, _ x: X) -> Merge6<A, B, C, Z, Y, X>
    where
      Z: Publisher, Y: Publisher, X: Publisher, C.Failure == Z.Failure, C.Output == Z.Output,
      Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure, Y.Output == X.Output
    {
      Merge6(a, b, c, z, y, x)
    }

    /// Joins four other publishers into one publisher of seven.
    @inlinable @inline(__always)
    public func merge<Z, Y, X, W>(with z: Z, _ y: Y, _ x: X, _ w: W) -> Merge7<A, B, C, Z, Y, X, W>
    where
      Z: Publisher, Y: Publisher, X: Publisher, W: Publisher, C.Failure == Z.Failure, C.Output == Z.Output,
      Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure, Y.Output == X.Output,
      X.Failure == W.Failure, X.Output == W.Output
    {
      Merge7(a, b, c, z, y, x, w)
    }

    /// Joins five other publishers into one publisher of eight.
    @inlinable @inline(__always)
    public func merge<Z, Y, X, W, V>(with z: Z, _ y: Y, _ x: X, _ w: W, _ v: V) -> Merge8<A, B, C, Z, Y, X, W, V>
    where
      Z: Publisher, Y: Publisher, X: Publisher, W: Publisher, V: Publisher, C.Failure == Z.Failure,
      C.Output == Z.Output, Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure,
      Y.Output == X.Output, X.Failure == W.Failure, X.Output == W.Output, W.Failure == V.Failure, W.Output == V.Output
    {
      Merge8(a, b, c, z, y, x, w, v)
    }
  }

  /// A publisher of the values of four publishers, as they come.
  public struct Merge4<A: Publisher, B: Publisher, C: Publisher, D: Publisher>: Publisher
  where
    A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
    C.Failure == D.Failure, C.Output == D.Output
  {
    /// The kind of values published.
    public typealias Output = A.Output
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

    /// Makes a publisher of the values of four others.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B, _ c: C, _ d: D) {
      self.a = a
      self.b = b
      self.c = c
      self.d = d
    }

    /// Hands the subscriber its subscription, and then attaches to the publishers in order.
    @inlinable
    public func receive<S>(subscriber: consuming S) where D.Failure == S.Failure, D.Output == S.Input, S: Subscriber {
      let parent = MergeSubscription.handOver(upstreamCount: 4, to: subscriber)
      a.subscribe(MergeInput(0, of: parent))
      b.subscribe(MergeInput(1, of: parent))
      c.subscribe(MergeInput(2, of: parent))
      d.subscribe(MergeInput(3, of: parent))
    }

    /// Joins another publisher into one publisher of five.
    @inlinable @inline(__always)
    public func merge<P>(with other: P) -> Merge5<A, B, C, D, P>
    where P: Publisher, D.Failure == P.Failure, D.Output == P.Output {
      Merge5(a, b, c, d, other)
    }

    /// Joins two other publishers into one publisher of six.
    @inlinable @inline(__always)
    public func merge<Z, Y>(with z: Z, _ y: Y) -> Merge6<A, B, C, D, Z, Y>
    where
      Z: Publisher, Y: Publisher, D.Failure == Z.Failure, D.Output == Z.Output, Z.Failure == Y.Failure,
      Z.Output == Y.Output
    {
      Merge6(a, b, c, d, z, y)
    }

    /// Joins three other publishers into one publisher of seven.
    @inlinable @inline(__always)
    public func merge<Z, Y, X>(with z: Z, _ y: Y, _ x: X) -> Merge7<A, B, C, D, Z, Y, X>
    where
      Z: Publisher, Y: Publisher, X: Publisher, D.Failure == Z.Failure, D.Output == Z.Output,
      Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure, Y.Output == X.Output
    {
      Merge7(a, b, c, d, z, y, x)
    }

    /// Joins four other publishers into one publisher of eight.
    @inlinable @inline(__always)
    public func merge<Z, Y, X, W>(with z: Z, _ y: Y, _ x: X, _ w: W) -> Merge8<A, B, C, D, Z, Y, X, W>
    where
      Z: Publisher, Y: Publisher, X: Publisher, W: Publisher, D.Failure == Z.Failure, D.Output == Z.Output,
      Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure, Y.Output == X.Output,
      X.Failure == W.Failure, X.Output == W.Output
    {
      Merge8(a, b, c, d, z, y, x, w)
    }
  }

  /// A publisher of the values of five publishers, as they come.
  public struct Merge5<A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher>: Publisher
  where
    A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
    C.Failure == D.Failure, C.Output == D.Output, D.Failure == E.Failure, D.Output == E.Output
  {
    /// The kind of values published.
    public typealias Output = A.Output
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

    /// The fifth publisher.
    public let e: E

    /// Makes a publisher of the values of five others.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E) {
      self.a = a
      self.b = b
      self.c = c
      self.d = d
      self.e = e
    }

    /// Hands the subscriber its subscription, and then attaches to the publishers in order.
    @inlinable
    public func receive<S>(subscriber: consuming S) where E.Failure == S.Failure, E.Output == S.Input, S: Subscriber {
      let parent = MergeSubscription.handOver(upstreamCount: 5, to: subscriber)
      a.subscribe(MergeInput(0, of: parent))
      b.subscribe(MergeInput(1, of: parent))
      c.subscribe(MergeInput(2, of: parent))
      d.subscribe(MergeInput(3, of: parent))
      e.subscribe(MergeInput(4, of: parent))
    }

    /// Joins another publisher into one publisher of six.
    @inlinable @inline(__always)
    public func merge<P>(with other: P) -> Merge6<A, B, C, D, E, P>
    where P: Publisher, E.Failure == P.Failure, E.Output == P.Output {
      Merge6(a, b, c, d, e, other)
    }

    /// Joins two other publishers into one publisher of seven.
    @inlinable @inline(__always)
    public func merge<Z, Y>(with z: Z, _ y: Y) -> Merge7<A, B, C, D, E, Z, Y>
    where
      Z: Publisher, Y: Publisher, E.Failure == Z.Failure, E.Output == Z.Output, Z.Failure == Y.Failure,
      Z.Output == Y.Output
    {
      Merge7(a, b, c, d, e, z, y)
    }

    /// Joins three other publishers into one publisher of eight.
    @inlinable @inline(__always)
    public func merge<Z, Y, X>(with z: Z, _ y: Y, _ x: X) -> Merge8<A, B, C, D, E, Z, Y, X>
    where
      Z: Publisher, Y: Publisher, X: Publisher, E.Failure == Z.Failure, E.Output == Z.Output,
      Z.Failure == Y.Failure, Z.Output == Y.Output, Y.Failure == X.Failure, Y.Output == X.Output
    {
      Merge8(a, b, c, d, e, z, y, x)
    }
  }

  /// A publisher of the values of six publishers, as they come.
  public struct Merge6<A: Publisher, B: Publisher, C: Publisher, D: Publisher, E: Publisher, F: Publisher>: Publisher
  where
    A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
    C.Failure == D.Failure, C.Output == D.Output, D.Failure == E.Failure, D.Output == E.Output,
    E.Failure == F.Failure, E.Output == F.Output
  {
    /// The kind of values published.
    public typealias Output = A.Output
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

    /// The fifth publisher.
    public let e: E

    /// The sixth publisher.
    public let f: F

    /// Makes a publisher of the values of six others.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F) {
      self.a = a
      self.b = b
      self.c = c
      self.d = d
      self.e = e
      self.f = f
    }

    /// Hands the subscriber its subscription, and then attaches to the publishers in order.
    @inlinable
    public func receive<S>(subscriber: consuming S) where F.Failure == S.Failure, F.Output == S.Input, S: Subscriber {
      let parent = MergeSubscription.handOver(upstreamCount: 6, to: subscriber)
      a.subscribe(MergeInput(0, of: parent))
      b.subscribe(MergeInput(1, of: parent))
      c.subscribe(MergeInput(2, of: parent))
      d.subscribe(MergeInput(3, of: parent))
      e.subscribe(MergeInput(4, of: parent))
      f.subscribe(MergeInput(5, of: parent))
    }

    /// Joins another publisher into one publisher of seven.
    @inlinable @inline(__always)
    public func merge<P>(with other: P) -> Merge7<A, B, C, D, E, F, P>
    where P: Publisher, F.Failure == P.Failure, F.Output == P.Output {
      Merge7(a, b, c, d, e, f, other)
    }

    /// Joins two other publishers into one publisher of eight.
    @inlinable @inline(__always)
    public func merge<Z, Y>(with z: Z, _ y: Y) -> Merge8<A, B, C, D, E, F, Z, Y>
    where
      Z: Publisher, Y: Publisher, F.Failure == Z.Failure, F.Output == Z.Output, Z.Failure == Y.Failure,
      Z.Output == Y.Output
    {
      Merge8(a, b, c, d, e, f, z, y)
    }
  }

  /// A publisher of the values of seven publishers, as they come.
  public struct Merge7<
    A: Publisher,
    B: Publisher,
    C: Publisher,
    D: Publisher,
    E: Publisher,
    F: Publisher,
    G: Publisher
  >: Publisher
  where
    A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
    C.Failure == D.Failure, C.Output == D.Output, D.Failure == E.Failure, D.Output == E.Output,
    E.Failure == F.Failure, E.Output == F.Output, F.Failure == G.Failure, F.Output == G.Output
  {
    /// The kind of values published.
    public typealias Output = A.Output
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

    /// The fifth publisher.
    public let e: E

    /// The sixth publisher.
    public let f: F

    /// The seventh publisher.
    public let g: G

    /// Makes a publisher of the values of seven others.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G) {
      self.a = a
      self.b = b
      self.c = c
      self.d = d
      self.e = e
      self.f = f
      self.g = g
    }

    /// Hands the subscriber its subscription, and then attaches to the publishers in order.
    @inlinable
    public func receive<S>(subscriber: consuming S) where G.Failure == S.Failure, G.Output == S.Input, S: Subscriber {
      let parent = MergeSubscription.handOver(upstreamCount: 7, to: subscriber)
      a.subscribe(MergeInput(0, of: parent))
      b.subscribe(MergeInput(1, of: parent))
      c.subscribe(MergeInput(2, of: parent))
      d.subscribe(MergeInput(3, of: parent))
      e.subscribe(MergeInput(4, of: parent))
      f.subscribe(MergeInput(5, of: parent))
      g.subscribe(MergeInput(6, of: parent))
    }

    /// Joins another publisher into one publisher of eight.
    @inlinable @inline(__always)
    public func merge<P>(with other: P) -> Merge8<A, B, C, D, E, F, G, P>
    where P: Publisher, G.Failure == P.Failure, G.Output == P.Output {
      Merge8(a, b, c, d, e, f, g, other)
    }
  }

  /// A publisher of the values of eight publishers, as they come.
  public struct Merge8<
    A: Publisher,
    B: Publisher,
    C: Publisher,
    D: Publisher,
    E: Publisher,
    F: Publisher,
    G: Publisher,
    H: Publisher
  >: Publisher
  where
    A.Failure == B.Failure, A.Output == B.Output, B.Failure == C.Failure, B.Output == C.Output,
    C.Failure == D.Failure, C.Output == D.Output, D.Failure == E.Failure, D.Output == E.Output,
    E.Failure == F.Failure, E.Output == F.Output, F.Failure == G.Failure, F.Output == G.Output,
    G.Failure == H.Failure, G.Output == H.Output
  {
    /// The kind of values published.
    public typealias Output = A.Output
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

    /// The fifth publisher.
    public let e: E

    /// The sixth publisher.
    public let f: F

    /// The seventh publisher.
    public let g: G

    /// The eighth publisher.
    public let h: H

    /// Makes a publisher of the values of eight others.
    @inlinable @inline(__always)
    public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H) {
      self.a = a
      self.b = b
      self.c = c
      self.d = d
      self.e = e
      self.f = f
      self.g = g
      self.h = h
    }

    /// Hands the subscriber its subscription, and then attaches to the publishers in order.
    @inlinable
    public func receive<S>(subscriber: consuming S) where H.Failure == S.Failure, H.Output == S.Input, S: Subscriber {
      let parent = MergeSubscription.handOver(upstreamCount: 8, to: subscriber)
      a.subscribe(MergeInput(0, of: parent))
      b.subscribe(MergeInput(1, of: parent))
      c.subscribe(MergeInput(2, of: parent))
      d.subscribe(MergeInput(3, of: parent))
      e.subscribe(MergeInput(4, of: parent))
      f.subscribe(MergeInput(5, of: parent))
      g.subscribe(MergeInput(6, of: parent))
      h.subscribe(MergeInput(7, of: parent))
    }
  }

  /// A publisher of the values of any number of publishers of one type, as they come.
  public struct MergeMany<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as any of the publishers does.
    public typealias Failure = Upstream.Failure

    /// The publishers.
    public let publishers: [Upstream]

    /// Makes a publisher of the values of others.
    @inlinable @inline(__always)
    public init(_ upstream: Upstream...) {
      publishers = upstream
    }

    /// Makes a publisher of the values of others; without any, it finishes upon the first request.
    @inlinable @inline(__always)
    public init<S>(_ upstream: S) where Upstream == S.Element, S: Swift.Sequence {
      publishers = Array(upstream)
    }

    /// Hands the subscriber its subscription, and then attaches to the publishers in order.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let parent = MergeSubscription.handOver(upstreamCount: publishers.count, to: subscriber)
      for (index, publisher) in publishers.enumerated() { publisher.subscribe(MergeInput(index, of: parent)) }
    }

    /// Joins another publisher of the same type.
    @inlinable @inline(__always)
    public func merge(with other: Upstream) -> MergeMany<Upstream> {
      MergeMany(publishers + [other])
    }
  }
}

extension Publishers.Merge: Equatable where A: Equatable, B: Equatable {}
extension Publishers.Merge3: Equatable where A: Equatable, B: Equatable, C: Equatable {}
extension Publishers.Merge4: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable {}
extension Publishers.Merge5: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable, E: Equatable {}
extension Publishers.Merge6: Equatable
where A: Equatable, B: Equatable, C: Equatable, D: Equatable, E: Equatable, F: Equatable {}
extension Publishers.Merge7: Equatable
where A: Equatable, B: Equatable, C: Equatable, D: Equatable, E: Equatable, F: Equatable, G: Equatable {}
extension Publishers.Merge8: Equatable
where A: Equatable, B: Equatable, C: Equatable, D: Equatable, E: Equatable, F: Equatable, G: Equatable, H: Equatable {}
extension Publishers.MergeMany: Equatable where Upstream: Equatable {}
