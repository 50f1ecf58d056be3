#if AsyncHTTPClient
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import NIOHTTP1
  import Rebound
  import ReboundHTTP

  /// Sends requests through AsyncHTTPClient.
  ///
  ///     let client = WebAPIClient(transport: AsyncHTTPClientTransport())
  ///
  /// It makes a client of its own, on the event loops that all clients of the process share, and shuts it down when it is
  /// released and nothing is under way any more. A client that is there already may follow redirects and try again to
  /// connect by itself, which a transport must not, so it takes a configuration in place of a client.
  ///
  /// AsyncHTTPClient does not tell when a connection stands: the limit for that is the configuration's `timeout.connect`, 10 s
  /// unless it says otherwise, and not that of a request. It is also how long a request waits for one of the host's connections:
  /// over HTTP/1.1 there are `connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit`, 8 unless it says otherwise. Raise that
  /// for event streams and downloads that pause, each of which keeps one; the request behind them fails as if the host could
  /// not be reached. Of the head, only the whole is a sign of life. What comes is read as the receiver takes it, and a pause
  /// stops the reading from the network. Receivers are told on the threads of tasks, and must not block.
  public final class AsyncHTTPClientTransport: Transport {
    private let client: OwnedClient
    private let deadlines: ExchangeDeadlines
    private let reachability: any Reachability

    /// Makes a transport with a client of its own.
    ///
    /// - Parameters:
    ///   - configuration: For the client: TLS, proxies, connections per host, and so on. Its redirects, its own attempts to
    ///     connect again and its own tracing are switched off.
    ///   - time: Measures the limits of requests.
    ///   - reachability: Asked whether the device has a network at all when no connection can be made.
    public init(
      configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
      time: TimeSource = .current,
      reachability: any Reachability = SystemReachability.shared
    ) {
      client = OwnedClient(configuration)
      deadlines = ExchangeDeadlines(time)
      self.reachability = reachability
    }

    /// Begins to send a request.
    public func start(
      _ request: TransportRequest,
      telling receiver: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
      let exchange = OngoingExchange(request.limits, knowsConnection: false, deadlines, telling: receiver)
      exchange.carry { [client, reachability] carrier in
        do {
          let response = try await client.client.execute(HTTPClientRequest(request, exchange), deadline: .distantFuture)
          guard response.status.code != 101 else { return exchange.fail(.unaskedUpgrade) }
          exchange.receive(ResponseHead(response, from: request.url))
          await carrier.untilResumed()
          for try await chunk in response.body {
            guard exchange.receive(Data(chunk.readableBytesView)) else { return }
            await carrier.untilResumed()
          }
          exchange.finish()
        } catch {
          var failure = TransportFailure(classifying: error) ?? TransportFailure(.other, underlying: error)
          failure.kind = failure.kind.refined(for: request.url, reachability)
          exchange.fail(failure)
        }
      }
      return exchange
    }
  }

  /// A client that is shut down when neither the transport nor a request needs it any more.
  private final class OwnedClient: Sendable {
    let client: HTTPClient

    init(_ configuration: HTTPClient.Configuration) {
      var configuration = configuration
      configuration.redirectConfiguration = .disallow
      configuration.connectionPool.retryConnectionEstablishment = false
      // A span of its own would be a second one for each attempt, and its fields would go past the redirect policy.
      configuration.tracing.tracer = nil
      client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
      // Nothing is under way, so nothing can be lost that an error would tell of.
      client.shutdown { _ in }
    }
  }

  extension HTTPClientRequest {
    fileprivate init(_ request: TransportRequest, _ exchange: OngoingExchange) throws(TransportFailure) {
      self.init(url: request.url.absoluteString)
      method = .init(rawValue: request.method.rawValue)
      for field in request.headers where !ReboundHTTP.HTTPHeaders.isFraming(field.name) {
        headers.add(name: field.name, value: field.value)
      }
      if case .none = request.body { return }
      let content = request.body.measured
      let pieces: BodyPieces
      do { pieces = try BodyPieces(content) } catch { throw TransportFailure(.body, underlying: error) }
      let stream = AsyncThrowingStream { () async throws -> ByteBuffer? in
        do {
          guard let piece = try await pieces.next() else { return nil }
          // Before it is on its way: told later, it could come behind the end of the answer.
          exchange.sent(pieces.count)
          return ByteBuffer(bytes: piece)
        } catch {
          exchange.abort(TransportFailure(.body, underlying: error))
          throw error
        }
      }
      body = .stream(stream, length: content.length.map { .known($0) } ?? .unknown)
    }
  }

  extension ResponseHead {
    fileprivate init(_ response: HTTPClientResponse, from url: URL) {
      let (major, minor) = (response.version.major, response.version.minor)
      self.init(
        status: Int(response.status.code),
        headers: ReboundHTTP.HTTPHeaders(response.headers.map { ReboundHTTP.HTTPHeaders.Field($0.name, $0.value) }),
        url: url,
        httpVersion: major > 1 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)"
      )
    }
  }
#endif
