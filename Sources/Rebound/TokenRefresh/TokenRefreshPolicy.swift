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
  /// An error that asks for a longer pause (``RetryAfterProviding``) gets it, up to ``maxHint``.
  public let cooldown: Duration
  /// The longest that ``cooldown`` grows to.
  public let maxCooldown: Duration
  /// The longest pause that an error may ask for; a longer one counts as this.
  public let maxHint: Duration

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - leeway: How long before its expiry a credential is renewed already.
  ///   - maxRefreshes: How many refreshes there may be within the window.
  ///   - window: The time within which refreshes are counted.
  ///   - cooldown: How long no other refresh is tried after one that failed for the moment; zero for no pause.
  ///   - maxCooldown: The longest that the cooldown grows to.
  ///   - maxHint: The longest pause that an error may ask for; zero takes no notice of hints.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  ///
  /// Source of five in 30 s: Alamofire's `AuthenticationInterceptor`.
  public init(
    leeway: Duration = .seconds(30),
    maxRefreshes: Int = 5,
    window: Duration = .seconds(30),
    cooldown: Duration = .seconds(1),
    maxCooldown: Duration = .seconds(30),
    maxHint: Duration = .seconds(3_600)
  ) throws(InvalidPolicy) {
    let kind = PolicyKind.authentication
    try kind.require("leeway", leeway, "Give zero for none, or a positive duration.") { $0 >= .zero }
    try kind.require("cooldown", cooldown, "Give zero for none, or a positive duration.") { $0 >= .zero }
    try kind.require("maxRefreshes", maxRefreshes, "Give at least 1.") { $0 >= 1 }
    try kind.require("window", window, "Give a positive duration.") { $0 > .zero }
    try kind.require("maxCooldown", maxCooldown, "Give at least cooldown, which is \(cooldown).") { $0 >= cooldown }
    try kind.require("maxHint", maxHint, "Give zero to take no notice of hints, or a positive duration.") {
      $0 >= .zero
    }
    self.leeway = leeway.clampedToDelay
    self.maxRefreshes = maxRefreshes
    self.window = window.clampedToDelay
    self.cooldown = cooldown.clampedToDelay
    self.maxCooldown = maxCooldown.clampedToDelay
    self.maxHint = maxHint.clampedToDelay
  }

  /// 30 s before the expiry, at most five times in 30 s, with a pause of 1 s to 30 s after a failure.
  public static let standard = valid { () throws(InvalidPolicy) in try TokenRefreshPolicy() }
}
