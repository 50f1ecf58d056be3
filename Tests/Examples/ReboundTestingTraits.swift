import ReboundTesting
import ReboundTestingTraits
import Testing

// What the examples in the doc comments of ReboundTestingTraits take for granted. No target: scripts/check-examples compiles it.

actor Session {
  var renewals: Int { 0 }
  func validToken() async throws -> String { "" }
}
