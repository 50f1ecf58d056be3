#if Redis
  /// How a connection is encrypted, and which server is believed.
  ///
  ///     let far = RedisAddress.tcp("redis.example.com", port: 6380, tls: .standard)
  ///     let own = RedisTLS(trusting: .file("/etc/redis/ca.pem"), serverName: "redis.internal")
  ///     let near = RedisAddress.tcp("10.0.0.7", tls: own)
  ///
  /// TLS 1.2 or 1.3, by OpenSSL. A server whose certificate is not for the name that was asked for, or that nobody who is
  /// trusted has signed, is refused: there is no way to go without. Files are read again for each connection, so that they
  /// may be renewed.
  public struct RedisTLS: Hashable, Sendable {
    /// Whose word counts for whom a certificate belongs to.
    public enum Trust: Hashable, Sendable {
      /// Those whom the system trusts.
      case system
      /// Those whose certificates are in a file, one behind the other, in PEM; and nobody else.
      case file(String)
    }

    /// Who this side is, for servers that want to know.
    public struct Certificate: Hashable, Sendable {
      /// The path of the certificate and those of who signed it, in PEM.
      public let chainFile: String
      /// The path of its key, in PEM, without a password.
      public let keyFile: String

      /// A certificate and its key.
      ///
      /// - Parameters:
      ///   - chainFile: The path of the certificate and those of who signed it, in PEM.
      ///   - keyFile: The path of its key, in PEM, without a password.
      public init(chainFile: String, keyFile: String) {
        (self.chainFile, self.keyFile) = (chainFile, keyFile)
      }
    }

    /// Whose word counts.
    public var trust: Trust
    /// Whom the server's certificate must be for; `nil` for the host of the address.
    public var serverName: String?
    /// Who this side is; `nil` where the server does not ask.
    public var certificate: Certificate?

    /// Whom the system trusts, and the host of the address.
    public static let standard = RedisTLS()

    /// How a connection is encrypted.
    ///
    /// - Parameters:
    ///   - trust: Whose word counts.
    ///   - serverName: Whom the server's certificate must be for; `nil` for the host of the address.
    ///   - certificate: Who this side is; `nil` where the server does not ask.
    public init(trusting trust: Trust = .system, serverName: String? = nil, certificate: Certificate? = nil) {
      (self.trust, self.serverName, self.certificate) = (trust, serverName, certificate)
    }
  }
#endif
