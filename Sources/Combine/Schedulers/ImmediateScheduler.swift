/// A scheduler that does all work at once, on the thread that schedules it.
///
/// Its time stands still: work for a later moment is done at once as well, and repeating work once.
public struct ImmediateScheduler: Scheduler {
  /// The one moment there is.
  public struct SchedulerTimeType: Strideable {
    /// A number without a meaning: time stands still.
    ///
    /// Arithmetic stops at the ends of the range.
    public struct Stride: ExpressibleByFloatLiteral, Comparable, SignedNumeric, Codable,
      SchedulerTimeIntervalConvertible
    {
      /// Literals with a fraction are made of this.
      public typealias FloatLiteralType = Double
      /// Literals are made of this.
      public typealias IntegerLiteralType = Int
      /// The number is one of these.
      public typealias Magnitude = Int

      /// The number.
      public var magnitude: Int

      /// Makes a stride of a number.
      @inlinable
      public init(_ value: Int) {
        magnitude = value
      }

      /// Makes a stride of a number.
      @inlinable
      public init(integerLiteral value: Int) {
        magnitude = value
      }

      /// Makes a stride of a number, without its fraction; one that an `Int` does not hold is replaced by the nearest.
      @inlinable
      public init(floatLiteral value: Double) {
        magnitude = Int(clamping: value)
      }

      /// Makes a stride of a number, if an `Int` holds it.
      @inlinable
      public init?<T>(exactly source: T) where T: BinaryInteger {
        guard let value = Int(exactly: source) else { return nil }
        magnitude = value
      }

      /// Whether one number is less than another.
      @inlinable
      public static func < (lhs: Stride, rhs: Stride) -> Bool { lhs.magnitude < rhs.magnitude }

      /// The sum of two numbers.
      @inlinable
      public static func + (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.magnitude.addingClamped(rhs.magnitude)) }

      /// The difference of two numbers.
      @inlinable
      public static func - (lhs: Stride, rhs: Stride) -> Stride {
        Stride(lhs.magnitude.subtractingClamped(rhs.magnitude))
      }

      /// The product of two numbers.
      @inlinable
      public static func * (lhs: Stride, rhs: Stride) -> Stride {
        Stride(lhs.magnitude.multipliedClamped(by: rhs.magnitude))
      }

      /// Multiplies by a number.
      @inlinable
      public static func *= (lhs: inout Stride, rhs: Stride) { lhs = lhs * rhs }

      /// Zero, whatever the number of seconds.
      @inlinable
      public static func seconds(_ s: Int) -> Stride { 0 }

      /// Zero, whatever the number of seconds.
      @inlinable
      public static func seconds(_ s: Double) -> Stride { 0 }

      /// Zero, whatever the number of milliseconds.
      @inlinable
      public static func milliseconds(_ ms: Int) -> Stride { 0 }

      /// Zero, whatever the number of microseconds.
      @inlinable
      public static func microseconds(_ us: Int) -> Stride { 0 }

      /// Zero, whatever the number of nanoseconds.
      @inlinable
      public static func nanoseconds(_ ns: Int) -> Stride { 0 }
    }

    @usableFromInline
    init() {}

    /// Zero: there is one moment only.
    @inlinable
    public func distance(to other: SchedulerTimeType) -> Stride { 0 }

    /// The same moment.
    @inlinable
    public func advanced(by n: Stride) -> SchedulerTimeType { self }
  }

  /// There are no options.
  public typealias SchedulerOptions = Never

  /// The scheduler; all of them are alike.
  @inlinable
  public static var shared: ImmediateScheduler { ImmediateScheduler() }

  @usableFromInline
  init() {}

  /// The one moment there is.
  @inlinable
  public var now: SchedulerTimeType { SchedulerTimeType() }

  /// Zero.
  @inlinable
  public var minimumTolerance: SchedulerTimeType.Stride { 0 }

  /// Does work now.
  @inlinable
  public func schedule(options: Never?, _ action: @escaping () -> Void) {
    action()
  }

  /// Does work now, whatever the moment.
  @inlinable
  public func schedule(
    after date: SchedulerTimeType,
    tolerance: SchedulerTimeType.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    action()
  }

  /// Does work once, now.
  ///
  /// - Returns: a handle with nothing left to stop.
  @inlinable
  public func schedule(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride,
    tolerance: SchedulerTimeType.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    action()
    return Subscriptions.empty
  }
}
