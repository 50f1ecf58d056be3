import Combine
import Rebound
import ReboundOutbox
import ReboundTesting
import Testing

/// The code of the pages in Sources/Rebound/Rebound.docc/Policies on answers that are shared, and of ReboundOutbox's, as it stands
/// there.
@Suite("The code of the pages on sharing")
struct SharingPagesTests {
  private struct Outage: Error {}

  private let scheduler = TestScheduler()

  @Test("a cache answers for itself while a value is fresh, and says how old it is")
  func caches() async throws {
    let calls = Lines()
    let time = scheduler.time

    let policy = try CachePolicy(fresh: .seconds(60), staleIfError: .seconds(600))
    let forecasts = Cache<String, String, any Error>(policy: policy)
    for _ in 1...10 {
      _ = try await forecasts.value(for: "Rome", time: time) {
        calls.write("Rome")
        return "sunny"
      }
    }
    #expect(calls.all == ["Rome"])
    scheduler.advance(by: .seconds(61))
    let old = try await forecasts.value(for: "Rome", time: time) { throw Outage() }
    #expect(old.value == "sunny")
    #expect(old.age == .seconds(61))
    #expect(old.isStale)
  }

  @Test("a hundred who ask at the same time cause one request")
  func coalescing() {
    let answer = PassthroughSubject<String, Outage>()
    var requests = 0
    let request = Deferred {
      requests += 1
      return answer
    }
    var subscriptions: Set<AnyCancellable> = []
    var answers: [String] = []

    let forecasts = Coalescer<String, String, Outage>()
    for _ in 1...100 {
      request
        .coalesced(by: forecasts, for: "Rome")
        .sink(receiveCompletion: { _ in }, receiveValue: { answers.append($0) })
        .store(in: &subscriptions)
    }
    answer.send("sunny")
    #expect(requests == 1)
    #expect(answers.count == 100)
  }

  @Test("a token that is refused is renewed, and the request is sent once more")
  func refreshing() async throws {
    try await TimeSource.$current.withValue(scheduler.time) {
      struct Unauthorised: Error {}
      var sent: [String] = []

      let session = TokenRefresher<String> { refresh in .refreshed("new token") }
      session.signIn(with: "old token")
      let answer = try await session.run(when: { $0 is Unauthorised }) { token in
        sent.append(token)
        if token == "old token" { throw Unauthorised() }
        return "sunny"
      }
      #expect(answer == "sunny")
      #expect(sent == ["old token", "new token"])
    }
  }

  @Test("a key buys the first token, and the next; one that the server does not know buys none, and nobody asks again")
  func obtaining() async throws {
    enum KeyFailure: Error { case busy, unknownKey }
    struct Unauthorised: Error {}
    actor Server {
      private(set) var asked = 0

      func token(for key: String) throws(KeyFailure) -> String {
        asked += 1
        guard key == "key" else { throw .unknownKey }
        return "token \(asked)"
      }
    }
    let time = scheduler.time

    for (key, isKnown) in [("key", true), ("old key", false)] {
      let server = Server()

      let session = TokenRefresher<String>(
        lifetime: { _ in .seconds(3_600) },
        rejectedWhen: { $0 == .unknownKey },
        obtaining: { () async throws(KeyFailure) in try await server.token(for: key) }
      )

      guard isKnown else {
        for _ in 1...3 {
          let failure = await #expect(throws: TokenRefreshFailure.self) {
            try await session.run(when: { $0 is Unauthorised }, time: time) { token in token }
          }
          #expect(failure?.reason == .denied)
        }
        #expect(await server.asked == 1)
        continue
      }
      for _ in 1...2 {
        let sent = try await session.run(when: { $0 is Unauthorised }, time: time) { token in token }
        #expect(sent == "token 1")
      }
      scheduler.advance(by: .seconds(3_600))
      #expect(try await session.run(when: { $0 is Unauthorised }, time: time) { token in token } == "token 2")
    }
  }

  @Test("what has a key is done once, and all who come with it get its answer")
  func idempotencyKeys() async throws {
    var placed: [String] = []

    let orders = try IdempotencyKeys<String>(keptFor: .seconds(86_400))
    for _ in 1...3 {
      let receipt = try await orders.run("order 7") {
        placed.append("soup")
        return "receipt of order 7"
      }
      #expect(receipt == "receipt of order 7")
    }
    #expect(placed == ["soup"])
  }

  @Test("what is stored is delivered, if not at first then later")
  func outboxes() throws {
    let sent = Lines()
    var subscriptions: Set<AnyCancellable> = []

    let outbox = Outbox<String>(
      "orders",
      policy: try OutboxPolicy(backoff: .constant(.seconds(30))),
      storage: InMemoryOutboxStorage(),  // FileOutboxStorage(at: file) in the program
      scheduler: scheduler,  // left out in the program: a queue of its own
      deliveringWith: { entry in
        sent.write("\(entry.payload), attempt \(entry.attempts)")
        let verdict: OutboxVerdict = entry.attempts == 1 ? .tryLater(Outage()) : .delivered
        return Just(verdict).eraseToAnyPublisher()
      }
    )
    outbox.enqueueing("soup", key: "kitchen")
      .sink(receiveCompletion: { _ in }, receiveValue: { entry in sent.write("\(entry) is stored") })
      .store(in: &subscriptions)
    scheduler.advance(by: .seconds(30))
    #expect(sent.all == ["entry 1 of 'kitchen' is stored", "soup, attempt 1", "soup, attempt 2"])
    #expect(outbox.state.isEmpty)
  }
}
