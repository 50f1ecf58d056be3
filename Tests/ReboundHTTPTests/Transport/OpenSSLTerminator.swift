#if Curl
  import COpenSSL
  import Foundation

  @testable import ReboundHTTPTesting

  /// Speaks TLS for a contract's servers, with the certificate of the tests.
  struct OpenSSLTerminator: TLSTerminator {
    struct Failure: Error {
      let call: String
    }

    func listen(before port: UInt16, offering protocols: [String]) async throws -> any TLSListener {
      try OpenSSLListener(before: port, SecureContext(offering: protocols))
    }
  }

  /// Each connection has a thread of its own, and ends with that of the server.
  final class OpenSSLListener: TLSListener {
    private let listener: Socket
    private let bell: Bell

    fileprivate init(before port: UInt16, _ context: SecureContext) throws {
      listener = try .boundToLoopback()
      bell = try Bell()
      try listener.listen(backlog: 64)
      listener.serveConnections(untilBell: bell) { client in
        guard let server = try? Socket.connected(to: port) else { return }
        SecureConnection(client, server, context)?.carry()
      }
    }

    deinit {
      bell.ring()
    }

    var port: UInt16 { listener.port }
  }

  /// Certificate, key and protocols.
  ///
  /// Unchecked: OpenSSL counts who holds a context, and nothing is changed in it once there are sessions.
  private final class SecureContext: @unchecked Sendable {
    let pointer: OpaquePointer
    /// As ALPN has them, each behind its length.
    private let protocols: [UInt8]

    init(offering protocols: [String]) throws {
      self.protocols = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
      guard let pointer = SSL_CTX_new(TLS_server_method()) else { throw OpenSSLTerminator.Failure(call: "SSL_CTX_new") }
      self.pointer = pointer
      let (certificate, key) = (
        try TestCertificates.file("server.pem").path, try TestCertificates.file("server.key").path
      )
      guard
        rebound_tls_prepare(pointer) == 1,
        SSL_CTX_use_certificate_chain_file(pointer, certificate) == 1,
        SSL_CTX_use_PrivateKey_file(pointer, key, SSL_FILETYPE_PEM) == 1
      else { throw OpenSSLTerminator.Failure(call: "use the certificate") }
      // Unretained: whoever has a session holds this.
      let this = Unmanaged.passUnretained(self).toOpaque()
      SSL_CTX_set_alpn_select_cb(
        pointer,
        { _, chosen, chosenCount, offers, offerCount, context in
          guard let context else { return SSL_TLSEXT_ERR_NOACK }
          let own = Unmanaged<SecureContext>.fromOpaque(context).takeUnretainedValue().protocols
          let isAgreed = own.withUnsafeBufferPointer { own -> Bool in
            var place: UnsafeMutablePointer<UInt8>?
            let ownCount = UInt32(own.count)
            let result = SSL_select_next_proto(&place, chosenCount, own.baseAddress, ownCount, offers, offerCount)
            // The array is the context's, which outlives the session: OpenSSL copies the name before this call ends.
            chosen?.pointee = UnsafePointer(place)
            return result == OPENSSL_NPN_NEGOTIATED
          }
          return isAgreed ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
        },
        this
      )
    }

    deinit {
      SSL_CTX_free(pointer)
    }
  }

  /// One connection, for the thread that carries its bytes.
  ///
  /// OpenSSL reads and writes memory, and never a socket: a write to one that the client has closed would be a signal.
  private final class SecureConnection {
    private var relay: SocketRelay
    private let context: SecureContext
    private let session: OpaquePointer
    /// What came from the client, and what is to go there; the session's.
    private let (incoming, outgoing): (OpaquePointer, OpaquePointer)

    init?(_ client: Socket, _ server: Socket, _ context: SecureContext) {
      guard let session = SSL_new(context.pointer) else { return nil }
      guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
        SSL_free(session)
        return nil
      }
      SSL_set_bio(session, incoming, outgoing)
      SSL_set_accept_state(session)
      (relay, self.context, self.session) = (SocketRelay(client, server), context, session)
      (self.incoming, self.outgoing) = (incoming, outgoing)
    }

    deinit {
      SSL_free(session)
    }

    /// Carries until one side ends or the client says what is no TLS.
    func carry() {
      var goesOn = true
      while goesOn, relay.sendSome() {
        // The server has its turn once the handshake is done.
        let isReadable = relay.wait(readsServer: SSL_is_init_finished(session) == 1)
        if isReadable.client { goesOn = takeFromClient() }
        if goesOn, isReadable.server { goesOn = takeFromServer(isReset: isReadable.isReset) }
      }
      relay.server.wake()
    }

    private func takeFromClient() -> Bool {
      let bytes = relay.client.receive(atMost: 65_536)
      guard !bytes.isEmpty else { return false }
      BIO_write(incoming, bytes, Int32(bytes.count))
      var plain = [UInt8](repeating: 0, count: 16_384)
      while true {
        let count = SSL_read(session, &plain, Int32(plain.count))
        guard count > 0 else {
          let goesOn = SSL_get_error(session, count) == SSL_ERROR_WANT_READ
          takeOutgoing()
          // What came before an end counts, and so does an alert.
          if !goesOn, relay.server.send(relay.toServer) { _ = relay.client.send(relay.toClient) }
          return goesOn
        }
        relay.toServer += plain.prefix(Int(count))
      }
    }

    private func takeFromServer(isReset: Bool) -> Bool {
      let bytes = relay.server.receive(atMost: 65_536)
      guard bytes.isEmpty else { return give(bytes) }
      if isReset {
        relay.client.resetWhenClosed()
        return false
      }
      SSL_shutdown(session)
      takeOutgoing()
      guard relay.client.send(relay.toClient) else { return false }
      relay.client.endSending()
      // Closing with anything unread would be a reset.
      while !relay.client.receive(atMost: 65_536).isEmpty {}
      return false
    }

    private func give(_ bytes: [UInt8]) -> Bool {
      var rest = bytes[...]
      while !rest.isEmpty {
        // It takes one record at a time, whatever it is given.
        let count = rest.withUnsafeBytes { SSL_write(session, $0.baseAddress, Int32($0.count)) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(Int(count))
      }
      takeOutgoing()
      return true
    }

    /// Takes what the session has for the client.
    private func takeOutgoing() {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      while case let count = BIO_read(outgoing, &bytes, Int32(bytes.count)), count > 0 {
        relay.toClient += bytes.prefix(Int(count))
      }
    }
  }
#endif
