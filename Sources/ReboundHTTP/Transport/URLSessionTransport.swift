import Dispatch
import Foundation
import Rebound

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests through URLSession, which every platform has.
///
/// On Linux, take the `CurlTransport` of this package unless every server is your own: there three things that any server
/// may do stop the whole process within Foundation. It closes the connection within the fields of the head, as one does that
/// crashes; it sends trailers (fields behind the last chunk); or, over HTTP/2, it refuses a request with a body unread
/// (`REFUSED_STREAM`), as a server does that has enough to do.
///
///     let client = WebAPIClient(transport: URLSessionTransport())
///
/// It keeps what ``Transport`` promises where URLSession does not by itself: the limits are measured here, failures are
/// named the same on every platform, and cookies, caches, credentials and redirects are left to the client.
///
/// URLSession does not tell when a connection stands, so the connect limit is left to the idle limit; nor does it tell
/// of the fields of the head one by one, so only the whole head is a sign of life. It refuses GET requests with a body.
/// The header fields come in no order, and Foundation joins those of one name.
///
/// Foundation on Linux repeats a request when a connection that was kept open turns out to be closed, whatever its method,
/// and stops the process if the request has a body. So there each request that has a body or is not idempotent gets a
/// connection of its own, which costs some time. These faults cannot be mended from here; the `CurlTransport` of this
/// package has none of them. `FoundationFaultTests` shows each in plain URLSession, but for those of which it is said that
/// no test does:
/// - A server that closes the connection within the fields of the head, or sends trailers, stops the whole process; so does
///   one of HTTP/2 that refuses the stream of a request with a body (`REFUSED_STREAM`).
/// - A host that is an IPv6 address (`http://[::1]`) is refused as no address.
/// - Among some ten thousand connections that are reset after they were kept open, it has been seen to stop the process
///   when it stopped to watch a socket. No test shows it, since it is a race that none can bring about.
/// - About once in some ten thousand requests it forgets to watch a socket. The request ends by its idle limit. No test shows
///   it by itself, for the same reason; runs of thousands of random faults allow for it.
/// - A cancel of a task that it has forgotten already, because its end is on the way, stops the process. No test shows it,
///   since it is a race of which one ending is that nothing moves any more.
/// - During a pause it reads on, as fast as the network delivers, and what comes is kept in memory, up to the limit of the
///   answer; so it does for a receiver that is slower than the network. A cancel lets go of it at once. It is not asked to
///   suspend a task, since that comes into effect when it likes; no test shows that.
/// - All sessions of the process share one queue. What one request has it do (to unpack what was sent as a bomb, to read the
///   request's body) the others wait for, though no limit does, and no ``start(_:telling:)``. A download that has always
///   something to read holds up all others until it ends or is cancelled, or a limit of theirs passes; no test shows that,
///   since how much there is to read is up to the network and the machine.
/// - A redirect is told once its body has come, and all of that is in memory until then. One without an end may hold up
///   all sessions of the process as long as the server sends.
/// - A file that grows while it is sent may be sent beyond its Content-Length, so that the server takes what was added for a
///   request of its own; the call fails then (``TransportFailure/Kind-swift.enum/body``). For what is missing of one that
///   shrinks the server waits, until the idle limit ends it; no test shows that.
/// - HTTP/2 is spoken over TLS alone.
public final class URLSessionTransport: Transport {
  private let deadlines: ExchangeDeadlines
  private let pool: URLSessionPool
  /// Where receivers are told.
  private let events = DispatchQueue(label: "rebound.url-session-transport.events")

  /// Makes a transport with a session of its own.
  ///
  /// - Parameters:
  ///   - configuration: For the session: proxies, protocol classes, connections per host, and so on. Its cookies, cache,
  ///     credentials and timeouts are not used.
  ///   - time: Measures the limits of requests.
  ///   - reachability: Asked whether the device has a network at all when no connection can be made.
  public init(
    configuration: URLSessionConfiguration = .ephemeral,
    time: TimeSource = .current,
    reachability: any Reachability = SystemReachability.shared
  ) {
    deadlines = ExchangeDeadlines(time)
    pool = URLSessionPool(configuration.forTransport, reachability)
  }

  /// Begins to send a request.
  public func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    let session = pool.session(for: request)
    let exchange = OngoingExchange(request.limits, knowsConnection: false, deadlines, on: events) { [pool] event in
      if case .failed(let failure) = event, case .timeout = failure.kind { pool.giveUp(session) }
      receiver(event)
    }
    let carrier = URLSessionCarrier(session.queue)
    exchange.begin(on: carrier)
    session.queue.async { URLSessionTransport.begin(request, exchange, carrier, in: session) }
    return exchange
  }

  private static func begin(
    _ request: TransportRequest,
    _ exchange: OngoingExchange,
    _ carrier: URLSessionCarrier,
    in session: OwnedURLSession
  ) {
    guard !exchange.isOver else { return }
    let request = measured(request)
    do {
      let task = session.makeTask(for: request, try makeURLRequest(for: request, exchange))
      if let priority = request.priority { task.priority = priority.taskPriority }
      session.events.add(exchange, carrier, request, for: task)
      carrier.start(task)
    } catch {
      exchange.fail(TransportFailure(.body, underlying: error))
    }
  }

  /// The request with a body whose length stays what it is; on Linux, a file that has one stays a file.
  private static func measured(_ request: TransportRequest) -> TransportRequest {
    #if !canImport(Darwin)
      if request.body.length != nil { return request }
    #endif
    var measured = request
    measured.body = request.body.measured
    return measured
  }

  private static func makeURLRequest(for request: TransportRequest, _ exchange: OngoingExchange) throws -> URLRequest {
    var urlRequest = request.urlRequest
    // Ours are the only limits: the system's would fire at other moments on each platform, and say less.
    urlRequest.timeoutInterval = .longestTimeout
    switch request.body {
    case .none, .data: break
    #if canImport(Darwin)
      case .file, .stream:
        if let length = request.body.length { urlRequest.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
        urlRequest.httpBodyStream = try openStream(request.body, exchange)
    #else
      // Foundation on Linux sends every stream in chunks, beside which a Content-Length is not allowed (RFC 9112 §6.2); so
      // a file is a task of its own.
      case .file(let url):
        // The task would take it for empty if it cannot be read.
        _ = try FileReader(url)
      case .stream: urlRequest.httpBodyStream = try openStream(request.body, exchange)
    #endif
    }
    return urlRequest
  }

  private static func openStream(_ body: TransportBody, _ exchange: OngoingExchange) throws -> InputStream {
    try BodyInputStream.open(body) { [weak exchange] error in
      exchange?.abort(TransportFailure(.body, underlying: error))
    }
  }
}

extension URLSessionConfiguration {
  /// A copy without whatever acts on its own.
  fileprivate var forTransport: URLSessionConfiguration {
    // A copy of a configuration is one.
    let own = copy() as? URLSessionConfiguration ?? .ephemeral
    own.httpCookieStorage = nil
    own.httpShouldSetCookies = false
    own.httpCookieAcceptPolicy = .never
    own.urlCache = nil
    own.requestCachePolicy = .reloadIgnoringLocalCacheData
    own.urlCredentialStorage = nil
    own.timeoutIntervalForRequest = .longestTimeout
    own.timeoutIntervalForResource = .longestTimeout
    return own
  }
}

extension TimeInterval {
  /// A week, which URLSession takes for a resource by itself.
  fileprivate static let longestTimeout: TimeInterval = 604_800
}
