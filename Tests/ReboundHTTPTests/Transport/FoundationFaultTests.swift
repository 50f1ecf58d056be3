import Expectations

#if !canImport(Darwin)
  import Dispatch
  import Foundation
  import FoundationNetworking
  import ReboundHTTPTesting
  import ReboundHTTP
  import StreamSupport
  import Testing

  /// What is wrong with URLSession on Linux and cannot be mended from outside, each without anything of this package but the
  /// server: once one of these fails, Foundation has been mended, and the exception of it can go.
  ///
  /// What stops the process is tried in a process of its own, which has to be ended by a signal: an error that is thrown there
  /// would end it as well.
  @Suite("Foundation's faults", .timeLimit(.minutes(10)))
  struct FoundationFaultTests {
    private static func expectCrash(
      of result: ExitTest.Result?,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      guard case .signal? = result?.exitStatus else {
        Issue.record("\(String(describing: result?.exitStatus)), no signal", sourceLocation: sourceLocation)
        return
      }
    }

    /// Asks a server that does so, with a session that has nothing set, for as long as the process lasts.
    private static func ask(_ fault: Fault) async throws {
      let server = try MisbehavingServer()
      server.program("/", fault)
      _ = try? await URLSession(configuration: .ephemeral).data(from: server.url())
    }

    fileprivate static let body = Data("order".utf8)

    private static func order(_ url: URL) -> URLRequest {
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      request.httpBody = body
      return request
    }

    // MARK: What stops the process

    @Test("URLSession stops the process when a server closes the connection within the fields")
    func closeInFields() async {
      let result = await #expect(processExitsWith: .failure) { try await FoundationFaultTests.ask(.closeInFields) }
      Self.expectCrash(of: result)
    }

    @Test("URLSession stops the process when fields follow the last chunk")
    func trailers() async {
      let result = await #expect(processExitsWith: .failure) { try await FoundationFaultTests.ask(.trailers) }
      Self.expectCrash(of: result)
    }

    @Test(
      "URLSession stops the process when a kept connection is closed as it sends a body that a delegate would give anew"
    )
    func bodyOverClosedConnection() async {
      let result = await #expect(processExitsWith: .failure) {
        let server = try MisbehavingServer()
        server.program("/", .answer())
        server.program("/order", .emptyReply, .answer())
        let delegate = BodyDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: server.url()).resume()
        await delegate.ended(1)
        session.dataTask(with: FoundationFaultTests.order(server.url("/order"))).resume()
        await delegate.ended(2)
      }
      Self.expectCrash(of: result)
    }

    #if Curl && os(Linux)
      @Test(
        "URLSession stops the process when a server of HTTP/2 refuses a request whose body a delegate would give anew"
      )
      func refusedStream() async {
        let result = await #expect(processExitsWith: .failure) {
          try TrustedAuthority.trustTests()
          let server = try await SecureFrameServer.start(
            [.wholeRequest, .reset(7)],
            [.head, .data("ok", isLast: true)]
          )
          let delegate = BodyDelegate()
          let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
          session.dataTask(with: FoundationFaultTests.order(try server.url())).resume()
          await delegate.ended(1)
        }
        Self.expectCrash(of: result)
      }
    #endif

    // MARK: What is sent, and how often

    @Test("URLSession repeats a request over a kept connection that is closed, also one that is not idempotent")
    func repeatOverClosedConnection() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer())
      server.program("/order", .emptyReply, .answer())
      let session = URLSession(configuration: .ephemeral)
      _ = try await session.data(from: server.url())
      var request = URLRequest(url: server.url("/order"))
      request.httpMethod = "POST"
      let (data, _) = try await session.data(for: request)
      expectEqual(data, Data("ok".utf8))
      expectEqual(server.requests.map(\.method), ["GET", "POST", "POST"])
    }

    @Test("URLSession refuses a GET request that has a body, which other methods may have")
    func getWithBody() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer())
      var request = URLRequest(url: server.url())
      request.httpBody = Data("query".utf8)
      let error = await #expect(throws: URLError.self) {
        try await URLSession(configuration: .ephemeral).data(for: request)
      }
      expectEqual(error?.code, .dataLengthExceedsMaximum)
      #expect(server.requests.isEmpty)
    }

    @Test("URLSession sends what is added to a file meanwhile, behind the length that it has told")
    func growingFile() async throws {
      let server = try MisbehavingServer()
      let steps: [Fault.Step] = [.stall, .readBody, .readSome(atMost: 64), .send(Fault.head(length: 2) + "ok"), .close]
      server.program("/", Fault("slow", at: .request, steps))
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).txt")
      defer { try? FileManager.default.removeItem(at: file) }
      // More than the system's buffers hold.
      try Data(count: 20_000_000).write(to: file)
      let configuration = URLSessionConfiguration.ephemeral
      // The server goes on once this test does, which may be later than a minute while thousands of others take their turns.
      configuration.timeoutIntervalForRequest = 3600
      let delegate = BodyDelegate()
      let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
      var request = URLRequest(url: server.url())
      request.httpMethod = "PUT"
      session.uploadTask(with: request, fromFile: file).resume()
      await server.stallsReached()
      let handle = try FileHandle(forWritingTo: file)
      try handle.seekToEnd()
      try handle.write(contentsOf: Data(repeating: 46, count: 40))
      try handle.close()
      server.goOn()
      await delegate.ended(1)
      expectEqual(server.requests.first?[field: "Content-Length"], "20000000")
      expectEqual(server.requests.first.map { $0.bodyCount > 20_000_000 }, true)
      session.invalidateAndCancel()
    }

    @Test("URLSession takes the IPv6 address of a host for no address, though somebody listens there")
    func addressOfIPv6() async throws {
      let listener = try #require(IPv6Listener(), "this system has no ::1")
      let url = try #require(URL(string: "http://[::1]:\(listener.port)/"))
      let error = await #expect(throws: URLError.self) {
        try await URLSession(configuration: .ephemeral).data(from: url)
      }
      expectEqual(error?.code, .badURL)
    }

    // MARK: What is told

    @Test("URLSession joins the fields of one name")
    func joinedFields() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer(fields: ["X-Two: one", "X-Two: two"]))
      let (_, response) = try await URLSession(configuration: .ephemeral).data(from: server.url())
      let fields = try #require(response as? HTTPURLResponse).allHeaderFields
      expectEqual(fields["X-Two"] as? String, "one, two")
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
      let configuration = URLSessionConfiguration.ephemeral
      // The server goes on once this test does, which may be later than a minute while thousands of others take their turns.
      configuration.timeoutIntervalForRequest = 3600
      let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
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

    @Test("URLSession undoes a coding that nobody asked for, and asks for some itself")
    func codings() async throws {
      let server = try MisbehavingServer()
      server.program("/", .gzippedAnswer)
      var request = URLRequest(url: server.url())
      request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
      let (data, _) = try await URLSession(configuration: .ephemeral).data(for: request)
      expectEqual(data, Data(count: 2))
    }

    // MARK: Who waits

    @Test("URLSession reads on while its delegate is busy, more than the system's buffers hold")
    func readsOnForBusyDelegate() async {
      await #expect(processExitsWith: .success) {
        let server = try MisbehavingServer()
        let (piece, times) = ([UInt8](repeating: 46, count: 1 << 20), 96)
        let head = Fault.head(length: piece.count * times + 1)
        server.program("/", Fault("flood", at: .body, [.readBody, .send(head), .flood(piece, times: times), .stall]))
        let delegate = BusyDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: server.url()).resume()
        await delegate.isBusy()
        // The server has got rid of all of it.
        await server.stallsReached()
        delegate.goOn()
      }
    }

    @Test("all sessions of a process share one queue, which their work waits for")
    func sharedQueue() async {
      let result = await #expect(processExitsWith: .failure) {
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
      Self.expectCrash(of: result)
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

  /// Is busy with the first piece of a body until it is told to go on.
  private final class BusyDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let log = TransportLog()
    private let gate = DispatchSemaphore(value: 0)

    func isBusy() async {
      await log.end()
    }

    func goOn() {
      gate.signal()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard !log.isOver else { return }
      log.add(.finished)
      gate.wait()
    }
  }

  /// Gives the body of a request anew, whenever it is asked for that.
  private final class BodyDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let log = TransportLog()

    /// Waits until so many tasks have ended.
    func ended(_ count: Int) async {
      await log.until { $0.count >= count }
    }

    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
      completionHandler(InputStream(data: FoundationFaultTests.body))
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

  /// Listens on a free port of the loopback interface's address of IPv6.
  private final class IPv6Listener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    /// `nil` where there is no such address.
    init?() {
      let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
      guard descriptor >= 0 else { return nil }
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_addr = in6addr_loopback
      var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
      let isListening = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &size) == 0
        }
      }
      self.descriptor = descriptor
      port = UInt16(bigEndian: address.sin6_port)
      guard isListening else { return nil }
    }

    deinit {
      close(descriptor)
    }
  }
#endif
