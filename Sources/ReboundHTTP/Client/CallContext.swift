import Rebound
import StreamSupport

/// What all parts of one call share: what its request says about it, who watches, and what has failed so far.
///
/// Unchecked, because the lock guards all that changes, and no foreign code runs under it.
final class CallContext: @unchecked Sendable {
  /// How many failures are kept.
  private static let keptFailures = 10

  let client: ClientSettings.Shared
  let id: String
  let timeLimit: Duration?
  let isIdempotent: Bool
  let isAuthenticated: Bool
  let identity: String?
  let validStatuses: ClosedRange<Int>
  let takesWebPages: Bool
  let errorParser: ErrorParser
  /// Made anew each time: most calls end without anybody asking for it, and to make it of a type takes long.
  private let name: @Sendable () -> String
  private let start: Duration
  private let observe: (@Sendable (HTTPEvent) -> Void)?
  private let lock = Lock()
  private var failures: [NetworkFailure] = []

  /// - Parameters:
  ///   - takesWebPages: As the request's parser says, which is asked for once only: it may be made anew each time.
  ///   - observe: Who watches.
  init<R: Request>(
    _ request: R,
    of client: ClientSettings.Shared,
    id: String,
    takesWebPages: Bool,
    observe: (@Sendable (HTTPEvent) -> Void)?
  ) {
    self.client = client
    self.id = id
    self.observe = observe
    self.takesWebPages = takesWebPages
    name = { request.operation }
    timeLimit = request.deadline ?? client.settings.deadline
    isAuthenticated = request.isAuthenticated
    identity = client.settings.identity?()
    validStatuses = request.validStatuses
    errorParser = request.errorParser
    isIdempotent =
      switch request.idempotency {
      case .byMethod: request.method.isIdempotent
      case .notIdempotent: false
      case .idempotent, .key, .generatedKey: true
      }
    start = observe == nil ? .zero : client.settings.time.elapsed
  }

  var operation: String { name() }
  var time: ClientTime { client.settings.time }
  var redaction: Redaction { client.settings.redaction }

  /// Whether anybody watches, for what is only made to be told.
  var isWatched: Bool { observe != nil }

  func tell(_ kind: @autoclosure () -> HTTPEvent.Kind) {
    guard let observe else { return }
    observe(
      HTTPEvent(requestID: id, operation: operation, elapsed: time.elapsed - start, kind: kind(), redaction: redaction)
    )
  }

  /// Keeps the failure of an attempt, for the failure of the call to tell of.
  func keep(_ failure: NetworkFailure) {
    let before = lock.withLock {
      let before = failures
      failures = failures.suffix(CallContext.keptFailures - 1) + [failure]
      return before
    }
    withExtendedLifetime(before) {}
  }

  /// The failures that were kept.
  var earlier: [NetworkFailure] { lock.withLock { failures } }
}
