#if !canImport(Darwin)
  import Foundation
  import FoundationNetworking
  import ReboundHTTPTesting
  import ReboundHTTP
  import Testing

  /// What is wrong with URLSession on Linux and cannot be mended from outside: once one of these fails, Foundation has
  /// been mended, and the exception of it can go.
  @Suite("Foundation's faults", .timeLimit(.minutes(10)))
  struct FoundationFaultTests {
    @Test("URLSession stops the process when a server closes the connection within the fields")
    func closeInFields() async {
      await #expect(processExitsWith: .failure) {
        let server = try MisbehavingServer()
        server.program("/", .closeInFields)
        let log = TransportLog()
        let exchange = URLSessionTransport().start(TransportRequest(server.url()), telling: log.add)
        await log.end()
        exchange.cancel()
      }
    }

    @Test("URLSession stops the process when fields follow the last chunk")
    func trailers() async {
      await #expect(processExitsWith: .failure) {
        let server = try MisbehavingServer()
        server.program("/", .trailers)
        let log = TransportLog()
        let exchange = URLSessionTransport().start(TransportRequest(server.url()), telling: log.add)
        await log.end()
        exchange.cancel()
      }
    }

    @Test("URLSession tells of a redirect once its body has come, and keeps all of that in memory until then")
    func redirectWithBody() async throws {
      let server = try MisbehavingServer()
      let head = Fault.head(302, length: 200_000, fields: ["Location: /there"])
      let half = [UInt8](repeating: 46, count: 100_000)
      server.program("/", Fault("redirect", at: .body, [.readBody, .send(head), .send(half), .stall, .send(half)]))
      server.program("/other", .answer())
      server.program("/there", .answer())
      let delegate = WorkingDelegate {}
      let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
      let task = session.dataTask(with: server.url())
      task.resume()
      await server.stallsReached()
      // Behind an answer to another request all has been told that is told of the redirect so far.
      _ = try await session.data(from: server.url("/other"))
      #expect(!delegate.isRedirected)
      #expect(task.response == nil && task.countOfBytesReceived == 0)
      server.goOn()
      await delegate.ended()
      #expect(delegate.isRedirected)
      session.invalidateAndCancel()
    }

    @Test("all sessions of a process share one queue, which their work waits for")
    func sharedQueue() async {
      await #expect(processExitsWith: .failure) {
        let server = try MisbehavingServer()
        server.program("/", .answer())
        let (url, other) = (server.url(), URLSession(configuration: .ephemeral))
        // A task of another session is made while the queue is at work: the system finds that it waits for itself.
        let delegate = WorkingDelegate { _ = other.dataTask(with: url) }
        let queue = CallingQueue()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: queue)
        session.dataTask(with: url).resume()
        await delegate.ended()
      }
    }

    @Test("URLSession undoes a coding that nobody asked for, and asks for some itself")
    func codings() async throws {
      let server = try MisbehavingServer()
      server.program("/", .gzippedAnswer)
      var request = URLRequest(url: server.url())
      request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
      let (data, _) = try await URLSession(configuration: .ephemeral).data(for: request)
      #expect(data == Data(count: 2))
    }
  }

  /// Works when the head comes.
  private final class WorkingDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let work: @Sendable () -> Void
    private let log = TransportLog()
    private let redirects = TransportLog()

    var isRedirected: Bool { !redirects.events.isEmpty }

    init(_ work: @escaping @Sendable () -> Void) {
      self.work = work
    }

    func ended() async {
      await log.end()
    }

    func urlSession(
      _ session: URLSession,
      dataTask: URLSessionDataTask,
      didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      work()
      completionHandler(.allow)
    }

    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      redirects.add(.finished)
      completionHandler(request)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      log.add(.finished)
    }
  }

  /// Does at once what it is given.
  ///
  /// Unchecked, because it has no state of its own.
  private final class CallingQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }
#endif
