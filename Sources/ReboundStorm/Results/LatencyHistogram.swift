import Foundation

/// How long answers took, counted in steps of a microsecond, and beyond 128 of them of less than one percent.
///
/// The steps grow with the length: 128 of them for each doubling.
public struct LatencyHistogram: Hashable, Sendable {
  private static let stepBits = 7
  private static let unit = 1_000

  private var counts: [Int] = []
  private var total = 0.0
  /// How many were counted.
  public private(set) var count = 0

  /// Nothing was counted.
  public init() {}

  mutating func add(nanoseconds: Int) {
    let index = Self.index(of: nanoseconds)
    if index >= counts.count { counts.append(contentsOf: repeatElement(0, count: index - counts.count + 1)) }
    counts[index] += 1
    total += Double(nanoseconds)
    count += 1
  }

  /// The mean, in seconds; 0 if nothing was counted.
  public var mean: Double { count == 0 ? 0 : total / Double(count) * 1e-9 }

  /// The length, in seconds, below which a share of all lengths lie; 0 if nothing was counted.
  ///
  /// - Parameter share: In `0...1`; 0.99 for what one in a hundred exceeds.
  public func percentile(_ share: Double) -> Double {
    let wanted = share * Double(count)
    var passed = 0.0
    for (index, count) in counts.enumerated() where count > 0 {
      if passed + Double(count) >= wanted {
        let (low, high) = (Self.start(of: index), Self.start(of: index + 1))
        let part = max((wanted - passed) / Double(count), 0)
        return (low + (high - low) * part) * 1e-9
      }
      passed += Double(count)
    }
    return 0
  }

  private static func index(of nanoseconds: Int) -> Int {
    let units = max(nanoseconds / unit, 0)
    guard units >= 1 << stepBits else { return units }
    let shift = Int.bitWidth - 1 - units.leadingZeroBitCount - stepBits
    return (shift << stepBits) + (units >> shift)
  }

  private static func start(of index: Int) -> Double {
    guard index >= 1 << (stepBits + 1) else { return Double(index * unit) }
    let shift = index >> stepBits - 1
    return Double((index - shift << stepBits) << shift) * Double(unit)
  }
}
