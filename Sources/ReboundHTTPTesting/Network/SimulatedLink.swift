/// What lies between two hosts of a ``SimulatedNetwork``.
///
///     var mobile = SimulatedLink(latency: .milliseconds(30)...(.milliseconds(400)), bytesPerSecond: 100_000)
///     mobile.loss = 0.01
///     mobile.faultRate = 0.2
///
/// A number that makes no sense counts as the nearest that does: a negative latency as zero, a probability above 1 as 1, one
/// that is not a number as zero.
public struct SimulatedLink: Hashable, Sendable {
  /// How long a message takes one way, besides the time that its bytes take: evenly distributed.
  public var latency: ClosedRange<Duration>
  /// The probability that a message is lost.
  ///
  /// No more comes of that exchange, and it ends when a limit of time passes.
  public var loss: Double
  /// Whether a message may overtake those that were sent before it on another exchange.
  ///
  /// Those of one exchange stay in order, as on one connection.
  public var reorders: Bool
  /// How many bytes pass in a second, each way; `nil` is no limit.
  ///
  /// All exchanges share it: a message waits until those before it are through.
  public var bytesPerSecond: Int?
  /// The probability that an exchange has one of ``faults``.
  public var faultRate: Double
  /// What may befall an exchange; each is as likely as the others.
  public var faults: [SimulatedFault]

  /// Describes a link.
  ///
  /// - Parameters:
  ///   - latency: How long a message takes one way, besides the time that its bytes take.
  ///   - loss: The probability that a message is lost.
  ///   - reorders: Whether a message may overtake those of other exchanges.
  ///   - bytesPerSecond: How many bytes pass in a second, each way; `nil` is no limit.
  ///   - faultRate: The probability that an exchange has a fault.
  ///   - faults: What may befall an exchange.
  public init(
    latency: ClosedRange<Duration> = .milliseconds(10)...(.milliseconds(50)),
    loss: Double = 0,
    reorders: Bool = true,
    bytesPerSecond: Int? = nil,
    faultRate: Double = 0,
    faults: [SimulatedFault] = SimulatedFault.allCases
  ) {
    self.latency = latency
    self.loss = loss
    self.reorders = reorders
    self.bytesPerSecond = bytesPerSecond
    self.faultRate = faultRate
    self.faults = faults
  }

  /// Nothing takes time, and nothing is lost.
  public static let perfect = SimulatedLink(latency: .zero...(.zero))
}

/// What may befall one exchange of a ``SimulatedNetwork``.
public enum SimulatedFault: String, Hashable, Sendable, CaseIterable {
  /// Nobody takes the connection.
  case refused
  /// The connection breaks before the server has the request.
  case resetBeforeRequest
  /// The request is lost; the client hears nothing.
  case lostRequest
  /// A gateway answers with status 503; the server does not see the request.
  case unavailable
  /// The server has the request and acts on it; the connection breaks before its answer.
  case resetBeforeAnswer
  /// The server has the request and acts on it; its answer is lost.
  case lostAnswer
  /// The answer breaks off within its body; one without a body comes whole.
  case truncated
}

/// The traffic one way between two hosts.
struct LinkTraffic {
  /// When the last byte that was sent so far has left.
  private var isBusyUntil = Duration.zero
  private var lastArrival = Duration.zero

  /// What was drawn for a message, each in `0..<1`.
  struct Chance {
    let loss: Double
    let latency: Double
  }

  /// Says when a message arrives; `nil` if it is lost.
  ///
  /// - Parameters:
  ///   - bytes: Its size.
  ///   - earliest: When the message before it on the same exchange arrives.
  ///   - link: What lies between.
  ///   - now: The present.
  ///   - chance: What was drawn for it.
  mutating func arrival(
    of bytes: Int,
    notBefore earliest: Duration,
    over link: SimulatedLink,
    now: Duration,
    _ chance: Chance
  ) -> Duration? {
    var time = now
    if let rate = link.bytesPerSecond {
      time = max(now, isBusyUntil) + .seconds(Double(bytes) / Double(max(rate, 1)))
      isBusyUntil = time
    }
    if chance.loss < link.loss { return nil }
    let shortest = max(link.latency.lowerBound, .zero)
    let variation = max(link.latency.upperBound, .zero) - shortest
    time = max(time + shortest + variation * chance.latency, earliest)
    if !link.reorders {
      // A little later than the one before: what comes at the same moment comes in any order.
      time = max(time, lastArrival + .nanoseconds(1))
      lastArrival = time
    }
    return time
  }
}
