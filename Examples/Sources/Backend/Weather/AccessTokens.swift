/// The access tokens that were given out, and the key for which they are.
struct AccessTokens {
  /// What a token is worth.
  enum Verdict: Equatable {
    case valid
    case expired
    case unknown
  }

  static let defaultKey = "rebound"

  private(set) var key = AccessTokens.defaultKey
  private let lifetime: Duration
  private var deadlines: [String: ContinuousClock.Instant] = [:]
  private(set) var issued = 0

  /// - Parameter lifetime: How long a token is good for.
  init(lifetime: Duration) {
    self.lifetime = lifetime
  }

  /// A new token for whoever has the key; nil for all others.
  mutating func issue(for key: String, at now: ContinuousClock.Instant) -> String? {
    guard key == self.key else { return nil }
    // Who asks with an expired token is told so for a while; then the token is forgotten.
    deadlines = deadlines.filter { now - $0.value < .seconds(600) }
    issued += 1
    let token = "t\(issued)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    deadlines[token] = now + lifetime
    return token
  }

  func judge(_ token: String, at now: ContinuousClock.Instant) -> Verdict {
    guard let deadline = deadlines[token] else { return .unknown }
    return now < deadline ? .valid : .expired
  }

  /// Ends every token's life.
  mutating func expireAll(at now: ContinuousClock.Instant) {
    deadlines = deadlines.mapValues { min($0, now) }
  }

  /// Only this key counts from now on, and the tokens for the one before end.
  mutating func changeKey(to key: String, at now: ContinuousClock.Instant) {
    self.key = key
    expireAll(at: now)
  }
}
