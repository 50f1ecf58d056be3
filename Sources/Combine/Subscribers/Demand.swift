extension Subscribers {
  /// How many values a subscriber wants: a number, or no limit.
  @frozen
  public struct Demand: Equatable, Comparable, Hashable, Codable, CustomStringConvertible, Sendable, BitwiseCopyable {
    // Finite demand as is; all above `Int.max` means unlimited, and there is one such number in use.
    @usableFromInline let rawValue: UInt

    @inlinable @inline(__always)
    init(rawValue: UInt) {
      self.rawValue = min(UInt(Int.max) + 1, rawValue)
    }

    /// As many values as the publisher can send.
    @inlinable
    public static var unlimited: Demand { Demand(rawValue: .max) }

    /// No values: the same as `.max(0)`.
    @inlinable
    public static var none: Demand { Demand(rawValue: 0) }

    /// A number of values, which must not be negative.
    @inlinable @inline(__always)
    public static func max(_ value: Int) -> Demand {
      precondition(value >= 0, "Combine: demand can't be negative, but is \(value). Ask for zero or more values.")
      return Demand(rawValue: UInt(value))
    }

    /// The number of values, or nil if there is no limit.
    @inlinable
    public var max: Int? { isUnlimited ? nil : Int(rawValue) }

    @inlinable
    var isUnlimited: Bool { rawValue > UInt(Int.max) }

    /// `max(n)` or `unlimited`.
    public var description: String {
      max.map { "max(\($0))" } ?? "unlimited"
    }

    // MARK: Arithmetic

    /// Adds two demands; a sum too large for a number is unlimited.
    @inlinable
    public static func + (lhs: Demand, rhs: Demand) -> Demand {
      // Both are at most `Int.max + 1`, so only unlimited twice overflows.
      let (sum, overflow) = lhs.rawValue.addingReportingOverflow(rhs.rawValue)
      return overflow ? .unlimited : Demand(rawValue: sum)
    }

    /// Adds a demand.
    @inlinable
    public static func += (lhs: inout Demand, rhs: Demand) {
      lhs = lhs + rhs
    }

    /// Adds a number, which may be negative as long as the sum is not.
    @inlinable
    public static func + (lhs: Demand, rhs: Int) -> Demand {
      guard let number = lhs.max else { return .unlimited }
      let (sum, overflow) = number.addingReportingOverflow(rhs)
      return overflow ? .unlimited : .max(sum)
    }

    /// Adds a number, which may be negative as long as the sum is not.
    @inlinable
    public static func += (lhs: inout Demand, rhs: Int) {
      lhs = lhs + rhs
    }

    /// Multiplies by a number; unlimited stays, and a product too large is unlimited.
    public static func * (lhs: Demand, rhs: Int) -> Demand {
      guard let number = lhs.max else { return .unlimited }
      let (product, overflow) = number.multipliedReportingOverflow(by: rhs)
      return overflow ? .unlimited : .max(product)
    }

    /// Multiplies by a number.
    @inlinable
    public static func *= (lhs: inout Demand, rhs: Int) {
      lhs = lhs * rhs
    }

    /// Subtracts a demand: unlimited stays, unlimited taken from a number leaves none, and a number must not go below
    /// zero.
    @inlinable
    public static func - (lhs: Demand, rhs: Demand) -> Demand {
      guard !lhs.isUnlimited else { return .unlimited }
      guard let number = rhs.max else { return .none }
      return lhs - number
    }

    /// Subtracts a demand.
    @inlinable
    public static func -= (lhs: inout Demand, rhs: Demand) {
      lhs = lhs - rhs
    }

    /// Subtracts a number; the difference must not be negative.
    @inlinable
    public static func - (lhs: Demand, rhs: Int) -> Demand {
      guard let number = lhs.max else { return .unlimited }
      let (difference, overflow) = number.subtractingReportingOverflow(rhs)
      return overflow ? .none : .max(difference)
    }

    /// Subtracts a number.
    @inlinable
    public static func -= (lhs: inout Demand, rhs: Int) {
      lhs = lhs - rhs
    }

    // MARK: Comparison

    /// Whether more is asked on the left than this number.
    @inlinable
    public static func > (lhs: Demand, rhs: Int) -> Bool {
      lhs.max.map { $0 > rhs } ?? true
    }

    /// Whether at least this number is asked.
    @inlinable
    public static func >= (lhs: Demand, rhs: Int) -> Bool {
      lhs.max.map { $0 >= rhs } ?? true
    }

    /// Whether a number is more than is asked on the right.
    @inlinable
    public static func > (lhs: Int, rhs: Demand) -> Bool {
      rhs.max.map { lhs > $0 } ?? false
    }

    /// Whether a number is at least what is asked on the right.
    @inlinable
    public static func >= (lhs: Int, rhs: Demand) -> Bool {
      rhs.max.map { lhs >= $0 } ?? false
    }

    /// Whether less is asked on the left than this number.
    @inlinable
    public static func < (lhs: Demand, rhs: Int) -> Bool {
      rhs > lhs
    }

    /// Whether a number is less than is asked on the right.
    @inlinable
    public static func < (lhs: Int, rhs: Demand) -> Bool {
      rhs > lhs
    }

    /// Whether at most this number is asked.
    @inlinable
    public static func <= (lhs: Demand, rhs: Int) -> Bool {
      rhs >= lhs
    }

    /// Whether a number is at most what is asked on the right.
    @inlinable
    public static func <= (lhs: Int, rhs: Demand) -> Bool {
      rhs >= lhs
    }

    /// Whether less is asked on the left; unlimited is more than every number and not less than itself.
    @inlinable
    public static func < (lhs: Demand, rhs: Demand) -> Bool {
      lhs.rawValue < rhs.rawValue
    }

    /// Whether at most as much is asked on the left.
    @inlinable
    public static func <= (lhs: Demand, rhs: Demand) -> Bool {
      lhs.rawValue <= rhs.rawValue
    }

    /// Whether at least as much is asked on the left.
    @inlinable
    public static func >= (lhs: Demand, rhs: Demand) -> Bool {
      lhs.rawValue >= rhs.rawValue
    }

    /// Whether more is asked on the left.
    @inlinable
    public static func > (lhs: Demand, rhs: Demand) -> Bool {
      lhs.rawValue > rhs.rawValue
    }

    /// Whether exactly this number is asked.
    @inlinable
    public static func == (lhs: Demand, rhs: Int) -> Bool {
      lhs.max == rhs
    }

    /// Whether another number than this is asked, or no limit set.
    @inlinable
    public static func != (lhs: Demand, rhs: Int) -> Bool {
      lhs.max != rhs
    }

    /// Whether exactly this number is asked.
    @inlinable
    public static func == (lhs: Int, rhs: Demand) -> Bool {
      rhs.max == lhs
    }

    /// Whether another number than this is asked, or no limit set.
    @inlinable
    public static func != (lhs: Int, rhs: Demand) -> Bool {
      rhs.max != lhs
    }

    // MARK: Coding

    /// Reads a single number; one above `Int.max` means unlimited.
    public init(from decoder: any Decoder) throws {
      self.init(rawValue: try decoder.singleValueContainer().decode(UInt.self))
    }

    /// Writes a single number, `Int.max + 1` for unlimited.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(rawValue)
    }
  }
}
