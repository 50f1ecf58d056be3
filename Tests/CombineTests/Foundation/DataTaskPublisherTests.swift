import Expectations

#if Foundation
  import Combine
  import Foundation
  import ReboundTesting
  import Testing

  @Suite("URLSession.dataTaskPublisher")
  struct DataTaskPublisherTests {
    typealias Output = URLSession.DataTaskPublisher.Output
    let session = StubProtocol.makeSession()

    /// What one request brings.
    private func answer(to path: String, test: String = #function) -> Recorder<Output, URLError> {
      let done = Signal()
      let recorder = Recorder<Output, URLError>(whenCompleted: done.send)
      session.dataTaskPublisher(for: StubProtocol.url(path, test)).subscribe(recorder)
      #expect(done.wait())
      return recorder
    }

    @Test(
      "an answer is one value and the end, whatever its status",
      arguments: [
        ("/hello", 200, "hello"), ("/missing", 404, "no such page"), ("/empty", 204, ""),
      ]
    )
    func answers(path: String, status: Int, body: String) throws {
      let recorder = answer(to: path)
      let value = try #require(recorder.values.first)
      expectEqual((value.response as? HTTPURLResponse)?.statusCode, status)
      expectEqual(String(decoding: value.data, as: UTF8.self), body)
      expectEqual(recorder.values.count, 1)
      #expect(recorder.isFinished)
    }

    @Test("no answer is a failure with URLSession's error, or an unknown one")
    func fails() {
      expectEqual(answer(to: "/down").failure?.code, .cannotConnectToHost)
      expectEqual(answer(to: "/late").failure?.code, .timedOut)
      let strange = answer(to: "/strange")
      expectEqual(strange.failure?.code, .unknown)
      #expect(strange.values.isEmpty)
    }

    @Test("the answer comes on the session's delegate queue")
    func delegateQueue() {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let isThere = Shared<Bool?>(nil)
      let done = Signal()
      let recorder = Recorder<Output, URLError>(
        answering: { _, _ in
          isThere.value = OperationQueue.current === queue
          return .none
        },
        whenCompleted: done.send
      )
      StubProtocol.makeSession(delegateQueue: queue).dataTaskPublisher(for: StubProtocol.url("/hello"))
        .subscribe(recorder)
      #expect(done.wait())
      expectEqual(isThere.value, true)
    }

    @Test("the task is made upon the first request, once for each subscriber, and resumed once")
    func startsOnDemand() throws {
      let done = Signal()
      let url = StubProtocol.url("/hello")
      let publisher = session.dataTaskPublisher(for: URLRequest(url: url))
      let keepers = (0..<2).map { _ in
        Keeper<Output, URLError>(Recorder<Output, URLError>(whenCompleted: done.send))
      }
      for keeper in keepers { publisher.subscribe(keeper) }
      let first = try #require(keepers[0].subscription)
      #expect(toldChild("task", of: first) as? URLSessionDataTask == nil)

      first.request(.max(1))
      first.request(.max(2))
      #expect(done.wait())
      expectEqual(StubProtocol.count(StubProtocol.started, url), 1)

      keepers[1].subscription?.request(.unlimited)
      #expect(done.wait())
      expectEqual(StubProtocol.count(StubProtocol.started, url), 2)
      first.request(.max(1))
      expectEqual(StubProtocol.count(StubProtocol.started, url), 2)
    }

    @Test("a cancel cancels the task, and nothing comes any more")
    func cancels() throws {
      let url = StubProtocol.url("/silent")
      let recorder = Recorder<Output, URLError>()
      let keeper = Keeper<Output, URLError>(recorder)
      session.dataTaskPublisher(for: url).subscribe(keeper)
      let subscription = try #require(keeper.subscription)
      subscription.request(.max(1))
      #expect(StubProtocol.silentStarted.wait())

      subscription.cancel()
      subscription.cancel()
      subscription.request(.max(1))
      #expect(StubProtocol.silentStopped.wait())
      // The session's queue is serial: the cancelled task's answer, if it counted, would come before this one's.
      _ = answer(to: "/hello", test: "after the cancel")

      #expect(recorder.events.isEmpty)
      expectEqual(StubProtocol.count(StubProtocol.started, url), 1)
      expectEqual(StubProtocol.count(StubProtocol.stopped, url), 1)
    }

    @Test("a cancel before the first request sends nothing")
    func cancelsEarly() throws {
      let url = StubProtocol.url("/hello")
      let recorder = Recorder<Output, URLError>(requesting: .none)
      session.dataTaskPublisher(for: url).subscribe(recorder)
      recorder.cancel()
      recorder.request(.unlimited)
      expectEqual(StubProtocol.count(StubProtocol.started, url), 0)
    }

    @Test("a subscription has let go of everything before it delivers")
    func letsGoFirst() {
      let done = Signal()
      let held = Shared<(any Subscription)?>(nil)
      let told = Shared<[String?]>([])
      let recorder = Recorder<Output, URLError>(
        answering: { _, _ in
          told.value = ["task", "downstream", "parent"].map { toldText($0, of: held.value) }
          return .none
        },
        whenCompleted: done.send
      )
      let keeper = Keeper<Output, URLError>(recorder)
      session.dataTaskPublisher(for: StubProtocol.url("/hello")).subscribe(keeper)
      held.value = keeper.subscription
      held.value?.request(.max(1))
      #expect(done.wait())
      expectEqual(told.value, ["nil", "nil", "nil"])
    }

    @Test("a subscription tells what it is, and lets go of everything at the end")
    func reflection() throws {
      let done = Signal()
      let keeper = Keeper<Output, URLError>(Recorder<Output, URLError>(whenCompleted: done.send))
      session.dataTaskPublisher(for: StubProtocol.url("/hello")).subscribe(keeper)
      let subscription = try #require(keeper.subscription)
      expectEqual(String(describing: subscription), "DataTaskPublisher")
      #expect(toldChild("downstream", of: subscription) as? Keeper<Output, URLError> === keeper)

      subscription.request(.max(3))
      #expect(done.wait())

      expectEqual(Mirror(reflecting: subscription).children.map(\.label), ["task", "downstream", "parent", "demand"])
      #expect(toldChild("downstream", of: subscription) as? Keeper<Output, URLError> === nil)
      expectEqual(toldChild("demand", of: subscription) as? Subscribers.Demand, .max(3))
    }

    /// What a request to a erased subscriber of this machine brings.
    private func answer(from port: UInt16) throws -> Recorder<Output, URLError> {
      let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
      let done = Signal()
      let recorder = Recorder<Output, URLError>(whenCompleted: done.send)
      URLSession(configuration: .ephemeral).dataTaskPublisher(for: url).subscribe(recorder)
      #expect(done.wait())
      return recorder
    }

    @Test("over a real connection an answer is a value, and a cut one is a failure")
    func loopback() throws {
      let server = try LoopbackServer(
        answering: "HTTP/1.1 503 Busy\r\nContent-Length: 5\r\nConnection: close\r\n\r\nsorry"
      )
      defer { server.stop() }
      let whole = try answer(from: server.port)
      expectEqual(whole.values.map { ($0.response as? HTTPURLResponse)?.statusCode }, [503])
      expectEqual(whole.values.map { String(decoding: $0.data, as: UTF8.self) }, ["sorry"])
      #expect(whole.isFinished)

      let hasty = try LoopbackServer(
        answering: "HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\nsor"
      )
      defer { hasty.stop() }
      let cut = try answer(from: hasty.port)
      // Its code differs between platforms.
      #expect(cut.values.isEmpty && cut.failure != nil)
    }

    @Test("a refused connection is a failure")
    func refused() throws {
      let server = try LoopbackServer(answering: "")
      server.stop()
      try expectEqual(answer(from: server.port).failure?.code, .cannotConnectToHost)
    }

    @Test("asking for no values stops the process")
    func requestsNone() async {
      await #expect(processExitsWith: .failure) {
        let recorder = Keeper<Output, URLError>(Recorder<Output, URLError>())
        URLSession.shared.dataTaskPublisher(for: URL(fileURLWithPath: "/")).subscribe(recorder)
        recorder.subscription?.request(.none)
      }
    }

  }
#endif
