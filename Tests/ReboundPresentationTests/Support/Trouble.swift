import Foundation
import Rebound
import ReboundPresentation

/// What goes wrong in these tests, with all that an error can say about itself.
struct Trouble: PresentableError, LocalizedError, RetryAfterProviding, Equatable {
  var errorDescription: String? = "The server is not well."
  var failureReason: String?
  var recoverySuggestion: String?
  var isCancellation = false
  var isOffline = false
  var fieldErrors: [FieldError] = []
  var needsSignIn = false
  var mustUpdate = false
  var isMaintenance = false
  var isRetryable = true
  var choices: [RecoveryChoice] = []
  var retryAfter: Duration?
  var mayBeRepeated = true
  var isRefusal = false

  static let server = Trouble()
  static let offline = Trouble(errorDescription: "No network.", isOffline: true)
  static let maintenance = Trouble(
    errorDescription: "Temporarily unavailable.",
    isMaintenance: true,
    retryAfter: .seconds(17)
  )
  static let tooMany = Trouble(errorDescription: "Too many requests.", retryAfter: .seconds(17))
  static let order = Trouble(
    errorDescription: "Perhaps ordered.",
    isMaintenance: true,
    retryAfter: .seconds(17),
    mayBeRepeated: false
  )
  static let permanent = Trouble(errorDescription: "The city is not known.", isRetryable: false)
  static let outdated = Trouble(errorDescription: "The answer has a new form.", mustUpdate: true)
  static let signedOut = Trouble(errorDescription: "The session is over.", needsSignIn: true)
  static let cancelled = Trouble(isCancellation: true)
  static let taken = Trouble(fieldErrors: [FieldError(field: "userName", message: "This name is taken.")])
}

/// An error that says nothing about itself.
struct Silent: Error {}
