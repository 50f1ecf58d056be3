import StreamSupport
import Synchronization

extension ConnectablePublisher {
  /// Connects this publisher while it has subscribers: with the first one, until the last one cancels.
  ///
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: values come where this publisher sends.
  @inlinable
  public func autoconnect() -> Publishers.Autoconnect<Self> {
    Publishers.Autoconnect(upstream: self)
  }
}

extension Publishers {
  /// A publisher that connects another while it has subscribers.
  ///
  /// The end of the stream counts nobody out: only cancels do.
  public class Autoconnect<Upstream: ConnectablePublisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher to connect.
    public final let upstream: Upstream

    @usableFromInline final let connection = SharedConnection()

    /// Makes a publisher that connects another.
    @inlinable
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber, and then connects the upstream if it is the first.
    @inlinable @inline(__always)
    public final func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let isFirst = connection.countIn()
      upstream.subscribe(AutoconnectSubscriber(to: subscriber, sharing: connection, of: self))
      if isFirst {
        connection.beginConnecting()
        connection.keep(upstream.connect())
      }
    }
  }
}

/// A connection, and how many subscribers want it.
@usableFromInline
final class SharedConnection {
  private let lock = Lock()
  // All guarded by `lock`.
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var connection: (any Cancellable)?
  // Whether somebody is about to connect, or at it: who comes meanwhile joins that.
  @exclusivity(unchecked) private var isPending = false
  // Whether somebody is at it: what comes of it is for nobody any more once all have left.
  @exclusivity(unchecked) private var isConnecting = false

  @usableFromInline
  init() {}

  /// Counts a subscriber in; says whether it is the first, who has to connect.
  @usableFromInline
  func countIn() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    count += 1
    guard !isPending, connection == nil else { return false }
    isPending = true
    return true
  }

  /// The first subscriber connects now.
  @usableFromInline
  func beginConnecting() {
    lock.lock()
    isConnecting = true
    if count == 0 { isPending = false }
    lock.unlock()
  }

  /// Keeps what the first subscriber's connecting made; if it was for nobody, it is cancelled at once.
  @usableFromInline
  func keep(_ made: any Cancellable) {
    lock.lock()
    let isWanted = count > 0 && isPending
    (isPending, isConnecting) = (false, false)
    if isWanted { connection = made }
    lock.unlock()
    if !isWanted { made.cancel() }
  }

  /// Counts a subscriber out, and ends the connection with the last one.
  func countOut() {
    lock.lock()
    count -= 1
    let ended = count == 0 ? connection : nil
    if count == 0 {
      connection = nil
      if isConnecting { isPending = false }
    }
    lock.unlock()
    ended?.cancel()
  }
}

/// Hands values through, and a subscription that counts its subscriber out when it is cancelled.
@usableFromInline
struct AutoconnectSubscriber<Downstream: Subscriber>: Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let connection: SharedConnection
  @usableFromInline let parent: AnyObject
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable @inline(__always)
  init(to downstream: Downstream, sharing connection: SharedConnection, of parent: AnyObject) {
    self.downstream = downstream
    self.connection = connection
    self.parent = parent
  }

  @inlinable
  func receive(subscription: any Subscription) {
    downstream.receive(subscription: CountedSubscription(subscription, to: connection, of: parent))
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    downstream.receive(input)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    downstream.receive(completion: completion)
  }

  @usableFromInline var description: String { "Autoconnect" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline
  var customMirror: Mirror { Mirror(self, children: ["parent": parent, "downstream": downstream]) }
}

/// A subscription that counts its subscriber out of a connection when it is cancelled the first time.
@usableFromInline
final class CountedSubscription: SubscriptionBase, CustomStringConvertible, CustomPlaygroundDisplayConvertible {
  private let subscription: SubscriptionBase
  private let connection: SharedConnection
  // Keeps the publisher, as subscribers of anything shared do.
  private let parent: AnyObject
  private let isCounted = Atomic<Bool>(true)

  @usableFromInline
  init(_ subscription: any Subscription, to connection: SharedConnection, of parent: AnyObject) {
    self.subscription = subscription.asBase
    self.connection = connection
    self.parent = parent
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    subscription.request(demand)
  }

  @usableFromInline
  override func cancel() {
    if isCounted.exchange(false, ordering: .acquiringAndReleasing) { connection.countOut() }
    subscription.cancel()
  }

  @usableFromInline override var combineIdentifier: CombineIdentifier { subscription.original.combineIdentifier }
  @usableFromInline var description: String { "\(subscription.original)" }
  @usableFromInline var playgroundDescription: Any { description }
}
