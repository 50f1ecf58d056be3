import Combine
import Expectations
import Foundation
import ReboundTesting
import StreamSupport
import Testing

/// Requests, cancels and answers of data tasks, which come from three threads and from the session's own.
@Suite("Data tasks while threads race", .serialized)
struct DataTaskRaceTests {
  private typealias Output = URLSession.DataTaskPublisher.Output

  /// Answers every request at once, inside the process: those for `/down` with an error, those for `/silence` never.
  final class Answering: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
      if request.url?.path == "/silence" { return }
      guard let url = request.url, url.path != "/down",
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
      else {
        client?.urlProtocol(self, didFailWithError: URLError(.cannotConnectToHost))
        return
      }
      client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      client?.urlProtocol(self, didLoad: Data("hello".utf8))
      client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
  }

  /// Notes what comes, and tells when it is over.
  ///
  /// Unchecked, because the lock guards all that changes.
  private final class Witness: Subscriber, @unchecked Sendable {
    typealias Input = Output
    typealias Failure = URLError
    let isOver = DispatchSemaphore(value: 0)
    private let lock = Lock()
    private var noted: [String] = []
    private var held: (any Subscription)?

    var events: [String] { lock.withLock { noted } }
    var subscription: (any Subscription)? { lock.withLock { held } }

    func receive(subscription: any Subscription) { lock.withLock { held = subscription } }

    func receive(_ input: Output) -> Subscribers.Demand {
      lock.withLock { noted.append(String(decoding: input.data, as: UTF8.self)) }
      return .max(1)
    }

    func receive(completion: Subscribers.Completion<URLError>) {
      lock.withLock { noted.append(completion == .finished ? "end" : "failure") }
      isOver.signal()
    }
  }

  private let crew = RaceCrew(size: 3)
  private let session: URLSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [Answering.self]
    return URLSession(configuration: configuration)
  }()

  private func publisher(_ path: String) throws -> URLSession.DataTaskPublisher {
    session.dataTaskPublisher(for: try #require(URL(string: "http://stub.invalid\(path)")))
  }

  @Test("asked by three threads at once it brings one answer and one end", arguments: ["/hello", "/down"])
  func requests(path: String) throws {
    let publisher = try publisher(path)
    for round in 0..<StressSettings.rounds {
      let witness = Witness()
      publisher.subscribe(witness)
      let subscription = try #require(witness.subscription)
      let hasReturned = crew.run(
        (0..<3).map { _ in { for _ in 0..<4 { subscription.request(.max(1)) } } }
      )
      // The limit is there for the day that no answer comes; nothing measures it.
      let isOver = witness.isOver.wait(timeout: .now() + .seconds(60)) == .success
      #expect(hasReturned && isOver, "round \(round)")
      expectEqual(witness.events, path == "/down" ? ["failure"] : ["hello", "end"], "round \(round)")
    }
  }

  // Not while the answer comes: Foundation on Linux stops the process when a task is cancelled in the moment of its end.
  @Test("cancelled while it is asked, by several threads, it brings nothing")
  func cancels() throws {
    let publisher = try publisher("/silence")
    let other = try self.publisher("/hello")
    for round in 0..<StressSettings.rounds {
      let witness = Witness()
      publisher.subscribe(witness)
      let subscription = try #require(witness.subscription)
      let hasReturned = crew.run([
        { for _ in 0..<4 { subscription.request(.max(1)) } },
        { for _ in 0..<round % 5 { _ = "\(subscription) \(Mirror(reflecting: subscription).children.count)" } },
        {
          for _ in 0..<round % 7 { sched_yield() }
          subscription.cancel()
          subscription.cancel()
          subscription.request(.max(1))
        },
      ])
      // The session's queue is serial: what was to come of the task has come when another one's answer has.
      let next = Witness()
      other.subscribe(next)
      next.subscription?.request(.max(1))
      let isOver = next.isOver.wait(timeout: .now() + .seconds(60)) == .success
      #expect(hasReturned && isOver, "round \(round)")
      #expect(witness.events.isEmpty, "round \(round): \(witness.events)")
    }
  }
}
