import Expectations

#if Foundation
  import Combine
  import Foundation
  import Testing

  @Suite("Foundation's coders")
  struct CodersFoundationTests {
    private func roundTrip<E: TopLevelEncoder, D: TopLevelDecoder>(_ encoder: E, _ decoder: D) throws -> [String: Int]
    where E.Output == Data, D.Input == Data {
      try decoder.decode([String: Int].self, from: encoder.encode(["one": 1]))
    }

    @Test("JSON and property lists are encoded to bytes and decoded from them")
    func codes() throws {
      try expectEqual(roundTrip(JSONEncoder(), JSONDecoder()), ["one": 1])
      try expectEqual(roundTrip(PropertyListEncoder(), PropertyListDecoder()), ["one": 1])
    }
  }
#endif
