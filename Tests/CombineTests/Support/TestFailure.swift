import Combine

/// The failures that tests send.
enum TestFailure: Error, Equatable {
  case expected
  case other
}

extension Subscribers.Completion {
  /// Throws the failure, if this is one: `#expect(throws:)` compares errors that aren't equatable as they are.
  func rethrow() throws {
    if case .failure(let error) = self { throw error }
  }
}
