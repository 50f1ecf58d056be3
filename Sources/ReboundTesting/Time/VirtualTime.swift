import Combine

/// A moment in the time of a ``TestScheduler``: nanoseconds since it was made.
public struct VirtualTime: Strideable, Hashable, Sendable {
  /// Nanoseconds since the scheduler was made.
  public let nanoseconds: Int

  /// When a scheduler was made.
  public static let start = VirtualTime(nanoseconds: 0)

  /// Makes a moment.
  ///
  /// - Parameter nanoseconds: Since the scheduler was made.
  public init(nanoseconds: Int) {
    self.nanoseconds = nanoseconds
  }

  /// The pause from this moment to another; saturates.
  public func distance(to other: VirtualTime) -> Stride {
    Stride(nanoseconds: other.nanoseconds.subtractingSaturated(nanoseconds))
  }

  /// The moment that is this much later; saturates at the end of time, about 292 years after the start.
  public func advanced(by stride: Stride) -> VirtualTime {
    VirtualTime(nanoseconds: nanoseconds.addingSaturated(stride.nanoseconds))
  }

  /// A length of virtual time.
  ///
  /// As with Combine's own schedulers, a literal counts seconds.
  ///
  /// All arithmetic saturates.
  public struct Stride: Hashable, Sendable {
    /// The length in nanoseconds.
    public let nanoseconds: Int

    /// Makes a length of time.
    ///
    /// - Parameter nanoseconds: The length in nanoseconds.
    public init(nanoseconds: Int) {
      self.nanoseconds = nanoseconds
    }

    /// Makes a length of time from a duration, to the nanosecond towards zero.
    public init(_ duration: Duration) {
      nanoseconds = duration.wholeNanoseconds
    }

    /// The same length as a duration.
    public var duration: Duration { .nanoseconds(nanoseconds) }
  }
}

extension VirtualTime.Stride: SchedulerTimeIntervalConvertible {
  /// So many seconds.
  public static func seconds(_ seconds: Int) -> Self {
    Self(nanoseconds: seconds.multipliedSaturated(by: 1_000_000_000))
  }

  /// So many seconds; what is not a number counts as none.
  public static func seconds(_ seconds: Double) -> Self {
    Self(nanoseconds: Int(saturating: (seconds * 1e9).rounded()))
  }

  /// So many milliseconds.
  public static func milliseconds(_ milliseconds: Int) -> Self {
    Self(nanoseconds: milliseconds.multipliedSaturated(by: 1_000_000))
  }

  /// So many microseconds.
  public static func microseconds(_ microseconds: Int) -> Self {
    Self(nanoseconds: microseconds.multipliedSaturated(by: 1_000))
  }

  /// So many nanoseconds.
  public static func nanoseconds(_ nanoseconds: Int) -> Self {
    Self(nanoseconds: nanoseconds)
  }
}

extension VirtualTime.Stride: Comparable, SignedNumeric, ExpressibleByFloatLiteral {
  /// So many seconds.
  public init(integerLiteral seconds: Int) {
    self = .seconds(seconds)
  }

  /// So many seconds.
  public init(floatLiteral seconds: Double) {
    self = .seconds(seconds)
  }

  /// So many seconds, if an `Int` holds them.
  public init?<Source: BinaryInteger>(exactly seconds: Source) {
    guard let seconds = Int(exactly: seconds) else { return nil }
    self = .seconds(seconds)
  }

  /// The length in nanoseconds, without its sign.
  public var magnitude: UInt { nanoseconds.magnitude }

  /// Whether one length is shorter than another.
  public static func < (left: Self, right: Self) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The sum of two lengths.
  public static func + (left: Self, right: Self) -> Self {
    Self(nanoseconds: left.nanoseconds.addingSaturated(right.nanoseconds))
  }

  /// The difference of two lengths.
  public static func - (left: Self, right: Self) -> Self {
    Self(nanoseconds: left.nanoseconds.subtractingSaturated(right.nanoseconds))
  }

  /// The product of two lengths, both in seconds.
  public static func * (left: Self, right: Self) -> Self {
    .seconds(Double(left.nanoseconds) * 1e-9 * Double(right.nanoseconds) * 1e-9)
  }

  /// Multiplies a length by another, both in seconds.
  public static func *= (left: inout Self, right: Self) {
    left = left * right
  }
}

extension VirtualTime: CustomStringConvertible {
  /// Seconds since the start: "1.5 s".
  public var description: String { "\(Double(nanoseconds) / 1e9) s" }
}

extension VirtualTime.Stride: CustomStringConvertible {
  /// The length in seconds: "1.5 s".
  public var description: String { "\(Double(nanoseconds) / 1e9) s" }
}

extension Int {
  fileprivate func addingSaturated(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other > 0 ? .max : .min
  }

  fileprivate func subtractingSaturated(_ other: Int) -> Int {
    let (difference, overflow) = subtractingReportingOverflow(other)
    guard overflow else { return difference }
    return other > 0 ? .min : .max
  }

  fileprivate func multipliedSaturated(by factor: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    guard overflow else { return product }
    return (self > 0) == (factor > 0) ? .max : .min
  }

  fileprivate init(saturating number: Double) {
    if let exact = Int(exactly: number) {
      self = exact
    } else if number.isNaN {
      self = 0
    } else {
      self = number > 0 ? .max : .min
    }
  }
}
