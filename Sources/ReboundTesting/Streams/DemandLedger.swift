import Combine

/// What a subscriber has requested and received, moment by moment.
///
///     recorder.demand.outstanding             // what it may still receive
///     recorder.demand.excess                  // how many values came that nobody had asked for
///     recorder.demand.entries.map(\.outstanding)
public struct DemandLedger: Hashable, Sendable {
  /// Something that changes what is outstanding.
  public enum Change: Hashable, Sendable {
    /// The subscriber requested, or returned a demand for a value.
    case requested(Subscribers.Demand)
    /// A value came.
    case delivered
  }

  /// A change, when it was, and what was outstanding after it.
  public struct Entry: Hashable, Sendable {
    /// When it was.
    public let time: VirtualTime
    /// What changed.
    public let change: Change
    /// What the subscriber could still receive after it.
    public let outstanding: Subscribers.Demand
  }

  /// All changes, in order.
  public private(set) var entries: [Entry] = []
  /// All that was requested.
  public private(set) var requested = Subscribers.Demand.none
  /// How many values came.
  public private(set) var delivered = 0
  /// How many values came while nothing was outstanding: a publisher's fault.
  public private(set) var excess = 0

  /// Makes an empty ledger.
  public init() {}

  /// What the subscriber may still receive.
  ///
  /// A value that came in excess is not made good by a later request.
  public var outstanding: Subscribers.Demand { entries.last?.outstanding ?? .none }

  /// Writes down a request.
  mutating func request(_ demand: Subscribers.Demand, at time: VirtualTime) {
    guard demand > .none else { return }
    requested += demand
    entries.append(Entry(time: time, change: .requested(demand), outstanding: outstanding + demand))
  }

  /// Writes down a value.
  mutating func deliver(at time: VirtualTime) {
    delivered += 1
    let before = outstanding
    if before == .none { excess += 1 }
    entries.append(Entry(time: time, change: .delivered, outstanding: before == .none ? .none : before - 1))
  }
}

extension DemandLedger: CustomStringConvertible {
  /// One line for a message: "requested 3, delivered 1, outstanding 2".
  public var description: String {
    let over = excess > 0 ? ", \(excess) in excess" : ""
    return "requested \(requested.text), delivered \(delivered), outstanding \(outstanding.text)\(over)"
  }
}

extension Subscribers.Demand {
  /// The number, or "unlimited".
  var text: String { max.map(String.init) ?? "unlimited" }
}
