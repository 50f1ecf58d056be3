#if Redis
  /// Where a server of Redis, or of something that speaks its protocol, is found.
  public struct RedisAddress: Hashable, Sendable {
    enum Endpoint: Hashable, Sendable {
      case tcp(host: String, port: Int)
      case unix(path: String)
    }

    let endpoint: Endpoint
    /// Who one is there; `nil` where the server asks for nobody, or for a password alone.
    public var username: String?
    /// The password; `nil` where the server asks for none.
    public var password: String?
    /// The number of the database, from 0; a cluster has no other.
    public var database = 0
    /// How the connection is encrypted; `nil` where it is not, as with sockets in the file system.
    public var tls: RedisTLS?

    /// A server on a network.
    ///
    /// - Parameters:
    ///   - host: Its name or address.
    ///   - port: Its port.
    ///   - username: Who one is there.
    ///   - password: The password.
    ///   - database: The number of the database.
    ///   - tls: How the connection is encrypted; `nil` for a server on this machine, or in a network of its own.
    public static func tcp(
      _ host: String,
      port: Int = 6379,
      username: String? = nil,
      password: String? = nil,
      database: Int = 0,
      tls: RedisTLS? = nil
    ) -> RedisAddress {
      var address = RedisAddress(.tcp(host: host, port: port), username, password, database)
      address.tls = tls
      return address
    }

    /// A server on this machine, behind a socket in the file system.
    ///
    /// - Parameters:
    ///   - path: Where the socket is.
    ///   - username: Who one is there.
    ///   - password: The password.
    ///   - database: The number of the database.
    public static func unix(
      _ path: String,
      username: String? = nil,
      password: String? = nil,
      database: Int = 0
    ) -> RedisAddress {
      RedisAddress(.unix(path: path), username, password, database)
    }

    private init(_ endpoint: Endpoint, _ username: String?, _ password: String?, _ database: Int) {
      self.endpoint = endpoint
      self.username = username
      self.password = password
      self.database = database
    }
  }

  extension RedisAddress: CustomStringConvertible {
    /// Where it is, without the password.
    public var description: String {
      switch endpoint {
      case .tcp(let host, let port): "\(host):\(port)"
      case .unix(let path): path
      }
    }
  }
#endif
