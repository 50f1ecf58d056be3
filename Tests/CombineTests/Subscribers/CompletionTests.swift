import Combine
import Expectations
import Foundation
import Testing

@Suite("Completion")
struct CompletionTests {
  private typealias Completion = Subscribers.Completion<CodableFailure>

  @Test(
    "is coded by success and error, and comes back the same",
    arguments: [
      (Subscribers.Completion<CodableFailure>.finished, #"{"success":true}"#),
      (.failure(CodableFailure(code: 1)), #"{"error":{"code":1},"success":false}"#),
    ]
  )
  func coding(_ completion: Subscribers.Completion<CodableFailure>, _ text: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    expectEqual(String(decoding: try encoder.encode(completion), as: UTF8.self), text)
    try expectEqual(JSONDecoder().decode(Completion.self, from: Data(text.utf8)), completion)
  }

  @Test("a failure without its error is missing a key")
  func missingKey() {
    do {
      _ = try JSONDecoder().decode(Completion.self, from: Data(#"{"success":false}"#.utf8))
      Issue.record("it was decoded")
    } catch DecodingError.keyNotFound(let key, _) {
      expectEqual(key.stringValue, "error")
    } catch {
      Issue.record("another error: \(error)")
    }
  }

  private enum Refusal: Error {
    case busy, closed
  }

  @Test("is hashed by its case and its error")
  func hashing() {
    let some: Set<Subscribers.Completion<Refusal>> = [
      .finished, .finished, .failure(.busy), .failure(.busy), .failure(.closed),
    ]
    expectEqual(some, [.failure(.closed), .failure(.busy), .finished])
  }

  @Test("an error beside a success is ignored, and a missing one is an error")
  func oddities() throws {
    let both = Data(#"{"success":true,"error":{"code":1}}"#.utf8)
    try expectEqual(JSONDecoder().decode(Completion.self, from: both), .finished)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Completion.self, from: Data(#"{"success":false}"#.utf8))
    }
  }
}
