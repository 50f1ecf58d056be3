import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One way to send a GET request, named for the report.
///
/// All of them do what any program has to do for a request: make its address and its header field, count the bytes that
/// come, and go on when the answer is complete. None waits for a queue, keeps cookies or copies, or parses anything.
struct Contestant: Sendable {
  let name: String
  /// How many requests it sends where others send one: the clock of a process counts microseconds, and without a network a
  /// request takes two of them.
  var repetitions = 1
  /// Sends a request, and says how many bytes came, or `nil` for a failure.
  let send: @Sendable (_ done: @escaping @Sendable (Int?) -> Void) -> Void

  /// URLSession's own tasks: what nothing that stands on it can be cheaper than.
  static func bareURLSession(_ url: URL) -> Contestant {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    let session = URLSession(configuration: configuration)
    let address = url.absoluteString
    return Contestant(name: "URLSession, bare") { done in
      guard let url = URL(string: address) else { return done(nil) }
      var request = URLRequest(url: url)
      request.setValue("0123456789abcdef", forHTTPHeaderField: "X-Request-ID")
      session.dataTask(with: request) { data, _, _ in done(data?.count) }.resume()
    }
  }

  static func transport(_ name: String, _ transport: any Transport, _ url: URL) -> Contestant {
    let address = url.absoluteString
    return Contestant(name: name) { done in
      guard let url = URL(string: address) else { return done(nil) }
      // What a client sends: each field costs Foundation some microseconds.
      let request = TransportRequest(url, headers: ["X-Request-ID": "0123456789abcdef"], limits: .standard)
      let count = ByteCount()
      _ = transport.start(request) { event in
        switch event {
        case .chunk(let data): count.add(data.count)
        case .finished: done(count.total)
        case .failed: done(nil)
        case .sent, .head: break
        }
      }
    }
  }
}

extension Contestant {
  /// The same, which sends more requests at a time.
  func repeated(_ repetitions: Int) -> Contestant {
    var copy = self
    copy.repetitions = repetitions
    return copy
  }

  /// A client over a transport, which parses nothing and hands on the bytes.
  ///
  /// - Parameter lines: Where its events are written while somebody reads.
  static func client(
    _ name: String,
    _ transport: any Transport,
    _ url: URL,
    writingTo lines: JSONLines? = nil
  ) -> Contestant {
    var client = WebAPIClient(baseURL: url.deletingLastPathComponent(), transport: transport, deliveringOn: nil)
    if let lines { client = client.writing(to: lines) }
    let path = RequestPath(url.lastPathComponent)
    return client.contestant(name) { path }
  }

  /// A client with all middleware that there is, and a deadline: each request is another address, or they would answer each
  /// other.
  static func stack(_ name: String, _ transport: any Transport, _ url: URL) throws -> Contestant {
    let tracing = Tracing { _ in }
    let session = TokenRefresher<String> { _ in .rejected(URLError(.userAuthenticationRequired)) }
    session.signIn(with: "token")
    let client = WebAPIClient(
      baseURL: url.deletingLastPathComponent(),
      transport: transport,
      middleware: [
        Caching(in: HTTPCache()), Coalescing(), Retrying(.http), Cookies(),
        Authenticating(with: session) { $0["Authorization"] = "Bearer \($1)" },
        Protecting(try .consecutive(5, openFor: .seconds(30))), APIKey(.header("X-Api-Key"), "key"), tracing,
      ],
      deliveringOn: nil
    ).onEvent(tracing.write)
    let (name, number) = (name, Counter())
    let base = url.lastPathComponent
    return client.contestant(name, deadline: .seconds(60)) {
      number.increment()
      return RequestPath("\(base)-\(number.value)")
    }
  }
}

extension WebAPIClient {
  fileprivate func contestant(
    _ name: String,
    deadline: Duration? = nil,
    _ path: @escaping @Sendable () -> RequestPath
  ) -> Contestant {
    Contestant(name: name) { done in
      let count = ByteCount()
      publisher(for: Reading(path: path(), deadline: deadline)).subscribe(
        Subscribers.Sink(
          receiveCompletion: { if case .finished = $0 { done(count.total) } else { done(nil) } },
          receiveValue: { count.add($0.count) }
        )
      )
    }
  }
}

private struct Reading: Request {
  typealias Response = Data

  let path: RequestPath
  let deadline: Duration?
}

/// Answers at once, so that nothing is measured but what the client does itself.
struct InstantTransport: Transport {
  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    receiver(.head(ResponseHead(status: 200, headers: InstantTransport.headers, url: request.url)))
    receiver(.chunk(InstantTransport.body))
    receiver(.finished)
    return Exchange()
  }

  private static let body = Data(#"{"temperature": 21.5}"#.utf8)
  private static let headers: HTTPHeaders = [
    "Connection": "keep-alive", "Content-Length": "21", "Content-Type": "application/json",
    "Date": "Sun, 22 Nov 2026 02:10:21 GMT", "Server": "nginx",
  ]

  private final class Exchange: TransportExchange {
    func cancel() {}
    func pause() {}
    func resume() {}
  }
}

/// Unchecked, because a transport tells its events one at a time.
private final class ByteCount: @unchecked Sendable {
  private(set) var total = 0

  func add(_ count: Int) { total += count }
}
