import Combine
import StreamSupport

/// Counts what passes through one place of a chain: subscriptions, requests, values, ends, cancels.
///
///     let probe = PublisherProbe()
///     cache.catch { _ in network.probed(by: probe) }.subscribe(recorder)
///     #expect(!probe.wasSubscribed)  // the cache had it
///
/// It counts over all subscriptions to the publishers that it probes, and changes nothing.
public final class PublisherProbe: Sendable {
  /// What has passed.
  public struct Counts: Hashable, Sendable {
    /// How often it was subscribed to.
    public internal(set) var subscriptions = 0
    /// All that was requested, returned demands included.
    public internal(set) var requested = Subscribers.Demand.none
    /// How many values passed.
    public internal(set) var values = 0
    /// How many subscriptions finished.
    public internal(set) var finishes = 0
    /// How many subscriptions failed.
    public internal(set) var failures = 0
    /// How often it was cancelled.
    public internal(set) var cancels = 0
    /// How many subscriptions have neither ended nor been cancelled: what a leak leaves.
    public internal(set) var open = 0

    /// Makes counts of nothing.
    public init() {}
  }

  private let all = Locked(Counts())

  /// Makes a probe that has counted nothing.
  public init() {}

  /// What has passed until now.
  public var counts: Counts { all.withLock { $0 } }

  /// Whether anybody has subscribed.
  public var wasSubscribed: Bool { counts.subscriptions > 0 }

  /// Whether anything was requested.
  public var wasRequested: Bool { counts.requested > .none }

  /// Whether anybody has cancelled.
  public var wasCancelled: Bool { counts.cancels > 0 }

  fileprivate func count(_ change: (inout Counts) -> Void) {
    all.withLock { change(&$0) }
  }
}

extension Publisher {
  /// Lets a probe count what passes here.
  ///
  /// - Parameter probe: May count at several places at once.
  ///
  /// - Demand: Passes.
  /// - Failure: Passes.
  /// - Threads: Everything passes on the thread on which it comes.
  public func probed(by probe: PublisherProbe) -> Publishers.Probed<Self> {
    Publishers.Probed(upstream: self, probe: probe)
  }
}

extension Publishers {
  /// Lets a probe count what passes.
  ///
  /// Made by ``Combine/Publisher/probed(by:)``.
  public struct Probed<Upstream: Publisher>: Publisher {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// Where everything comes from.
    public let upstream: Upstream
    /// Who counts.
    public let probe: PublisherProbe

    /// Makes a publisher that lets a probe count what passes.
    ///
    /// - Parameters:
    ///   - upstream: Where everything comes from.
    ///   - probe: Who counts.
    public init(upstream: Upstream, probe: PublisherProbe) {
      self.upstream = upstream
      self.probe = probe
    }

    /// Connects a subscriber, through the probe.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      probe.count {
        $0.subscriptions += 1
        $0.open += 1
      }
      upstream.subscribe(ProbeLink(downstream: subscriber, probe: probe))
    }
  }
}

/// One subscription that a probe counts.
private final class ProbeLink<Downstream: Subscriber>: Subscriber, Subscription {
  private let downstream: Downstream
  private let probe: PublisherProbe
  private let lock = Lock()
  private var subscription: (any Subscription)?
  private var isOpen = true

  init(downstream: Downstream, probe: PublisherProbe) {
    self.downstream = downstream
    self.probe = probe
  }

  func receive(subscription: any Subscription) {
    let previous = lock.withLock {
      let previous = self.subscription
      self.subscription = subscription
      return previous
    }
    withExtendedLifetime(previous) {}
    downstream.receive(subscription: self)
  }

  func receive(_ input: Downstream.Input) -> Subscribers.Demand {
    probe.count { $0.values += 1 }
    let more = downstream.receive(input)
    if more > .none { probe.count { $0.requested += more } }
    return more
  }

  func receive(completion: Subscribers.Completion<Downstream.Failure>) {
    let (wasOpen, subscription) = close()
    probe.count {
      if wasOpen { $0.open -= 1 }
      if case .finished = completion { $0.finishes += 1 } else { $0.failures += 1 }
    }
    withExtendedLifetime(subscription) {}
    downstream.receive(completion: completion)
  }

  func request(_ demand: Subscribers.Demand) {
    let subscription = lock.withLock { self.subscription }
    if demand > .none { probe.count { $0.requested += demand } }
    subscription?.request(demand)
  }

  func cancel() {
    let (wasOpen, subscription) = close()
    probe.count {
      if wasOpen { $0.open -= 1 }
      $0.cancels += 1
    }
    subscription?.cancel()
  }

  private func close() -> (wasOpen: Bool, (any Subscription)?) {
    lock.withLock {
      let before = (isOpen, subscription)
      isOpen = false
      subscription = nil
      return before
    }
  }
}
