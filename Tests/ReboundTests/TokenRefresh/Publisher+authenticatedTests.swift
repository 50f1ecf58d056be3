import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("authenticated")
struct PublisherAuthenticatedTests {
  private enum Failure: Error, Hashable {
    case unauthorised
    case other
    case noCredential(TokenRefreshFailure.Reason)

    var isUnauthorised: Bool { self == .unauthorised }

    init(_ failure: TokenRefreshFailure) {
      self = .noCredential(failure.reason)
    }
  }

  private let renewal = TestPublisher<String, TestFailure>()
  private let refresher: TokenRefresher<String>

  init() {
    refresher = TokenRefresher(
      rejectedWhen: { $0 == .permanent },
      refreshingWith: { [renewal] _ in renewal.eraseToAnyPublisher() }
    )
    refresher.signIn(with: "A")
  }

  /// A request that a test answers by hand, and the credentials that it was sent with.
  private final class Request {
    let server = TestPublisher<Int, Failure>()
    var credentials: [String] = []
  }

  private func publisher(_ request: Request) -> some Publisher<Int, Failure> {
    refresher.authenticated(when: \.isUnauthorised, failingWith: Failure.init) {
      request.credentials.append($0)
      return request.server
    }
  }

  @Test("refreshes once for a hundred requests that are refused, and sends each once more, in order")
  func hundred() {
    let order = EventLog<Int>()
    let requests = (0..<100).map { _ in Request() }
    let recorders = requests.indices.map { index in
      let recorder = Recorder<Int, Failure>()
      refresher.authenticated(when: \.isUnauthorised, failingWith: Failure.init) { credential in
        requests[index].credentials.append(credential)
        if credential == "B" { order.write(index) }
        return requests[index].server
      }
      .subscribe(recorder)
      return recorder
    }
    for request in requests { request.server.send(completion: .failure(.unauthorised)) }
    expectEqual(renewal.subscriptionCount, 1)
    expectEqual(refresher.queued, 100)
    renewal.send("B")
    expectEqual(renewal.subscriptionCount, 1)
    #expect(requests.allSatisfy { $0.credentials == ["A", "B"] })
    expectEqual(order.events, Array(0..<100))
    for (index, request) in requests.enumerated() {
      request.server.send(index)
      request.server.send(completion: .finished)
    }
    expectEqual(recorders.map(\.values), (0..<100).map { [$0] })
    #expect(recorders.allSatisfy { $0.isFinished && $0.subscriptionCount == 1 })
  }

