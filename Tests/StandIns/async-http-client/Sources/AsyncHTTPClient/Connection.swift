import Foundation
import NIOCore
@_spi(StandIns) import NIOPosix
import Synchronization

/// Does what blocks on a thread of its own.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
  }
}

/// Wakes whoever waits for a socket, for good.
final class Bell: Sendable {
  private let error = Mutex<(any Error)?>(nil)
  private let reading: Int32
  private let writing: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    let isMade = pipe(&ends) == 0
    precondition(isMade, "The system has no pipe left.")
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// Ends every wait with an error, unless another was there before.
  func ring(_ error: any Error) {
    self.error.withLock { $0 = $0 ?? error }
    _ = write(writing, [1], 1)
  }

  func wait(for socket: Int32, _ events: Int) throws {
    var conditions = [
      pollfd(fd: socket, events: Int16(events), revents: 0),
      pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&conditions, 2, -1) < 0 && errno == EINTR {}
    if let error = error.withLock({ $0 }) { throw error }
  }
}

/// A connection over TCP; one thread may send while another one receives.
final class Connection: Sendable {
  let bell: Bell
  private let socket: Int32

  init(_ host: String, _ port: Int, _ bell: Bell) throws {
    self.bell = bell
    var failure = NIOConnectionError(host: host, port: port)
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let first = found else {
      failure.dnsAError = SocketAddressError.unknown(host: host, port: port)
      throw failure
    }
    defer { freeaddrinfo(found) }
    for address in sequence(first: first, next: { $0.pointee.ai_next }) {
      do {
        socket = try Connection.connect(to: address.pointee, bell)
        return
      } catch let error as IOError {
        failure.connectionErrors.append(SingleConnectionFailure(error: error))
      }
    }
    throw failure
  }

  deinit {
    close(socket)
  }

  private static func connect(to address: addrinfo, _ bell: Bell) throws -> Int32 {
    let type = address.ai_socktype | Int32(SOCK_NONBLOCK.rawValue)
    let socket = Foundation.socket(address.ai_family, type, address.ai_protocol)
    guard socket >= 0 else { throw IOError(errnoCode: errno, reason: "socket(domain:type:protocol:)") }
    do {
      if Foundation.connect(socket, address.ai_addr, address.ai_addrlen) == 0 { return socket }
      guard errno == EINPROGRESS else { throw IOError(errnoCode: errno, reason: "connect(descriptor:addr:size:)") }
      try bell.wait(for: socket, Int(POLLOUT))
      var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
      getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size)
      guard error == 0 else { throw IOError(errnoCode: error, reason: "connection reset (error set)") }
      return socket
    } catch {
      close(socket)
      throw error
    }
  }

  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      try bell.wait(for: socket, Int(POLLOUT))
      let count = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count >= 0 else { throw IOError(errnoCode: errno, reason: "write(descriptor:pointer:size:)") }
      rest = rest.dropFirst(count)
    }
  }

  /// What has come; nothing at the end.
  func receive() throws -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      try bell.wait(for: socket, Int(POLLIN))
      let count = recv(socket, &bytes, bytes.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count >= 0 else { throw IOError(errnoCode: errno, reason: "read(descriptor:pointer:size:)") }
      return bytes[..<count]
    }
  }
}
