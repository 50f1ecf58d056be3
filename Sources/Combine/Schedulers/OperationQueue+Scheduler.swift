#if Foundation
  import Dispatch
  import Foundation
  import StreamSupport

  extension OperationQueue: Scheduler {
    /// A moment in the time of operation queues, which is that of the calendar.
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

    /// Options of operation queues: there are none.
    public struct SchedulerOptions: Sendable {
      private init() {}
    }

    /// The present moment.
    public var now: SchedulerTimeType { SchedulerTimeType(Date()) }

    /// Zero.
    public var minimumTolerance: SchedulerTimeType.Stride { 0 }

    /// Adds an operation that does the work.
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
      if let queues = QueueDiversion.current { return queues.schedule(on: whenDiverted, after: nil, action) }
      let action = sendable(action)
      addOperation(BlockOperation { action() })
    }

    private var whenDiverted: DivertedQueue {
      self === OperationQueue.main ? .main : maxConcurrentOperationCount == 1 ? .serial(self) : .concurrent
    }

    /// Adds an operation that does the work, and is not ready before a moment has come.
    ///
    /// By the calendar: while the machine sleeps time goes on, and where the clock is set back, it comes that much later. The
    /// tolerance is not used.
    public func schedule(
      after date: SchedulerTimeType,
      tolerance: SchedulerTimeType.Stride,
      options: SchedulerOptions?,
      _ action: @escaping () -> Void
    ) {
      if let queues = QueueDiversion.current {
        return queues.schedule(on: whenDiverted, after: now.distance(to: date).nanoseconds, action)
      }
      let operation = DueOperation(action)
      addOperation(operation)
      operation.becomeReady(at: date.date)
    }

    /// Adds an operation that does the work at a moment, and one more after each interval.
    ///
    /// It ends when the handle returned is cancelled or released. The tolerance is not used; ticks that were missed are
    /// left out.
    public func schedule(
      after date: SchedulerTimeType,
      interval: SchedulerTimeType.Stride,
      tolerance: SchedulerTimeType.Stride,
      options: SchedulerOptions?,
      _ action: @escaping () -> Void
    ) -> any Cancellable {
      if let queues = QueueDiversion.current {
        let delay = now.distance(to: date).nanoseconds
        let every = max(1, interval.nanoseconds)
        return AnyCancellable(queues.schedule(on: whenDiverted, after: delay, every: every, action))
      }
      let repetition = Repetition(on: self, every: interval, action)
      repetition.schedule(at: date)
      return AnyCancellable(repetition)
    }
  }

  extension OperationQueue.SchedulerTimeType.Stride {
    fileprivate var nanoseconds: Int { Int(clamping: timeInterval * 1e9) }
  }

  /// Adds an operation for each tick, until it is cancelled.
  private final class Repetition: Cancellable {
    private let queue: OperationQueue
    private let interval: OperationQueue.SchedulerTimeType.Stride
    private let lock = Lock()
    // Both guarded by `lock`; nil once cancelled.
    private var action: (() -> Void)?
    private var next: DueOperation?

    init(
      on queue: OperationQueue,
      every interval: OperationQueue.SchedulerTimeType.Stride,
      _ action: @escaping () -> Void
    ) {
      self.queue = queue
      self.interval = interval
      self.action = action
    }

    func schedule(at date: OperationQueue.SchedulerTimeType) {
      let operation = DueOperation { self.tick(at: date) }
      let isWanted = lock.withLock {
        if action != nil { next = operation }
        return action != nil
      }
      guard isWanted else { return }
      queue.addOperation(operation)
      operation.becomeReady(at: date.date)
    }

    private func tick(at date: OperationQueue.SchedulerTimeType) {
      guard let action = lock.withLock({ action }) else { return }
      action()
      schedule(at: max(date.advanced(by: interval), queue.now))
    }

    func cancel() {
      lock.lock()
      let (action, next) = (action, next)
      self.action = nil
      self.next = nil
      lock.unlock()
      next?.cancel()
      // Outside the lock: what the closure captured may run code of its own when it goes.
      withExtendedLifetime(action) {}
    }
  }

  /// An operation that is not ready before a moment has come, and does its work once.
  ///
  /// Unchecked, because the lock guards all that changes.
  private final class DueOperation: Operation, Cancellable, @unchecked Sendable {
    private let lock = Lock()
    // Both guarded by `lock`.
    private var isDue = false
    private var action: (() -> Void)?

    init(_ action: @escaping () -> Void) {
      self.action = action
    }

    override var isReady: Bool {
      // One that was cancelled has to be ready, or it would stay in the queue.
      super.isReady && (isCancelled || lock.withLock { isDue })
    }

    func becomeReady(at date: Date) {
      // The queue keeps the operation as long as it waits; the clock need not.
      let pause = DispatchTimeInterval.nanoseconds(Int(clamping: date.timeIntervalSinceNow * 1e9))
      DispatchQueue.global().asyncAfter(wallDeadline: .now() + pause) { [weak self] in self?.becomeReady() }
    }

    private func becomeReady() {
      willChangeValue(for: \.isReady)
      lock.withLock { isDue = true }
      didChangeValue(for: \.isReady)
    }

    override func main() {
      takeAction()?()
    }

    override func cancel() {
      super.cancel()
      withExtendedLifetime(takeAction()) {}
    }

    private func takeAction() -> (() -> Void)? {
      lock.withLock {
        let action = self.action
        self.action = nil
        return action
      }
    }
  }
#endif
