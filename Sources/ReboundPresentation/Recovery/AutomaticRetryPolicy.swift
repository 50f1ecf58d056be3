/// When a request that failed is tried again without being asked for.
public struct AutomaticRetryPolicy: Hashable, Sendable {
  /// How many times in a row the return of the network may start a try; `nil` means without an end.
  public let maximumInARow: Int?
  /// The shortest time between two tries that the network starts; doubles with each one in a row.
  public let pause: Duration
  /// The longest that the pause becomes.
  public let maximumPause: Duration
  /// The shortest countdown, whatever a server asks for.
  public let minimumCountdown: Duration

  /// Makes a policy; numbers that make no sense are brought into range.
  ///
  /// - Parameters:
  ///   - maximumInARow: How many times in a row the return of the network may start a try.
  ///   - pause: The shortest time between two tries that the network starts; doubles with each one in a row.
  ///   - maximumPause: The longest that the pause becomes.
  ///   - minimumCountdown: The shortest countdown, whatever a server asks for.
  public init(
    maximumInARow: Int? = 5,
    pause: Duration = .seconds(2),
    maximumPause: Duration = .seconds(60),
    minimumCountdown: Duration = .seconds(1)
  ) {
    self.maximumInARow = maximumInARow.map { max($0, 0) }
    self.pause = max(pause, .zero)
    self.maximumPause = max(maximumPause, self.pause)
    self.minimumCountdown = max(minimumCountdown, .milliseconds(100))
  }

  /// Five in a row, after 2 s and twice as long each time, up to a minute.
  public static let standard = AutomaticRetryPolicy()
}
