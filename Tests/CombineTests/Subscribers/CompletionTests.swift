import Combine
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
    #expect(String(decoding: try encoder.encode(completion), as: UTF8.self) == text)
    #expect(try JSONDecoder().decode(Completion.self, from: Data(text.utf8)) == completion)
  }

  @Test("an error beside a success is ignored, and a missing one is an error")
  func oddities() throws {
    let both = Data(#"{"success":true,"error":{"code":1}}"#.utf8)
    #expect(try JSONDecoder().decode(Completion.self, from: both) == .finished)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Completion.self, from: Data(#"{"success":false}"#.utf8))
    }
  }
}
