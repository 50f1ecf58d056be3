import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("Pages")
struct PagesTests {
  struct Page: Decodable {
    let items: [Int]
    let next: Int?
  }

  struct Numbers: Request {
    let page: Int
    var path: RequestPath { "numbers" }
    var query: Parameters { ["page": page] }
    typealias Response = Page
  }

  /// As many pages as asked for, of one number each.
  static func server(pages: Int) -> ScriptedTransport.Step {
    .answering { request in
      let page = request.url.query.flatMap { Int($0.dropFirst("page=".count)) } ?? 0
      return .ok(#"{"items":[\#(page)],"next":\#(page + 1 < pages ? "\(page + 1)" : "null")}"#)
    }
  }

  static func pages(_ client: WebAPIClient) -> Pages<Numbers> {
    client.pages(of: Numbers(page: 0)) { page in page.next.map { Numbers(page: $0) } }
  }

  @Test("come one after the other, and finish behind the last")
  func all() throws {
    let test = ClientUnderTest([Self.server(pages: 3)], repeatingLast: true)
    let recorder = Recorder<Page, NetworkFailure>()
    Self.pages(test.client).subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.values.flatMap(\.items), [0, 1, 2])
    #expect(recorder.isFinished && recorder.completions.count == 1)
  }

  @Test(
    "all end with the deadline that the first was asked for under, though each is fetched where the one before has come"
  )
  func deadline() throws {
    let test = ClientUnderTest([Self.server(pages: 9), .silence])
    let recorder = Recorder<Page, NetworkFailure>(on: test.scheduler)
    Deadline.$current.withValue(Deadline(in: .seconds(5), on: test.scheduler.time)) {
      Self.pages(test.client).subscribe(recorder)
    }
    try test.scheduler.run()
    expectEqual(recorder.values.flatMap(\.items), [0])
    expectEqual(recorder.failure?.kind, .deadlineExceeded)
    expectEqual(recorder.completionTime, VirtualTime(nanoseconds: 5_000_000_000))
  }

  @Test("are fetched as they are requested, and not before")
  func demand() throws {
    let test = ClientUnderTest([Self.server(pages: 3)], repeatingLast: true)
    let recorder = Recorder<Page, NetworkFailure>(requesting: .none)
    Self.pages(test.client).subscribe(recorder)
    try test.scheduler.run()
    expectEqual(test.transport.count, 0)
    for count in 1...3 {
      recorder.request(.max(1))
      try test.scheduler.run()
      expectEqual(test.transport.count, count)
      expectEqual(recorder.values.count, count)
    }
    #expect(recorder.isFinished)
  }

  @Test("are fetched as each page is answered")
  func answers() throws {
    let test = ClientUnderTest([Self.server(pages: 9)], repeatingLast: true)
    let recorder = Recorder<Page, NetworkFailure>(requesting: .max(1)) { page, _ in page.next == 1 ? .max(2) : .none }
    Self.pages(test.client).subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.values.flatMap(\.items), [0, 1, 2])
    expectEqual(test.transport.count, 3)
  }

  @Test("end with the failure of the first page that fails, behind those before it")
  func failure() throws {
    let test = ClientUnderTest([.ok(#"{"items":[0],"next":1}"#), .status(500)])
    let recorder = Recorder<Page, NetworkFailure>()
    Self.pages(test.client).subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.values.count, 1)
    expectEqual(recorder.failure?.kind, .serverError(500))
  }

  @Test("a cancel stops the page that is on its way, and no other follows")
  func cancel() throws {
    let test = ClientUnderTest([Self.server(pages: 3).after(.seconds(1))], repeatingLast: true)
    let recorder = Recorder<Page, NetworkFailure>()
    Self.pages(test.client).subscribe(recorder)
    test.scheduler.advance(by: 1.5)
    recorder.cancel()
    try test.scheduler.run()
    #expect(recorder.values.count == 1 && recorder.completions.isEmpty)
    expectEqual(test.transport.calls.map(\.isCancelled), [false, true])
  }

  @Test("a cancel while the call for a page is being made stops that page")
  func cancelWhileBeginning() throws {
    let test = ClientUnderTest([Self.server(pages: 3).after(.seconds(1))], repeatingLast: true)
    let recorder = Recorder<Page, NetworkFailure>()
    let client = test.client.onEvent { if case .attemptBegan = $0.kind { recorder.cancel() } }
    Self.pages(client).subscribe(recorder)
    expectEqual(test.transport.calls.map(\.isCancelled), [true])
    try test.scheduler.run()
    #expect(recorder.values.isEmpty && recorder.completions.isEmpty)
  }

  /// Tells when a page's call is cancelled.
  struct Watched: RequestExecutor {
    let client: WebAPIClient
    let whenCancelled: @Sendable () -> Void

    func publisher<R: Request>(for request: R) -> AnyPublisher<R.Response, NetworkFailure> {
      client.publisher(for: request).handleEvents(receiveCancel: whenCancelled).eraseToAnyPublisher()
    }
  }

  @Test("who hears that the call for the page before is let go of may ask for more, or cancel")
  func answeredCancel() throws {
    let test = ClientUnderTest([Self.server(pages: 3).after(.seconds(1))], repeatingLast: true)
    let cancels = ValueLog<Int>()
    let recorder = Recorder<Page, NetworkFailure>(requesting: .max(2))
    let asking = Watched(client: test.client) {
      cancels.append(recorder.values.count)
      recorder.request(.max(1))
    }
    asking.pages(of: Numbers(page: 0)) { page in page.next.map { Numbers(page: $0) } }.subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.values.flatMap(\.items), [0, 1, 2])
    #expect(recorder.isFinished)
    expectEqual(cancels.values.first, 1)

    let other = Recorder<Page, NetworkFailure>()
    let leaving = Watched(client: test.client) { other.cancel() }
    leaving.pages(of: Numbers(page: 0)) { page in page.next.map { Numbers(page: $0) } }.subscribe(other)
    try test.scheduler.run()
    expectEqual(other.values.flatMap(\.items), [0])
    #expect(other.completions.isEmpty)
    expectEqual(test.transport.calls.last?.isCancelled, true)
  }

  @Test("two thousand that are there at once take the same stack as one")
  func flatStack() {
    let client = WebAPIClient(
      baseURL: .service,
      transport: ScriptedTransport([Self.server(pages: 2_000)], repeatingLast: true),
      deliveringOn: nil
    )
    let recorder = Recorder<Page, NetworkFailure>()
    Self.pages(client).subscribe(recorder)
    expectEqual(recorder.values.count, 2_000)
    #expect(recorder.isFinished)
  }

  @Test("a call that is not done yet is asked about again with a retry policy")
  func polling() throws {
    struct Job: Request {
      var path: RequestPath { "job" }
      typealias Response = [String: Bool]
    }
    let test = ClientUnderTest([.ok(#"{"done":false}"#), .ok(#"{"done":false}"#), .ok(#"{"done":true}"#)])
    let recorder = Recorder<[String: Bool], NetworkFailure>(on: test.scheduler)
    test.client.publisher(for: Job())
      .retry(
        RetryPolicy(clamping: nil, backoff: .steps(.seconds(1), .seconds(5))),
        rejecting: { $0["done"] == true ? nil : NetworkFailure(.noData) },
        time: test.scheduler.time
      )
      .subscribe(recorder)
    try test.scheduler.run()
    expectEqual(recorder.values, [["done": true]])
    expectEqual(test.transport.calls.map(\.time), [.zero, .seconds(1), .seconds(6)])
  }
}
