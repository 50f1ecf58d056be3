import Foundation
import Rebound

/// Something that happens in the life of a call.
///
///     let client = WebAPIClient(baseURL: service, transport: transport).onEvent { log.debug("\($0)") }
///
/// The description is one line for a log, without secrets, but for what a server or a system says about a failure, which
/// stands there as it came: ``Redaction/line(_:)`` is for that. What the cases carry is complete, secrets included: it is for
/// programs, not for files.
public struct HTTPEvent: Sendable {
  /// What happens.
  ///
  /// Later versions may add cases.
  public enum Kind: Sendable {
    /// The call begins.
    case began(TransportRequest)
    /// An attempt is sent.
    case attemptBegan(Int, TransportRequest)
    /// So many bytes of the body have been sent, of so many.
    case uploaded(Int64, of: Int64?)
    /// A server wants the request elsewhere, and it is sent there.
    case redirected(status: Int, to: URL)
    /// Status and header fields have come.
    case responded(ResponseHead)
    /// So many bytes of the answer's body have come, of so many.
    case downloaded(Int64, of: Int64?)
    /// An attempt has an answer that is valid.
    case attemptSucceeded(Int, HTTPResponse)
    /// An attempt has failed.
    case attemptFailed(Int, NetworkFailure)
    /// A retry policy has decided.
    case retry(RetryEvent)
    /// The cache has answered, or could not.
    case cache(CacheDecision)
    /// A circuit breaker has refused the attempt.
    case refused(CircuitOpen)
    /// Another policy has decided about the call: ``Hedging`` (a `HedgeEvent`), ``RateLimiting`` (a `RateLimiterEvent`, of
    /// its refusals) or ``WaitingForNetwork`` (a ``NetworkWaitEvent``).
    case decided(any PolicyDecision)
    /// The call has its response.
    case succeeded(ResponseSource)
    /// The call has failed.
    case failed(NetworkFailure)
    /// Nobody waits for the call any more.
    case cancelled
  }

  /// What the cache did for a request.
  public enum CacheDecision: Hashable, Sendable {
    /// There is no copy that may be used.
    case miss
    /// It has answered with a copy.
    case hit(CacheUse, age: Duration)
    /// It asks the server whether the copy is still good.
    case revalidating
    /// It keeps the answer.
    case stored
    /// Copies of this address are forgotten, since it was written to.
    case invalidated
  }

  /// How long ago the call began.
  public let elapsed: Duration
  /// What happens.
  public let kind: Kind
  let call: WatchedCall

  /// What the client calls the call.
  public var requestID: String { call.id }
  /// The name of the request.
  public var operation: String { call.operation }
  var redaction: Redaction { call.redaction }
}

/// What all events of a call share: not the request, which would live as long as somebody keeps an event.
final class WatchedCall: Sendable {
  let id: String
  let operation: String
  let redaction: Redaction
  let spans = ActiveSpans()

  init(_ id: String, _ operation: String, _ redaction: Redaction) {
    (self.id, self.operation, self.redaction) = (id, operation, redaction)
  }
}

extension HTTPEvent.CacheDecision: CustomStringConvertible {
  /// What the cache did, in words: "a copy answers (59.0 seconds old, fresh)".
  public var description: String {
    switch self {
    case .miss: "no copy"
    case .hit(let use, let age): "a copy answers (\(age) old, \(use))"
    case .revalidating: "asking whether the copy is still good"
    case .stored: "kept"
    case .invalidated: "copies forgotten"
    }
  }
}

extension HTTPEvent: CustomStringConvertible {
  /// One line for a log, without secrets but those in the words of others.
  public var description: String { "[\(requestID)] \(operation) +\(elapsed): \(text)" }

  /// What happens, in words, without secrets.
  var text: String {
    switch kind {
    case .began(let message):
      return "\(message.method) \(redaction.url(message.address))"
    case .attemptBegan(let attempt, let message):
      let length = message.body.length.map { $0 == 0 ? "" : ", sending \($0) bytes" } ?? ", sending a stream"
      return "attempt \(attempt)\(length)"
    case .uploaded(let count, let total):
      return "sent \(count)\(total.map { " of \($0)" } ?? "") bytes"
    case .redirected(let status, let url):
      return "\(status), going on to \(redaction.url(url))"
    case .responded(let head):
      return "status \(head.status)"
    case .downloaded(let count, let total):
      return "received \(count)\(total.map { " of \($0)" } ?? "") bytes"
    case .attemptSucceeded(let attempt, let response):
      return
        "attempt \(attempt) succeeded with \(response.status) in \(response.duration), \(response.body.count) bytes"
    case .attemptFailed(let attempt, let failure):
      return "attempt \(attempt): \(failure)"
    case .retry(let event):
      return "\(event)"
    case .cache(let decision):
      return "cache: \(decision)"
    case .refused(let error):
      return "\(error)"
    case .decided(let decision):
      return decision.text
    case .succeeded(let source):
      return "succeeded, from \(source)"
    case .failed(let failure):
      return "\(failure)"
    case .cancelled:
      return "cancelled"
    }
  }
}
