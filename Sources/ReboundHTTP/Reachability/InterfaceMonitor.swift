import Dispatch
import Foundation
import StreamSupport

/// Watches the network interfaces of this device.
///
/// On Linux a netlink socket tells when a link, an address or a route changes (RFC 3549); where there is none, and on
/// other systems, a timer looks. A look costs one call of the system.
final class InterfaceMonitor: Sendable {
  private let queue: DispatchQueue
  private let source = Locked<(any DispatchSourceProtocol)?>(nil)

  /// How often to look where nobody tells.
  private static let pollingInterval = DispatchTimeInterval.seconds(5)

  init(_ queue: DispatchQueue) {
    self.queue = queue
  }

  deinit {
    source.withLock { $0 }?.cancel()
  }

  /// Tells what holds at every change of anything; often that is the same as before.
  func start(telling receiver: @escaping @Sendable (Connectivity) -> Void) {
    let source = InterfaceMonitor.changes(on: queue) ?? InterfaceMonitor.timer(on: queue)
    source.handle { receiver(InterfaceMonitor.connectivity) }
    self.source.withLock { $0 = source.source }
    source.source.resume()
  }

  /// What the interfaces say right now.
  static var connectivity: Connectivity {
    var first: UnsafeMutablePointer<ifaddrs>?
    // Without an answer it is better to try than to wait for ever.
    guard getifaddrs(&first) == 0, let first else { return .online }
    defer { freeifaddrs(first) }
    for interface in sequence(first: first, next: \.pointee.ifa_next) where leadsOut(interface.pointee) {
      return .online
    }
    return .offline
  }

  private static func leadsOut(_ interface: ifaddrs) -> Bool {
    let flags = Int32(truncatingIfNeeded: interface.ifa_flags)
    let (up, running, loopback) = (Int32(IFF_UP), Int32(IFF_RUNNING), Int32(IFF_LOOPBACK))
    guard flags & up != 0, flags & running != 0, flags & loopback == 0, let address = interface.ifa_addr else {
      return false
    }
    return InterfaceAddress(address)?.leadsBeyondItsLink ?? false
  }

  private struct Watch {
    let source: any DispatchSourceProtocol
    let handle: (@escaping @Sendable () -> Void) -> Void
  }

  private static func timer(on queue: DispatchQueue) -> Watch {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + pollingInterval, repeating: pollingInterval, leeway: .seconds(1))
    return Watch(source: timer) { look in timer.setEventHandler(handler: look) }
  }

  #if os(Linux) || os(Android)
    private static func changes(on queue: DispatchQueue) -> Watch? {
      guard let descriptor = NetlinkSocket.open() else { return nil }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setCancelHandler { close(descriptor) }
      return Watch(source: source) { look in
        source.setEventHandler {
          NetlinkSocket.drain(descriptor)
          look()
        }
      }
    }
  #else
    private static func changes(on queue: DispatchQueue) -> Watch? { nil }
  #endif
}

/// An address of an interface, as far as it matters where it leads.
enum InterfaceAddress: Hashable {
  /// The four bytes of IPv4.
  case v4([UInt8])
  /// The sixteen bytes of IPv6.
  case v6([UInt8])

  /// Reads the address of a socket; `nil` for other families.
  init?(_ address: UnsafeMutablePointer<sockaddr>) {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      self = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        .v4(withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) })
      }
    case AF_INET6:
      self = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        .v6(withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) })
      }
    default: return nil
    }
  }

  /// Whether it is neither link-local (RFC 3927, RFC 4291 §2.5.6) nor loopback nor unspecified.
  var leadsBeyondItsLink: Bool {
    switch self {
    case .v4(let bytes): return !bytes.starts(with: [169, 254]) && bytes.first != 127 && bytes.first != 0
    case .v6(let bytes):
      let isLinkLocal = bytes.first == 0xFE && bytes.dropFirst().first.map { $0 & 0xC0 == 0x80 } ?? false
      let isLoopbackOrNone = bytes.dropLast().allSatisfy { $0 == 0 }
      return !isLinkLocal && !isLoopbackOrNone
    }
  }
}

#if os(Linux) || os(Android)
  /// A socket on which the kernel tells of changes of the network.
  enum NetlinkSocket {
    /// The address of such a socket, which Glibc's module leaves out (linux/netlink.h: sockaddr_nl).
    private struct Address {
      var family = UInt16(AF_NETLINK)
      var padding: UInt16 = 0
      var port: UInt32 = 0
      /// Links, and the addresses and routes of IPv4 and IPv6 (linux/rtnetlink.h: RTMGRP_…).
      var groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    }

    /// NETLINK_ROUTE.
    private static let routeProtocol: Int32 = 0

    /// Opens one; `nil` where the kernel or a sandbox does not let us.
    static func open() -> Int32? {
      let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      let descriptor = socket(AF_NETLINK, type, routeProtocol)
      guard descriptor >= 0 else { return nil }
      let address = Address()
      let isBound = withUnsafeBytes(of: address) { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) {
          Foundation.bind(descriptor, $0.baseAddress, socklen_t(bytes.count))
        }
      }
      guard isBound == 0 else {
        close(descriptor)
        return nil
      }
      return descriptor
    }

    /// Takes all messages off; what they say is seen by looking.
    static func drain(_ descriptor: Int32) {
      var buffer = [UInt8](repeating: 0, count: 8192)
      // An overrun (ENOBUFS) is reported once; what is behind it can be read.
      while recv(descriptor, &buffer, buffer.count, 0) > 0 || errno == EINTR || errno == ENOBUFS {}
    }
  }
#endif
