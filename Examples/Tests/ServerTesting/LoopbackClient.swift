import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A connection to a server on this machine, byte by byte, for what a well-behaved client can neither send nor see.
///
/// Everything that blocks runs on a thread of its own: blocking Swift's shared threads would hold up the server under
/// test, which lives in the same process. Nothing waits longer than `deadline`, which only a broken server reaches.
public final class LoopbackClient: Sendable {
  /// The connection failed.
  public struct Failure: Error, CustomStringConvertible {
    /// What failed, and why.
    public let description: String
  }

  /// How long any one step may take.
  public static let deadline: Duration = .seconds(20)

  private let descriptor: Int32

  /// Connects to a port of this machine.
  ///
  /// - Parameter address: From which of this machine's addresses; nil for the usual one.
  public init(port: UInt16, from address: String? = nil) throws {
    #if canImport(Darwin)
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard descriptor >= 0 else { throw LoopbackClient.failure("socket") }
    var limit = timeval(tv_sec: Int(LoopbackClient.deadline.components.seconds), tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))

    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    if let address {
      var own = sockaddr_in()
      own.sin_family = sa_family_t(AF_INET)
      own.sin_addr.s_addr = inet_addr(address)
      let isBound = withUnsafePointer(to: &own) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isBound else { throw LoopbackClient.failure("bind") }
    }
    let isConnected = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    // The descriptor is closed by `deinit`, which runs after a throw, too, once every property is set.
    guard isConnected else { throw LoopbackClient.failure("connect") }
  }

  deinit {
    close(descriptor)
  }

  /// Sends bytes.
  public func send(_ bytes: Data) async throws {
    try await onOwnThread { [descriptor] in
      var rest = bytes
      while !rest.isEmpty {
        #if canImport(Darwin)
          let flags: Int32 = 0
        #else
          // A server that has hung up is a result here, not a reason to end the process.
          let flags = Int32(MSG_NOSIGNAL)
        #endif
        let count = rest.withUnsafeBytes { sendBytes(descriptor, $0.baseAddress, $0.count, flags) }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw LoopbackClient.failure("send") }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Sends text.
  public func send(_ text: String) async throws {
    try await send(Data(text.utf8))
  }

  /// Receives until the server closes the connection.
  public func receiveAll() async throws -> Data {
    try await receive { _ in false }
  }

  /// Receives until `text` has come, or the server closes the connection.
  public func receive(until text: String) async throws -> String {
    let end = Data(text.utf8)
    return String(decoding: try await receive { $0.range(of: end) != nil }, as: UTF8.self)
  }

  /// Whether anything has come that wasn't received yet, or the connection was closed.
  public var isReadable: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0
  }

  private func receive(until isEnough: @escaping @Sendable (Data) -> Bool) async throws -> Data {
    // Holds `self`, so that the descriptor isn't closed meanwhile.
    try await onOwnThread { [self] in
      var received = Data()
      var buffer = [UInt8](repeating: 0, count: 4096)
      while !isEnough(received) {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        // The system interrupts a wait with a limit when it has stopped the process and lets it go on.
        if count < 0 && errno == EINTR { continue }
        // A reset connection is a closed one; what came before it counts.
        if count == 0 || (count < 0 && errno == ECONNRESET) { break }
        guard count > 0 else { throw LoopbackClient.failure("receive") }
        received.append(contentsOf: buffer.prefix(count))
      }
      return received
    }
  }

  private static func failure(_ operation: String) -> Failure {
    Failure(description: "\(operation): \(String(cString: strerror(errno)))")
  }
}

#if canImport(Darwin)
  private let sendBytes = Darwin.send
#else
  private let sendBytes = Glibc.send
#endif

/// Runs blocking work on a new thread, where it holds up nobody.
public func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
  }
}
