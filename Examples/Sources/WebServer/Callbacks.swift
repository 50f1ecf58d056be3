import CMicroHTTPD
import Foundation

// libmicrohttpd's callbacks. A `context` is the ServerCore, which is retained while the daemon runs; a request's own
// pointer is its Exchange, retained from the request line until the daemon reports the request as completed; a
// connection's is its ClientConnection, retained until the daemon reports it as closed.

/// How much libmicrohttpd asks for at a time, in bytes.
let blockSize = 4096

/// A daemon or connection of libmicrohttpd.
struct ForeignPointer: @unchecked Sendable {
  // Sendable by this invariant: it is only handed to functions of libmicrohttpd that take its own locks, and only while
  // the object lives, which `Exchange.Phase`, `EventStream.State` and `ServerCore.State` keep track of under their
  // locks.
  let pointer: OpaquePointer
}

func receiveTarget(
  context: UnsafeMutableRawPointer?,
  target: UnsafePointer<CChar>?,
  connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  let target = target.flatMap { String(validatingCString: $0) }
  return Unmanaged.passRetained(Exchange(target: target)).toOpaque()
}

func receiveRequest(
  context: UnsafeMutableRawPointer?,
  connection: OpaquePointer?,
  path: UnsafePointer<CChar>?,
  method: UnsafePointer<CChar>?,
  version: UnsafePointer<CChar>?,
  upload: UnsafePointer<CChar>?,
  uploadSize: UnsafeMutablePointer<Int>?,
  request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let context, let connection, let method, let uploadSize, let exchange = request?.pointee else { return .NO }
  let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
  return core.proceed(
    Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue(),
    on: connection,
    method: String(cString: method),
    upload: UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee),
    consumeUpload: { uploadSize.pointee = 0 }
  )
}

func requestCompleted(
  context: UnsafeMutableRawPointer?,
  connection: OpaquePointer?,
  request: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  reason: MHD_RequestTerminationCode
) {
  guard let context, let exchange = request?.pointee else { return }
  request?.pointee = nil
  let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
  core.ended(Unmanaged<Exchange>.fromOpaque(exchange).takeRetainedValue(), on: client(of: connection))
}

func connectionChanged(
  context: UnsafeMutableRawPointer?,
  connection: OpaquePointer?,
  client: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  change: MHD_ConnectionNotificationCode
) {
  guard let context, let connection, let client else { return }
  let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
  switch change {
  case .CONNECTION_NOTIFY_STARTED:
    let began = ClientConnection(socket: shim_connection_socket(connection))
    client.pointee = Unmanaged.passRetained(began).toOpaque()
    core.began(began)
  case .CONNECTION_NOTIFY_CLOSED:
    guard let pointer = client.pointee else { return }
    client.pointee = nil
    core.ended(Unmanaged<ClientConnection>.fromOpaque(pointer).takeRetainedValue())
  @unknown default: break
  }
}

/// The client whose connection this is.
func client(of connection: OpaquePointer?) -> ClientConnection? {
  guard let connection, let pointer = shim_connection_context(connection) else { return nil }
  return Unmanaged<ClientConnection>.fromOpaque(pointer).takeUnretainedValue()
}

func collectHeader(
  headers: UnsafeMutableRawPointer?,
  kind: MHD_ValueKind,
  name: UnsafePointer<CChar>?,
  nameLength: Int,
  value: UnsafePointer<CChar>?,
  valueLength: Int
) -> MHD_Result {
  guard let name else { return .YES }
  headers?.assumingMemoryBound(to: Headers.self).pointee.add(
    headerText(name, nameLength),
    value.map { headerText($0, valueLength) } ?? ""
  )
  return .YES
}

/// Reads header bytes as UTF-8, or as ISO 8859-1 where they aren't, which is what HTTP once meant (RFC 9110 §5.5).
private func headerText(_ start: UnsafePointer<CChar>, _ count: Int) -> String {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  return String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
}

// MARK: Bodies

/// The part of a body that is sent before the connection is closed.
final class TruncatedBody {
  private var rest: Data

  init(_ data: Data) {
    rest = data
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let part = rest.prefix(buffer.count)
    buffer.copyBytes(from: part)
    rest = rest.dropFirst(part.count)
    return part.isEmpty ? shim_reader_end_with_error : part.count
  }
}

func readTruncatedBody(
  body: UnsafeMutableRawPointer?,
  position: UInt64,
  buffer: UnsafeMutablePointer<CChar>?,
  capacity: Int
) -> Int {
  guard let body else { return shim_reader_end_with_error }
  return Unmanaged<TruncatedBody>.fromOpaque(body).takeUnretainedValue().read(
    into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
  )
}

func releaseTruncatedBody(body: UnsafeMutableRawPointer?) {
  guard let body else { return }
  Unmanaged<TruncatedBody>.fromOpaque(body).release()
}

func readEvents(
  stream: UnsafeMutableRawPointer?,
  position: UInt64,
  buffer: UnsafeMutablePointer<CChar>?,
  capacity: Int
) -> Int {
  guard let stream else { return shim_reader_end_with_error }
  let buffer = UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
  switch Unmanaged<EventStream>.fromOpaque(stream).takeUnretainedValue().read(into: buffer) {
  case .bytes(let count): return count
  case .nothingYet: return 0
  case .end: return shim_reader_end_of_stream
  case .failure: return shim_reader_end_with_error
  }
}

func releaseEvents(stream: UnsafeMutableRawPointer?) {
  guard let stream else { return }
  Unmanaged<EventStream>.fromOpaque(stream).release()
}
