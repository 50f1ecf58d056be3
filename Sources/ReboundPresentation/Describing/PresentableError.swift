import Rebound

/// An error that knows what it means for the person in front of the screen.
///
/// This is how errors of a network layer, or of any other, come to be shown without this module knowing them. Each
/// property has a default, so an error says only what it knows:
///
///     extension NetworkFailure: PresentableError {
///       public var isOffline: Bool { kind == .transport(.offline) }
///       public var needsSignIn: Bool { kind == .unauthorised }
///       public var isMaintenance: Bool { kind == .serverError(503) }
///       public var fieldErrors: [FieldError] {
///         (problem?.fieldErrors ?? [:]).flatMap { field, messages in messages.map { FieldError(field: field, message: $0) } }
///       }
///     }
///
/// How long a server asks to wait is said by conforming to `RetryAfterProviding`; the words by conforming to
/// `LocalizedError`. An error that conforms to nothing is shown, too, in general words.
public protocol PresentableError: Error {
  /// Whether it only says that something was cancelled, which is no failure and never shown. `false` by default.
  var isCancellation: Bool { get }

  /// Whether there is no network. `false` by default.
  var isOffline: Bool { get }

  /// What is wrong with fields of a form, for example from the problem details of a server (RFC 9457). None by default.
  var fieldErrors: [FieldError] { get }

  /// Whether nothing helps but to sign in again. `false` by default.
  var needsSignIn: Bool { get }

  /// Whether the server speaks a form that this version of the program does not know. `false` by default.
  var mustUpdate: Bool { get }

  /// Whether the service is down, and not only this call too much for it: an HTTP 503, and no 429. `false` by default.
  ///
  /// It counts where the error asks to come back later, too (`RetryAfterProviding`), unless that is a refusal of this
  /// program, which knows nothing of the service.
  var isMaintenance: Bool { get }

  /// Whether another try may succeed. `true` by default.
  var isRetryable: Bool { get }

  /// What a person can choose besides what every error offers. None by default.
  var choices: [RecoveryChoice] { get }
}

extension PresentableError {
  /// No.
  public var isCancellation: Bool { false }
  /// No.
  public var isOffline: Bool { false }
  /// None.
  public var fieldErrors: [FieldError] { [] }
  /// No.
  public var needsSignIn: Bool { false }
  /// No.
  public var mustUpdate: Bool { false }
  /// No.
  public var isMaintenance: Bool { false }
  /// Yes.
  public var isRetryable: Bool { true }
  /// None.
  public var choices: [RecoveryChoice] { [] }
}

/// What is wrong with one field of a form.
public struct FieldError: Hashable, Sendable {
  /// The field, as the program calls it; `nil` if it was not said which.
  public let field: String?
  /// What is wrong with it, in words for people.
  public let message: String

  /// Describes what is wrong with a field.
  public init(field: String?, message: String) {
    self.field = field
    self.message = message
  }
}
