import Combine
import Foundation
import ReboundHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One way to send a GET request, named for the report.
struct Contestant: Sendable {
  let name: String
  /// Sends a request, and says how many bytes came, or `nil` for a failure.
  let send: @Sendable (_ done: @escaping @Sendable (Int?) -> Void) -> Void

  /// URLSession's own tasks: what nothing that stands on it can be cheaper than.
  static func bareURLSession(_ url: URL) -> Contestant {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    let session = URLSession(configuration: configuration)
    return Contestant(name: "URLSession, bare") { done in
      var request = URLRequest(url: url)
      request.setValue("0123456789abcdef", forHTTPHeaderField: "X-Request-ID")
      session.dataTask(with: request) { data, _, _ in done(data?.count) }.resume()
    }
  }

  static func transport(_ name: String, _ transport: any Transport, _ url: URL) -> Contestant {
    // What a client sends: each field costs Foundation some microseconds.
    let request = TransportRequest(url, headers: ["X-Request-ID": "0123456789abcdef"], limits: .standard)
    return Contestant(name: name) { done in
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
  /// A client over a transport, which parses nothing and hands on the bytes.
  static func client(_ name: String, _ transport: any Transport, _ url: URL) -> Contestant {
    let client = WebAPIClient(baseURL: url.deletingLastPathComponent(), transport: transport, deliveringOn: nil)
    return Contestant(name: name) { done in
      client.publisher(for: Reading()).subscribe(
        Subscribers.Sink(
          receiveCompletion: { if case .failure = $0 { done(nil) } },
          receiveValue: { done($0.count) }
        )
      )
    }
  }

  private struct Reading: Request {
    typealias Response = Data

    var path: RequestPath { "reading" }
  }
}

/// Unchecked, because a transport tells its events one at a time.
private final class ByteCount: @unchecked Sendable {
  private(set) var total = 0

  func add(_ count: Int) { total += count }
}
