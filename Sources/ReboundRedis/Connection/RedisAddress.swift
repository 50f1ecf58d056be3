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

    /// A server on a network.
    ///
    /// The connection is not encrypted: put a tunnel in front of a server that is not on this machine or in a network of
    /// its own.
    ///
    /// - Parameters:
    ///   - host: Its name or address.
    ///   - port: Its port.
    ///   - username: Who one is there.
    ///   - password: The password.
    ///   - database: The number of the database.
    public static func tcp(
      _ host: String,
      port: Int = 6379,
      username: String? = nil,
      password: String? = nil,
      database: Int = 0
    ) -> RedisAddress {
      RedisAddress(.tcp(host: host, port: port), username, password, database)
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
