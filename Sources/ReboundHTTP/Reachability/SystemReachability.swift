import Combine
import Dispatch
import Rebound
import StreamSupport

/// Whether this device has a network, as its system sees it.
///
/// There is one when an interface other than loopback is up, has a carrier and an address that leads beyond its own
/// link. The system tells of changes; nothing is asked in between, unless the system cannot tell, and then every few
/// seconds while somebody listens.
public final class SystemReachability: Reachability, Sendable {
  /// The one for the whole process.
  ///
  /// Changes count once they have lasted for half a second.
  public static let shared = SystemReachability()

  private let settling: Duration
  private let queue = DispatchQueue(label: "rebound.reachability")
  private let changes = SharedSubject(PassthroughSubject<Connectivity, Never>())
  private let monitor = Locked<InterfaceMonitor?>(nil)

  /// Makes one of its own.
  ///
  /// - Parameter settling: How long a change must last to be told.
  public init(settling: Duration = .milliseconds(500)) {
    self.settling = max(settling, .zero)
  }

  /// What the interfaces say right now.
  ///
  /// - Complexity: O(n) in the addresses of this device; some 10 µs.
  public var current: Connectivity { InterfaceMonitor.connectivity }

  /// What holds, and every change that lasts; watching begins with the first subscriber.
  ///
  /// - Threads: A queue of its own; what holds upon the subscription comes from that.
  public var connectivity: AnyPublisher<Connectivity, Never> {
    changes.subject.settled(from: { [self] in beginToWatch() }, for: settling, on: queue)
  }

  private func beginToWatch() -> Connectivity {
    let monitor: InterfaceMonitor? = monitor.withLock { known in
      guard known == nil else { return nil }
      known = InterfaceMonitor(queue)
      return known
    }
    monitor?.start { [weak self] in self?.changes.subject.send($0) }
    return current
  }
}
