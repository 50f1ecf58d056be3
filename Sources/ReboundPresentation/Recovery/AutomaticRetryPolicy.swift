import Rebound

/// When a request that failed is tried again without being asked for.
public struct AutomaticRetryPolicy: Hashable, Sendable {
  /// How many times in a row the return of the network may start a try; `nil` means without an end.
  public let maxInARow: Int?
  /// The shortest time between two tries that the network starts; doubles with each one in a row.
  public let pause: Duration
  /// The longest that the pause becomes.
  public let maxPause: Duration
  /// The shortest countdown, whatever a server asks for.
  public let minimumCountdown: Duration

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - maxInARow: How many times in a row the return of the network may start a try; `nil` means without an end.
  ///   - pause: The shortest time between two tries that the network starts; doubles with each one in a row.
  ///   - maxPause: The longest that the pause becomes.
  ///   - minimumCountdown: The shortest countdown, whatever a server asks for; 0.1 s at least.
  /// - Throws: `InvalidPolicy`, with the number that makes no sense.
  public init(
    maxInARow: Int? = 5,
    pause: Duration = .seconds(2),
    maxPause: Duration = .seconds(60),
    minimumCountdown: Duration = .seconds(1)
  ) throws(InvalidPolicy) {
    let kind = PolicyKind("automatic retry")
    try kind.require("maxInARow", maxInARow, "Give 0 for no try, or nil to try without an end.") { $0 >= 0 }
    try kind.require("pause", pause, "Give zero for none, or a positive duration.") { $0 >= .zero }
    try kind.require("maxPause", maxPause, "Give at least pause, which is \(pause).") { $0 >= pause }
    try kind.require("minimumCountdown", minimumCountdown, "Give at least 0.1 s.") { $0 >= Self.shortestCountdown }
    self.init(clamping: maxInARow, pause: pause, maxPause: maxPause, minimumCountdown: minimumCountdown)
  }

  /// Makes a policy, and brings numbers that make no sense into range.
  ///
  /// Negative tries and pauses count as zero, a longest pause below the pause as the pause, a countdown below 0.1 s as that.
  ///
  /// - Parameters:
  ///   - maxInARow: How many times in a row the return of the network may start a try; `nil` means without an end.
  ///   - pause: The shortest time between two tries that the network starts; doubles with each one in a row.
  ///   - maxPause: The longest that the pause becomes.
  ///   - minimumCountdown: The shortest countdown, whatever a server asks for.
  public init(
    clamping maxInARow: Int?,
    pause: Duration = .seconds(2),
    maxPause: Duration = .seconds(60),
    minimumCountdown: Duration = .seconds(1)
  ) {
    self.maxInARow = maxInARow.map { max($0, 0) }
    self.pause = pause.clampedToDelay
    self.maxPause = max(maxPause.clampedToDelay, self.pause)
    self.minimumCountdown = max(minimumCountdown.clampedToDelay, Self.shortestCountdown)
  }

  private static let shortestCountdown = Duration.milliseconds(100)

  /// Five in a row, after 2 s and twice as long each time, up to a minute.
  public static let standard = valid { () throws(InvalidPolicy) in try AutomaticRetryPolicy() }
}
