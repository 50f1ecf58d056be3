import BenchmarkClients
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
  /// The most KiB over the idle process that it may hold; `nil` where nothing is promised.
  var mostMemory: Int?
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

  /// The same, which promises to hold no whole body in memory.
  func streaming() -> Contestant {
    var copy = self
    copy.mostMemory = 32 * 1024
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
    var client = WebAPIClient.plain(transport, url)
    if let lines { client = client.writing(to: lines) }
    let path = RequestPath(url.lastPathComponent)
    return client.contestant(name) { path }
  }

  /// A client with all middleware that there is, and a deadline: each request is another address, or they would answer each
  /// other.
  static func stack(_ name: String, _ transport: any Transport, _ url: URL) throws -> Contestant {
    let client = try WebAPIClient.withWholeStack(baseURL: url.deletingLastPathComponent(), transport: transport)
    let (name, number) = (name, Counter())
    let base = url.lastPathComponent
    return client.contestant(name) {
      number.increment()
      return RequestPath("\(base)-\(number.value)")
    }
  }
}

extension WebAPIClient {
  fileprivate static func plain(_ transport: any Transport, _ url: URL) -> WebAPIClient {
    WebAPIClient(baseURL: url.deletingLastPathComponent(), transport: transport, deliveringOn: nil)
  }

  fileprivate func contestant(
    _ name: String,
    _ path: @escaping @Sendable () -> RequestPath
  ) -> Contestant {
    Contestant(name: name) { done in
      publisher(for: Reading(path: path())).countBytes({ $0.count }, done)
    }
  }
}

extension Publisher {
  /// Subscribes, and says at the end how many bytes came.
  fileprivate func countBytes(
    _ bytes: @escaping (Output) -> Int,
    _ done: @escaping @Sendable (Int?) -> Void
  ) {
    let count = ByteCount()
    subscribe(
      Subscribers.Sink(
        receiveCompletion: { if case .finished = $0 { done(count.total) } else { done(nil) } },
        receiveValue: { count.add(bytes($0)) }
      )
    )
  }
}

// MARK: Large bodies

extension Contestant {
  /// URLSession's own download into a file.
  static func bareURLSessionToFile(_ url: URL) -> Contestant {
    let session = URLSession(configuration: .ephemeral)
    return Contestant(name: "URLSession, to a file") { done in
      session.downloadTask(with: url) { file, _, _ in
        let size = file.flatMap(fileSize)
        // Nobody else removes it, if it is still there.
        if let file { try? FileManager.default.removeItem(at: file) }
        done(size)
      }.resume()
    }
  }

  /// A client that puts the body into a file.
  static func download(_ name: String, _ transport: any Transport, _ url: URL, to file: URL) -> Contestant {
    let client = WebAPIClient.plain(transport, url)
    let reading = Reading(path: RequestPath(url.lastPathComponent))
    return Contestant(name: name) { done in
      client.publisher(downloading: reading, to: file).countBytes({ fileSize($0.value) ?? 0 }, done)
    }
  }

  /// A client that hands on the body piece by piece.
  static func chunks(_ name: String, _ transport: any Transport, _ url: URL) -> Contestant {
    let client = WebAPIClient.plain(transport, url)
    let reading = Reading(path: RequestPath(url.lastPathComponent))
    return Contestant(name: name) { done in client.chunks(for: reading).countBytes({ $0.count }, done) }
  }
}

private func fileSize(_ file: URL) -> Int? {
  (try? FileManager.default.attributesOfItem(atPath: file.path)[.size]) as? Int
}

private struct Reading: Request {
  typealias Response = Data

  let path: RequestPath
}

/// Unchecked, because a transport tells its events one at a time.
private final class ByteCount: @unchecked Sendable {
  private(set) var total = 0

  func add(_ count: Int) { total += count }
}
