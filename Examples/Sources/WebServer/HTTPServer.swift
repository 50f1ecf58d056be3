import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A small HTTP/1.1 server over libmicrohttpd, for programs that serve this machine.
///
///     var router = Router { error, request in log(error, request) }
///     router.on(.get, "/health") { _ in try .json(["status": "ok"]) }
///     let server = try HTTPServer(.init(port: 8080)) { [router] in await router.respond(to: $0) }
///     …
///     await server.stop()
///
/// Handlers run as tasks, never on the server's own thread. Every refusal is answered as `{"error":true,"reason":…}`,
/// except for what isn't HTTP or has a head of more than 32 kB, which libmicrohttpd refuses itself with a short page of
/// HTML.
public final class HTTPServer: Sendable {
  /// What a server listens to, and what it refuses.
  public struct Configuration: Sendable {
    /// The IPv4 address to listen on; by default only this machine can connect.
    public var address = "127.0.0.1"
    /// The port; 0 for a free one.
    public var port: UInt16 = 0
    /// The host names under which the server may be addressed, together with its port.
    ///
    /// Any other `Host` is refused with 403.
    public var hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
    /// Origins (`https://example.com`) whose pages may call this server, besides its own.
    ///
    /// Any other `Origin` is refused with 403.
    public var allowedOrigins: Set<String> = []
    /// The largest body of a request, in bytes.
    ///
    /// A larger one is refused with 413 if its length was announced, else by closing the connection.
    public var bodyLimit = 1 << 20
    /// How many clients may be connected at once; fewer if the process may not open that many files.
    public var connectionLimit = 10_000
    /// How many clients of one address may be connected at once; the others are hung up on.
    ///
    /// At most three quarters of all that can be connected, so that one address cannot shut out all others.
    public var connectionLimitPerAddress = 1_000
    /// How long a connection may be idle or stuck before it is closed.
    ///
    /// Waiting for a handler isn't idle. Whole seconds.
    public var connectionTimeout: Duration = .seconds(60)
    /// How long the head of a request may take, from connecting or from the end of the request before; nil for no end.
    ///
    /// A client that takes longer is hung up on, at the latest after half as long again, however it spreads its bytes.
    public var headTimeout: Duration? = .seconds(30)
    /// How long the body of a request may take, from the end of its head; nil for no end.
    ///
    /// Who takes longer is hung up on as for the head.
    public var bodyTimeout: Duration? = .seconds(60)
    /// How often streams of events that have nothing to send get a comment; nil for never.
    ///
    /// A client that has gone is noticed after two of them.
    public var heartbeat: Duration? = .seconds(5)
    /// Headers of every answer that doesn't set them itself.
    public var defaultHeaders: Headers = ["X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"]
    /// Where time comes from.
    public var timer: any ServerTimer = DispatchServerTimer()

    /// Makes a configuration with the defaults.
    ///
    /// - Parameter port: The port; 0 for a free one.
    public init(port: UInt16 = 0) {
      self.port = port
    }
  }

  private let core: ServerCore
  private let address: String

  /// Starts a server.
  ///
  /// - Parameter handler: Answers each request; usually ``Router/respond(to:)``. Runs concurrently with itself.
  /// - Throws: ``HTTPServerError`` if the server can't listen there.
  public init(
    _ configuration: Configuration,
    handler: @escaping @Sendable (Request) async -> Response
  ) throws(HTTPServerError) {
    core = try ServerCore(configuration: configuration, handler: handler)
    address = configuration.address
  }

  deinit {
    core.stopNow()
  }

  /// The port on which the server listens.
  public var port: UInt16 { core.port }

  /// The server's address, without a slash at its end: `http://127.0.0.1:8080`.
  public var url: String { "http://\(address):\(port)" }

  /// Stops the server, and returns when it has stopped.
  ///
  /// New connections are refused at once, streams of events are ended after what is waiting in them, and answers under
  /// way are finished; what isn't finished at the deadline is cut off. Stopping a stopped server does nothing.
  ///
  /// - Parameter deadline: How long to wait for answers under way.
  public func stop(within deadline: Duration = .seconds(5)) async {
    await core.stop(within: deadline)
  }
}

extension HTTPServer.Configuration {
  /// The connection limit, kept below the limit of open files: beyond that, accepting would fail over and over.
  var usableConnectionLimit: UInt32 {
    let filesForOtherUses: UInt64 = 64
    var limit = rlimit()
    #if canImport(Darwin)
      let isKnown = getrlimit(RLIMIT_NOFILE, &limit) == 0
    #else
      let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    #endif
    let wanted = UInt64(max(1, connectionLimit))
    guard isKnown, limit.rlim_cur > filesForOtherUses else { return UInt32(clamping: wanted) }
    return UInt32(clamping: min(wanted, UInt64(limit.rlim_cur) - filesForOtherUses))
  }

  /// The limit for one address, kept below what can be connected at all: otherwise one address could shut out all others
  /// where few files may be open.
  var usableConnectionLimitPerAddress: UInt32 {
    let share = max(1, usableConnectionLimit / 4 * 3)
    return min(UInt32(clamping: max(1, connectionLimitPerAddress)), share)
  }

  /// The connection timeout in whole seconds; at least 1, because 0 would mean none.
  var timeoutInSeconds: UInt32 {
    UInt32(clamping: max(1, connectionTimeout.components.seconds))
  }
}
