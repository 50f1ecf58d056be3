/// When a credential is renewed, and how often at most.
public struct TokenRefreshPolicy: Hashable, Sendable {
  /// How long before its expiry a credential is renewed already, to allow for clocks that differ and for the way.
  public let leeway: Duration
  /// How many refreshes there may be within ``window``; more are a sign that the server refuses what it issues.
  public let maxRefreshes: Int
  /// The time within which refreshes are counted.
  public let window: Duration
  /// How long no other refresh is tried after one that failed for the moment; doubled with each such failure.
  ///
  /// An error that asks for a longer pause (``RetryAfterProviding``) gets it.
  public let cooldown: Duration
  /// The longest that ``cooldown`` grows to.
  public let maxCooldown: Duration

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - leeway: How long before its expiry a credential is renewed already.
  ///   - maxRefreshes: How many refreshes there may be within the window.
  ///   - window: The time within which refreshes are counted.
  ///   - cooldown: How long no other refresh is tried after one that failed for the moment; zero for no pause.
  ///   - maxCooldown: The longest that the cooldown grows to.
  /// - Throws: ``InvalidTokenRefreshPolicy``, with the number that makes no sense.
  ///
  /// Source of five in 30 s: Alamofire's `AuthenticationInterceptor`.
  public init(
    leeway: Duration = .seconds(30),
    maxRefreshes: Int = 5,
    window: Duration = .seconds(30),
    cooldown: Duration = .seconds(1),
    maxCooldown: Duration = .seconds(30)
  ) throws(InvalidTokenRefreshPolicy) {
    if leeway < .zero { throw .negativeDuration(leeway) }
    if cooldown < .zero { throw .negativeDuration(cooldown) }
    if maxRefreshes < 1 { throw .noRefreshes(maxRefreshes) }
    if window <= .zero { throw .windowNotPositive(window) }
    if maxCooldown < cooldown { throw .maxBelowCooldown(maxCooldown, cooldown: cooldown) }
    self.init(
      leeway: leeway,
      maxRefreshes: maxRefreshes,
      window: window,
      validCooldown: cooldown,
      maxCooldown: maxCooldown
    )
  }

  private init(leeway: Duration, maxRefreshes: Int, window: Duration, validCooldown: Duration, maxCooldown: Duration) {
    self.leeway = leeway.clampedToDelay
    self.maxRefreshes = maxRefreshes
    self.window = window.clampedToDelay
    cooldown = validCooldown.clampedToDelay
    self.maxCooldown = maxCooldown.clampedToDelay
  }

  /// 30 s before the expiry, at most five times in 30 s, with a pause of 1 s to 30 s after a failure.
  public static let standard = TokenRefreshPolicy(
    leeway: .seconds(30),
    maxRefreshes: 5,
    window: .seconds(30),
    validCooldown: .seconds(1),
    maxCooldown: .seconds(30)
  )
}

/// A policy for token refresh that makes no sense, refused when it is made.
public enum InvalidTokenRefreshPolicy: Error, Hashable, Sendable {
  /// A time is below zero.
  case negativeDuration(Duration)
  /// Not even one refresh is allowed.
  case noRefreshes(Int)
  /// The time within which refreshes are counted is zero or below.
  case windowNotPositive(Duration)
  /// The longest cooldown is shorter than the first.
  case maxBelowCooldown(Duration, cooldown: Duration)
}

extension InvalidTokenRefreshPolicy: CustomStringConvertible {
  /// What is wrong, with the number that is, and what to give instead.
  public var description: String {
    switch self {
    case .negativeDuration(let duration):
      return "Token refresh: leeway or cooldown is \(duration). Give zero for none, or a positive duration."
    case .noRefreshes(let count):
      return "Token refresh: maxRefreshes is \(count). Give at least 1."
    case .windowNotPositive(let window):
      return "Token refresh: the window is \(window). Give a positive duration."
    case .maxBelowCooldown(let most, let cooldown):
      return "Token refresh: maxCooldown, \(most), is shorter than cooldown, \(cooldown). Raise one or lower the other."
    }
  }
}
