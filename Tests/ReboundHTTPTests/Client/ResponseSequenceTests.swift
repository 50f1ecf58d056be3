import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import StreamSupport
import Testing

@Suite("What comes bit by bit, for an asynchronous function")
struct ResponseSequenceTests {
  static let pieces = ["ab", "c"].map { Data($0.utf8) }

  /// A client whose publishers nobody hears: nobody runs what is scheduled there.
  static func client(_ script: [ScriptedTransport.Step], deliveringOn stopped: TestScheduler) -> WebAPIClient {
    WebAPIClient(
      baseURL: .service,
      transport: ScriptedTransport(script, repeatingLast: true),
      deliveringOn: stopped
    )
  }

  @Test("pieces of a body wait for no queue, and the function goes on where it was")
  @MainActor func chunks() async throws {
    let stopped = TestScheduler()
    let client = Self.client([.chunks(200, [:], Self.pieces)], deliveringOn: stopped)
    let progress = ValueLog<TransferProgress>()
    for _ in 1...2 {
      var came: [Data] = []
      for try await chunk in client.chunkSequence(of: Anything(), progress: progress.append) {
        MainActor.assertIsolated()
        came.append(chunk)
      }
      expectEqual(came, Self.pieces, "each loop is a call of its own")
    }
    expectEqual(progress.values, [.received(2, of: 3), .received(3, of: 3), .received(2, of: 3), .received(3, of: 3)])
    expectEqual(stopped.pendingCount, 0)
  }

  @Test("events of a server wait for no queue")
  @MainActor func events() async throws {
    let stopped = TestScheduler()
    let stream = Data("data: a\n\ndata: b\n\n".utf8)
    let client = Self.client([.chunks(200, ["Content-Type": "text/event-stream"], [stream])], deliveringOn: stopped)
    var came: [String] = []
    for try await event in client.eventSequence(of: Anything()) {
      MainActor.assertIsolated()
      came.append(event.data)
      if came.count == 2 { break }
    }
    expectEqual(came, ["a", "b"])
    expectEqual(stopped.pendingCount, 0)
  }

  @Test("that there are no more events ends the loop")
  func noMoreEvents() async throws {
    let client = Self.client([.status(204)], deliveringOn: TestScheduler())
    for try await event in client.eventSequence(of: Anything()) { Issue.record("\(event) came of a 204") }
  }

