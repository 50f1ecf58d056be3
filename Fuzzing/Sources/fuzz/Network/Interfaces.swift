import Foundation

@testable import ReboundHTTP

extension FuzzTarget {
  /// Addresses of interfaces, as the kernel hands them over.
  static let interfaces = FuzzTarget(
    "interfaces",
    seeds: [[2, 0, 0, 0, 169, 254, 1, 1], [10, 0] + Array(repeating: 0, count: 6) + [0xFE, 0x80], []]
  ) { input in
    let size = MemoryLayout<sockaddr_storage>.size
    let bytes = Array(input.rest().prefix(size))
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<sockaddr_storage>.alignment)
    defer { buffer.deallocate() }
    buffer.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    buffer.copyMemory(from: bytes, byteCount: bytes.count)
    switch InterfaceAddress(buffer.assumingMemoryBound(to: sockaddr.self)) {
    case .v4(let address)?: expectEqual(address.count, 4, "the bytes of IPv4")
    case .v6(let address)?: expectEqual(address.count, 16, "the bytes of IPv6")
    case nil: break
    }
    _ = InterfaceAddress(buffer.assumingMemoryBound(to: sockaddr.self))?.leadsBeyondItsLink
  }
}
