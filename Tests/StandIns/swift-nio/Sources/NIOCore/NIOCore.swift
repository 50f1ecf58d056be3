// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for NIOCore of swift-nio: the names and signatures that the adapter and the stand-in of AsyncHTTPClient use.
import Foundation

public struct ByteBuffer: Sendable, Hashable {
  private let bytes: [UInt8]

  public init<Bytes: Sequence>(bytes: Bytes) where Bytes.Element == UInt8 {
    self.bytes = Array(bytes)
  }

  public var readableBytes: Int { bytes.count }
  public var readableBytesView: ByteBufferView { ByteBufferView(bytes: bytes) }

  public func withUnsafeReadableBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }
}

public struct ByteBufferView: RandomAccessCollection, Sendable {
  fileprivate let bytes: [UInt8]

  public var startIndex: Int { bytes.startIndex }
  public var endIndex: Int { bytes.endIndex }
  public subscript(position: Int) -> UInt8 { bytes[position] }

  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    try bytes.withContiguousStorageIfAvailable(body)
  }
}

public struct NIODeadline: Sendable, Hashable {
  private let nanoseconds: UInt64

  public static let distantFuture = NIODeadline(nanoseconds: UInt64(Int64.max))
}

public struct IOError: Error, CustomStringConvertible {
  public let errnoCode: CInt
  private let reason: String

  public init(errnoCode: CInt, reason: String) {
    (self.errnoCode, self.reason) = (errnoCode, reason)
  }

  public var description: String { "\(reason): \(String(cString: strerror(errnoCode))) (errno: \(errnoCode))" }
}

public enum SocketAddressError: Error {
  case unknown(host: String, port: Int)
}
