#if Redis
  import COpenSSL
  import Foundation

  /// The encryption of one connection, over a socket that does not block; for the connection's thread only.
  final class TLSSession {
    enum Progress {
      case done
      case wantsRead
      case wantsWrite
    }

    private let context: OpaquePointer
    private let session: OpaquePointer
    private var isEstablished = false
    /// What is to be written.
    ///
    /// A slice lets go of what was when it grows, also where the server is slow, so that there is always something left.
    private var pending: ArraySlice<UInt8> = []
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    /// Whether a read goes on when the socket can be written.
    private(set) var readWaitsForWrite = false

    /// Reads the files, and takes a socket that is being connected.
    init(_ settings: RedisTLS, host: String, descriptor: Int32) throws(RedisFailure) {
      ERR_clear_error()
      guard let context = SSL_CTX_new(TLS_client_method()) else { throw .tls("no context") }
      guard rebound_tls_prepare(context) == 1, let session = SSL_new(context) else {
        SSL_CTX_free(context)
        throw .tls("no session")
      }
      // From here on the deinitialiser lets go of both.
      (self.context, self.session) = (context, session)
      switch settings.trust {
      case .system:
        guard SSL_CTX_set_default_verify_paths(context) == 1 else { throw .tls("the system's certificates") }
      case .file(let path):
        guard SSL_CTX_load_verify_locations(context, path, nil) == 1 else { throw .tls(path) }
      }
      if let certificate = settings.certificate {
        guard SSL_use_certificate_chain_file(session, certificate.chainFile) == 1 else {
          throw .tls(certificate.chainFile)
        }
        guard SSL_use_PrivateKey_file(session, certificate.keyFile, SSL_FILETYPE_PEM) == 1 else {
          throw .tls(certificate.keyFile)
        }
      }
      SSL_set_verify(session, SSL_VERIFY_PEER, nil)
      let name = settings.serverName ?? host
      guard rebound_tls_expect(session, name) == 1 else { throw .tls("the name \(name)") }
      guard SSL_set_fd(session, descriptor) == 1 else { throw .tls("the socket") }
    }

    /// Tells the other side that nothing more comes, if it can be told at once.
    func close() {
      if isEstablished { _ = SSL_shutdown(session) }
      isEstablished = false
    }

    deinit {
      SSL_free(session)
      SSL_CTX_free(context)
    }

    /// Goes on with the handshake.
    func handshake() throws(RedisFailure) -> Progress {
      let progress = try progress(of: call { SSL_connect(session) })
      if case .done = progress {
        isEstablished = true
        // Answers say themselves how long they are.
        rebound_tls_take_any_end(session)
      }
      return progress
    }

    /// Reads what has come, and of much only so much as a few reads take: the thread has limits to keep besides, and a server
    /// may never stop.
    ///
    /// The socket tells of the rest: a read takes a record whole, so nothing of that is left here.
    ///
    /// - Parameter feed: Gets each piece.
    func read(_ feed: (UnsafeRawBufferPointer) -> Void) throws(RedisFailure) {
      readWaitsForWrite = false
      for _ in 0..<16 {
        let result = buffer.withUnsafeMutableBytes { bytes in
          call { SSL_read(session, bytes.baseAddress, Int32(bytes.count)) }
        }
        guard result.count > 0 else {
          readWaitsForWrite = try progress(of: result) == .wantsWrite
          return
        }
        buffer.withUnsafeBytes { feed(UnsafeRawBufferPointer(rebasing: $0.prefix(Int(result.count)))) }
      }
    }

    /// Keeps bytes for ``flush()``.
    func append(_ bytes: [UInt8]) {
      pending += bytes
    }

    /// Writes what can be written now.
    func flush() throws(RedisFailure) -> Progress {
      while !pending.isEmpty {
        let result = pending.withUnsafeBytes { bytes in
          call { SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count)) }
        }
        guard result.count > 0 else { return try progress(of: result) }
        pending.removeFirst(Int(result.count))
      }
      pending = []
      return .done
    }

    private struct Result {
      let count: Int32
      let status: Int32
      /// What the system says of it, taken before anything else can say something.
      let error: Int32
    }

    private func call(_ body: () -> Int32) -> Result {
      ERR_clear_error()
      errno = 0
      let count = body()
      let error = errno
      return Result(count: count, status: count > 0 ? SSL_ERROR_NONE : SSL_get_error(session, count), error: error)
    }

    private func progress(of result: Result) throws(RedisFailure) -> Progress {
      switch result.status {
      case SSL_ERROR_NONE: return .done
      case SSL_ERROR_WANT_READ: return .wantsRead
      case SSL_ERROR_WANT_WRITE: return .wantsWrite
      default: break
      }
      // Nothing may be sent over it any more, a farewell neither.
      isEstablished = false
      if result.status == SSL_ERROR_ZERO_RETURN { throw .connection("the server has closed it") }
      if result.status == SSL_ERROR_SYSCALL, ERR_peek_error() == 0 {
        throw .connection(result.error == 0 ? "the server has closed it" : String(cString: strerror(result.error)))
      }
      let verdict = SSL_get_verify_result(session)
      guard verdict == Int(X509_V_OK) else {
        throw .tls("the certificate", reason: String(cString: X509_verify_cert_error_string(verdict)))
      }
      throw .tls("the handshake")
    }
  }

  extension RedisFailure {
    /// Something is wrong with what a session needs.
    ///
    /// - Parameter reason: OpenSSL's word for the thread's last error if it is `nil`.
    fileprivate static func tls(_ subject: String, reason: String? = nil) -> RedisFailure {
      let error = ERR_peek_last_error()
      let reason = reason ?? ERR_reason_error_string(error).map { String(cString: $0) } ?? "unknown"
      return .connection("TLS, \(subject): \(reason)")
    }
  }
#endif
