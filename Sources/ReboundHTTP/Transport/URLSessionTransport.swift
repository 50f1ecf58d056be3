import Foundation
import Rebound
import StreamSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests through URLSession, which every platform has: the transport for most programs.
///
///     let client = HTTPClient(transport: URLSessionTransport())
///
/// It keeps what ``Transport`` promises where URLSession does not by itself: the limits are measured here, failures are
/// named the same on every platform, and cookies, caches, credentials and redirects are left to the client.
///
/// URLSession does not tell when a connection stands, so the connect limit is left to the idle limit; nor does it tell
/// of the fields of the head one by one, so only the whole head is a sign of life. It refuses GET requests with a body.
/// The header fields come in no order, and Foundation joins those of one name.
///
/// Foundation on Linux has faults that cannot be mended from here; the `CurlTransport` of this package has none of them:
/// - A server that closes the connection within the fields of the head stops the whole process.
/// - A request is repeated by itself, whatever its method, when a connection that was kept open turns out to be closed
///   before any answer.
/// - During a pause it reads on, as fast as the network delivers, and what comes is kept in memory.
public final class URLSessionTransport: Transport {
  private let session: URLSession
  private let events: URLSessionEvents
  private let deadlines: ExchangeDeadlines

  /// Makes a transport with a session of its own.
  ///
  /// - Parameters:
  ///   - configuration: For the session: proxies, protocol classes, connections per host, and so on. Its cookies, cache,
  ///     credentials and timeouts are not used.
  ///   - timers: Where the time for the limits comes from.
  ///   - reachability: Asked whether the device has a network at all when no connection can be made.
  public init(
    configuration: URLSessionConfiguration = .ephemeral,
    timers: TransportTimers = .dispatch,
    reachability: any Reachability = SystemReachability.shared
  ) {
    events = URLSessionEvents(reachability)
    deadlines = ExchangeDeadlines(timers)
    let queue = OperationQueue()
    queue.name = "rebound.url-session-transport"
    queue.maxConcurrentOperationCount = 1
    session = URLSession(configuration: configuration.forTransport, delegate: events, delegateQueue: queue)
  }

  deinit {
    // What is under way goes on to its end, and only then the session lets go of its delegate.
    session.finishTasksAndInvalidate()
  }

  /// Begins to send a request.
  public func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    let exchange = OngoingExchange(limits: request.limits, deadlines: deadlines, telling: receiver)
    let task: URLSessionTask
    do {
      task = try makeTask(for: request, exchange)
    } catch {
      exchange.fail(TransportFailure(.body, underlying: error))
      return exchange
    }
    let carrier = URLSessionCarrier(task)
    events.add(exchange, for: task, request)
    exchange.begin(on: carrier)
    carrier.start()
    return exchange
  }

  private func makeTask(for request: TransportRequest, _ exchange: OngoingExchange) throws -> URLSessionTask {
    var urlRequest = request.urlRequest
    // Ours are the only limits: the system's would fire at other moments on each platform, and say less.
    urlRequest.timeoutInterval = .longestTimeout
    switch request.body {
    case .none, .data: return session.dataTask(with: urlRequest)
    case .file, .stream:
      if let length = request.body.length { urlRequest.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
      urlRequest.httpBodyStream = try BodyInputStream.open(request.body) { [weak exchange] error in
        exchange?.abort(TransportFailure(.body, underlying: error))
      }
      return session.dataTask(with: urlRequest)
    }
  }
}

/// Stops, pauses and resumes a task.
///
/// Unchecked, because the lock guards all that changes.
private final class URLSessionCarrier: ExchangeCarrier, @unchecked Sendable {
  private let task: URLSessionTask
  private let lock = Lock()
  private var hasStarted = false
  private var isStopped = false

  init(_ task: URLSessionTask) {
    self.task = task
  }

  /// Sends the request, unless it was stopped before.
  func start() {
    let isWanted = lock.withLock {
      defer { hasStarted = true }
      return !isStopped && !hasStarted
    }
    if isWanted { task.resume() }
  }

  func stop() {
    lock.withLock { isStopped = true }
    task.cancel()
  }

  func pause() {
    #if canImport(Darwin)
      task.suspend()
    #endif
  }

  func resume() {
    #if canImport(Darwin)
      task.resume()
    #endif
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