  @Test("pages wait for no queue, and are fetched as they are awaited")
  @MainActor func pages() async throws {
    let stopped = TestScheduler()
    let transport = ScriptedTransport([PagesTests.server(pages: 3)], repeatingLast: true)
    let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: stopped)
    var came: [Int] = []
    let pages = client.pageSequence(of: PagesTests.Numbers(page: 0)) { $0.next.map { PagesTests.Numbers(page: $0) } }
    for try await page in pages {
      MainActor.assertIsolated()
      came += page.items
      expectEqual(transport.count, came.count)
    }
    expectEqual(came, [0, 1, 2])
    expectEqual(stopped.pendingCount, 0)
  }

  @Test("a response with what is known about it waits for no queue")
  @MainActor func response() async throws {
    let stopped = TestScheduler()
    let client = Self.client([.status(200, rome, ["ETag": "\"1\""]), .status(404)], deliveringOn: stopped)
    let progress = ValueLog<TransferProgress>()
    let response = try await client.response(of: Forecast(city: "Rome"), progress: progress.append)
    MainActor.assertIsolated()
    expectEqual(response.value, Place(name: "Rome", temperature: 12))
    #expect(response.status == 200 && response.head.headers["ETag"] == "\"1\"")
    expectEqual(response.source, .network)
    let count = Int64(rome.utf8.count)
    expectEqual(progress.values, [.received(count, of: count)])
    do throws(NetworkFailure) {
      _ = try await client.response(of: Forecast(city: "Rome"))
      Issue.record("a 404 gave a response")
    } catch {
      expectEqual(error.kind, .notFound)
    }
    expectEqual(stopped.pendingCount, 0)
  }

  @Test("a failure is thrown once, with its type, behind what came before")
  func failure() async throws {
    let head = ResponseHead(status: 200, url: .service)
    let client = Self.client(
      [.failure(TransportFailure(.truncated), after: head, [Self.pieces[0]])],
      deliveringOn: TestScheduler()
    )
    var chunks = client.chunkSequence(of: Anything()).makeAsyncIterator()
    try await expectEqual(chunks.next(), Self.pieces[0])
    do throws(NetworkFailure) {
      _ = try await chunks.next()
      Issue.record("a body that breaks off has no end")
    } catch {
      expectEqual(error.kind, .transport(.truncated))
    }
    #expect(try await chunks.next() == nil)

    let pages = Self.client([.ok(#"{"items":[0],"next":1}"#), .status(500)], deliveringOn: TestScheduler())
      .pageSequence(of: PagesTests.Numbers(page: 0)) { $0.next.map { PagesTests.Numbers(page: $0) } }
    var iterator = pages.makeAsyncIterator()
    try await expectEqual(iterator.next()?.items, [0])
    do throws(NetworkFailure) {
      _ = try await iterator.next()
      Issue.record("a 500 gave a page")
    } catch {
      expectEqual(error.kind, .serverError(500))
    }
    #expect(try await iterator.next()?.items == nil)
  }

  @Test("a cancelled task does not take the half of a body for the whole, and the network is stopped")
  func cancel() async throws {
    let transport = Flood(pieces: 2)
    let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: TestScheduler())
    let loop = Task {
      for try await _ in client.chunkSequence(of: Anything()) { withUnsafeCurrentTask { $0?.cancel() } }
    }
    let failure: NetworkFailure? =
      if case .failure(let error) = await loop.result { error as? NetworkFailure } else { nil }
    expectEqual(failure?.kind, .cancelled)
    expectEqual(failure?.call.operation, "Anything")
    expectEqual(transport.told, ["begin", "cancel"])
  }

  @Test("who leaves the loop ends the call")
  func leave() async throws {
    let transport = Flood(pieces: 2)
    let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: TestScheduler())
    for try await _ in client.chunkSequence(of: Anything()) { break }
    expectEqual(transport.told, ["begin", "cancel"])
  }

  @Test("nothing is sent before a piece is awaited, and who takes none has the transport pause")
  func demand() async throws {
    let transport = Flood(pieces: 4)
    let client = WebAPIClient(baseURL: .service, transport: transport, deliveringOn: TestScheduler())
    var chunks = client.chunkSequence(of: Anything()).makeAsyncIterator()
    #expect(transport.told.isEmpty)
    for told in [["begin", "pause"], ["begin", "pause"], ["begin", "pause", "resume"]] {
      try await expectEqual(chunks.next()?.count, 32_768)
      expectEqual(transport.told, told)
    }
    try await expectEqual(chunks.next()?.count, 32_768)
    #expect(try await chunks.next() == nil)
  }
}

/// Sends pieces of 32 KiB as soon as it is asked, and the end as soon as it may go on.
private final class Flood: Transport, TransportExchange {
  private let pieces: Int
  private let log = ValueLog<String>()
  private let receiver = Locked<(@Sendable (TransportEvent) -> Void)?>(nil)

  init(pieces: Int) {
    self.pieces = pieces
  }

  var told: [String] { log.values }

  func start(
    _ request: TransportRequest,
    telling receiver: @escaping @Sendable (TransportEvent) -> Void
  ) -> any TransportExchange {
    log.append("begin")
    self.receiver.withLock { $0 = receiver }
    receiver(.head(ResponseHead(status: 200, url: .service)))
    for _ in 0..<pieces { receiver(.chunk(Data(count: 32_768))) }
    return self
  }

  func cancel() { log.append("cancel") }

  func pause() { log.append("pause") }

  func resume() {
    log.append("resume")
    receiver.exchange(nil)?(.finished)
  }
}
