import Foundation
import Rebound

/// One request that was sent, what came of it, and what follows: a line of the list of attempts.
public struct Attempt: Equatable, Sendable {
  /// How an attempt went.
  public enum Tone: String, Sendable {
    case none, ok, error, info
  }

  /// Tells this attempt from all others of its list.
  public let id: Int
  /// Tells its request from all others of the list: the same for all attempts of one.
  public let exchange: Int
  /// When it was sent.
  public let time: Date
  /// What was sent, as in `GET /isUserNameAvailable?userName=abc`.
  public let request: String
  /// Which try this was of its request, from 1.
  public let number: Int
  /// What came of it, in words; empty while it is under way.
  public internal(set) var outcome = ""
  /// How it went.
  public internal(set) var tone = Tone.none
  /// What follows, in words; empty if nothing does.
  public internal(set) var next = ""

  mutating func succeeded(_ words: String) {
    outcome = words
    tone = .ok
  }

  mutating func failed(_ words: String) {
    outcome = words
    tone = .error
  }

  mutating func noted(_ words: String) {
    outcome = words
    tone = .info
  }

  /// The answer is not wanted any more.
  mutating func superseded() {
    guard outcome.isEmpty else { return }
    outcome = "not waited for any more"
    tone = .info
  }

  /// A copy stands in for the answer.
  mutating func standIn() {
    next += next.isEmpty ? "a saved copy stands in" : "; a saved copy stands in"
  }

  mutating func follow(_ event: RetryEvent) {
    switch event.outcome {
    case .retrying:
      let source = event.delaySource == .hint ? "Retry-After" : "back-off"
      next = "retrying in \((event.delay ?? .zero).inSeconds) s (\(source))"
    case .stopped(.attemptsExhausted):
      next = "giving up after \(event.attempt) attempts"
    case .stopped(.budgetExhausted):
      next = "giving up: the budget for retries is used up"
    case .stopped:
      next = ""
    }
  }
}

extension Duration {
  /// Seconds with one digit after the point.
  public var inSeconds: String {
    String(format: "%.1f", Double(components.seconds) + Double(components.attoseconds) / 1e18)
  }
}
