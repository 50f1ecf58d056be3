import Dispatch
import StreamSupport

extension DispatchQueue: Scheduler {
  /// A moment in the time of dispatch queues, which stands still while the machine sleeps.
  public struct SchedulerTimeType: Strideable, Codable, Hashable, Sendable {
    /// The moment as Dispatch knows it.
    public var dispatchTime: DispatchTime

    /// Makes a moment of a dispatch time.
    @inlinable
    public init(_ time: DispatchTime) {
      dispatchTime = time
    }

    /// Reads the nanoseconds since the machine started.
    public init(from decoder: any Decoder) throws {
      let nanoseconds = try decoder.singleValueContainer().decode(UInt64.self)
      dispatchTime = DispatchTime(uptimeNanoseconds: nanoseconds)
    }

    /// Writes the nanoseconds since the machine started.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(dispatchTime.uptimeNanoseconds)
    }

    /// The time from this moment to another; the longest there is if it does not fit, in both directions, as with
    /// Apple's Combine.
    public func distance(to other: SchedulerTimeType) -> Stride {
      let (start, end) = (dispatchTime.uptimeNanoseconds, other.dispatchTime.uptimeNanoseconds)
      let gap = Int(clamping: end > start ? end - start : start - end)
      return .nanoseconds(end < start && gap < .max ? -gap : gap)
    }

    /// The moment that is this much later; the end of time if it does not fit, its first nanosecond at the earliest.
    @inlinable
    public func advanced(by n: Stride) -> SchedulerTimeType {
      n.magnitude == .max
        ? SchedulerTimeType(.distantFuture) : SchedulerTimeType(dispatchTime + .nanoseconds(n.magnitude))
    }

    /// Whether one moment is before another.
    @inlinable
    public static func < (lhs: SchedulerTimeType, rhs: SchedulerTimeType) -> Bool {
      lhs.dispatchTime < rhs.dispatchTime
    }

    /// Whether both are the same moment.
    @inlinable
    public static func == (lhs: SchedulerTimeType, rhs: SchedulerTimeType) -> Bool {
      lhs.dispatchTime == rhs.dispatchTime
    }

