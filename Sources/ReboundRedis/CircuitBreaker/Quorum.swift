#if Redis
  import Rebound

  /// How many members of a fleet must find a service sick before all do.
  public struct Quorum: Hashable, Sendable {
    let share: Double
    let minimum: Int

    /// This share of the members, but so many at least.
    ///
    /// Members are also those that the server has not heard of for less than ``FleetSettings/peakMemory``.
    ///
    /// - Parameters:
    ///   - share: In `0...1`; 0.5 is half of them.
    ///   - minimum: Two at least: one member with a broken network must not speak for all.
    /// - Throws: `InvalidPolicy`, with the number that makes no sense.
    public static func share(_ share: Double, atLeast minimum: Int = 2) throws(InvalidPolicy) -> Quorum {
      try PolicyKind.circuitBreaker.require("share", share, "Give a quorum of 0 … 1.") { (0...1).contains($0) }
      try PolicyKind.circuitBreaker.require("minimum", minimum, "Give a quorum of at least 2.") { $0 >= 2 }
      return Quorum(share: share, minimum: minimum)
    }

    private init(share: Double, minimum: Int) {
      (self.share, self.minimum) = (share, minimum)
    }

    /// More than half of the members, and two at least.
    public static let majority = Quorum(share: 0.5, minimum: 2)

    func votes(of instances: Int) -> Int {
      // More than the share; of all of them, all.
      max(min(Int((share * Double(instances)).rounded(.down)) + 1, instances), minimum)
    }
  }
#endif
