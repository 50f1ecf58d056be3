#if Foundation
  import Dispatch
  import Foundation
  import StreamSupport

  extension RunLoop: Scheduler {
    /// A moment in the time of run loops, which is that of the calendar.
    public struct SchedulerTimeType: Strideable, Codable, Hashable, Sendable {
      /// The moment as a date.
      public var date: Date

      /// Makes a moment of a date.
      public init(_ date: Date) {
        self.date = date
      }

      /// The time from this moment to another.
      public func distance(to other: SchedulerTimeType) -> Stride {
        Stride(other.date.timeIntervalSince(date))
      }

      /// The moment that is this much later.
      public func advanced(by n: Stride) -> SchedulerTimeType {
        SchedulerTimeType(date.addingTimeInterval(n.magnitude))
      }

      /// A length of time in seconds.
      ///
      /// Literals count seconds, too.
      public struct Stride: ExpressibleByFloatLiteral, Comparable, SignedNumeric, Codable,
        SchedulerTimeIntervalConvertible, Sendable
      {
        /// Literals with a fraction are made of this.
        public typealias FloatLiteralType = TimeInterval
        /// Literals are made of this.
        public typealias IntegerLiteralType = TimeInterval
        /// Seconds are counted in this.
        public typealias Magnitude = TimeInterval

        /// The length in seconds, with its sign.
        public var magnitude: TimeInterval

        /// The length in seconds, with its sign.
        public var timeInterval: TimeInterval { magnitude }

        /// Makes a length of seconds.
        public init(_ timeInterval: TimeInterval) {
          magnitude = timeInterval
        }

        /// Makes a length of seconds.
        public init(integerLiteral value: TimeInterval) {
          magnitude = value
        }

        /// Makes a length of seconds.
        public init(floatLiteral value: TimeInterval) {
          magnitude = value
        }

        /// Makes a length of seconds, if a `Double` holds their number.
        public init?<T>(exactly source: T) where T: BinaryInteger {
          guard let seconds = TimeInterval(exactly: source) else { return nil }
          magnitude = seconds
        }

        /// Whether one length is shorter than another.
        public static func < (lhs: Stride, rhs: Stride) -> Bool { lhs.magnitude < rhs.magnitude }

        /// The sum of two lengths.
        public static func + (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.magnitude + rhs.magnitude) }

        /// The difference of two lengths.
        public static func - (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.magnitude - rhs.magnitude) }

        /// The product of two lengths counted in seconds.
        public static func * (lhs: Stride, rhs: Stride) -> Stride { Stride(lhs.magnitude * rhs.magnitude) }

        /// Multiplies by a length counted in seconds.
        public static func *= (lhs: inout Stride, rhs: Stride) { lhs = lhs * rhs }

        /// So many seconds.
        public static func seconds(_ s: Int) -> Stride { Stride(TimeInterval(s)) }

        /// So many seconds.
        public static func seconds(_ s: Double) -> Stride { Stride(s) }

        /// So many milliseconds.
        public static func milliseconds(_ ms: Int) -> Stride { Stride(TimeInterval(ms) / 1e3) }

        /// So many microseconds.
        public static func microseconds(_ us: Int) -> Stride { Stride(TimeInterval(us) / 1e6) }

        /// So many nanoseconds.
        public static func nanoseconds(_ ns: Int) -> Stride { Stride(TimeInterval(ns) / 1e9) }
      }
    }

    /// Options of run loops: there are none.
    public struct SchedulerOptions: Sendable {
      private init() {}
    }

    /// The present moment.
    public var now: SchedulerTimeType { SchedulerTimeType(Date()) }

    /// Zero.
    public var minimumTolerance: SchedulerTimeType.Stride { 0 }

    /// Does work on the next turn of the run loop in its default mode, never at once.
    ///
    /// The main loop's is done on the main queue where the main thread is gone, as `dispatchMain()` and an asynchronous `main`
    /// leave it on Linux. So are the two below.
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
      if let queues = QueueDiversion.current { return queues.schedule(on: whenDiverted, after: nil, action) }
      guard self === RunLoop.main else {
        let action = sendable(action)
        perform { action() }
        return wakeUp()
      }
      if MainThread.isGone.load(ordering: .relaxed) {
        let action = sendable(action)
        return DispatchQueue.main.async { action() }
      }
      let action = TimerAction(action)
      perform { action.runAndLetGo() }
      if Thread.isMainThread { KeptAwake.here.stayAwake(self) }
      MainThread.whenGone { action.runAndLetGo() }
    }

    private var whenDiverted: DivertedQueue { self === RunLoop.main ? .main : .serial(self) }

    /// Makes a loop that is not the main one notice new work, on its own thread as well: it may be doing the work of this turn,
    /// which has been counted out, and would sleep after that.
    private func wakeUp() {
      if self === RunLoop.current {
        KeptAwake.here.stayAwake(self)
      } else {
        add(Timer(fire: Date(), interval: 0, repeats: false) { _ in }, forMode: .default)
      }
    }

    /// Does work on the run loop in its default mode once a moment has come; one that is not a number has.
    public func schedule(
      after date: SchedulerTimeType,
      tolerance: SchedulerTimeType.Stride,
      options: SchedulerOptions?,
      _ action: @escaping () -> Void
    ) {
      if let queues = QueueDiversion.current {
        return queues.schedule(on: whenDiverted, after: now.distance(to: date).nanoseconds, action)
      }
      _ = RunLoopTimer(on: self, at: date.date, tolerance: tolerance.timeInterval, action)
    }

    /// Does work on the run loop in its default mode at a moment and again after each interval, until the handle returned
    /// is cancelled or released.
    ///
    /// An interval that is not above 0 counts as 0.1 milliseconds, a moment that is not a number as the present one.
    public func schedule(
      after date: SchedulerTimeType,
      interval: SchedulerTimeType.Stride,
      tolerance: SchedulerTimeType.Stride,
      options: SchedulerOptions?,
      _ action: @escaping () -> Void
    ) -> any Cancellable {
      if let queues = QueueDiversion.current {
        let delay = now.distance(to: date).nanoseconds
        let every = max(1, SchedulerTimeType.Stride(interval.timeInterval.asPeriod).nanoseconds)
        return AnyCancellable(queues.schedule(on: whenDiverted, after: delay, every: every, action))
      }
      let period = interval.timeInterval.asPeriod
      let timer = RunLoopTimer(on: self, at: date.date, every: period, tolerance: tolerance.timeInterval, action)
      return AnyCancellable(timer)
    }
  }

  /// Keeps the run loop of a thread awake as long as work is scheduled on it from that thread: by one timer for all of it, since
  /// Foundation keeps some memory of each.
  ///
  /// Used by its thread alone.
  private final class KeptAwake {
    private var timer: Timer?
    private var isWanted = false

    /// That of this thread.
    static var here: KeptAwake {
      let key = "Combine.KeptAwake"
      if let kept = Thread.current.threadDictionary[key] as? KeptAwake { return kept }
      let kept = KeptAwake()
      Thread.current.threadDictionary[key] = kept
      return kept
    }

    func stayAwake(_ loop: RunLoop) {
      isWanted = true
      if let timer { return timer.fireDate = Date() }
      let timer = Timer(fire: Date(), interval: 0.0.asPeriod, repeats: true) { _ in KeptAwake.here.awoke() }
      self.timer = timer
      loop.add(timer, forMode: .default)
    }

    /// Ends a turn later, so that one timer lasts while each turn schedules another.
    private func awoke() {
      if isWanted { return isWanted = false }
      timer?.invalidate()
      timer = nil
    }
  }

  extension TimeInterval {
    /// What Foundation's timers can repeat after, by the rule of Apple's: its own fire once for 0 and below, and stop the
    /// process for what is not a number.
    var asPeriod: TimeInterval { self > 0 ? self : 0.0001 }
  }

  extension RunLoop.SchedulerTimeType.Stride {
    fileprivate var nanoseconds: Int { Int(clamping: timeInterval * 1e9) }
  }
#endif