    /// Mixes in the moment.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(dispatchTime.rawValue)
    }

    /// A length of time, in whole nanoseconds.
    ///
    /// Literals count seconds. What does not fit, infinite seconds included, becomes the longest length there is, about
    /// 292 years. Apple's Combine stops the process on some of that.
    public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric, ExpressibleByFloatLiteral,
      Hashable, Codable
    {
      /// Literals with a fraction are made of this.
      public typealias FloatLiteralType = Double
      /// Literals are made of this.
      public typealias IntegerLiteralType = Int
      /// Nanoseconds are counted in this.
      public typealias Magnitude = Int

      @usableFromInline var _nanoseconds: Int

      /// The length in nanoseconds, with its sign.
      @inlinable
      public var magnitude: Int {
        get { _nanoseconds }
        set { _nanoseconds = newValue }
      }

      @inlinable
      init(nanoseconds: Int) {
        _nanoseconds = nanoseconds
      }

      /// The length as Dispatch knows it.
      @inlinable
      public var timeInterval: DispatchTimeInterval { .nanoseconds(_nanoseconds) }

      /// Makes a length of a dispatch interval; the longest of `.never`.
      public init(_ timeInterval: DispatchTimeInterval) {
        switch timeInterval {
        case .seconds(let seconds): self = .seconds(seconds)
        case .milliseconds(let milliseconds): self = .milliseconds(milliseconds)
        case .microseconds(let microseconds): self = .microseconds(microseconds)
        case .nanoseconds(let nanoseconds): self = .nanoseconds(nanoseconds)
        case .never: self = .nanoseconds(.max)
        @unknown default: self = .nanoseconds(.max)
        }
      }

      /// Makes a length of seconds.
      @inlinable
      public init(floatLiteral value: Double) {
        self = .seconds(value)
      }

      /// Makes a length of seconds.
      @inlinable
      public init(integerLiteral value: Int) {
        self = .seconds(value)
      }

      /// Makes a length of seconds, if an `Int` holds their number.
      @inlinable
      public init?<T>(exactly source: T) where T: BinaryInteger {
        guard let seconds = Int(exactly: source) else { return nil }
        self = .seconds(seconds)
      }

      /// Whether one length is shorter than another.
      @inlinable
      public static func < (lhs: Stride, rhs: Stride) -> Bool { lhs._nanoseconds < rhs._nanoseconds }

      /// The product of two lengths counted in seconds, without what is left of a nanosecond.
      public static func * (lhs: Stride, rhs: Stride) -> Stride {
        let product = lhs._nanoseconds.magnitude.multipliedFullWidth(by: rhs._nanoseconds.magnitude)
        let isNegative = (lhs._nanoseconds < 0) != (rhs._nanoseconds < 0)
        // A quotient fits into a word if the upper half of the product is below the divisor.
        guard product.high < 1_000_000_000 else { return .nanoseconds(isNegative ? .min : .max) }
        let nanoseconds = Int(clamping: (1_000_000_000 as UInt).dividingFullWidth(product).quotient)
        return .nanoseconds(isNegative ? -nanoseconds : nanoseconds)
      }

      /// Multiplies by a length counted in seconds.
      @inlinable
      public static func *= (lhs: inout Stride, rhs: Stride) { lhs = lhs * rhs }

      /// The sum of two lengths.
      @inlinable
      public static func + (lhs: Stride, rhs: Stride) -> Stride {
        .nanoseconds(lhs._nanoseconds.addingClamped(rhs._nanoseconds))
      }

      /// The difference of two lengths.
      @inlinable
      public static func - (lhs: Stride, rhs: Stride) -> Stride {
        .nanoseconds(lhs._nanoseconds.subtractingClamped(rhs._nanoseconds))
      }

      /// So many seconds.
      public static func seconds(_ s: Double) -> Stride { .nanoseconds(Int(clamping: s * 1e9)) }

      /// So many seconds.
      @inlinable
      public static func seconds(_ s: Int) -> Stride { .nanoseconds(s.multipliedClamped(by: 1_000_000_000)) }

      /// So many milliseconds.
      @inlinable
      public static func milliseconds(_ ms: Int) -> Stride { .nanoseconds(ms.multipliedClamped(by: 1_000_000)) }

      /// So many microseconds.
      @inlinable
      public static func microseconds(_ us: Int) -> Stride { .nanoseconds(us.multipliedClamped(by: 1000)) }

      /// So many nanoseconds.
      @inlinable
      public static func nanoseconds(_ ns: Int) -> Stride { Stride(nanoseconds: ns) }
    }
  }

  /// How a dispatch queue is to do a piece of work.
  ///
  /// Unchecked, because not all systems mark Dispatch's types: the flags are a number, and a group is made for threads.
  public struct SchedulerOptions: @unchecked Sendable {
    /// How urgent the work is.
    public var qos: DispatchQoS
    /// How the work behaves on the queue.
    public var flags: DispatchWorkItemFlags
    /// The group that counts the work, if there is one; work for a later moment is not counted.
    public var group: DispatchGroup?

    /// Makes options.
    public init(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], group: DispatchGroup? = nil) {
      self.qos = qos
      self.flags = flags
      self.group = group
    }
  }

  /// The present moment.
  public var now: SchedulerTimeType {
    SchedulerTimeType(
      QueueDiversion.current.map { DispatchTime(uptimeNanoseconds: $0.uptimeNanoseconds) } ?? .now()
    )
  }

  /// Zero.
  @inlinable
  public var minimumTolerance: SchedulerTimeType.Stride { .nanoseconds(0) }

  /// Puts work on the queue.
  @inlinable
  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    if isDiverted(after: nil, action) { return }
    let action = sendable(action)
    if let options {
      async(group: options.group, qos: options.qos, flags: options.flags, execute: action)
    } else {
      async(execute: action)
    }
  }

  /// Puts work on the queue once a moment has come.
  ///
  /// The tolerance is not used.
  @inlinable
  public func schedule(
    after date: SchedulerTimeType,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) {
    if isDiverted(after: date, action) { return }
    let action = sendable(action)
    asyncAfter(deadline: date.dispatchTime, qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) {
      action()
    }
  }

  /// Puts work on the queue at a moment and again after each interval.
  ///
  /// It ends when the handle returned is cancelled or released. An interval below a nanosecond counts as that.
  public func schedule(
    after date: SchedulerTimeType,
    interval: SchedulerTimeType.Stride,
    tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    if let queues = QueueDiversion.current {
      let delay = now.distance(to: date).magnitude
      return AnyCancellable(queues.schedule(on: whenDiverted, after: delay, every: max(1, interval.magnitude), action))
    }
    let action = sendable(action)
    let timer = DispatchSource.makeTimerSource(queue: self)
    timer.schedule(
      deadline: date.dispatchTime,
      repeating: .nanoseconds(max(1, interval.magnitude)),
      leeway: .nanoseconds(max(0, tolerance.magnitude))
    )
    timer.setEventHandler(qos: options?.qos ?? .unspecified, flags: options?.flags ?? []) { action() }
    timer.resume()
    return AnyCancellable { timer.cancel() }
  }

  /// Whether a simulation does the work in the place of the queue.
  @usableFromInline
  func isDiverted(after date: SchedulerTimeType?, _ action: @escaping () -> Void) -> Bool {
    guard let queues = QueueDiversion.current else { return false }
    queues.schedule(on: whenDiverted, after: date.map { now.distance(to: $0).magnitude }, action)
    return true
  }

  /// By its label, since on some platforms another object stands for a queue of the system's each time.
  private var whenDiverted: DivertedQueue {
    label == "com.apple.main-thread" ? .main : label.hasPrefix("com.apple.root.") ? .concurrent : .serial(self)
  }
}
