import Expectations

#if os(Linux)
  import Dispatch
  import Foundation
  import ReboundHTTP
  import ReboundHTTPTesting
  import ReboundTesting
  import Testing

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// What a hostile server can do to a process that asks it through URLSession: not much.
  @Suite("URLSession on Linux and hostile servers", .timeLimit(.minutes(10)), .serialized)
  struct URLSessionTransportTests {
    @Test("an answer that unpacks to a thousandfold takes little memory")
    func gzipBomb() async {
      await #expect(processExitsWith: .success) {
        let server = try MisbehavingServer()
        server.program("/", .gzipBomb(of: 1 << 28), .answer())
        #if !ASAN && !TSAN
          ProcessResources.resetPeak()
          let before = ProcessResources.now.memory
        #endif
        let log = TransportLog()
        let request = TransportRequest(server.url(), limits: TransportLimits(responseBytes: 8 << 20))
        let transport = URLSessionTransport(reachability: ManualReachability())
        let exchange = transport.start(request, telling: log.add)
        await log.end()
        expectEqual(log.failure?.kind, .tooLarge, "\(String(describing: log.failure))")
        // Behind it, in the same session: by its end all has been unpacked that is going to be.
        let next = TransportLog()
        let behind = transport.start(TransportRequest(server.url()), telling: next.add)
        await next.end()
        #expect(next.failure == nil, "\(String(describing: next.failure))")
        behind.cancel()
        // The sanitizers keep memory of their own beside each byte.
        #if !ASAN && !TSAN
          let growth = ProcessResources.peakMemory - before
          #expect(growth < 64 << 20, "\(growth) bytes more at the peak")
        #endif
        exchange.cancel()
      }
    }

    @Test("downloads without an end that are cancelled leave nothing in memory")
    func endless() async {
      await #expect(processExitsWith: .success) {
        let servers = try (0..<2).map { _ in try MisbehavingServer() }
        #if !ASAN && !TSAN
          let before = ProcessResources.now.memory
        #endif
        let transport = URLSessionTransport(reachability: ManualReachability())
        let logs = servers.map { _ in TransportLog() }
        let exchanges = zip(servers, logs).map { server, log in
          server.program("/", .endlessBody(of: 1 << 40))
          return transport.start(TransportRequest(server.url(), limits: .none)) { event in
            // Of the chunks, one is enough to know that they come.
            if case .chunk = event, log.events.count > 1 { return }
            log.add(event)
          }
        }
        // Foundation may read only one of them as long as that has always something to read.
        await withTaskGroup { group in
          for (log, exchange) in zip(logs, exchanges) {
            group.addTask {
              await log.until { $0.count > 1 }
              exchange.cancel()
            }
          }
        }
        for server in servers { await server.connectionsEnded() }
        // The sanitizers keep memory of their own beside each byte.
        #if !ASAN && !TSAN
          ProcessResources.trimMemory()
          let growth = ProcessResources.now.memory - before
          #expect(growth < 64 << 20, "\(growth) bytes more")
        #endif
      }
    }

    @Test("what holds up Foundation holds up no start and no limit")
    func busyFoundation() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer("now"))
      let scheduler = TestScheduler()
      let transport = URLSessionTransport(time: scheduler.time, reachability: ManualReachability())
      let (log, gate) = (TransportLog(), DispatchSemaphore(value: 0))
      // It reads the body on its own queue.
      let body = BodyStream.once { _ in
        log.add(.sent(0))
        gate.wait()
        return Data()
      }
      let upload = TransportRequest(server.url(), method: .put, body: .stream(body), limits: .none)
      let holding = transport.start(upload, telling: log.add)
      await log.until { !$0.isEmpty }
      let late = TransportLog()
      let limited = TransportRequest(server.url(), limits: TransportLimits(total: .seconds(3)))
      let waiting = transport.start(limited, telling: late.add)
      scheduler.advance(by: 3)
      await late.end()
      expectEqual(late.failure?.kind, .timeout(.total))
      gate.signal()
      await log.end()
      expectEqual(log.body, Data("now".utf8))
      for exchange in [holding, waiting] { exchange.cancel() }
    }

    @Test("more origins than sessions are kept for are served all the same")
    func manyOrigins() async throws {
      let servers = try (0..<40).map { _ in try MisbehavingServer() }
      let transport = URLSessionTransport(reachability: ManualReachability())
      for round in 1...2 {
        for server in servers {
          server.program("/", .answer("here"))
          let log = TransportLog()
          let exchange = transport.start(TransportRequest(server.url()), telling: log.add)
          await log.end()
          expectEqual(log.body, Data("here".utf8), "round \(round): \(log.failure.map { "\($0)" } ?? "")")
          exchange.cancel()
        }
      }
    }

    @Test("a receiver may use a session of its own, and wait for it")
    func receiverWithSession() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer("now"))
      let (log, inner) = (TransportLog(), TransportLog())
      let other = URLSessionTransport(reachability: ManualReachability())
      let (url, gate) = (server.url(), DispatchSemaphore(value: 0))
      let transport = URLSessionTransport(reachability: ManualReachability())
      let exchange = transport.start(TransportRequest(url)) { event in
        if case .head = event {
          _ = URLSession(configuration: .ephemeral).dataTask(with: url)
          _ = other.start(TransportRequest(url)) { event in
            inner.add(event)
            if event.isEnd { gate.signal() }
          }
          gate.wait()
        }
        log.add(event)
      }
      await log.end()
      expectEqual(inner.body, Data("now".utf8))
      expectEqual(log.body, Data("now".utf8))
      exchange.cancel()
    }

    @Test("a host that is an IPv6 address is refused as no address")
    func addressOfIPv6() async throws {
      let log = TransportLog()
      let url = try #require(URL(string: "http://[::1]:\(try RefusingPort().port)/"))
      let transport = URLSessionTransport(reachability: ManualReachability())
      let exchange = transport.start(TransportRequest(url), telling: log.add)
      await log.end()
      exchange.cancel()
      expectEqual(log.failure?.kind, .other)
    }
  }
#endif
