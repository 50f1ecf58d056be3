import Rebound

/// What goes wrong in these tests.
enum TestFailure: RetryAfterProviding, Hashable {
  case transient
  case permanent
  case busy(Duration)
  case numbered(Int)

  var isTransient: Bool { self != .permanent }

  var retryAfter: Duration? {
    if case .busy(let duration) = self { duration } else { nil }
  }
}

/// The failure of what must not be done twice.
struct PerhapsOrdered: RetryAfterProviding {
  var retryAfter: Duration? { nil }
  var mayBeRepeated: Bool { false }
}
