import Backend
import Combine
import Foundation
import Testing

@Suite("A client written for Apple's Combine and URLSession, against the backend")
struct AppleClientTests {
  private let backend: BackendServer

  init() throws {
    backend = try BackendServer(
      BackendServer.Configuration(database: ":memory:") { Issue.record("The backend failed: \($0)") }
    )
  }

  private func check(_ name: String) async throws -> Bool {
    let client = AuthenticationClient(baseURL: try #require(URL(string: backend.url)))
    let answers = AsyncStream<Result<Bool, any Error>> { continuation in
      let subscription = client.checkUserNameAvailable(userName: name).sink(
        receiveCompletion: { completion in
          if case .failure(let error) = completion { continuation.yield(.failure(error)) }
          continuation.finish()
        },
        receiveValue: { continuation.yield(.success($0)) }
      )
      let keeper = Keeper(subscription)
      continuation.onTermination = { _ in keeper.release() }
    }
    var all: [Result<Bool, any Error>] = []
    for await answer in answers { all.append(answer) }
    await backend.stop()
    #expect(all.count == 1)
    return try #require(all.first).get()
  }

  /// Unchecked: an `AnyCancellable` may be cancelled from any thread.
  private final class Keeper: @unchecked Sendable {
    private let subscription: AnyCancellable

    init(_ subscription: AnyCancellable) {
      self.subscription = subscription
    }

    func release() { subscription.cancel() }
  }

  @Test("a free name is free and a taken one is taken", arguments: [("somebody", true), ("peterfriese", false)])
  func answers(name: String, isAvailable: Bool) async throws {
    #expect(try await check(name) == isAvailable)
  }

  @Test("a refusal comes with the server's reason")
  func refusal() async throws {
    await #expect { try await check("admin") } throws: {
      $0.localizedDescription == "Validation Error: Username is not valid: admin."
    }
  }

  @Test("an answer of another form is a decoding error")
  func unreadable() async {
    await #expect(throws: DecodingError.self) { try await check("illegalresponse") }
  }

  @Test("a permanent failure is not retried")
  func permanent() async throws {
    await #expect { try await check("servererror") } throws: {
      $0.localizedDescription == "The database is corrupted"
    }
  }

  @Test("maintenance is retried, with a delay on a concurrent queue, until the name is free")
  func maintenance() async throws {
    #expect(try await check("maintenance"))
  }
}
