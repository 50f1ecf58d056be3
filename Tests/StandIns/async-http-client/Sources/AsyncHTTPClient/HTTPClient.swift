// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for async-http-client 1.33.1: the names and signatures that the adapter and its tests use, over HTTP/1.1 and
/// plain sockets, a connection for each request.
import Dispatch
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

public final class HTTPClient: Sendable {
  public enum EventLoopGroupProvider: Sendable {
    case singleton
  }

  public struct Configuration: Sendable {
    public enum RedirectConfiguration: Sendable {
      case follow(max: Int, allowCycles: Bool)
      case disallow
    }

    public struct ConnectionPool: Sendable {
      public var retryConnectionEstablishment = true
    }

    public var redirectConfiguration = RedirectConfiguration.follow(max: 5, allowCycles: false)
    public var connectionPool = ConnectionPool()
    public var tracing = TracingConfiguration()

    public init() {}
  }

  private let configuration: Configuration
  private let isShutDown = Mutex(false)

  public init(eventLoopGroupProvider: EventLoopGroupProvider, configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  deinit {
    // As the real one does: whoever makes a client has to shut it down.
    precondition(isShutDown.withLock { $0 }, "Client not shut down before the deinit.")
  }

  public func shutdown(queue: DispatchQueue = .global(), _ callback: @Sendable @escaping ((any Error)?) -> Void) {
    isShutDown.withLock { $0 = true }
    // Lives until its end was told.
    queue.async { [self] in
      withExtendedLifetime(self) { callback(nil) }
    }
  }

  public func execute(_ request: HTTPClientRequest, deadline: NIODeadline) async throws -> HTTPClientResponse {
    guard !isShutDown.withLock({ $0 }) else { throw HTTPClientError.alreadyShutdown }
    var request = request
    let span = request.begin(with: configuration.tracing.tracer)
    defer { span?.end() }
    return try await send(request)
  }

  private func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
    let bell = Bell()
    return try await withTaskCancellationHandler {
      let connection = try await connect(to: request, bell)
      let exchange = RunningExchange(connection, request)
      let head = try await exchange.head()
      if (300..<400).contains(head.status), case .follow = configuration.redirectConfiguration {
        throw HTTPClientError.redirectLimitReached
      }
      return HTTPClientResponse(
        version: head.version,
        status: HTTPResponseStatus(statusCode: head.status),
        headers: head.headers,
        body: HTTPClientResponse.Body(exchange: exchange)
      )
    } onCancel: {
      bell.ring(CancellationError())
    }
  }

  private func connect(to request: HTTPClientRequest, _ bell: Bell) async throws -> Connection {
    guard let url = URLComponents(string: request.url), let host = url.host else { throw HTTPClientError.invalidURL }
    do {
      return try await blocking { try Connection(host, url.port ?? 80, bell) }
    } catch is NIOConnectionError where configuration.connectionPool.retryConnectionEstablishment {
      // The real one tries until the time to connect is over.
      throw HTTPClientError.connectTimeout
    }
  }
}

public struct HTTPClientError: Error, Equatable, CustomStringConvertible {
  private let name: String

  public static let invalidURL = HTTPClientError(name: "invalidURL")
  public static let alreadyShutdown = HTTPClientError(name: "alreadyShutdown")
  public static let connectTimeout = HTTPClientError(name: "connectTimeout")
  public static let readTimeout = HTTPClientError(name: "readTimeout")
  public static let remoteConnectionClosed = HTTPClientError(name: "remoteConnectionClosed")
  public static let cancelled = HTTPClientError(name: "cancelled")
  public static let deadlineExceeded = HTTPClientError(name: "deadlineExceeded")
  public static let redirectLimitReached = HTTPClientError(name: "redirectLimitReached")

  public var description: String { "HTTPClientError.\(name)" }
}

public struct HTTPClientRequest: Sendable {
  public struct Body: Sendable {
    public enum Length: Sendable {
      case unknown
      case known(Int64)
    }

    let length: Length
    let forEach: @Sendable ((ByteBuffer) async throws -> Void) async throws -> Void

    public static func stream<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces, length: Length) -> Body
    where Pieces.Element == ByteBuffer {
      Body(length: length) { take in
        for try await piece in pieces { try await take(piece) }
      }
    }
  }

  public var url: String
  public var method = HTTPMethod(rawValue: "GET")
  public var headers = HTTPHeaders()
  public var body: Body?

  public init(url: String) {
    self.url = url
  }
}

public struct HTTPClientResponse: Sendable {
  public struct Body: AsyncSequence, Sendable {
    public typealias Element = ByteBuffer

    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let exchange: RunningExchange

      public mutating func next() async throws -> ByteBuffer? { try await exchange.chunk() }
    }

    let exchange: RunningExchange

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(exchange: exchange) }
  }

  public let version: HTTPVersion
  public let status: HTTPResponseStatus
  public let headers: HTTPHeaders
  public let body: Body
}
