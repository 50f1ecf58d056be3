#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(WinSDK)
  import WinSDK
#endif

extension Publisher {
  /// Stops in the debugger when a closure says so.
  ///
  /// Without a debugger the process ends, by the signal `SIGTRAP` where there are signals.
  ///
  /// - Parameters:
  ///   - receiveSubscription: runs when the upstream hands over a subscription; true stops.
  ///   - receiveOutput: runs for each value; true stops.
  ///   - receiveCompletion: runs at the end; true stops.
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: closures run where the events come from, before they pass on.
  @inlinable @inline(__always)
  public func breakpoint(
    receiveSubscription: ((any Subscription) -> Bool)? = nil,
    receiveOutput: ((Output) -> Bool)? = nil,
    receiveCompletion: ((Subscribers.Completion<Failure>) -> Bool)? = nil
  ) -> Publishers.Breakpoint<Self> {
    Publishers.Breakpoint(
      upstream: self,
      receiveSubscription: receiveSubscription,
      receiveOutput: receiveOutput,
      receiveCompletion: receiveCompletion
    )
  }

  /// Stops in the debugger when the upstream fails.
  ///
  /// - Demand: passes as it is.
  /// - Failure: stops, then passes as it is.
  /// - Threads: it stops where the upstream fails.
  @inlinable @inline(__always)
  public func breakpointOnError() -> Publishers.Breakpoint<Self> {
    breakpoint(receiveCompletion: { if case .failure = $0 { true } else { false } })
  }
}

extension Publishers {
  /// A publisher that stops in the debugger when a closure says so.
  public struct Breakpoint<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher to watch.
    public let upstream: Upstream

    /// Says whether to stop at a subscription.
    public let receiveSubscription: ((any Subscription) -> Bool)?

    /// Says whether to stop at a value.
    public let receiveOutput: ((Upstream.Output) -> Bool)?

    /// Says whether to stop at the end.
    public let receiveCompletion: ((Subscribers.Completion<Upstream.Failure>) -> Bool)?

    /// Makes a publisher that stops at some events of another.
    @inlinable @inline(__always)
    public init(
      upstream: Upstream,
      receiveSubscription: ((any Subscription) -> Bool)? = nil,
      receiveOutput: ((Upstream.Output) -> Bool)? = nil,
      receiveCompletion: ((Subscribers.Completion<Upstream.Failure>) -> Bool)? = nil
    ) {
      self.upstream = upstream
      self.receiveSubscription = receiveSubscription
      self.receiveOutput = receiveOutput
      self.receiveCompletion = receiveCompletion
    }

    /// Attaches a subscriber to the upstream, with the closures between them.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(BreakpointSubscriber(self, to: subscriber))
    }
  }
}

/// Asks closures and passes events on, in any state and any number.
@usableFromInline
struct BreakpointSubscriber<Upstream: Publisher, Downstream: Subscriber>: Subscriber, CustomStringConvertible,
  CustomReflectable, CustomPlaygroundDisplayConvertible
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let stops: Publishers.Breakpoint<Upstream>
  @usableFromInline let downstream: Downstream
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable @inline(__always)
  init(_ stops: Publishers.Breakpoint<Upstream>, to downstream: Downstream) {
    self.stops = stops
    self.downstream = downstream
  }

  @inlinable
  func receive(subscription: any Subscription) {
    if stops.receiveSubscription?(subscription) == true { stopInDebugger() }
    downstream.receive(subscription: subscription)
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    if stops.receiveOutput?(input) == true { stopInDebugger() }
    return downstream.receive(input)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    if stops.receiveCompletion?(completion) == true { stopInDebugger() }
    downstream.receive(completion: completion)
  }

  @usableFromInline var description: String { "Breakpoint" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Stops the process so that a debugger can look and let it go on.
@usableFromInline
func stopInDebugger() {
  #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    raise(SIGTRAP)
  #elseif canImport(WinSDK)
    DebugBreak()
  #else
    // The caller asked to stop, and there is no way to go on from here on this platform.
    fatalError("Combine: a breakpoint was reached. Run under a debugger to see where, or remove breakpoint().")
  #endif
}