  @Test("refreshes once, however the refusals and the end of the refresh meet on real threads", arguments: 0..<20)
  func race(seed: Int) {
    let enders = EventLog<Int>()
    // The answer may come before the refresh has subscribed: whoever has begun it need not be the one who answers.
    let renewal = TestPublisher<String, TestFailure> { connection in
      if enders.count > 0 { _ = connection.send("B") }
    }
    let refresher = TokenRefresher<String>(
      rejectedWhen: { (failure: TestFailure) in failure == .permanent },
      refreshingWith: { _ in renewal.eraseToAnyPublisher() }
    )
    refresher.signIn(with: "A")
    let requests = (0..<100).map { _ in TestPublisher<Int, Failure>() }
    let sent = requests.map { _ in EventLog<String>() }
    let recorders = requests.indices.map { index in
      let recorder = Recorder<Int, Failure>()
      refresher.authenticated(when: \.isUnauthorised, failingWith: Failure.init) { credential in
        sent[index].write(credential)
        return credential == "A"
          ? requests[index].eraseToAnyPublisher()
          : Just(index).setFailureType(to: Failure.self).eraseToAnyPublisher()
      }
      .subscribe(recorder)
      return recorder
    }
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for index in stride(from: thread, to: 100, by: 4) {
        requests[index].send(completion: .failure(.unauthorised))
        if thread == 0, index == seed / 4 * 4 {
          enders.write(index)
          renewal.send("B")
        }
      }
    }
    expectEqual(enders.count, 1)
    expectEqual(renewal.subscriptionCount, 1)
    #expect(sent.allSatisfy { $0.events == ["A", "B"] })
    expectEqual(recorders.map(\.values), (0..<100).map { [$0] })
    #expect(recorders.allSatisfy { $0.isFinished })
  }

  @Test("sends a request again at once if another has brought a new credential meanwhile")
  func older() {
    let (first, second) = (Request(), Request())
    publisher(first).subscribe(Recorder())
    publisher(second).subscribe(Recorder())
    first.server.send(completion: .failure(.unauthorised))
    renewal.send("B")
    second.server.send(completion: .failure(.unauthorised))
    expectEqual(second.credentials, ["A", "B"])
    expectEqual(renewal.subscriptionCount, 1)
  }

  @Test("passes a second refusal on")
  func secondRefusal() {
    let (request, recorder) = (Request(), Recorder<Int, Failure>())
    publisher(request).subscribe(recorder)
    request.server.send(completion: .failure(.unauthorised))
    renewal.send("B")
    request.server.send(completion: .failure(.unauthorised))
    expectEqual(recorder.failure, .unauthorised)
    expectEqual(request.credentials, ["A", "B"])
    expectEqual(renewal.subscriptionCount, 1)
  }

  @Test("passes other failures on, the first time and the second")
  func otherFailures() {
    let (request, recorder) = (Request(), Recorder<Int, Failure>())
    publisher(request).subscribe(recorder)
    request.server.send(completion: .failure(.other))
    expectEqual(recorder.failure, .other)
    expectEqual(renewal.subscriptionCount, 0)
  }

  @Test("fails as told when there is no credential, and does not take that for a refusal")
  func noCredential() {
    refresher.signOut()
    let recorder = Recorder<Int, Failure>()
    var asked = 0
    refresher.authenticated(
      when: {
        asked += 1
        return $0 == .unauthorised
      },
      failingWith: { _ in .unauthorised }
    ) { _ in Just(1).setFailureType(to: Failure.self) }
    .subscribe(recorder)
    expectEqual(recorder.failure, .unauthorised)
    expectEqual(recorder.completions.count, 1)
    expectEqual(asked, 0)
  }

  @Test("fails with the reason itself where any error may be")
  func anyError() {
    refresher.signOut()
    let recorder = Recorder<Int, any Error>()
    refresher.authenticated(when: { _ in true }) { _ in Just(1).setFailureType(to: (any Error).self) }
      .subscribe(recorder)
    expectEqual((recorder.failure as? TokenRefreshFailure)?.reason, .signedOut)
  }

  @Test("fails those who wait with the reason of the refresh")
  func refreshFails() {
    let (request, recorder) = (Request(), Recorder<Int, Failure>())
    publisher(request).subscribe(recorder)
    request.server.send(completion: .failure(.unauthorised))
    renewal.send(completion: .failure(.permanent))
    expectEqual(recorder.failure, .noCredential(.rejected))
    expectEqual(request.credentials, ["A"])
  }

  @Test("asks each request for what is owed, and holds nothing", arguments: [0, 1, 3])
  func demand(count: Int) {
    let request = Request()
    let recorder = Recorder<Int, Failure>(requesting: .none)
    publisher(request).subscribe(recorder)
    #expect(request.server.requests.isEmpty)
    recorder.request(.max(3))
    for value in 0..<count { request.server.send(value) }
    request.server.send(completion: .failure(.unauthorised))
    recorder.request(.max(2))
    renewal.send("B")
    let owed = 5 - count
    expectEqual(request.server.requests, [.max(3), .max(owed)])
    for value in 0..<owed { request.server.send(10 + value) }
    expectEqual(recorder.values.count, 5)
  }

  @Test("does not cancel the refresh when those who wait cancel, and does not send for them again")
  func cancelWhileWaiting() {
    let requests = [Request(), Request()]
    let recorders = requests.map { request in
      let recorder = Recorder<Int, Failure>()
      publisher(request).subscribe(recorder)
      return recorder
    }
    for request in requests { request.server.send(completion: .failure(.unauthorised)) }
    recorders[0].cancel()
    expectEqual(refresher.queued, 1)
    recorders[1].cancel()
    expectEqual(refresher.queued, 0)
    expectEqual(renewal.cancelCount, 0)
    renewal.send("B")
    expectEqual(refresher.credential, "B")
    #expect(requests.allSatisfy { $0.credentials == ["A"] })
    #expect(recorders.allSatisfy { $0.completions.isEmpty })
  }

  @Test("cancels the request that runs, the first or the second", arguments: [1, 2])
  func cancelRunning(time: Int) {
    let (request, recorder) = (Request(), Recorder<Int, Failure>())
    publisher(request).subscribe(recorder)
    if time == 2 {
      request.server.send(completion: .failure(.unauthorised))
      renewal.send("B")
    }
    recorder.cancel()
    expectEqual(request.server.connections.last?.isCancelled, true)
    request.server.send(1)
    #expect(recorder.values.isEmpty)
  }

  @Test("may be cancelled from inside the making of a request")
  func cancelInside() {
    let recorder = Recorder<Int, Failure>()
    let server = TestPublisher<Int, Failure>()
    refresher.authenticated(when: \.isUnauthorised, failingWith: Failure.init) { _ in
      recorder.cancel()
      return server
    }
    .subscribe(recorder)
    expectEqual(server.cancelCount, 1)
    #expect(recorder.completions.isEmpty)
  }

  @Test("lets go of the downstream when it ends or is cancelled", arguments: [true, false])
  func releases(cancels: Bool) {
    let request = Request()
    weak var weakRecorder: Recorder<Int, Failure>?
    do {
      let recorder = Recorder<Int, Failure>()
      weakRecorder = recorder
      publisher(request).subscribe(recorder)
      request.server.send(completion: .failure(.unauthorised))
      if cancels { recorder.cancel() } else { refresher.signOut() }
    }
    request.server.connections.forEach { $0.letGo() }
    #expect(weakRecorder == nil)
  }
}
