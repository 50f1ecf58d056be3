#if Foundation
  import Combine
  import Foundation

  /// Answers requests inside the process, by the path of the request.
  ///
  /// - `/hello`: 200 and a body.
  /// - `/missing`: 404 and a body.
  /// - `/empty`: 204 without a body.
  /// - `/down`: no answer, but an error of URLSession's.
  /// - `/late`: the same, as an `NSError`.
  /// - `/strange`: no answer, but an error of somebody else's.
  /// - `/silent`: nothing, ever.
  final class StubProtocol: URLProtocol {
    /// How many requests were started and stopped, by path.
    static let started = Shared<[String: Int]>([:])
    static let stopped = Shared<[String: Int]>([:])
    /// Sent when a request for `/silent` was started and stopped; one test may use that path.
    static let silentStarted = Signal()
    static let silentStopped = Signal()

    /// A session that asks this protocol alone.
    static func makeSession(delegateQueue: OperationQueue? = nil) -> URLSession {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.protocolClasses = [StubProtocol.self]
      return URLSession(configuration: configuration, delegate: nil, delegateQueue: delegateQueue)
    }

    /// A URL of its own for each test, so that tests do not count each other's requests.
    static func url(_ path: String, _ test: String = #function) -> URL {
      var components = URLComponents()
      components.scheme = "http"
      components.host = "stub.invalid"
      components.path = path
      components.query = test.filter(\.isLetter)
      return components.url ?? URL(fileURLWithPath: path)
    }

    static func count(_ counts: Shared<[String: Int]>, _ url: URL) -> Int {
      counts.value[url.absoluteString] ?? 0
    }

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
      guard let url = request.url else { return }
      Self.started.change { $0[url.absoluteString, default: 0] += 1 }
      switch url.path {
      case "/hello": answer(200, "hello", url)
      case "/missing": answer(404, "no such page", url)
      case "/empty": answer(204, nil, url)
      case "/down": client?.urlProtocol(self, didFailWithError: URLError(.cannotConnectToHost))
      case "/late":
        client?.urlProtocol(self, didFailWithError: NSError(domain: NSURLErrorDomain, code: NSURLErrorTimedOut))
      case "/strange": client?.urlProtocol(self, didFailWithError: CocoaError(.fileNoSuchFile))
      default: Self.silentStarted.send()
      }
    }

    override func stopLoading() {
      guard let url = request.url else { return }
      Self.stopped.change { $0[url.absoluteString, default: 0] += 1 }
      if url.path == "/silent" { Self.silentStopped.send() }
    }

    private func answer(_ status: Int, _ body: String?, _ url: URL) {
      guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil) else {
        return
      }
      client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      if let body { client?.urlProtocol(self, didLoad: Data(body.utf8)) }
      client?.urlProtocolDidFinishLoading(self)
    }
  }
#endif
